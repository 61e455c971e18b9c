// SPDX-License-Identifier: Apache-2.0
// How is a group of competing cases measured? Its subject makes every case ready and answers for
// its result; then all of them are sampled together, and everything is freed. An algorithm is made
// ready once for all cache states. A case that fails says why and costs no other case.
//
//   group_runner run({.llc_bytes = 32 << 20}, request);   run.measure(group, stop);
//   group.cases[0].results[0]
#pragma once

#include "../../machine/package_energy.hpp"
#include "../../result/device.hpp"
#include "../../result/parts.hpp"
#include "../cache/read_back.hpp"
#include "../cache/states.hpp"
#include "../cache/weights_pool.hpp"
#include "../noise/host_monitor.hpp"
#include "../process/stage.hpp"
#include "../sampling/energy.hpp"
#include "../sampling/sampler.hpp"
#include "../sampling/statistics.hpp"
#include "../subjects/subject.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <utility>

namespace benanza::measure {

/// The beginnings of failures after which this process is of no use any more: there was no memory,
/// the device was lost, or it had been lost by another algorithm.
inline constexpr std::string_view out_of_memory = "out of memory",
                                  device_lost = "device lost: ", device_lost_by = "device lost by ";

/// How large the caches are that cases find filled or swept.
struct cache_sizes {
  std::int64_t llc_bytes = 0; ///< of the last-level cache: after reading so much nothing is left
  std::int64_t private_bytes = 0; ///< of the caches that are a core's own
  /// Read on end, they leave nothing in the last-level cache; 0: four times what it holds.
  std::int64_t outlasting_bytes = 0;
};

/// What the machine could do at best, as far as it was seen while measuring.
struct machine_seen {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double clock_ns = 0; ///< the loop of noise/clock_probe.hpp; 0: not known
  /// The ratio of noise/smt_probe.hpp, as it was calibrated, and at best.
  double calibrated_nop_ratio = unknown, best_nop_ratio = unknown;
};

/// Measures groups, one after the other.
class group_runner {
public:
  /// Watches the machine itself unless it is given a monitor; without `packages` cases of the
  /// processor have no energy.
  group_runner(const cache_sizes& caches, const sampling_request& asked, noise_monitor* m = nullptr,
               machine::package_energy* packages = nullptr)
      : caches_(caches)
      , pools_(caches.outlasting_bytes > 0 ? caches.outlasting_bytes : 4 * caches.llc_bytes)
      , sweeper_(caches.llc_bytes)
      , private_sweeper_(asked.parameters.private_sweep * caches.private_bytes)
      , asked_(asked)
      , monitor_(m)
      , packages_(packages) {}

  /// Fills in the results of all cases of `g`.
  void measure(group& g, const std::atomic<bool>& stop) {
    g.measured = true;
    for (bench_case& c : g.cases)
      c.results.assign(1, blank(g, c));
    try {
      measure_all(g, stop);
    } catch (const backend::device_lost& e) {
      blame(g, said(e));
    } catch (const std::exception& e) {
      fail_unmeasured(g, said(e));
    }
    note_stage(stage::ending, -1);
    g.what->end();
  }

  /// What a team of so many threads has seen of the machine.
  machine_seen seen(int team) const {
    if (!host_) return {};
    const auto [calibrated, best] = host_->nop_ratios(team);
    return {host_->best_clock_ns(team), calibrated, best};
  }

  /// What is known of a case before it is measured.
  static result::measurement blank(const group& g, const bench_case& c) {
    result::measurement m;
    m.name = c.name;
    m.family = g.what->family;
    m.key = g.what->key;
    m.type = name(g.what->type);
    m.backend = c.backend;
    m.algorithm = c.algorithm.id;
    m.algorithm_index = c.algorithm.index;
    m.state = c.state;
    m.threads = g.what->threads;
    m.layouts = c.algorithm.layouts;
    m.operand_layouts = c.algorithm.operand_layouts;
    m.result_layout = c.algorithm.result_layout;
    m.equivalence = c.algorithm.equivalence;
    m.fallback = c.algorithm.fallback;
    m.notes = c.algorithm.notes;
    m.opaque = c.algorithm.opaque;
    m.workspace_bytes = c.algorithm.workspace_bytes;
    m.flops = g.what->flops;
    m.algorithm_flops = c.algorithm.flops;
    m.bytes = g.what->bytes;
    return m;
  }

private:
  /// An algorithm, ready to run, or why it is not.
  struct algorithm {
    ready_case made{};
    std::string problem{};
    pool_slots pool{}; ///< of cold weights; empty unless a case wants them
  };
  struct entry {
    bench_case* c;
    algorithm* what;
  };

  void measure_all(group& g, const std::atomic<bool>& stop) {
    note_stage(stage::beginning, -1);
    g.what->begin();
    if (g.ahead) {
      note_stage(stage::preparing, -1);
      g.what->prepare_ahead(g.cases);
    }
    std::map<std::pair<std::string, std::string>, algorithm> algorithms;
    std::vector<entry> entries;
    std::string lost_by; // why what runs on the device cannot any more
    for (bench_case& c : g.cases) {
      if (stop) return fail_unmeasured(g, std::string(result::stopped));
      note_stage(stage::preparing, place(g, c));
      const auto [at, is_new] = algorithms.try_emplace({c.backend, c.algorithm.id});
      if (is_new) try {
          at->second.made = g.what->ready(c);
        } catch (const backend::device_lost& e) {
          at->second.problem = lost_by.empty() ? said(e) : lost_by;
          if (lost_by.empty()) lost_by = std::string(device_lost_by) + algorithm_of(c);
        } catch (const std::exception& e) {
          at->second.problem = said(e);
        }
      c.results[0].error = at->second.problem;
      if (const std::string& its = at->second.made.equivalence; !its.empty())
        c.algorithm.equivalence = c.results[0].equivalence = its;
      entries.push_back({&c, &at->second});
    }
    if (!lost_by.empty())
      for (const entry& e : entries)
        if (e.what->made.run && e.what->made.run->on_device()) e.c->results[0].error = lost_by;
    find_pools(g, entries);
    make_sweepers(entries);
    std::erase_if(entries, [](const entry& e) { return !e.c->results[0].error.empty(); });
    if (entries.empty()) return;

    if (monitor_ == nullptr) monitor_ = &host_.emplace(caches_.llc_bytes, asked_.parameters);
    monitor_->expect(g.what->team, g.what->known);
    wake_device(entries);
    for (const entry& e : entries)
      if (e.c->unsampled && !stop) run_otherwise(g, e, stop);
    std::erase_if(entries, [](const entry& e) { return e.c->unsampled != nullptr; });
    if (entries.empty()) return;

    std::vector<sampled_case> samples;
    std::map<std::string, int> classes;
    for (const entry& e : entries) {
      const std::string rivals = e.c->state + ' ' + e.c->algorithm.equivalence +
                                 (e.what->made.run->on_device() ? " on a device" : "");
      const int number = classes.emplace(rivals, static_cast<int>(classes.size())).first->second;
      samples.push_back(to_sample(g, e, number));
    }
    sampling_plan plan = plan_of(asked_, g.what->time_share);
    if (g.what->minor) plan.leaders_patience = plan.patience;
    sample(samples, plan, *monitor_, stop);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const energy_counter counter = counter_of(samples[i]);
      const bool wanted = !stop && counter.joules && has_energy(g, entries[i], samples[i]) &&
                          times_behind(samples[i], samples) <= tie_range &&
                          on_end_ns(counter.step_ns) <= 1e9 * plan.seconds;
      report(g, entries[i], samples[i],
             wanted ? watts_of(samples[i], counter, *monitor_, asked_.parameters).value_or(0) : 0);
    }
    g.what->conclude(g.cases);
  }

  /// What counts the energy of a case.
  energy_counter counter_of(const sampled_case& s) const {
    if (backend::device_control* device = s.run->own_device())
      return {.joules = [device] { return device->joules(); }, .step_ns = device_energy_step_ns};
    if (packages_ == nullptr || !packages_->why_not().empty()) return {};
    return {.joules = [this] { return packages_->joules(); },
            .step_ns = machine::package_energy::step_ns};
  }

  /// True for a case that runs layers, as frameworks would, and was sampled to its end undisturbed.
  static bool has_energy(const group& g, const entry& e, const sampled_case& s) {
    const sampled_pass& last = s.passes.back();
    return g.what->family != "machine" && !g.what->minor &&
           (g.what->family != "model" || e.c->state == result::whole_run) &&
           !last.samples.empty() && last.disturbed.empty() &&
           !result::was_raced_out(last.stop_reason);
  }

  /// While operands were made and checked on the host, a device may have gone to sleep.
  static void wake_device(const std::vector<entry>& entries) {
    for (const entry& e : entries)
      if (backend::device_control* device = e.what->made.run->own_device()) return device->wake();
  }

  static std::string said(const std::exception& e) {
    if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return std::string(out_of_memory);
    if (dynamic_cast<const backend::device_lost*>(&e) != nullptr)
      return std::string(device_lost) + e.what();
    return e.what();
  }

  static std::string algorithm_of(const bench_case& c) { return c.backend + '/' + c.algorithm.id; }

  /// The device was lost while cases were timed, or when the group began. As far as is known it was
  /// the algorithm at work, and no other.
  static void blame(group& g, const std::string& why) {
    const stage_board& now = *current_board();
    const int at = now.doing == stage::sampling ? now.on_case.load() : -1;
    if (at < 0 || at >= static_cast<int>(g.cases.size())) return fail_unmeasured(g, why);
    const std::string by = algorithm_of(g.cases[static_cast<std::size_t>(at)]);
    for (bench_case& c : g.cases)
      if (unmeasured(c))
        c.results[0].error = algorithm_of(c) == by ? why : std::string(device_lost_by) + by;
  }

  static int place(const group& g, const bench_case& c) {
    return static_cast<int>(&c - g.cases.data());
  }

  sampled_case to_sample(const group& g, const entry& e, int rival_class) {
    backend::prepared* const run = e.what->made.run.get();
    sampled_case s{.run = run,
                   .rival_class = rival_class,
                   .place = place(g, *e.c),
                   .by_median = e.c->state != "hot",
                   .stays_cold = !run->on_device() && pools_.outlast_cache(run->weight_bytes()),
                   .ran_recently = e.c->state == "llcw" || e.c->state == "coldw",
                   .fewest_samples = asked_.parameters.fewest_samples};
    const pool_slots pool = e.c->state == "coldw" ? e.what->pool : pool_slots{};
    s.enter = [run, pool, flushed = e.c->state == "cold"] {
      run->rotate_weights(pool.data, pool.stride, pool.count);
      if (backend::device_control* device = run->own_device()) device->flush_before_each(flushed);
    };
    if (run->on_device()) return s;
    if (e.c->state == "cold")
      s.before_execution = [this, threads = g.what->threads] { sweeper_.sweep(threads); };
    if (e.c->state == "llcw" || e.c->state == "coldw")
      leave_to_others(s, *g.what, e.c->state == "coldw");
    return s;
  }

  /// Before each execution the caches are as the other layers of a network leave them. Between two
  /// uses of the result's memory two layers of the same size ran, and not more between two of the
  /// scratch memory. `half_gone`: buffers larger than a core's own caches lost half of their lines
  /// from the last-level cache.
  void leave_to_others(sampled_case& s, const subject& what, bool half_gone) {
    const int threads = what.threads;
    backend::in_memory* const memory = s.run->activations();
    if (memory == nullptr) {
      s.before_execution = [this, threads] { private_sweeper_.displace(threads); };
      return;
    }
    const std::vector<std::span<std::byte>> operands = memory->operand_memory();
    const std::span<std::byte> result = memory->result_memory(), scratch = memory->scratch_memory();
    std::int64_t between = s.run->weight_bytes();
    for (const std::span<std::byte>& o : operands)
      between += std::ssize(o);
    between = 2 * between + std::ssize(result); // the result of the first of the two
    const reading how = what.read_in_order ? reading::in_order : reading::in_tiles;
    const auto back = std::make_shared<read_back>(result, threads, how, asked_.parameters);
    s.before_execution = [this, threads] { private_sweeper_.displace(threads); };
    s.restore_caches = [this, back, operands, result, scratch, between, threads, half_gone] {
      back->write();
      if (half_gone) {
        flush_half(result, caches_.private_bytes);
        flush_half(scratch, caches_.private_bytes);
      }
      private_sweeper_.displace(between / threads, threads);
      rewrite(operands, threads);
    };
    s.read_back_ns = [back] { return back->longer_ns(); };
  }

  /// Finds each `coldw` case a pool that gives every execution other weights than the last one, if
  /// it needs one. The largest weights come first: they decide how large the arena is that all of
  /// them share.
  void find_pools(const group& g, const std::vector<entry>& entries) {
    std::vector<entry> cold;
    for (const entry& e : entries)
      if (e.c->state == "coldw" && e.what->made.run) cold.push_back(e);
    std::sort(cold.begin(), cold.end(), [](const entry& a, const entry& b) {
      return a.what->made.run->weight_bytes() > b.what->made.run->weight_bytes();
    });
    for (const entry& e : cold) {
      try {
        if (backend::device_control* device = e.what->made.run->own_device())
          e.what->pool = device->weight_pool();
        else if (const std::int64_t bytes = e.what->made.run->weight_bytes(); bytes > 0)
          e.what->pool = pools_.slots(g.what->weights_type(), bytes);
      } catch (const std::exception& failure) {
        e.c->results[0].error = said(failure);
      }
    }
  }

  /// Where there is no memory for sweeps, the cases that want them fail, and no others.
  void make_sweepers(const std::vector<entry>& entries) {
    for (const entry& e : entries) {
      if (!e.c->results[0].error.empty() || e.what->made.run->on_device()) continue;
      try {
        if (e.c->state == "llcw" || e.c->state == "coldw") private_sweeper_.make();
        if (e.c->state == "cold") sweeper_.make();
      } catch (const std::exception& failure) {
        e.c->results[0].error = said(failure);
      }
    }
  }

  /// What a case says is done in place of sampling it.
  void run_otherwise(const group& g, const entry& e, const std::atomic<bool>& stop) {
    note_stage(stage::sampling, place(g, *e.c));
    result::measurement m = blank(g, *e.c);
    backend::prepared& model = *e.what->made.run;
    monitor_->begin_slice();
    const double began_ns = monitor_->now_ns();
    const std::vector<double> times = e.c->unsampled->run(
        model,
        [this] {
          note_stage(stage::sampling);
          return monitor_->now_ns();
        },
        stop, m);
    m.sampling_ns = monitor_->now_ns() - began_ns;
    m.clock_ns = m.min_clock_ns = monitor_->clock_after_sample_ns();
    noise seen = monitor_->end_slice();
    seen.other_load = monitor_->end_window().other_load;
    noise_sum all;
    all.add(seen, asked_.parameters);
    m.disturbed = remedy(all);
    m.device = model.on_device() ? result::gpu_device : result::cpu_device;
    m.setup_ns = e.what->made.setup_ns;
    m.weight_bytes = model.weight_bytes();
    if (stop || times.empty()) {
      m.error = result::stopped;
    } else {
      m.samples_ns = thinned(times, static_cast<std::size_t>(asked_.parameters.samples_kept));
      const summary figures = summarize(times);
      m.min_ns = figures.min;
      m.p10_ns = figures.p10;
      m.median_ns = figures.median;
      m.p90_ns = figures.p90;
      m.mad_ns = figures.mad;
      m.count = std::ssize(times);
      m.stop_reason = result::time_limit;
    }
    e.c->results.assign(1, std::move(m));
  }

  /// `watts`: drawn while it ran on end; 0: not known.
  void report(const group& g, const entry& e, const sampled_case& s, double watts) const {
    e.c->results.clear();
    for (const sampled_pass& pass : s.passes) {
      result::measurement m = blank(g, *e.c);
      m.device = s.run->on_device() ? result::gpu_device : result::cpu_device;
      m.setup_ns = e.what->made.setup_ns;
      for (const std::string& remark : {s.run->remark(), pass.remark})
        if (!remark.empty()) m.notes += (m.notes.empty() ? "" : ",") + remark;
      m.weight_bytes = s.run->weight_bytes();
      if (e.c->state == "coldw")
        m.pool_bytes = e.what->pool.count > 0 ? e.what->pool.bytes() : m.weight_bytes;
      if (pass.samples.empty()) {
        m.error = result::stopped;
      } else {
        const summary figures = summarize(pass.samples);
        m.min_ns = figures.min;
        m.p10_ns = figures.p10;
        m.median_ns = figures.median;
        m.p90_ns = figures.p90;
        m.mad_ns = figures.mad;
        m.samples_ns =
            thinned(pass.samples, static_cast<std::size_t>(asked_.parameters.samples_kept));
        m.count = static_cast<std::int64_t>(pass.samples.size());
        m.stop_reason = pass.stop_reason;
        m.disturbed = pass.disturbed;
        m.rejected = pass.rejected;
        m.clock_ns = pass.clock_ns;
        m.min_clock_ns = pass.least_clock_ns;
        m.sampling_ns = pass.took_ns;
        m.energy_nj = watts * m.median_ns;
        if (const backend::in_parts* parts = s.run->parts()) {
          m.parts = parts->parts_of(pass.samples);
          m.calls = parts->calls_of(pass.samples);
        }
      }
      e.c->results.push_back(std::move(m));
    }
    if (e.c->results.empty()) {
      e.c->results.push_back(blank(g, *e.c));
      e.c->results[0].error = result::stopped;
    }
  }

  static void fail_unmeasured(group& g, const std::string& why) {
    for (bench_case& c : g.cases)
      if (unmeasured(c)) c.results[0].error = why;
  }
  static bool unmeasured(const bench_case& c) {
    return c.results[0].count == 0 && c.results[0].error.empty();
  }

  cache_sizes caches_;
  weights_pools pools_;
  cache_sweeper sweeper_, private_sweeper_;
  const sampling_request& asked_;
  noise_monitor* monitor_;
  machine::package_energy* packages_;
  /// Made by the thread that measures, when it first does.
  std::optional<host_monitor> host_{};
};

} // namespace benanza::measure
