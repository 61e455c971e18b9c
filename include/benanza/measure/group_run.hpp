// SPDX-License-Identifier: Apache-2.0
// How is a group of competing cases measured? Its subject makes every case ready and answers for
// its result; then all of them are sampled together, and everything is freed. A case that fails
// says why and costs no other case.
//
//   group_runner run(cache_bytes, options);   run.measure(group, stop);   group.cases[0].results[0]
#pragma once

#include "disturbance.hpp"
#include "flight.hpp"
#include "options.hpp"
#include "sampler.hpp"
#include "subject.hpp"
#include "weights_pool.hpp"

#include <map>
#include <new>

namespace benanza::measure {

inline constexpr std::size_t samples_kept = 40;

/// How failures begin after which this process is of no use any more.
inline constexpr std::string_view out_of_memory = "out of memory", device_lost = "device lost";

/// Measures groups, one after the other.
class group_runner {
public:
  group_runner(std::int64_t last_level_cache_bytes, const options& o)
      : pools_(last_level_cache_bytes)
      , options_(o) {}

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
    m.workspace_bytes = c.algorithm.workspace_bytes;
    m.flops = g.what->flops;
    m.algorithm_flops = c.algorithm.flops;
    m.bytes = g.what->bytes;
    return m;
  }

private:
  struct entry {
    bench_case* c;
    std::unique_ptr<backend::prepared> ready;
    double setup_ns;
    std::int64_t pool_bytes;
  };

  void measure_all(group& g, const std::atomic<bool>& stop) {
    flight::note(stage::beginning, -1);
    g.what->begin();
    std::vector<entry> entries;
    for (bench_case& c : g.cases) {
      if (stop) return fail_unmeasured(g, "interrupted");
      flight::note(stage::preparing, place(g, c));
      try {
        ready_case made = g.what->ready(c);
        entries.push_back({&c, std::move(made.run), made.setup_ns, 0});
      } catch (const std::exception& e) {
        c.results[0].error = said(e);
      }
    }
    make_cold(g, entries);
    if (entries.empty()) return;

    std::vector<sampled_case> samples;
    std::map<std::string, int> classes;
    for (const entry& e : entries) {
      const std::string rivals = e.c->state + ' ' + e.c->algorithm.equivalence;
      const int number = classes.emplace(rivals, static_cast<int>(classes.size())).first->second;
      samples.push_back({.run = e.ready.get(), .rival_class = number, .place = place(g, *e.c)});
    }
    const disturbance_watch watch;
    sample(samples,
           {.seconds = options_.seconds * g.what->time_share,
            .rounds = 8,
            .passes = options_.repetitions},
           stop);
    const std::string disturbed = watch.seen();
    for (std::size_t i = 0; i < entries.size(); ++i)
      report(g, entries[i], samples[i], disturbed);
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

  /// Lets every execution of the `coldw` cases take other weights than the last one. The largest
  /// weights come first: they decide how large the arena is that all of them share.
  void make_cold(const group& g, std::vector<entry>& entries) {
    std::vector<entry*> cold;
    for (entry& e : entries)
      if (e.c->state == "coldw") cold.push_back(&e);
    std::sort(cold.begin(), cold.end(), [](const entry* a, const entry* b) {
      return a->ready->weight_bytes() > b->ready->weight_bytes();
    });
    for (entry* e : cold) {
      try {
        const std::int64_t bytes = e->ready->weight_bytes();
        if (bytes <= 0) throw error("the algorithm has no weights that could be cold");
        const pool_slots s = pools_.slots(g.what->weights_type(), bytes);
        e->ready->rotate_weights(s.data, s.stride, s.count);
        e->pool_bytes = s.bytes();
      } catch (const std::exception& failure) {
        e->c->results[0].error = said(failure);
      }
    }
    std::erase_if(entries, [](const entry& e) { return !e.c->results[0].error.empty(); });
  }

  static void report(const group& g, const entry& e, const sampled_case& s,
                     const std::string& disturbed) {
    e.c->results.clear();
    for (const std::vector<double>& pass : s.passes) {
      result::measurement m = blank(g, *e.c);
      m.setup_ns = e.setup_ns;
      m.weight_bytes = e.ready->weight_bytes();
      m.pool_bytes = e.pool_bytes;
      if (pass.empty()) {
        m.error = "interrupted";
      } else {
        const summary figures = summarize(pass);
        m.min_ns = figures.min;
        m.p10_ns = figures.p10;
        m.median_ns = figures.median;
        m.p90_ns = figures.p90;
        m.mad_ns = figures.mad;
        m.samples_ns = thinned(pass, samples_kept);
        m.count = static_cast<std::int64_t>(pass.size());
        m.stop_reason = s.stop_reason;
        m.disturbed = disturbed;
      }
      e.c->results.push_back(std::move(m));
    }
    if (e.c->results.empty()) {
      e.c->results.push_back(blank(g, *e.c));
      e.c->results[0].error = "interrupted";
    }
  }

  static void fail_unmeasured(group& g, const std::string& why) {
    for (bench_case& c : g.cases)
      if (c.results[0].count == 0 && c.results[0].error.empty()) c.results[0].error = why;
  }

  weights_pools pools_;
  const options& options_;
};

} // namespace benanza::measure
