// SPDX-License-Identifier: Apache-2.0
// How does a layer become ready to be timed? Operands are made once; each algorithm is prepared,
// asked which implementation really runs, and its result is compared with the reference at sampled
// places.
//
//   layer_subject s(layer, cost, numeric::f32, 1, libraries);   s.begin();
//   s.ready(a_case).run->run(1);
#pragma once

#include "../../backend/make_operands.hpp"
#include "../../backend/reference/reference.hpp"
#include "../../backend/tolerance.hpp"
#include "../../core/rounded.hpp"
#include "../../core/stopwatch.hpp"
#include "../../core/winograd.hpp"
#include "../process/stage.hpp"
#include "memory_need.hpp"
#include "stack_choice.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace benanza::measure {

using library_list = std::vector<std::unique_ptr<backend::library>>;

/// A layer as the subject of a group.
class layer_subject final : public subject {
public:
  layer_subject(const op::layer& l, const op::work& cost, numeric t, int on_threads,
                const library_list& libraries, const parameters& p = usual_parameters)
      : layer_(l)
      , libraries_(libraries)
      , parameters_(p) {
    family = op::family(l);
    key = op::key(l);
    type = t;
    threads = team = on_threads;
    flops = cost.flops();
    direct_flops = op::direct_flops(l);
    bytes = cost.bytes(t);
    minor = op::is_reorder(l);
  }

  const op::layer& layer() const { return layer_; }

  void begin() override {
    const bool on_host = std::any_of(libraries_.begin(), libraries_.end(),
                                     [](const auto& library) { return !library->on_device(); });
    machine::check_memory(bytes_of_operands(layer_, type) + checked_bytes(layer_, type) +
                          (on_host ? prepared_bytes(layer_, type) : 0));
    operands_ = backend::make_operands(layer_, type);
    positions_ = backend::reference::positions_to_check(layer_, parameters_.outputs_checked);
    expected_.resize(positions_.size());
    backend::reference::evaluate(layer_, type, operands_, positions_, expected_);
  }

  void prepare_ahead(const std::vector<bench_case>& cases) override {
    for (const auto& library : libraries_) {
      std::map<std::string, backend::algorithm> its;
      for (const bench_case& c : cases)
        if (library->name() == c.backend) its.emplace(c.algorithm.id, c.algorithm);
      std::vector<backend::algorithm> all;
      for (auto& [id, a] : its)
        all.push_back(std::move(a));
      if (!all.empty()) library->prepare_ahead(layer_, type, all);
    }
  }

  ready_case ready(const bench_case& c) override {
    auto made = prepare(c);
    made.equivalence = check(c, *made.run);
    note_stage(stage::sampling);
    choose_stack_place(*made.run, parameters_);
    return made;
  }

  std::unique_ptr<backend::prepared> unchecked(const bench_case& c) override {
    if (operands_.inputs.empty()) operands_ = backend::make_operands(layer_, type);
    return prepare(c).run;
  }

  void end() override { operands_ = {}; }

private:
  ready_case prepare(const bench_case& c) const {
    for (const auto& library : libraries_) {
      if (library->name() != c.backend) continue;
      if (!library->on_device())
        machine::check_memory(prepared_bytes(layer_, type, c.algorithm) +
                              checked_bytes(layer_, type));
      const stopwatch timer;
      auto made =
          library->prepare(layer_, type, c.algorithm, operands_,
                           {.threads = threads, .keeps_operands = true, .interleaved = true});
      const double took_ns = timer.ns();
      if (made->ran() != c.algorithm.id)
        throw error("the library ran " + made->ran() + " in place of " + c.algorithm.id, title());
      return {std::move(made), took_ns};
    }
    throw error("no backend is called \"" + c.backend + "\"", title());
  }

  /// The class of its results: the library's, or, of a Winograd that turns out to be as exact as
  /// its type, that of the type. Throws where they are wrong.
  std::string check(const bench_case& c, backend::prepared& made) const {
    note_stage(stage::checking);
    made.run(1);
    if (!made.on_device()) machine::make_room(checked_bytes(layer_, type));
    std::vector<double> got;
    made.read_at(positions_, backend::result_count(layer_), got);
    const std::string& its = c.algorithm.equivalence;
    const bool winograd = is_winograd_class(its, type);
    if (is_rounded_class(its, type)) return check_inexact(its, got, rounded_error);
    if (its != name(type) && !winograd) return check_inexact(its, got, parameters_.inexact_error);
    const backend::verdict v = backend::compare(layer_, type, positions_, expected_, got);
    if (v.ok) return std::string(name(type));
    if (winograd) return check_inexact(its, got, winograd_error(type));
    const auto at = static_cast<std::size_t>(v.where);
    throw error("wrong result: " + backend::what_differs(positions_[at], got[at], expected_[at], v),
                title());
  }

  /// An algorithm that says of itself that it is not exact can set no bound; it is timed if it is
  /// not plainly wrong: by its error relative to the whole result.
  std::string check_inexact(const std::string& its, const std::vector<double>& got,
                            double limit) const {
    double error_square = 0, square = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      error_square += (got[i] - expected_[i]) * (got[i] - expected_[i]);
      square += expected_[i] * expected_[i];
    }
    if (error_square <= limit * limit * square) return its;
    char text[96];
    std::snprintf(text, sizeof text, "off by %.3g %% of its root mean square, %.2g %% may be",
                  100 * std::sqrt(error_square / square), 100 * limit);
    throw error("wrong result, even for an inexact algorithm (" + its + "): " + text, title());
  }

  op::layer layer_;
  const library_list& libraries_;
  parameters parameters_;
  backend::operands operands_{};
  std::vector<std::int64_t> positions_{};
  std::vector<double> expected_{};
};

} // namespace benanza::measure
