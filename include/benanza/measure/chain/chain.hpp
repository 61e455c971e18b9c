// SPDX-License-Identifier: Apache-2.0
// A whole model as one thing to run: the algorithms of a plan one after the other, each reading
// what others wrote, with weights of its own, and reorders where two layouts meet.
// `verify` runs it once, node by node, and holds each result against the reference on the operands
// that the node really read. On a device all of it is one graph that is replayed.
//
//   chain c(plan, libraries);   c.verify();   double ns = c.time(1);
#pragma once

#include "../../backend/indices.hpp"
#include "../../backend/reference/reference.hpp"
#include "../../backend/tolerance.hpp"
#include "../../core/stopwatch.hpp"
#include "../../result/parts.hpp"
#include "../../result/plan.hpp"
#include "../../result/statistics.hpp"
#include "builder.hpp"
#include "step_times.hpp"
#include "unpack.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::measure {

/// A plan that runs.
class chain final : public backend::prepared,
                    public backend::in_parts,
                    public backend::in_memory,
                    private backend::device_control {
public:
  chain(const result::plan& p, const library_list& libraries,
        const parameters& thresholds = usual_parameters, bool side_by_side = false,
        chain_givens given = {})
      : plan_(p)
      , parameters_(thresholds)
      , built_(chain_builder(plan_, libraries, thresholds, side_by_side, std::move(given)).build())
      , times_(built_.steps.size()) {
    if (built_.device)
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        chain_step& step = steps_[i];
        if (device_ == nullptr && step.run) device_ = step.run->own_device();
        starts_.push_back({[this, &step] { step.start(storage_, *built_.device); }});
        if (built_.lanes.empty()) continue;
        starts_.back().lane = built_.lanes[i].lane;
        starts_.back().behind = built_.lanes[i].behind;
      }
  }

  std::string ran() const override {
    return std::string(built_.lanes.empty() ? result::in_order : result::side_by_side);
  }
  /// On how many of a device's queues its steps run.
  int lanes() const { return std::max(1, count_of(built_.lanes)); }
  std::int64_t weight_bytes() const override {
    std::int64_t sum = 0;
    for (const chain_step& step : steps_)
      if (step.run) sum += slot_bytes(*step.run);
    return sum;
  }
  /// Each step has its weights behind those of the ones before it.
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    for (chain_step& step : steps_) {
      if (!step.run) continue;
      step.run->rotate_weights(pool, stride, count);
      if (pool != nullptr) pool += slot_bytes(*step.run);
    }
  }
  in_memory* activations() override { return built_.device ? nullptr : this; }
  /// What the caller gives, each in ONNX order, and the result of the last node.
  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (const tensor_place& p : built_.inputs)
      out.push_back(span_of(p));
    return out;
  }
  std::span<std::byte> result_memory() const override { return span_of(built_.result); }
  /// Between its first and its last layer it writes to all of its memory.
  std::span<std::byte> scratch_memory() const override { return storage_.memory(); }
  /// Lets go of the operands that the algorithms were made from: no run needs them, `verify` does.
  void forget_operands() {
    for (chain_step& step : steps_)
      step.values = {};
  }
  /// Bytes of the memory that all activations share.
  std::int64_t activation_bytes() const { return storage_.bytes() - built_.scratch_bytes; }
  /// How many reorders and copies are between the layers.
  std::int64_t reorders() const {
    return std::count_if(steps_.begin(), steps_.end(),
                         [](const chain_step& step) { return step.node < 0; });
  }

  device_control* own_device() override { return device_ != nullptr ? this : nullptr; }
  double shortest_sample_ns() const override {
    return device_ != nullptr ? 1e6 : prepared::shortest_sample_ns();
  }
  std::string remark() const override { return built_.device ? built_.device->remark() : ""; }

  void run(int executions) override {
    if (built_.device) {
      for (int i = 0; i < executions; ++i)
        built_.device->start(starts_);
      return built_.device->wait();
    }
    for (int i = 0; i < executions; ++i)
      for (chain_step& step : steps_)
        step.execute(storage_);
  }

  /// From now on it is timed as a layer is, and not step by step: a short one has no time for more.
  void time_as_one() { as_one_ = true; }

  double time(int executions) override {
    if (as_one_ && !built_.device) {
      const stopwatch timer;
      run(executions);
      return timer.ns();
    }
    if (built_.device) return built_.device->time(executions, starts_);
    const bool keep = executions == 1 && !times_.full();
    if (probe_) probe_(false);
    double total_ns = 0;
    for (int i = 0; i < executions; ++i)
      for (std::size_t k = 0; k < steps_.size(); ++k) {
        const stopwatch timer;
        steps_[k].execute(storage_);
        const double took_ns = timer.ns();
        total_ns += took_ns;
        if (keep) times_.add(took_ns);
        if (probe_) probe_(k + 1 == steps_.size());
      }
    if (keep) times_.end(total_ns);
    return total_ns;
  }
  backend::in_parts* parts() override { return as_one_ ? nullptr : this; }
  void between_parts(backend::probe_between probe) override { probe_ = std::move(probe); }

  /// The nodes that run, each named "backend/algorithm node", and all reorders as one part.
  std::vector<timed_part> parts_of(const std::vector<double>& samples) const override {
    return medians(built_.device ? times_on_device() : times_.of(samples));
  }

  /// Its steps one by one, for runs that take the events of levels.
  std::size_t steps() const { return steps_.size(); }
  void execute(std::size_t step) { steps_[step].execute(storage_); }
  std::string name_of(std::size_t step) const {
    std::size_t at = step;
    while (at + 1 < steps_.size() && steps_[at].node < 0)
      ++at;
    const int node = steps_[at].node;
    if (node < 0) return std::string(result::reorders_part);
    return at == step
               ? part_name(node)
               : result::reorder_before(plan_.graph.nodes[static_cast<std::size_t>(node)].name);
  }
  /// The layer that a step is; empty: it is a change of layout or a copy.
  std::string layer_of(std::size_t step) const {
    const int node = steps_[step].node;
    return node < 0 ? std::string() : op::name(layer_at(plan_.graph, node));
  }
  /// What each takes on the device where they run one after the other, with events between them;
  /// empty: not known, or it runs on none.
  std::vector<double> times_between_events() const {
    return built_.device ? built_.device->times_of(starts_) : std::vector<double>{};
  }
  /// The kernels of a step, as the device's profiler sees them; a copy has none.
  std::vector<device_kernel> kernels_of(std::size_t step) {
    const auto& run = steps_[step].run;
    return run && run->on_device() ? run->own_device()->kernels() : std::vector<device_kernel>{};
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
    verify_nodes(outputs_a_node);
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
  /// Runs once, and refuses the first node whose result is not right: what a part of a model makes
  /// of random numbers need not be finite.
  void verify_nodes(std::int64_t outputs_a_node = 60) {
    for (chain_step& step : steps_) {
      backend::operands values;
      if (step.node >= 0) {
        values = operands_read(step);
        check_indices_read(step, values);
      }
      if (built_.device) {
        step.start(storage_, *built_.device);
        built_.device->wait();
      } else {
        step.execute(storage_);
      }
      if (step.node >= 0) check(step, values, outputs_a_node);
    }
    if (lanes() <= 1) return;
    std::vector<double> out;
    read(out);
    check_side_by_side(out);
  }

private:
  std::span<std::byte> span_of(const tensor_place& p) const {
    return {storage_.at(p.room) + p.offset,
            static_cast<std::size_t>(bytes_of(p.type, elements(p.dims)))};
  }

  // ---- what the device does for all steps together ---------------------------------------------
  void wake() override { device_->wake(); }
  double clock_ns() const override { return built_.device->clock_ns(); }
  bool host_launches() const override { return !built_.device->remark().empty(); }
  void begin_account() override { device_->begin_account(); }
  backend::device_account end_account() override { return device_->end_account(); }

  /// Parts are timed by themselves: events between them cost time.
  times_by_step times_on_device() const {
    times_by_step out;
    for (const double ns : built_.device->times_of(starts_))
      out.push_back({ns});
    return out;
  }

  std::vector<timed_part> medians(const times_by_step& by_step) const {
    if (by_step.empty()) return {};
    std::vector<timed_part> out;
    const auto add = [&out](std::string name, std::vector<double> ns) {
      out.push_back({std::move(name), std::max(1.0, result::median(std::move(ns)))});
    };
    for (std::size_t k = 0; k < steps_.size(); ++k)
      if (steps_[k].node >= 0) add(part_name(steps_[k].node), by_step[k]);
    const auto between = [this](std::size_t k) { return steps_[k].node < 0; };
    if (reorders() > 0) add(std::string(result::reorders_part), sums(by_step, between));
    return out;
  }

  std::string part_name(int node) const {
    const result::plan_step& s = plan_.steps[static_cast<std::size_t>(node)];
    return result::part_name(s.backend, s.algorithm,
                             plan_.graph.nodes[static_cast<std::size_t>(node)].name);
  }
  backend::tensor_bytes contents(const tensor_place& p) const {
    if (built_.device) {
      backend::tensor_bytes here(static_cast<std::size_t>(bytes_of(p.type, elements(p.dims))));
      built_.device->download(storage_.at(p.room) + p.offset, here);
      return unpack(here.data(), p.lies, p.dims, p.type);
    }
    return unpack(storage_.at(p.room) + p.offset, p.lies, p.dims, p.type);
  }

  /// The operands that a layer is about to read.
  backend::operands operands_read(const chain_step& step) const {
    backend::operands values = step.values;
    for (const auto& [operand, place] : step.reads)
      values.inputs[static_cast<std::size_t>(operand)].bytes = contents(place);
    return values;
  }

  /// What was right step by step must come out too when steps wait only for what they need.
  /// Libraries may add up in another order then.
  void check_side_by_side(const std::vector<double>& in_order) {
    run(1);
    std::vector<double> now;
    read(now);
    double most = 0, off = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      most = std::max(most, std::abs(in_order[i]));
      off = std::max(off, std::abs(now[i] - in_order[i]));
    }
    if (!(off <= parameters_.side_by_side_within * most))
      throw error("the model's result is another one where its branches run side by side",
                  plan_.graph.name, "report this: a dependency is not seen");
  }

  /// Random weights may compute indices that no trained model would.
  void check_indices_read(const chain_step& step, const backend::operands& values) const {
    try {
      backend::check_indices(layer_at(plan_.graph, step.node), values);
    } catch (const error& e) {
      throw error(e.what(), node_place(plan_.graph, step.node),
                  "leave that model out of --plan: its weights here are random");
    }
  }

  void check(const chain_step& step, const backend::operands& values, std::int64_t outputs) const {
    const op::layer& l = layer_at(plan_.graph, step.node);
    const auto positions = backend::reference::positions_to_check(l, outputs, values);
    std::vector<double> expected(positions.size()), got, all;
    backend::reference::evaluate(l, plan_.type, values, positions, expected);
    std::int64_t first = 0;
    for (const tensor_place& r : places_of_results(l, plan_.type, step.writes)) {
      const backend::tensor_bytes plain = contents(r);
      const std::int64_t end = first + elements(r.dims);
      while (got.size() < positions.size() && positions[got.size()] < end)
        got.push_back(backend::load(r.type, plain.data(), positions[got.size()] - first));
      first = end;
    }
    const backend::verdict v = backend::compare(l, plan_.type, positions, expected, got);
    if (v.ok) return;
    const auto at = static_cast<std::size_t>(v.where);
    throw error("wrong result in the chain: " +
                    backend::what_differs(positions[at], got[at], expected[at], v),
                node_place(plan_.graph, step.node), measure_again(l));
  }

  result::plan plan_;
  parameters parameters_;
  built_chain built_;
  const activation_storage& storage_ = built_.storage;
  std::vector<chain_step>& steps_ = built_.steps;
  step_times times_;
  bool as_one_ = false;
  std::vector<backend::device_space::part> starts_{}; ///< of the steps, on the device
  backend::device_control* device_ = nullptr;         ///< a step's
  backend::probe_between probe_{};                    ///< between steps; may be empty
};

} // namespace benanza::measure
