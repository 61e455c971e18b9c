// SPDX-License-Identifier: Apache-2.0
// A whole model as one thing to run: the algorithms of a plan one after the other, each reading
// what others wrote, with weights of its own, and reorders where two layouts meet.
// `verify` runs it once, node by node, and holds each result against the reference on the operands
// that the node really read.
//
//   chain c(plan, libraries);   c.verify();   double ns = c.time(1);
#pragma once

#include "../backend/indices.hpp"
#include "../backend/reference/reference.hpp"
#include "../backend/tolerance.hpp"
#include "../result/parts.hpp"
#include "../result/plan.hpp"
#include "../result/statistics.hpp"
#include "chain_builder.hpp"
#include "move_times.hpp"
#include "unpack.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace benanza::measure {

/// A plan that runs.
class chain final : public backend::prepared {
public:
  chain(const result::plan& p, const library_list& libraries)
      : plan_(p)
      , built_(chain_builder(plan_, libraries).build())
      , times_(built_.moves.size()) {}

  std::string ran() const override { return "plan"; }
  std::int64_t weight_bytes() const override {
    std::int64_t sum = 0;
    for (const chain_move& m : moves_)
      if (m.run) sum += m.run->weight_bytes();
    return sum;
  }
  /// Bytes of the memory that all activations share.
  std::int64_t activation_bytes() const { return storage_.bytes() - built_.scratch_bytes; }
  /// How many reorders and copies stand between the layers.
  std::int64_t reorders() const {
    return std::count_if(moves_.begin(), moves_.end(),
                         [](const chain_move& m) { return m.node < 0; });
  }

  void run(int executions) override {
    for (int i = 0; i < executions; ++i)
      for (chain_move& m : moves_)
        m.execute(storage_);
  }

  double time(int executions) override {
    using clock = std::chrono::steady_clock;
    const bool keep = executions == 1 && !times_.full();
    if (look_) look_(false);
    double total_ns = 0;
    for (int i = 0; i < executions; ++i)
      for (std::size_t k = 0; k < moves_.size(); ++k) {
        const clock::time_point start = clock::now();
        moves_[k].execute(storage_);
        const std::chrono::duration<double, std::nano> took = clock::now() - start;
        total_ns += took.count();
        if (keep) times_.add(took.count());
        if (look_) look_(k + 1 == moves_.size());
      }
    if (keep) times_.end(total_ns);
    return total_ns;
  }
  void between_parts(backend::look_between look) override { look_ = std::move(look); }

  /// The nodes that run, each named "backend/algorithm node", and all reorders as one part.
  std::vector<backend::part_time> parts(const std::vector<double>& samples) const override {
    return parts_of(times_.of(samples));
  }

  /// The result of the last node.
  void read(std::vector<double>& out) const override {
    const tensor_place& last = built_.result;
    const backend::tensor_bytes plain = contents(last);
    backend::load_all(last.type, plain.data(), elements(last.dims), out);
  }

  /// Runs once, and refuses the first node whose result is not right; and a model whose result says
  /// nothing because it is not finite or everywhere the same.
  void verify(std::int64_t outputs_a_node = 60) {
    for (chain_move& m : moves_) {
      backend::operands values;
      if (m.node >= 0) {
        values = operands_read(m);
        check_indices_read(m, values);
      }
      m.execute(storage_);
      if (m.node >= 0) check(m, values, outputs_a_node);
    }
    std::vector<double> out;
    read(out);
    const auto [low, high] = std::minmax_element(out.begin(), out.end());
    const bool finite =
        std::all_of(out.begin(), out.end(), [](double v) { return std::isfinite(v); });
    if (!finite || (out.size() > 1 && *low == *high))
      throw error(finite ? "the model's result is everywhere the same"
                         : "the model's result is not finite",
                  node_place(plan_.graph, static_cast<int>(plan_.graph.nodes.size()) - 1),
                  "leave that model out of --plan: its weights here are random, and its times "
                  "would say nothing");
  }

private:
  std::vector<backend::part_time> parts_of(const times_by_move& by_move) const {
    if (by_move.empty()) return {};
    std::vector<backend::part_time> out;
    const auto add = [&out](std::string name, std::vector<double> ns) {
      out.push_back({std::move(name), std::max(1.0, result::median(std::move(ns)))});
    };
    for (std::size_t k = 0; k < moves_.size(); ++k)
      if (moves_[k].node >= 0) add(part_name(moves_[k].node), by_move[k]);
    const auto between = [this](std::size_t k) { return moves_[k].node < 0; };
    if (reorders() > 0) add(std::string(result::reorders_part), sums(by_move, between));
    return out;
  }

  std::string part_name(int node) const {
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(node)];
    return result::part_name(s.backend, s.algorithm,
                             plan_.graph.nodes[static_cast<std::size_t>(node)].name);
  }
  backend::tensor_bytes contents(const tensor_place& p) const {
    return unpack(storage_.at(p.room) + p.offset, p.lies, p.dims, p.type);
  }

  /// The operands that a layer is about to read.
  backend::operands operands_read(const chain_move& m) const {
    backend::operands values = m.values;
    for (const auto& [operand, place] : m.reads)
      values.inputs[static_cast<std::size_t>(operand)].bytes = contents(place);
    return values;
  }

  /// Random weights may compute indices that no trained model would.
  void check_indices_read(const chain_move& m, const backend::operands& values) const {
    try {
      backend::check_indices(layer_at(plan_.graph, m.node), values);
    } catch (const error& e) {
      throw error(e.what(), node_place(plan_.graph, m.node),
                  "leave that model out of --plan: its weights here are random");
    }
  }

  void check(const chain_move& m, const backend::operands& values, std::int64_t outputs) const {
    const op::layer& l = layer_at(plan_.graph, m.node);
    const auto positions = backend::reference::positions_to_check(l, outputs);
    std::vector<double> expected(positions.size()), got, all;
    backend::reference::evaluate(l, plan_.type, values, positions, expected);
    std::int64_t first = 0;
    for (const tensor_place& r : places_of_results(l, plan_.type, m.writes)) {
      const backend::tensor_bytes plain = contents(r);
      const std::int64_t end = first + elements(r.dims);
      while (got.size() < positions.size() && positions[got.size()] < end)
        got.push_back(backend::load(r.type, plain.data(), positions[got.size()] - first));
      first = end;
    }
    const backend::verdict v = backend::compare(l, plan_.type, positions, expected, got);
    if (v.ok) return;
    const auto at = static_cast<std::size_t>(v.where);
    throw error("wrong result in the chain: output " + std::to_string(positions[at]) + " is " +
                    std::to_string(got[at]) + " and should be " + std::to_string(expected[at]),
                node_place(plan_.graph, m.node), measure_again(l));
  }

  result::plan plan_;
  built_chain built_;
  const activation_storage& storage_ = built_.storage;
  std::vector<chain_move>& moves_ = built_.moves;
  move_times times_;
  backend::look_between look_{}; ///< between moves; may be empty
};

} // namespace benanza::measure
