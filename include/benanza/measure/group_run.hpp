// SPDX-License-Identifier: Apache-2.0
// How is a group of competing cases measured? Operands are made once; every algorithm is prepared,
// asked which implementation really runs, and checked against the reference; then all of them are
// sampled together, and everything is freed. A case that fails says why and costs no other case.
//
//   group_runner run(cache_bytes, options);   run.measure(group, stop);   group.cases[0].results[0]
#pragma once

#include "../backend/make_operands.hpp"
#include "../backend/reference/reference.hpp"
#include "../backend/tolerance.hpp"
#include "bench_case.hpp"
#include "disturbance.hpp"
#include "sampler.hpp"
#include "weights_pool.hpp"

#include <chrono>
#include <cstdio>
#include <optional>

namespace benanza::measure {

inline constexpr std::size_t samples_kept = 40;
inline constexpr std::int64_t outputs_checked = 2000;
/// Error that an algorithm of another equivalence class may have, relative to the whole result.
inline constexpr double inexact_limit = 0.1;

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
      fail_unmeasured(g, e.what());
    }
  }

private:
  /// An algorithm whose result was found right; its cases share the check.
  struct checked {
    std::unique_ptr<backend::prepared> ready;
    std::string problem;
    double setup_ns = 0;
  };
  struct entry {
    bench_case* c;
    std::unique_ptr<backend::prepared> ready;
    double setup_ns;
    std::int64_t pool_bytes;
  };

  void measure_all(group& g, const std::atomic<bool>& stop) {
    const backend::operands operands = backend::make_operands(g.layer, g.type);
    const std::vector<std::int64_t> positions =
        backend::reference::positions_to_check(g.layer, outputs_checked);
    std::vector<double> expected(positions.size());
    backend::reference::evaluate(g.layer, g.type, operands, positions, expected);

    std::map<std::pair<std::string, std::string>, checked> algorithms;
    std::vector<entry> entries;
    for (bench_case& c : g.cases) {
      if (stop) return fail_unmeasured(g, "interrupted");
      auto [at, fresh] = algorithms.try_emplace({std::string(c.library->name()), c.algorithm.id});
      checked& a = at->second;
      try {
        if (fresh) check(g, c, operands, positions, expected, a);
        if (!a.problem.empty()) throw error(a.problem);
        if (!a.ready) prepare(g, c, operands, a); // the other state took the first one
        entries.push_back({&c, std::move(a.ready), a.setup_ns, 0});
      } catch (const std::exception& e) {
        if (a.problem.empty()) a.problem = e.what();
        c.results[0].error = e.what();
      }
    }
    make_cold(g, entries);
    if (entries.empty()) return;

    std::vector<sampled_case> samples;
    std::map<std::string, int> classes;
    for (const entry& e : entries) {
      const std::string rivals = e.c->state + ' ' + e.c->algorithm.equivalence;
      const int number = classes.emplace(rivals, static_cast<int>(classes.size())).first->second;
      samples.push_back({.run = e.ready.get(), .rival_class = number});
    }
    const disturbance_watch watch;
    sample(samples, {.seconds = options_.seconds, .rounds = 8, .passes = options_.repetitions},
           stop);
    const std::string disturbed = watch.seen();
    for (std::size_t i = 0; i < entries.size(); ++i)
      report(g, entries[i], samples[i], disturbed);
  }

  static void prepare(const group& g, const bench_case& c, const backend::operands& operands,
                      checked& a) {
    const auto start = std::chrono::steady_clock::now();
    a.ready = c.library->prepare(g.layer, g.type, c.algorithm, operands, {.threads = g.threads});
    a.setup_ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    if (a.ready->ran() != c.algorithm.id)
      throw error("the library ran " + a.ready->ran() + " in place of " + c.algorithm.id,
                  op::name(g.layer));
  }

  static void check(const group& g, const bench_case& c, const backend::operands& operands,
                    const std::vector<std::int64_t>& positions, const std::vector<double>& expected,
                    checked& a) {
    prepare(g, c, operands, a);
    a.ready->run(1);
    std::vector<double> all, got;
    a.ready->read(all);
    if (static_cast<std::int64_t>(all.size()) != elements(op::output(g.layer)))
      throw error("the result has " + std::to_string(all.size()) + " elements", op::name(g.layer));
    got.reserve(positions.size());
    for (std::int64_t p : positions)
      got.push_back(all[static_cast<std::size_t>(p)]);
    if (c.algorithm.equivalence != name(g.type)) return check_inexact(g, expected, got);
    const backend::verdict v = backend::compare(g.layer, g.type, expected, got);
    if (v.ok) return;
    const auto at = static_cast<std::size_t>(v.where);
    char text[160];
    std::snprintf(text, sizeof text,
                  "wrong result: output %lld is %.9g and should be %.9g (%.3g times the tolerance)",
                  static_cast<long long>(positions[at]), got[at], expected[at], v.worst);
    throw error(text, op::name(g.layer));
  }

  /// An algorithm that says of itself that it is not exact can set no bound; it is timed if it is
  /// not plainly wrong.
  static void check_inexact(const group& g, const std::vector<double>& expected,
                            const std::vector<double>& got) {
    double error_square = 0, square = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      error_square += (got[i] - expected[i]) * (got[i] - expected[i]);
      square += expected[i] * expected[i];
    }
    if (!(error_square <= inexact_limit * inexact_limit * square))
      throw error("wrong result, even for an inexact algorithm", op::name(g.layer));
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
        const pool_slots s = pools_.slots(weights_of(g.type), bytes);
        e->ready->rotate_weights(s.data, s.stride, s.count);
        e->pool_bytes = s.bytes();
      } catch (const std::exception& failure) {
        e->c->results[0].error = failure.what();
      }
    }
    std::erase_if(entries, [](const entry& e) { return !e.c->results[0].error.empty(); });
  }

  static result::measurement blank(const group& g, const bench_case& c) {
    result::measurement m;
    m.name = c.name;
    m.family = op::family(g.layer);
    m.key = op::key(g.layer);
    m.type = name(g.type);
    m.backend = c.library->name();
    m.algorithm = c.algorithm.id;
    m.algorithm_index = c.algorithm.index;
    m.state = c.state;
    m.threads = g.threads;
    m.layouts = c.algorithm.layouts;
    m.equivalence = c.algorithm.equivalence;
    m.fallback = c.algorithm.fallback;
    m.workspace_bytes = c.algorithm.workspace_bytes;
    m.flops = g.cost.flops();
    m.algorithm_flops = c.algorithm.flops;
    m.bytes = g.cost.bytes(g.type);
    return m;
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
