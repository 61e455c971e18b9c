// SPDX-License-Identifier: Apache-2.0
// Attention by oneDNN 3's graph API: the products, the scaling, the mask and the softmax are put to
// the library as one graph, and it says whether it takes them as one partition. What it allocates
// while it runs is part of its time, as for every caller.
//
//   if (attention_graph g(layer, numeric::f32, device); g.taken()) ...
#pragma once

#include "../../op/attention.hpp"
#include "../../op/kinds.hpp"
#include "../number.hpp"
#include "../operands.hpp"
#include "enumerate.hpp"
#include "timed_call.hpp"

#if DNNL_VERSION_MAJOR >= 3 && __has_include(<oneapi/dnnl/dnnl_graph.hpp>)
#define BENANZA_ONEDNN_GRAPH 1
#include <oneapi/dnnl/dnnl_graph.hpp>
#endif

namespace benanza::backend::onednn {

inline constexpr std::string_view graph_attention_id = "graph:attention";

#ifdef BENANZA_ONEDNN_GRAPH

/// The graph of a layer's attention, and the partition that the library makes of it.
class attention_graph {
public:
  using tensor = dnnl::graph::logical_tensor;

  /// Empty where the library does not take all of it at once.
  attention_graph(const op::attention& p, data_type t, const device& on) {
    using dnnl::graph::op;
    const auto type = t == data_type::bf16 ? tensor::data_type::bf16 : tensor::data_type::f32;
    const dims scores = to_dims(p.scores());
    const auto strided = [&](std::size_t id, std::int64_t heads, std::int64_t rows,
                             std::int64_t size) {
      const dims strides = p.sequence_major ? dims{rows * heads * size, size, heads * size, 1}
                                            : dims{heads * rows * size, rows * size, size, 1};
      return tensor(id, type, dims{p.batch, heads, rows, size}, strides);
    };
    // Scores stay in f32, as in other attentions of this class.
    const auto between = [&](std::size_t id) {
      return tensor(id, tensor::data_type::f32, scores, tensor::layout_type::strided);
    };
    const tensor q = strided(0, p.heads, p.queries, p.head_size),
                 k = strided(1, p.kv_heads, p.keys, p.head_size),
                 v = strided(2, p.kv_heads, p.keys, p.value_size),
                 scale(3, tensor::data_type::f32, dims{1}, dense_strides({1}),
                       tensor::property_type::constant),
                 result = strided(4, p.heads, p.queries, p.value_size), product = between(5),
                 scaled = between(6), masked = between(7), weights = between(8);
    op first(0, op::kind::MatMul, {q, k}, {product}, "product"),
        divided(1, op::kind::Divide, {product, scale}, {scaled}, "scale"),
        softmax(3, op::kind::SoftMax, {p.mask.empty() ? scaled : masked}, {weights}, "softmax"),
        last(4, op::kind::MatMul, {weights, v}, {result}, "sum");
    first.set_attr<bool>(op::attr::transpose_b, true);
    softmax.set_attr<std::int64_t>(op::attr::axis, -1);
    inputs_ = {q, k, scale, v};
    dnnl::graph::graph g(dnnl::engine::kind::cpu);
    g.add_op(first);
    g.add_op(divided);
    if (!p.mask.empty()) {
      const tensor mask(9, type, to_dims(p.mask), dense_strides(to_dims(p.mask)));
      g.add_op(op(2, op::kind::Add, {scaled, mask}, {masked}, "mask"));
      inputs_.insert(inputs_.begin() + 3, mask);
    }
    g.add_op(softmax);
    g.add_op(last);
    g.finalize();
    const auto parts = g.get_partitions();
    if (parts.size() != 1 || !parts.front().is_supported()) return;
    // The partition has an order of inputs of its own.
    std::vector<tensor> its;
    for (const tensor& wanted : parts.front().get_input_ports())
      for (const tensor& known : inputs_)
        if (known.get_id() == wanted.get_id()) its.push_back(known);
    inputs_ = std::move(its);
    result_ = result;
    compiled_ = parts.front().compile(inputs_, {result}, on.engine);
    taken_ = true;
  }

  bool taken() const { return taken_; }
  const std::vector<tensor>& inputs() const { return inputs_; }
  const tensor& result() const { return result_; }
  const dnnl::graph::compiled_partition& compiled() const { return compiled_; }

private:
  std::vector<tensor> inputs_{};
  tensor result_{};
  dnnl::graph::compiled_partition compiled_{};
  bool taken_ = false;
};

/// The graph of a layer, if it is an attention of a form that the library may take.
inline std::optional<attention_graph> attention_graph_of(const op::layer& l, numeric t,
                                                         const setting& s, const device& on) {
  const auto* p = op::as<op::attention>(l);
  if (p == nullptr || (t != numeric::f32 && t != numeric::bf16) || !p->plain() || p->causal ||
      p->kv_heads != p->heads)
    return {};
  // 3.7.2 reads values of another size than the queries' from the wrong places; 3.12.1 does not.
  constexpr bool any_values = DNNL_VERSION_MINOR >= 12;
  if (!any_values && p->value_size != p->head_size) return {};
  use_threads(s.threads);
  try {
    attention_graph g(*p, *storage(dtype::real, t), on);
    if (g.taken()) return g;
  } catch (const dnnl::error&) {
  }
  return {};
}

/// What is listed for it; nothing where the library does not take it.
inline std::optional<algorithm> listed_attention(const op::layer& l, numeric t, const setting& s,
                                                 const device& on) {
  if (!attention_graph_of(l, t, s, on)) return {};
  return algorithm{.id = std::string(graph_attention_id),
                   .equivalence = std::string(name(t)),
                   .layouts = "plain",
                   .operand_layouts = std::string(name(layout::plain)),
                   .result_layout = std::string(name(layout::plain)),
                   .flops = op::direct_flops(l)};
}

/// An attention of which the library made one partition.
class attention_execution final : public timed_call {
public:
  attention_execution(std::shared_ptr<device> on, attention_graph graph, const op::attention& p,
                      numeric t, const operands& values, const setting& s)
      : timed_call(s.threads)
      , device_(std::move(on))
      , graph_(std::move(graph))
      , type_(*storage(dtype::real, t) == data_type::bf16 ? dtype::bf16 : dtype::f32)
      , count_(elements(p.output()))
      , output_(static_cast<std::size_t>(count_ * size_bytes(type_))) {
    buffers_.reserve(graph_.inputs().size());
    for (const auto& x : graph_.inputs()) {
      const int input = x.get_id() == 9 ? 3 : static_cast<int>(x.get_id());
      if (x.get_id() == 3) { // the scale
        buffers_.emplace_back(sizeof(float));
        store(dtype::f32, buffers_.back().data(), 0, std::sqrt(static_cast<double>(p.head_size)));
        inputs_.emplace_back(x, device_->engine, buffers_.back().data());
        continue;
      }
      const tensor& from = values.inputs[static_cast<std::size_t>(input)];
      buffers_.emplace_back(from.bytes);
      inputs_.emplace_back(x, device_->engine, buffers_.back().data());
      flowing_.push_back({input, inputs_.size() - 1, std::ssize(from.bytes)});
    }
    results_.emplace_back(graph_.result(), device_->engine, output_.data());
    out_ = output_.data();
  }

  std::string ran() const override { return std::string(graph_attention_id); }
  std::int64_t operand_bytes(int input) const override {
    for (const flowing& f : flowing_)
      if (f.input == input) return f.bytes;
    return 0;
  }
  std::int64_t result_bytes() const override { return static_cast<std::int64_t>(output_.size()); }
  void connect(int input, std::byte* data) override {
    for (const flowing& f : flowing_)
      if (f.input == input) inputs_[f.at].set_data_handle(data);
  }
  void connect_result(std::byte* data) override {
    out_ = data;
    results_.front().set_data_handle(data);
  }
  std::vector<std::span<std::byte>> operand_memory() const override {
    std::vector<std::span<std::byte>> out;
    for (const flowing& f : flowing_)
      out.emplace_back(static_cast<std::byte*>(inputs_[f.at].get_data_handle()),
                       static_cast<std::size_t>(f.bytes));
    return out;
  }
  std::span<std::byte> result_memory() const override {
    return {out_, static_cast<std::size_t>(result_bytes())};
  }

  void read(std::vector<double>& out) const override {
    out.clear();
    load_all(type_, out_, count_, out);
  }

private:
  struct flowing {
    int input;
    std::size_t at; ///< among the partition's inputs
    std::int64_t bytes;
  };

  void execute(int executions) override {
    try {
      machine::at_stack_place(stack_place(), [&] {
        for (int i = 0; i < executions; ++i)
          graph_.compiled().execute(device_->stream, inputs_, results_);
      });
      device_->stream.wait();
    } catch (const dnnl::error& e) {
      throw refusal(e, graph_attention_id);
    }
  }

  std::shared_ptr<device> device_;
  attention_graph graph_;
  dtype type_;
  std::int64_t count_;
  aligned_bytes output_;
  std::byte* out_ = nullptr;
  std::vector<aligned_bytes> buffers_{};
  std::vector<dnnl::graph::tensor> inputs_{}, results_{};
  std::vector<flowing> flowing_{};
};

#endif

} // namespace benanza::backend::onednn
