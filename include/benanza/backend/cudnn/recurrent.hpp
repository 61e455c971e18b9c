// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and simple recurrent layers by cuDNN's cudnnRNNForward, by each algorithm that it has:
// step by step, or with states that stay on the chip (persist_static, persist_dynamic, which is
// compiled at run time, and persist_static_small_h). Weights and biases are in one memory whose
// order the library alone knows: each gate's matrix goes where it says. ONNX's gates are input,
// output, forget, cell (LSTM) and update, reset, hidden (GRU); the library's input, forget, cell,
// output and reset, update, hidden. It has no peepholes, no direction backwards alone, and of GRUs
// those alone whose reset gate acts behind the product.
//
//   for (const call& c : recurrent_calls(layer, numeric::f16)) c.what.id;   //
//   "rnn:standard:default"
#pragma once

#include "../../op/kinds.hpp"
#include "../../op/recurrent.hpp"
#include "calls.hpp"

namespace benanza::backend::cudnn {

namespace detail {
using rnn_descriptor =
    owned<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor>;
using rnn_data_descriptor =
    owned<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor>;
using dropout_descriptor =
    owned<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor>;

/// The cell that the library has for a layer; nothing where it has none such.
inline std::optional<cudnnRNNMode_t> cell_of(const op::recurrent& p) {
  using enum op::unary_function;
  if (p.way == op::direction::reverse || p.lengths || p.peepholes || p.coupled || p.clipped)
    return std::nullopt;
  const auto all = [&p](int i, op::unary_function f) {
    for (std::int64_t d = 0; d < p.directions(); ++d)
      if (p.function(d, i) != f) return false;
    return true;
  };
  switch (p.cell) {
  case op::cell_kind::rnn:
    if (all(0, relu)) return CUDNN_RNN_RELU;
    return all(0, tanh) ? std::optional(CUDNN_RNN_TANH) : std::nullopt;
  case op::cell_kind::gru:
    return p.reset_after && all(0, sigmoid) && all(1, tanh) ? std::optional(CUDNN_GRU)
                                                            : std::nullopt;
  case op::cell_kind::lstm:
    return all(0, sigmoid) && all(1, tanh) && all(2, tanh) ? std::optional(CUDNN_LSTM)
                                                           : std::nullopt;
  }
  return std::nullopt;
}

/// The place among the library's gates of ONNX's gate `gate`.
inline int gate_of(op::cell_kind cell, int gate) {
  static constexpr int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2};
  return cell == op::cell_kind::lstm ? lstm[gate] : cell == op::cell_kind::gru ? gru[gate] : 0;
}

/// One way to compute a recurrent layer: descriptors, made with the first handle that asks.
class recurrent_call {
public:
  recurrent_call(const op::recurrent& p, numeric t, cudnnRNNAlgo_t algorithm, cudnnMathType_t math,
                 cudnnDataType_t sums)
      : p_(p)
      , type_(source_of(t))
      , algorithm_(algorithm)
      , math_(math)
      , sums_(sums) {}

  std::int64_t workspace(cudnnHandle_t h) {
    start(h);
    std::size_t work = 0, reserve = 0;
    check(cudnnGetRNNTempSpaceSizes(h, how_->get(), CUDNN_FWD_MODE_INFERENCE, x_->get(), &work,
                                    &reserve),
          "it is not there");
    return static_cast<std::int64_t>(work);
  }
  std::int64_t packed_bytes(cudnnHandle_t h) {
    start(h);
    std::size_t bytes = 0;
    check(cudnnGetRNNWeightSpaceSize(h, how_->get(), &bytes), "weights of a recurrent layer");
    return static_cast<std::int64_t>(bytes);
  }
  /// Weights and biases as they are in `bytes` from `base` on.
  tensor_bytes packed(cudnnHandle_t h, const std::byte* base, std::int64_t bytes,
                      const operands& values) {
    tensor_bytes out(static_cast<std::size_t>(bytes), std::byte{0});
    const auto gates = static_cast<int>(p_.gates());
    for (int d = 0; d < p_.directions(); ++d)
      for (int gate = 0; gate < gates; ++gate)
        for (const bool state : {false, true}) {
          const int wide = static_cast<int>(state ? p_.hidden : p_.inputs);
          const int number = gate_of(p_.cell, gate) + (state ? gates : 0);
          const std::int64_t row = (d * gates + gate) * p_.hidden;
          const places there = place_of(h, d, number, base, bytes);
          put(values.inputs.at(state ? 2 : 1), row * wide, p_.hidden * wide, there.matrix, base,
              out);
          if (p_.bias)
            put(values.inputs.at(3), (d * 2 + state) * gates * p_.hidden + gate * p_.hidden,
                p_.hidden, there.bias, base, out);
        }
    return out;
  }
  cudnnStatus_t launch(cudnnHandle_t h, const call_memory& m) {
    const auto result = [&m](std::size_t i) {
      return i < m.results.size() ? m.results[i] : nullptr;
    };
    std::size_t next = 3; // behind the source, the weights and the lengths
    const void* const hx = p_.initial_h ? m.operands[next++] : nullptr;
    const void* const cx = p_.initial_c ? m.operands[next] : nullptr;
    return cudnnRNNForward(h, how_->get(), CUDNN_FWD_MODE_INFERENCE,
                           static_cast<const std::int32_t*>(m.operands[2]), x_->get(),
                           m.operands[0], y_->get(), m.results[0], state_->get(), hx, result(1),
                           state_->get(), cx, result(2), bytes_, m.operands[1], m.workspace_bytes,
                           m.workspace, 0, nullptr);
  }

private:
  struct places {
    void* matrix = nullptr;
    void* bias = nullptr;
  };

  void start(cudnnHandle_t h) {
    if (how_) return;
    const auto number = [](std::int64_t v) { return static_cast<int>(v); };
    auto how = std::make_unique<rnn_descriptor>();
    check(cudnnSetDropoutDescriptor(dropout_.get(), h, 0, nullptr, 0, 0), "no dropout");
    const cudnnDataType_t type = *data_type_of(type_);
    check(cudnnSetRNNDescriptor_v8(
              how->get(), algorithm_, *cell_of(p_),
              p_.bias ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
              p_.directions() == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
              type, sums_, math_, number(p_.inputs), number(p_.hidden), number(p_.hidden), 1,
              dropout_.get(), CUDNN_RNN_PADDED_IO_ENABLED),
          "it is not there");
    x_ = data(type, p_.inputs);
    y_ = data(type, p_.hidden * p_.directions());
    state_ = std::make_unique<tensor_descriptor>();
    const shape states{p_.directions(), p_.batch, p_.hidden};
    describe_tensor(*state_, states, benanza::packed(states), type);
    if (algorithm_ == CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
      check(cudnnBuildRNNDynamic(h, how->get(), number(p_.batch)), "it cannot be compiled");
    check(cudnnGetRNNWeightSpaceSize(h, how->get(), &bytes_), "weights of a recurrent layer");
    how_ = std::move(how);
  }
  std::unique_ptr<rnn_data_descriptor> data(cudnnDataType_t type, std::int64_t wide) const {
    auto d = std::make_unique<rnn_data_descriptor>();
    const std::vector<int> lengths(static_cast<std::size_t>(p_.batch), static_cast<int>(p_.steps));
    check(cudnnSetRNNDataDescriptor(d->get(), type,
                                    p_.batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED
                                                   : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED,
                                    static_cast<int>(p_.steps), static_cast<int>(p_.batch),
                                    static_cast<int>(wide), lengths.data(), nullptr),
          "a sequence");
    return d;
  }
  places place_of(cudnnHandle_t h, int direction, int gate, const std::byte* base,
                  std::int64_t bytes) const {
    const tensor_descriptor matrix, bias;
    places out;
    check(cudnnGetRNNWeightParams(h, how_->get(), direction, static_cast<std::size_t>(bytes), base,
                                  gate, matrix.get(), &out.matrix, bias.get(), &out.bias),
          "where weights stand");
    return out;
  }
  /// Copies `count` elements of an operand to their place, in the call's type.
  void put(const tensor& from, std::int64_t first, std::int64_t count, const void* place,
           const std::byte* base, tensor_bytes& out) const {
    const std::int64_t offset = static_cast<const std::byte*>(place) - base;
    if (place == nullptr || offset < 0 || offset + count * size_bytes(type_) > std::ssize(out))
      throw error("cuDNN: weights of a recurrent layer stand outside their memory");
    for (std::int64_t i = 0; i < count; ++i)
      store(type_, out.data() + offset, i, load(from.type, from.bytes.data(), first + i));
  }

  op::recurrent p_;
  dtype type_;
  cudnnRNNAlgo_t algorithm_;
  cudnnMathType_t math_;
  cudnnDataType_t sums_;
  dropout_descriptor dropout_{};
  std::unique_ptr<rnn_descriptor> how_{};
  std::unique_ptr<rnn_data_descriptor> x_{}, y_{};
  std::unique_ptr<tensor_descriptor> state_{};
  std::size_t bytes_ = 0; ///< of all weights
};

/// A tensor of the same elements in the order of `like`.
inline placed plain_tensor(int input, const shape& dims, dtype type) {
  return {.input = input,
          .dims = dims,
          .strides = packed(dims),
          .type = type,
          .elements = elements(dims)};
}
/// A state: direction, sequence, number in the library's memory, whatever is first in ONNX's.
inline placed state_tensor(int input, const op::recurrent& p, dtype type) {
  placed out = plain_tensor(input, p.state(), type);
  if (p.batch_first) out.strides = {p.hidden, p.batch * p.hidden, 1};
  return out;
}
inline placed sequence_tensor(const op::recurrent& p, dtype type) {
  placed out = plain_tensor(placed::result, p.output(), type);
  // Both directions of a step are side by side.
  if (!p.batch_first)
    out.strides = {p.directions() * p.batch * p.hidden, p.hidden, p.directions() * p.hidden, 1};
  return out;
}
} // namespace detail

/// The calls that compute a recurrent layer; which of them a GPU has each says when it is asked for
/// its workspace.
inline std::vector<call> recurrent_calls(const op::layer& l, numeric t) {
  std::vector<call> out;
  const auto* p = op::as<op::recurrent>(l);
  const dtype type = source_of(t);
  if (p == nullptr || quantised(t) || t == numeric::e4m3 || !detail::cell_of(*p)) return out;
  for (const std::int64_t n : {p->steps, p->batch, p->inputs, p->hidden * p->directions()})
    if (n > 0x7fffffff) return out;
  static constexpr const char* algorithms[] = {"standard", "persist_static", "persist_dynamic",
                                               "persist_static_small_h"};
  const auto add = [&](int algorithm, cudnnMathType_t math, const char* math_name,
                       cudnnDataType_t sums) {
    const bool narrow = sums == CUDNN_DATA_HALF;
    const auto made = std::make_shared<detail::recurrent_call>(
        *p, t, static_cast<cudnnRNNAlgo_t>(algorithm), math, sums);
    const std::string plain(name(layout::plain));
    call c{.what = {.id = std::string("rnn:") + algorithms[algorithm] + ':' + math_name +
                          (narrow ? ":half" : ""),
                    .equivalence = std::string(name(t)) + (narrow ? "-reduced-accumulation" : ""),
                    .layouts = plain,
                    .operand_layouts = plain,
                    .result_layout = plain,
                    .flops = op::direct_flops(l),
                    .notes = "call"},
           .operands = {detail::plain_tensor(0, p->input(), type),
                        {.input = placed::packed, .type = type, .constant = true},
                        {.input = placed::filled,
                         .dims = {p->batch},
                         .strides = {1},
                         .type = dtype::s32,
                         .elements = p->batch,
                         .value = static_cast<double>(p->steps)}}};
    if (p->initial_h) c.operands.push_back(detail::state_tensor(5, *p, type));
    if (p->initial_c) c.operands.push_back(detail::state_tensor(6, *p, type));
    c.results.push_back(detail::sequence_tensor(*p, type));
    for (std::int64_t i = 1; i < p->wanted; ++i)
      c.results.push_back(detail::state_tensor(placed::result, *p, type));
    c.workspace = [made](cudnnHandle_t h) { return made->workspace(h); };
    c.packed_bytes = [made](cudnnHandle_t h) { return made->packed_bytes(h); };
    c.packed = [made](cudnnHandle_t h, const std::byte* base, std::int64_t bytes,
                      const operands& values) { return made->packed(h, base, bytes, values); };
    c.launch = [made](cudnnHandle_t h, const call_memory& m) { return made->launch(h, m); };
    c.certain = algorithm == CUDNN_RNN_ALGO_STANDARD && !narrow;
    out.push_back(std::move(c));
  };
  for (int a = 0; a < CUDNN_RNN_ALGO_COUNT; ++a) {
    if (t == numeric::f32) {
      add(a, CUDNN_FMA_MATH, "fma", CUDNN_DATA_FLOAT);
      continue;
    }
    add(a, CUDNN_DEFAULT_MATH, "default", CUDNN_DATA_FLOAT);
    if (t != numeric::tf32) add(a, CUDNN_TENSOR_OP_MATH, "tensor_op", CUDNN_DATA_FLOAT);
    if (t == numeric::f16) add(a, CUDNN_TENSOR_OP_MATH, "tensor_op", CUDNN_DATA_HALF);
  }
  return out;
}

} // namespace benanza::backend::cudnn
