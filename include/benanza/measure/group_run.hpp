// SPDX-License-Identifier: Apache-2.0
// How is a group of competing cases measured? Its subject makes every case ready and answers for
// its result; then all of them are sampled together, and everything is freed. An algorithm is made
// ready once for all cache states. A case that fails says why and costs no other case.
//
//   group_runner run(cache_bytes, options);   run.measure(group, stop);   group.cases[0].results[0]
#pragma once

#include "../result/device.hpp"
#include "caches.hpp"
#include "flight.hpp"
#include "hand_over.hpp"
#include "machine_witness.hpp"
#include "options.hpp"
#include "sampler.hpp"
#include "statistics.hpp"
#include "subject.hpp"
#include "weights_pool.hpp"

#include <map>
#include <new>
#include <optional>
#include <utility>

namespace benanza::measure {

inline constexpr std::size_t samples_kept = 40;

/// How failures begin after which this process is of no use any more.
inline constexpr std::string_view out_of_memory = "out of memory", device_lost = "device lost";

/// Measures groups, one after the other.
class group_runner {
public:
  /// Looks at the machine itself unless it is given a `witness`.
  /// `private_bytes`: what the caches of a core hold that are its own. `outlasting_bytes`: read on
  /// end, they leave nothing in the last cache; 0: four times what it holds.
  group_runner(std::int64_t last_level_cache_bytes, const options& o, witness* w = nullptr,
               std::int64_t private_bytes = 0, std::int64_t outlasting_bytes = 0)
      : cache_bytes_(last_level_cache_bytes)
      , private_bytes_(private_bytes)
      , pools_(outlasting_bytes > 0 ? outlasting_bytes : 4 * last_level_cache_bytes)
      , sweeper_(last_level_cache_bytes)
      , private_sweeper_(private_swept * private_bytes)
      , options_(o)
      , witness_(w) {}

  /// Fills in the results of all cases of `g`.
  void measure(group& g, const std::atomic<bool>& stop) {
    g.measured = true;
    for (bench_case& c : g.cases)
      c.results.assign(1, blank(g, c));
    try {
      measure_all(g, stop);
    } catch (const std::exception& e) {
      fail_unmeasured(g, said(e));
    }
    flight::note(stage::ending, -1);
    g.what->end();
  }

  /// The loop that tells the clock, at its best in what was measured here; 0: nothing was.
  double best_clock_ns(int team) const { return machine_ ? machine_->best_clock_ns(team) : 0; }

  /// How fast the cores begin instructions, at first and at best (machine_witness.hpp).
  std::pair<double, double> begin_ratios(int team) const {
    constexpr double unknown = std::numeric_limits<double>::infinity();
    return machine_ ? machine_->begin_ratios(team) : std::pair{unknown, unknown};
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
    flight::note(stage::beginning, -1);
    g.what->begin();
    std::map<std::pair<std::string, std::string>, algorithm> algorithms;
    std::vector<entry> entries;
    for (bench_case& c : g.cases) {
      if (stop) return fail_unmeasured(g, std::string(result::stopped));
      flight::note(stage::preparing, place(g, c));
      const auto [at, is_new] = algorithms.try_emplace({c.backend, c.algorithm.id});
      if (is_new) try {
          at->second.made = g.what->ready(c);
        } catch (const std::exception& e) {
          at->second.problem = said(e);
        }
      c.results[0].error = at->second.problem;
      entries.push_back({&c, &at->second});
    }
    find_pools(g, entries);
    make_sweepers(entries);
    std::erase_if(entries, [](const entry& e) { return !e.c->results[0].error.empty(); });
    if (entries.empty()) return;

    std::vector<sampled_case> samples;
    std::map<std::string, int> classes;
    for (const entry& e : entries) {
      const std::string rivals = e.c->state + ' ' + e.c->algorithm.equivalence +
                                 (e.what->made.run->on_device() ? " on a device" : "");
      const int number = classes.emplace(rivals, static_cast<int>(classes.size())).first->second;
      samples.push_back(to_sample(g, e, number));
    }
    if (witness_ == nullptr) witness_ = &machine_.emplace(cache_bytes_);
    witness_->expect(g.what->team, g.what->known);
    wake_device(entries);
    sampling_plan plan = plan_of(options_, g.what->time_share);
    if (g.what->minor) plan.leaders_patience = plan.patience;
    sample(samples, plan, *witness_, stop);
    for (std::size_t i = 0; i < entries.size(); ++i)
      report(g, entries[i], samples[i]);
  }

  /// While operands were made and checked on the host, a device may have gone to sleep.
  static void wake_device(const std::vector<entry>& entries) {
    for (const entry& e : entries)
      if (e.what->made.run->on_device()) return e.what->made.run->wake();
  }

  static std::string said(const std::exception& e) {
    if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return std::string(out_of_memory);
    if (dynamic_cast<const backend::device_lost*>(&e) != nullptr)
      return std::string(device_lost) + ": " + e.what();
    return e.what();
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
                   .comes_back_soon = e.c->state == "llcw" || e.c->state == "coldw"};
    const pool_slots pool = e.c->state == "coldw" ? e.what->pool : pool_slots{};
    const bool flushed = e.c->state == "cold" && run->on_device();
    s.enter = [run, pool, flushed] {
      run->rotate_weights(pool.data, pool.stride, pool.count);
      run->flush_before_each(flushed);
    };
    if (run->on_device()) return s;
    if (e.c->state == "cold")
      s.before_execution = [this, threads = g.what->threads] { sweeper_.sweep(threads); };
    if (e.c->state == "llcw" || e.c->state == "coldw")
      leave_to_others(s, g.what->threads, e.c->state == "coldw");
    return s;
  }

  /// Before each execution the caches are as the other layers of a network leave them. The memory
  /// of the result was last used before the two layers before ran, each of which is taken to go
  /// through as much as this one does, and scratch memory not for longer than that; `half_gone`:
  /// half of what is too large for a core's own caches has left the last cache too.
  void leave_to_others(sampled_case& s, int threads, bool half_gone) {
    const std::vector<std::span<std::byte>> operands = s.run->operand_memory();
    const std::span<std::byte> result = s.run->result_memory(), scratch = s.run->scratch_memory();
    std::int64_t between = s.run->weight_bytes();
    for (const std::span<std::byte>& o : operands)
      between += std::ssize(o);
    between = 2 * between + std::ssize(result); // the result of the first of the two
    const auto next = std::make_shared<hand_over>(result, threads);
    s.before_execution = [this, threads] { private_sweeper_.displace(threads); };
    s.bring_back = [this, next, operands, result, scratch, between, threads, half_gone] {
      next->write();
      if (half_gone) {
        flush_half(result, private_bytes_);
        flush_half(scratch, private_bytes_);
      }
      private_sweeper_.displace(between / threads, threads);
      rewrite(operands, threads);
    };
    s.left_ns = [next] { return next->waited_ns(); };
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
        const std::int64_t bytes = e.what->made.run->weight_bytes();
        if (bytes == 0) continue;
        backend::prepared& run = *e.what->made.run;
        e.what->pool =
            run.on_device() ? run.own_pool() : pools_.slots(g.what->weights_type(), bytes);
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

  static void report(const group& g, const entry& e, const sampled_case& s) {
    e.c->results.clear();
    for (const sampled_pass& pass : s.passes) {
      result::measurement m = blank(g, *e.c);
      m.device = s.run->on_device() ? result::gpu_device : result::cpu_device;
      m.setup_ns = e.what->made.setup_ns;
      if (const std::string remark = s.run->remark(); !remark.empty())
        m.notes += (m.notes.empty() ? "" : ",") + remark;
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
        m.samples_ns = thinned(pass.samples, samples_kept);
        m.count = static_cast<std::int64_t>(pass.samples.size());
        m.stop_reason = pass.stop_reason;
        m.disturbed = pass.disturbed;
        m.rejected = pass.rejected;
        m.clock_ns = pass.clock_ns;
        m.min_clock_ns = pass.least_clock_ns;
        m.sampling_ns = pass.took_ns;
        m.energy_nj = pass.power_w * figures.median;
        for (const backend::part_time& p : s.run->parts(pass.samples)) {
          m.parts.append(m.parts.empty() ? "" : "\n").append(p.name);
          m.parts_ns.push_back(p.ns);
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
      if (c.results[0].count == 0 && c.results[0].error.empty()) c.results[0].error = why;
  }

  std::int64_t cache_bytes_, private_bytes_;
  /// Private caches are swept by so many times their size: a little less leaves some data there.
  static constexpr std::int64_t private_swept = 4;
  weights_pools pools_;
  cache_sweeper sweeper_, private_sweeper_;
  const options& options_;
  witness* witness_;
  /// Made by the thread that measures, when it first does.
  std::optional<machine_witness> machine_{};
};

} // namespace benanza::measure
