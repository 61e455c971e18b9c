// SPDX-License-Identifier: Apache-2.0
// What does a group of cases time? A layer, a part of the machine, a whole model: each is a subject
// that makes its cases ready to run and answers for their results. The cases of a group are
// prepared, checked and sampled together; how they are sampled does not depend on the subject.
//
//   group g{.what = std::make_shared<layer_subject>(...)};   g.cases.push_back({.name = ...});
#pragma once

#include "../../backend/concept.hpp"
#include "../../result/planned.hpp"
#include "../sampling/noise_monitor.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace benanza::measure {

/// What is done with a case that is not sampled, such as a model to which requests come by chance.
class other_run {
public:
  virtual ~other_run() = default;
  /// The times of what was run, in ns by the clock `now`; `m` gets what else was seen.
  virtual std::vector<double> run(backend::prepared& what, const std::function<double()>& now,
                                  const std::atomic<bool>& stop, result::measurement& m) const = 0;
};

/// One entry of Google Benchmark.
struct bench_case {
  std::string name;
  std::string backend;
  backend::algorithm algorithm;
  std::string state;
  std::shared_ptr<const other_run> unsampled{}; ///< how it runs; null: it is sampled
  /// One a repetition, once the group was measured.
  std::vector<result::measurement> results{};
  bool on_device = false; ///< a device runs it, and not the host
};

/// A case that can be timed, and what it took to make it so (checking left out).
struct ready_case {
  std::unique_ptr<backend::prepared> run;
  double setup_ns = 0;
  std::string equivalence{}; ///< of its results, where they say more than the library
};

/// What a group of cases times. Numbers that all of its cases share are plain members.
class subject {
public:
  virtual ~subject() = default;

  std::string family{}, key{};
  numeric type = numeric::f32;
  int threads = 1;
  int team = 1;                  ///< OpenMP threads that read what others of them wrote
  known_best known{};            ///< of this machine, when the layers were measured
  std::int64_t flops = 0;        ///< of one execution, as a textbook counts them
  std::int64_t direct_flops = 0; ///< what a direct algorithm needs; a rate is counted in these
  std::int64_t bytes = 0;        ///< that one execution moves
  std::int64_t loaded_bytes =
      0;                      ///< weights that the host brings where they are used: it works then
  double time_share = 1;      ///< of the sampling time of a case
  bool read_in_order = false; ///< its result, by the layers behind it; else in tiles
  bool minor = false;         ///< hardly any bound rests on it: its winner gets no more patience

  /// The name that people know it by: family and key.
  std::string title() const { return family + '/' + key; }

  /// Makes what all cases need. Called once, before any case is made ready.
  virtual void begin() {}
  /// Does for all of these at once what takes each long; called before the first is made ready.
  virtual void prepare_ahead(const std::vector<bench_case>&) {}
  /// The case's algorithm ready to run, its result found right. Called once an algorithm: all of
  /// its cache states share what is made. Throws benanza::error where the result is wrong.
  virtual ready_case ready(const bench_case&) = 0;
  /// The case's algorithm, ready to run but not checked, for a look at what it runs; `begin` was
  /// not called.
  virtual std::unique_ptr<backend::prepared> unchecked(const bench_case& c) {
    begin();
    return ready(c).run;
  }
  /// Storage of the weights that `coldw` rotates.
  dtype weights_type() const { return weights_of(type); }
  /// Adds to the results of its cases what only several of them show.
  virtual void conclude(std::vector<bench_case>&) const {}
  /// Frees what `begin` made.
  virtual void end() {}
};

/// Cases that compete, and so are measured together.
struct group {
  std::shared_ptr<subject> what;
  std::vector<bench_case> cases{};
  result::planned_cases offered{}; ///< before a filter; empty: these are all
  bool measured = false;
  bool ahead = true; ///< its subject may prepare for all cases at once
};

} // namespace benanza::measure
