// SPDX-License-Identifier: Apache-2.0
// Which thresholds does measuring rest on? All of them, in one struct: what each means, in which
// unit, and how its value was found. benanza_bench prints them (--parameters) and takes others
// (--set NAME=VALUE); a result says which were changed. How long a case is sampled is no threshold
// but a plan (plan.hpp).
//
//   parameters p;   p.set("most_other_load", "0.5");   judge(noise, p)
#pragma once

#include "../../core/error.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace benanza::measure {

struct parameters {
  // When is a case sampled enough? `scripts/prove racing` compares the figures with those of
  // samples that nothing stops early.
  double least_settled_within = 0.003;
  double median_settled_within = 0.01;
  double alike_within = 0.01;
  // A slice of a slow case brings one sample or two, and of cases that wait for memory the least of
  // ten samples was a tenth above that of eighty.
  int unbeaten_samples = 12;
  int fewest_samples = 4;
  double very_long_ns = 1e9;
  double leader_time = 4;

  // Which cases cannot win any more? `scripts/prove racing` counts the winners that this would
  // miss.
  double race_after_2 = 2;
  double race_after_3 = 1.3;
  double race_after_4 = 1.15;
  double race_later = 1.1;

  // What is a slice?
  int full_rounds = 4;
  int hot_every = 3;
  int first_samples = 2;
  int warm_up_executions = 4;
  double warm_up_gain = 0.97;
  double warms_itself_ns = 1e8;
  double same_clock_within = 1.01;
  int samples_kept = 40;

  // From which noise on is a sample thrown away? The clock's limit is above what turbo varies by
  // with the load of other cores: that is kept with the samples, and allowed for where bounds are
  // compared. An SMT sibling's costs a percent of a layer's time; memory's is above what a window
  // of a quiet machine varies by, a hand-off's above what it varies by between cores that share a
  // cache. Load elsewhere is felt less the more processors there are.
  double most_waiting = 0.01;
  double most_other_load = 0.12;
  double most_clock_loss = 0.25;
  double most_smt_loss = 0.03;
  double most_memory_loss = 0.4;
  double most_hand_off_loss = 1.5;

  // When is the energy of a run on end that of the case?
  double energy_busy = 0.9;
  double energy_alike = 2;

  // How is noise looked for? SMT siblings of a cloud come and go within a millisecond; the kernel
  // counts load in ticks of 10 ms.
  double quick_probe_every_ns = 0.5e6;
  double probe_every_ns = 2e6;
  double window_ns = 150e6;
  double calibration_ns = 3e7;
  double longest_wait_ns = 2e7;
  double turbo_within = 0.12;
  double clean_chain_within = 0.01;
  double best_confirmed_within = 1.03;
  int best_patience = 300;
  double shared_cache_hand_off_ns = 60;
  double hides_interference_ns = 2e6;
  double hidden_spread = 1.05;

  // What do the caches hold? Sweeps of less than four times a private cache left some data there.
  std::int64_t private_sweep = 4;
  double read_back_noise = 1.1;
  int read_backs_kept = 15;

  // Is a result right, and where is the stack? Most algorithms do not depend on the latter.
  std::int64_t outputs_checked = 2000;
  double inexact_error = 0.1;
  double side_by_side_within = 0.01;
  double stack_gain = 0.97;
  int stack_tries = 3;
  double stack_patience_ns = 5e6;

  // Which algorithms of a device are measured? Frameworks allow them some hundred MiB of scratch
  // memory (TensorRT and TensorFlow 1 to 4 GiB).
  std::int64_t most_workspace_bytes = std::int64_t{1} << 30;

  // When is a worker process given up? The slowest loops that libraries fall back to reach some
  // 0.1 GFLOP/s on a processor, and 100 on a device. Weights are drawn, written and packed by one
  // thread, several times.
  double silence_s = 120;
  double silence_flops_per_s = 1e8;
  double silence_loaded_bytes_per_s = 1e7;
  double device_silence_s = 20;
  double device_silence_flops_per_s = 1e11;
  double start_s = 300;
  int failed_starts = 3;

  /// Calls `f(name, value, unit, meaning)` for each; `p` is a parameters, const or not.
  template <class P, class F>
  static void visit(P& p, F&& f) {
    f("least_settled_within", p.least_settled_within, "share",
      "a least sample that moves by less stands still");
    f("median_settled_within", p.median_settled_within, "share", "likewise, a median");
    f("alike_within", p.alike_within, "share",
      "samples are alike if the slowest tenth lies so near to the fastest");
    f("unbeaten_samples", p.unbeaten_samples, "samples",
      "that a least sample must stand, and that a median must rest on");
    f("fewest_samples", p.fewest_samples, "samples",
      "of any case, and slices before it may settle");
    f("very_long_ns", p.very_long_ns, "ns", "of an execution, above which half as many samples do");
    f("leader_time", p.leader_time, "times", "its time limit, for the hot case that leads");
    f("race_after_2", p.race_after_2, "times",
      "as slow as its best rival a case may be after two slices");
    f("race_after_3", p.race_after_3, "times", "likewise, after three");
    f("race_after_4", p.race_after_4, "times", "likewise, after four");
    f("race_later", p.race_later, "times", "likewise, after more");
    f("full_rounds", p.full_rounds, "rounds", "in which every case has a slice");
    f("hot_every", p.hot_every, "rounds", "one of which later has slices of hot cases");
    f("first_samples", p.first_samples, "samples",
      "of a first slice, and of a case that is losing");
    f("warm_up_executions", p.warm_up_executions, "executions", "that warm a case up, at most");
    f("warm_up_gain", p.warm_up_gain, "times", "the last time, below which warming up goes on");
    f("warms_itself_ns", p.warms_itself_ns, "ns", "of an execution that needs no warming up");
    f("same_clock_within", p.same_clock_within, "times",
      "the least sample: within, the clock counts as that of the least sample");
    f("samples_kept", p.samples_kept, "samples", "of a case in the result");
    f("most_waiting", p.most_waiting, "share",
      "of its time that the thread waited for a processor");
    f("most_other_load", p.most_other_load, "share",
      "of the machine's processors that other processes used");
    f("most_clock_loss", p.most_clock_loss, "share", "by which the clock was below its best");
    f("most_smt_loss", p.most_smt_loss, "share",
      "by which an SMT sibling slowed the issue of instructions");
    f("most_memory_loss", p.most_memory_loss, "share", "by which reading memory took longer");
    f("most_hand_off_loss", p.most_hand_off_loss, "share",
      "by which a hand-off between threads took longer");
    f("energy_busy", p.energy_busy, "share", "of a run on end that was executions, at least");
    f("energy_alike", p.energy_alike, "times",
      "by which its executions may be longer or shorter than the median");
    f("quick_probe_every_ns", p.quick_probe_every_ns, "ns",
      "between two probes of SMT siblings (15 us each)");
    f("probe_every_ns", p.probe_every_ns, "ns",
      "between two probes of clock, memory and hand-off (50 us each)");
    f("window_ns", p.window_ns, "ns", "over which load and memory are judged");
    f("calibration_ns", p.calibration_ns, "ns", "of probes before anything is timed");
    f("longest_wait_ns", p.longest_wait_ns, "ns", "that a slice waits for quiet");
    f("turbo_within", p.turbo_within, "share", "of a probe's change that is put down to turbo");
    f("clean_chain_within", p.clean_chain_within, "share",
      "of the best clock, within which a probe may set a new best");
    f("best_confirmed_within", p.best_confirmed_within, "times",
      "the best probe, within which a second one confirms it");
    f("best_patience", p.best_patience, "probes",
      "without one near it, then the best was a mistake");
    f("shared_cache_hand_off_ns", p.shared_cache_hand_off_ns, "ns",
      "of a hand-off where all cores share a cache, at most");
    f("hides_interference_ns", p.hides_interference_ns, "ns",
      "of an execution within which a sibling may come and go");
    f("hidden_spread", p.hidden_spread, "times",
      "the least sample: a median above it tells of such a sibling");
    f("private_sweep", p.private_sweep, "times", "the private caches that a sweep of them reads");
    f("read_back_noise", p.read_back_noise, "times",
      "the usual time to read a result: what is above counts");
    f("read_backs_kept", p.read_backs_kept, "readings", "whose median counts");
    f("outputs_checked", p.outputs_checked, "elements", "of each result");
    f("inexact_error", p.inexact_error, "share", "of the result, for inexact algorithms");
    f("side_by_side_within", p.side_by_side_within, "share",
      "of the largest result, by which branches side by side may change one");
    f("stack_gain", p.stack_gain, "times",
      "the time with the usual stack, below which the other place is taken");
    f("stack_tries", p.stack_tries, "executions", "with each place of the stack");
    f("stack_patience_ns", p.stack_patience_ns, "ns", "of that, at most");
    f("most_workspace_bytes", p.most_workspace_bytes, "bytes",
      "of scratch memory, for an algorithm of a device; --all: any");
    f("silence_s", p.silence_s, "s", "of a worker, then it hangs");
    f("silence_flops_per_s", p.silence_flops_per_s, "FLOP/s",
      "of the slowest loops: more patience");
    f("silence_loaded_bytes_per_s", p.silence_loaded_bytes_per_s, "B/s",
      "of weights that are loaded: more patience");
    f("device_silence_s", p.device_silence_s, "s", "of a worker while a device runs a case");
    f("device_silence_flops_per_s", p.device_silence_flops_per_s, "FLOP/s",
      "likewise, of a device");
    f("start_s", p.start_s, "s", "that a worker may need to start");
    f("failed_starts", p.failed_starts, "starts", "in a row, then there is none");
  }

  /// Sets one by its name; refuses a name that there is not, and what is no number of its kind.
  void set(std::string_view name, std::string_view value) {
    constexpr double most = 1e15;
    bool found = false;
    visit(*this, [&](std::string_view its, auto& member, std::string_view unit, std::string_view) {
      if (its != name) return;
      found = true;
      std::remove_reference_t<decltype(member)> read{};
      const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), read);
      if (bad != std::errc{} || end != value.data() + value.size() ||
          !(static_cast<double>(read) > 0 && static_cast<double>(read) <= most))
        throw error("a number of " + std::string(unit) + " above 0 is needed, not \"" +
                        std::string(value) + '"',
                    "--set " + std::string(name));
      member = read;
    });
    if (!found)
      throw error("no parameter is called \"" + std::string(name) + '"', "--set",
                  "--parameters lists them");
  }

  /// Those that are not as usual, as --set takes them; empty: all are.
  std::string changed() const;
};

/// What holds where nothing else is said.
inline constexpr parameters usual_parameters{};

inline std::string parameters::changed() const {
  std::map<std::string_view, double> usual;
  visit(usual_parameters, [&](std::string_view name, const auto& value, std::string_view,
                              std::string_view) { usual[name] = static_cast<double>(value); });
  std::string out;
  visit(*this, [&](std::string_view name, const auto& value, std::string_view, std::string_view) {
    if (static_cast<double>(value) == usual[name]) return;
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out += (out.empty() ? "" : ",") + std::string(name) + '=' + std::string(text, end);
  });
  return out;
}

} // namespace benanza::measure
