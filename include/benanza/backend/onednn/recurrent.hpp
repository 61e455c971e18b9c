// SPDX-License-Identifier: Apache-2.0
// Recurrent layers for oneDNN: LSTM, both kinds of GRU and simple cells with the activations that
// the library has. Weights are brought into its order of gates and its layout before timing. It
// writes both directions of a step side by side; ONNX has them apart, so that a batch of more than
// one is reordered behind it, which is timed.
//
//   for (const recurrent_offer& o : recurrent_offers(layer, numeric::f32, engine)) o.what.id
#pragma once

#include "../../op/kinds.hpp"
#include "../number.hpp"
#include "../operands.hpp"
#include "../packed_weights.hpp"
#include "engine.hpp"
#include "enumerate.hpp"
#include "rotating_weights.hpp"
#include "timed_call.hpp"

#include <array>

namespace benanza::backend::onednn {

namespace detail {

/// How the library sees a recurrent layer.
struct recurrent_form {
  op::recurrent p{};
  dnnl::algorithm cell = dnnl::algorithm::vanilla_rnn;
  dnnl::algorithm activation = dnnl::algorithm::undef;
  dnnl::rnn_direction way = dnnl::rnn_direction::unidirectional_left2right;
  std::array<std::int64_t, 4> gates{}; ///< ONNX's places of the library's gates
  data_type type = data_type::f32;

  std::int64_t biases() const { return p.reset_after ? 4 : p.gates(); }
  /// True where the library's order of results is not ONNX's.
  bool turned() const { return p.directions() > 1 && p.batch > 1 && !p.batch_first; }
  bool has_first() const { return p.initial_h || p.initial_c; }

  /// T x N x C as ONNX stores it, or as the library writes it.
  description sequence(std::int64_t columns) const {
    const dims strides =
        p.batch_first ? dims{columns, p.steps * columns, 1} : dims{p.batch * columns, columns, 1};
    return {dims{p.steps, p.batch, columns}, type, strides};
  }
  description state() const {
    const std::int64_t d = p.directions(), h = p.hidden;
    const dims strides = p.batch_first ? dims{d * p.batch * h, h, d * h, 1}
                                       : dims{d * p.batch * h, p.batch * h, h, 1};
    return {dims{1, d, p.batch, h}, type, strides};
  }
  dims weights(std::int64_t depth) const { return {1, p.directions(), depth, p.gates(), p.hidden}; }
  description bias() const {
    return dense({1, p.directions(), biases(), p.hidden}, data_type::f32);
  }
  description peepholes() const { return dense({1, p.directions(), 3, p.hidden}, data_type::f32); }

  recurrent_tensors tensors() const {
    recurrent_tensors t;
    t.source = sequence(p.inputs);
    if (has_first()) t.first_h = state();
    if (has_first() && p.lstm()) t.first_c = state();
    t.input_weights = any_layout(weights(p.inputs), type);
    t.state_weights = any_layout(weights(p.hidden), type);
    if (p.peepholes) t.peepholes = peepholes();
    t.bias = bias();
    t.result = sequence(p.directions() * p.hidden);
    if (p.wanted > 1) t.last_h = state();
    if (p.wanted > 1 && p.lstm()) t.last_c = state();
    return t;
  }
};

/// The library's form of a layer; nothing where it has none.
inline std::optional<recurrent_form> recurrent_form_of(const op::layer& l, numeric t) {
  const auto* p = op::as<op::recurrent>(l);
  if (p == nullptr || (t != numeric::f32 && t != numeric::bf16)) return std::nullopt;
  recurrent_form f{.p = *p, .type = *storage(dtype::real, t)};
  const bool own = p->activations.empty();
  if (p->lengths || p->clipped || p->coupled || (!own && p->cell != op::cell_kind::rnn))
    return std::nullopt;
  if (p->lstm()) {
    f.cell = dnnl::algorithm::vanilla_lstm;
    f.gates = {0, 2, 3, 1};
  } else if (p->cell == op::cell_kind::gru) {
    f.cell = p->reset_after ? dnnl::algorithm::lbr_gru : dnnl::algorithm::vanilla_gru;
    f.gates = {0, 1, 2};
  } else {
    const op::unary_function function = p->function(0, 0);
    if (p->directions() > 1 && p->function(1, 0) != function) return std::nullopt;
    using enum op::unary_function;
    f.activation = function == tanh      ? dnnl::algorithm::eltwise_tanh
                   : function == relu    ? dnnl::algorithm::eltwise_relu
                   : function == sigmoid ? dnnl::algorithm::eltwise_logistic
                                         : dnnl::algorithm::undef;
    if (f.activation == dnnl::algorithm::undef) return std::nullopt;
  }
  using enum dnnl::rnn_direction;
  f.way = p->way == op::direction::forward   ? unidirectional_left2right
          : p->way == op::direction::reverse ? unidirectional_right2left
                                             : bidirectional_concat;
  return f;
}
} // namespace detail

/// One of the library's implementations of a recurrent layer.
struct recurrent_offer {
  algorithm what{};
  detail::recurrent_form form{};
  implementation how{};
  std::string before{}, after{};
};

/// All that the library offers for a recurrent layer.
inline std::vector<recurrent_offer> recurrent_offers(const op::layer& l, numeric t,
                                                     const setting& s, const dnnl::engine& e) {
  std::vector<recurrent_offer> out;
  const auto form = detail::recurrent_form_of(l, t);
  if (!form) return out;
  use_threads(s.threads);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const std::string cell = form->cell == dnnl::algorithm::lbr_gru ? "lbr_gru" : "vanilla";
  const operation o =
      operation::recurrent(form->cell, form->activation, form->way, form->tensors(), attributes);
  for (implementation& i : implementations(o, e)) {
    recurrent_offer made{.form = *form, .before = cell + ':'};
    const std::string text = plain_name(i.impl_info_str());
    int times = 1;
    for (const recurrent_offer& other : out)
      times += other.what.id.starts_with(made.before + text);
    if (form->turned()) made.after = "+reorder";
    if (times > 1) made.after += '.' + std::to_string(times);
    made.what = {.id = made.before + text + made.after,
                 .index = static_cast<int>(out.size()),
                 .equivalence = std::string(name(t)),
                 .layouts = "plain",
                 .operand_layouts = std::string(name(layout::plain)),
                 .result_layout = std::string(name(layout::plain)),
                 .fallback = fallback_of(text, true, true, t),
                 .workspace_bytes = static_cast<std::int64_t>(i.scratchpad_desc().get_size()),
                 .flops = op::direct_flops(l)};
    made.how = std::move(i);
    out.push_back(std::move(made));
  }
  return out;
}

/// A recurrent layer with its weights in the library's layout.
class recurrent_execution final : public timed_call, public packed_weights {
public:
  recurrent_execution(std::shared_ptr<device> on, recurrent_offer what, const op::layer& l,
                      numeric t, const operands& values, const setting& s)
      : timed_call(s.threads)
      , device_(std::move(on))
      , what_(std::move(what))
      , results_(results_of(l, t))
      , output_(static_cast<std::size_t>(results_.back().end_bytes())) {
    use_threads(threads_);
    primitive_ = dnnl::primitive(what_.how.get());
    const detail::recurrent_form& f = what_.form;
    const recurrent_tensors tensors = f.tensors();
    flows(0, DNNL_ARG_SRC_LAYER, tensors.source, values);
    if (f.has_first()) flows(5, DNNL_ARG_SRC_ITER, tensors.first_h, values);
    if (f.has_first() && f.p.lstm()) flows(6, DNNL_ARG_SRC_ITER_C, tensors.first_c, values);
    const stopwatch timer;
    add_weights(DNNL_ARG_WEIGHTS_LAYER, values.inputs[1], f.p.inputs, s.packed);
    add_weights(DNNL_ARG_WEIGHTS_ITER, values.inputs[2], f.p.hidden, s.packed);
    packing_ns_ = timer.ns();
    add_bias(values.inputs[3]);
    if (f.p.peepholes) add_peepholes(values.inputs[7]);
    add_results(tensors);
    if (const description d = what_.how.scratchpad_desc(); d.get_size() > 0) {
      scratch_ = allocate(d);
      arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratch_.get()});
    }
    connect_result(output_.data());
  }

  std::string ran() const override {
    return what_.before + plain_name(implementation_name(primitive_)) + what_.after;
  }
  std::int64_t weight_bytes() const override { return weights_.bytes(); }
  double packing_ns() const override { return packing_ns_; }
  void copy_weights(std::byte* to) const override { weights_.copy(to); }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) override {
    weights_.rotate(pool, stride, count);
  }
  std::int64_t operand_bytes(int input) const override {
    for (const flowing& f : flowing_)
      if (f.input == input) return f.bytes;
    return 0;
  }
  void connect(int input, std::byte* data) override {
    for (const flowing& f : flowing_)
      if (f.input == input) dnnl_memory_set_data_handle(f.memory, data);
  }
  std::int64_t result_bytes() const override { return results_.back().end_bytes(); }
  void connect_result(std::byte* data) override {
    out_ = data;
    for (const auto& [memory, k] : made_)
      dnnl_memory_set_data_handle(memory, data + results_[k].offset);
  }
  std::int64_t scratch_bytes() const override {
    return scratch_ ? static_cast<std::int64_t>(scratch_.get_desc().get_size()) : 0;
  }
  void connect_scratch(std::byte* data) override {
    if (scratch_) dnnl_memory_set_data_handle(scratch_.get(), data);
  }
  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (const flowing& f : flowing_)
      out.emplace_back(place_of(f.memory), static_cast<std::size_t>(f.bytes));
    return out;
  }
  std::span<std::byte> result_memory() const override {
    return {out_, static_cast<std::size_t>(result_bytes())};
  }

  void read(std::vector<double>& out) const override {
    out.clear();
    std::vector<double> its;
    for (const placed_result& r : results_) {
      load_all(r.type, out_ + r.offset, r.count(), its);
      out.insert(out.end(), its.begin(), its.end());
    }
  }

private:
  struct flowing {
    int input;
    dnnl_memory_t memory;
    std::int64_t bytes;
  };

  static std::byte* place_of(dnnl_memory_t memory) {
    void* data = nullptr;
    dnnl_memory_get_data_handle(memory, &data);
    return static_cast<std::byte*>(data);
  }
  dnnl::memory allocate(const description& d) {
    buffers_.emplace_back(d.get_size());
    memories_.emplace_back(d, device_->engine, buffers_.back().data());
    return memories_.back();
  }
  /// What comes from other layers; zeros where the operand is not there.
  void flows(int input, int id, const description& d, const operands& values) {
    dnnl::memory m = allocate(d);
    const auto k = static_cast<std::size_t>(input);
    const bool there = k < values.inputs.size() && !values.inputs[k].bytes.empty();
    if (there)
      std::memcpy(m.get_data_handle(), values.inputs[k].bytes.data(),
                  values.inputs[k].bytes.size());
    arguments_.push_back({id, m.get()});
    if (there)
      flowing_.push_back(
          {input, m.get(), static_cast<std::int64_t>(values.inputs[k].bytes.size())});
  }

  /// ONNX has D x (gates x hidden) x depth; the library is given 1 x D x depth x gates x hidden.
  void add_weights(int id, const tensor& from, std::int64_t depth, const std::byte* packed) {
    const description wanted = what_.how.query_md(dnnl::query::exec_arg_md, id);
    if (packed != nullptr) {
      memories_.emplace_back(wanted, device_->engine,
                             const_cast<std::byte*>(packed + weights_.bytes()));
      arguments_.push_back({id, memories_.back().get()});
      return weights_.add(memories_.back());
    }
    const detail::recurrent_form& f = what_.form;
    const std::int64_t gates = f.p.gates(), hidden = f.p.hidden;
    const description turned = dense(f.weights(depth), f.type);
    aligned_bytes bytes(turned.get_size());
    std::int64_t to = 0;
    for (std::int64_t d = 0; d < f.p.directions(); ++d)
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t gate = 0; gate < gates; ++gate)
          for (std::int64_t j = 0; j < hidden; ++j) {
            const std::int64_t at = f.gates[static_cast<std::size_t>(gate)];
            const std::int64_t row = (d * gates + at) * hidden + j;
            store(from.type, bytes.data(), to++,
                  load(from.type, from.bytes.data(), row * depth + k));
          }
    dnnl::memory m = allocate(wanted), source(turned, device_->engine, bytes.data());
    dnnl::reorder(source, m).execute(device_->stream, source, m);
    device_->stream.wait();
    arguments_.push_back({id, m.get()});
    weights_.add(m);
  }
  /// The library has one bias a gate, but for the last gate of a GRU whose reset comes after.
  void add_bias(const tensor& from) {
    const detail::recurrent_form& f = what_.form;
    const std::int64_t gates = f.p.gates(), hidden = f.p.hidden;
    const dnnl::memory m = allocate(f.bias());
    auto* to = static_cast<float*>(m.get_data_handle());
    for (std::int64_t d = 0; f.p.bias && d < f.p.directions(); ++d)
      for (std::int64_t gate = 0; gate < f.biases(); ++gate)
        for (std::int64_t j = 0; j < hidden; ++j) {
          const auto given = [&](std::int64_t which) {
            return from.as<float>()[static_cast<std::size_t>((d * 2 * gates + which) * hidden + j)];
          };
          const bool apart = f.p.reset_after && gate > 1;
          const std::int64_t at = gate < gates ? f.gates[static_cast<std::size_t>(gate)] : 0;
          to[(d * f.biases() + gate) * hidden + j] =
              !apart ? given(at) + given(gates + at) : given(gate == 2 ? 2 : 2 * gates - 1);
        }
    arguments_.push_back({DNNL_ARG_BIAS, m.get()});
  }
  /// ONNX has them for the input, output and forget gates, the library for input, forget, output.
  void add_peepholes(const tensor& from) {
    const op::recurrent& p = what_.form.p;
    const dnnl::memory m = allocate(what_.form.peepholes());
    auto* to = static_cast<float*>(m.get_data_handle());
    constexpr std::int64_t order[] = {0, 2, 1};
    for (std::int64_t d = 0; d < p.directions(); ++d)
      for (std::int64_t gate = 0; gate < 3; ++gate)
        std::memcpy(to + (d * 3 + gate) * p.hidden,
                    from.as<float>().data() + (d * 3 + order[gate]) * p.hidden,
                    static_cast<std::size_t>(p.hidden) * 4);
    arguments_.push_back({DNNL_ARG_WEIGHTS_PEEPHOLE, m.get()});
  }

  void add_results(const recurrent_tensors& t) {
    const op::recurrent& p = what_.form.p;
    dnnl::memory sequence = allocate(t.result);
    arguments_.push_back({DNNL_ARG_DST_LAYER, sequence.get()});
    if (what_.form.turned()) {
      const dims sizes{p.steps, 2, p.batch, p.hidden};
      const description side_by_side(sizes, what_.form.type,
                                     {p.batch * 2 * p.hidden, p.hidden, 2 * p.hidden, 1});
      memories_.emplace_back(side_by_side, device_->engine, sequence.get_data_handle());
      const dnnl::memory from = memories_.back(), to = allocate(dense(sizes, what_.form.type));
      turn_ = dnnl::reorder(from, to);
      turn_arguments_ = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
      made_.emplace_back(to.get(), 0);
    } else {
      made_.emplace_back(sequence.get(), 0);
    }
    if (p.wanted < 2) return;
    const dnnl::memory h = allocate(t.last_h);
    arguments_.push_back({DNNL_ARG_DST_ITER, h.get()});
    made_.emplace_back(h.get(), 1);
    if (!p.lstm()) return;
    const dnnl::memory c = allocate(t.last_c);
    arguments_.push_back({DNNL_ARG_DST_ITER_C, c.get()});
    if (p.wanted > 2) made_.emplace_back(c.get(), 2);
  }

  void execute(int executions) override {
    dnnl_status_t status = dnnl_success;
    machine::at_stack_place(stack_place(), [&] {
      for (int i = 0; i < executions && status == dnnl_success; ++i) {
        weights_.advance();
        status = started(primitive_, arguments_);
        if (turn_ && status == dnnl_success) status = started(turn_, turn_arguments_);
      }
    });
    if (status == dnnl_success) status = dnnl_stream_wait(device_->stream.get());
    if (status != dnnl_success)
      throw error(std::string("oneDNN: an execution failed: ") + dnnl_status2str(status),
                  what_.what.id);
  }
  dnnl_status_t started(const dnnl::primitive& p, const std::vector<dnnl_exec_arg_t>& with) const {
    return dnnl_primitive_execute(p.get(), device_->stream.get(), static_cast<int>(with.size()),
                                  with.data());
  }

  std::shared_ptr<device> device_;
  recurrent_offer what_;
  std::vector<placed_result> results_;
  aligned_bytes output_;
  std::byte* out_ = nullptr;
  dnnl::primitive primitive_{}, turn_{};
  std::vector<aligned_bytes> buffers_{};
  std::vector<dnnl::memory> memories_{};
  dnnl::memory scratch_{};
  std::vector<dnnl_exec_arg_t> arguments_{}, turn_arguments_{};
  std::vector<std::pair<dnnl_memory_t, std::size_t>> made_{}; ///< and which result it is
  rotating_weights weights_{};
  double packing_ns_ = 0;
  std::vector<flowing> flowing_{};
};

} // namespace benanza::backend::onednn
