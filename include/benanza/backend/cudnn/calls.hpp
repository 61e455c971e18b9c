// SPDX-License-Identifier: Apache-2.0
// Layers for which cuDNN has a call of its own and no engine of the graph API: softmax, LRN, and,
// through deprecated functions, reductions and changes of the order of dims. Each is one algorithm,
// or a few; none of these needs a GPU to be listed.
//
//   for (const call& c : calls_for(layer, type)) c.what.id;   // "softmax:fast", "softmax:accurate"
#pragma once

#include "../../op/kinds.hpp"
#include "enumerate.hpp"
#include "reduce.hpp"

#include <cudnn.h>

#include <functional>

namespace benanza::backend::cudnn {

/// Owner of one descriptor of the functions outside the graph API.
template <class Handle, cudnnStatus_t (*Create)(Handle*), cudnnStatus_t (*Destroy)(Handle)>
class owned {
public:
  owned() { check(Create(&it_), "a descriptor cannot be made"); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { Destroy(it_); }
  Handle get() const { return it_; }

private:
  Handle it_{};
};
using tensor_descriptor =
    owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using lrn_descriptor =
    owned<cudnnLRNDescriptor_t, cudnnCreateLRNDescriptor, cudnnDestroyLRNDescriptor>;
using reduce_descriptor = owned<cudnnReduceTensorDescriptor_t, cudnnCreateReduceTensorDescriptor,
                                cudnnDestroyReduceTensorDescriptor>;

/// Describes a tensor; these functions count in 32 bits.
inline void describe_tensor(const tensor_descriptor& d, const shape& dims, const shape& strides,
                            cudnnDataType_t type) {
  if (elements(dims) > 0x7fffffff) throw error("this function of cuDNN counts in 32 bits");
  int sizes[8], steps[8];
  for (int i = 0; i < dims.size; ++i) {
    sizes[i] = static_cast<int>(dims[i]);
    steps[i] = static_cast<int>(strides[i]);
  }
  check(cudnnSetTensorNdDescriptor(d.get(), type, dims.size, sizes, steps), "a tensor");
}

/// Where a call finds its tensors.
struct call_memory {
  std::vector<const void*> operands{};
  std::vector<void*> results{};
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  float scale = 1; ///< by which integers multiply their exact result
};

/// One way to compute a layer by a call.
struct call {
  algorithm what{};
  std::vector<placed> operands{}, results{}; ///< as they are in the GPU's memory
  /// Bytes of workspace; throws where the library refuses the call. Empty: it needs none.
  std::function<std::int64_t(cudnnHandle_t)> workspace{};
  std::function<cudnnStatus_t(cudnnHandle_t, const call_memory&)> launch{};
  /// Of an operand whose order the library alone knows: how many bytes, and what they are if it is
  /// at `base`.
  std::function<std::int64_t(cudnnHandle_t)> packed_bytes{};
  std::function<tensor_bytes(cudnnHandle_t, const std::byte* base, std::int64_t bytes,
                             const backend::operands&)>
      packed{};
  bool certain = false; ///< every GPU has it: it need not be asked for
  /// By what integers multiply their exact result; none: the operands' output scale.
  std::function<double(const backend::operands&)> factor{};
};

namespace detail {
inline constexpr float one = 1, none = 0;

/// A call from one tensor to another, as described to cuDNN.
struct single_call {
  std::string id{};
  shape x{}, x_strides{}, y{}, y_strides{};
  dtype type = dtype::f32;
  std::function<std::int64_t(cudnnHandle_t, const tensor_descriptor& x, const tensor_descriptor& y)>
      workspace{};
  std::function<cudnnStatus_t(cudnnHandle_t, const tensor_descriptor& x_is, const void* x,
                              const tensor_descriptor& y_is, void* y, const call_memory&)>
      launch{};
  std::string from{}, to{}; ///< layouts as other layers know them; empty: plain
};

inline call finished(const single_call& c) {
  const std::string plain(name(layout::plain));
  // A change of order says by its strides where elements go; all others keep the order.
  const shape in_order = c.to.empty() ? packed(c.y) : c.y_strides;
  call out{.what = {.id = c.id,
                    .layouts = plain,
                    .operand_layouts = c.from.empty() ? plain : c.from,
                    .result_layout = c.to.empty() ? plain : c.to,
                    .notes = "call"},
           .operands =
               {{.dims = c.x, .strides = c.x_strides, .type = c.type, .elements = elements(c.x)}},
           .results = {{.input = placed::result,
                        .dims = c.y,
                        .strides = in_order,
                        .type = c.type,
                        .elements = elements(c.y)}}};
  const auto x = std::make_shared<tensor_descriptor>(), y = std::make_shared<tensor_descriptor>();
  describe_tensor(*x, c.x, c.x_strides, *data_type_of(c.type));
  describe_tensor(*y, c.y, c.y_strides, *data_type_of(c.type));
  if (c.workspace)
    out.workspace = [x, y, ask = c.workspace](cudnnHandle_t h) { return ask(h, *x, *y); };
  out.launch = [x, y, put = c.launch](cudnnHandle_t h, const call_memory& m) {
    return put(h, *x, m.operands[0], *y, m.results[0], m);
  };
  return out;
}

inline void add_calls(const op::softmax& p, dtype type, std::vector<single_call>& out) {
  single_call c{.x = {elements(p.input, 0, p.axis), p.input[p.axis],
                      elements(p.input, p.axis + 1, p.input.size), 1},
                .type = type};
  c.y = c.x;
  c.x_strides = c.y_strides = packed(c.x);
  const auto add = [&](const char* id, cudnnSoftmaxAlgorithm_t how) {
    c.id = id;
    c.launch = [how](cudnnHandle_t h, const tensor_descriptor& xd, const void* x,
                     const tensor_descriptor& yd, void* y, const call_memory&) {
      return cudnnSoftmaxForward(h, how, CUDNN_SOFTMAX_MODE_CHANNEL, &one, xd.get(), x, &none,
                                 yd.get(), y);
    };
    out.push_back(c);
  };
  if (p.log) return add("softmax:log", CUDNN_SOFTMAX_LOG);
  add("softmax:accurate", CUDNN_SOFTMAX_ACCURATE);
  add("softmax:fast", CUDNN_SOFTMAX_FAST);
}

inline void add_calls(const op::lrn& p, dtype type, std::vector<single_call>& out) {
  // An even window leans to the other side than ONNX's; larger ones do not exist.
  if (p.size % 2 == 0 || p.size > CUDNN_LRN_MAX_N || p.input.size > 5) return;
  single_call c{
      .id = "lrn", .x = widened(p.input, p.input.size < 4 ? 4 : p.input.size), .type = type};
  c.y = c.x;
  c.x_strides = c.y_strides = packed(c.x);
  const auto how = std::make_shared<lrn_descriptor>();
  check(cudnnSetLRNDescriptor(how->get(), static_cast<unsigned>(p.size), attribute::lrn_alpha,
                              attribute::lrn_beta, attribute::lrn_bias),
        "an LRN");
  c.launch = [how](cudnnHandle_t h, const tensor_descriptor& xd, const void* x,
                   const tensor_descriptor& yd, void* y, const call_memory&) {
    return cudnnLRNCrossChannelForward(h, how->get(), CUDNN_LRN_CROSS_CHANNEL_DIM1, &one, xd.get(),
                                       x, &none, yd.get(), y);
  };
  out.push_back(std::move(c));
}

/// The same elements under other strides.
inline void add_transform(single_call c, std::vector<single_call>& out) {
  c.id = "transform";
  c.launch = [](cudnnHandle_t h, const tensor_descriptor& xd, const void* x,
                const tensor_descriptor& yd, void* y, const call_memory&) {
    return cudnnTransformTensor(h, &one, xd.get(), x, &none, yd.get(), y);
  };
  out.push_back(std::move(c));
}

inline void add_calls(const op::transpose& p, dtype type, std::vector<single_call>& out) {
  if (p.input.size > 5) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size, before = rank - p.input.size;
  const shape input = expanded(p.input, rank);
  const shape result = packed(expanded(p.output(), rank));
  single_call c{
      .x = input, .x_strides = packed(input), .y = input, .y_strides = result, .type = type};
  for (int i = 0; i < p.input.size; ++i)
    c.y_strides[before + static_cast<int>(p.order[i])] = result[before + i];
  add_transform(std::move(c), out);
}

inline void add_calls(const op::reorder& p, dtype type, std::vector<single_call>& out) {
  const auto taken = [](layout l) { return l == layout::plain || l == layout::channels_last; };
  if (!taken(p.from) || !taken(p.to)) return;
  const shape dims = widened(p.input, p.input.size < 4 ? 4 : p.input.size);
  add_transform({.x = dims,
                 .x_strides = strides_in(p.from, dims),
                 .y = dims,
                 .y_strides = strides_in(p.to, dims),
                 .type = type,
                 .from = std::string(name(p.from)),
                 .to = std::string(name(p.to))},
                out);
}

inline std::optional<cudnnReduceTensorOp_t> reduce_call(op::reduction f) {
  using enum op::reduction;
  switch (f) {
  case mean: return CUDNN_REDUCE_TENSOR_AVG;
  case sum: return CUDNN_REDUCE_TENSOR_ADD;
  case max: return CUDNN_REDUCE_TENSOR_MAX;
  case min: return CUDNN_REDUCE_TENSOR_MIN;
  case product: return CUDNN_REDUCE_TENSOR_MUL;
  case l1: return CUDNN_REDUCE_TENSOR_NORM1;
  case l2: return CUDNN_REDUCE_TENSOR_NORM2;
  default: return std::nullopt;
  }
}

inline void add_calls(const op::reduce& p, dtype type, std::vector<single_call>& out) {
  const auto what = reduce_call(p.function);
  if (!what || p.input.size > 5 || p.axes.empty()) return;
  const int rank = p.input.size < 4 ? 4 : p.input.size;
  single_call c{.id = "reduce_tensor",
                .x = expanded(p.input, rank),
                .y = expanded(p.output(), rank),
                .type = type};
  c.x_strides = packed(c.x);
  c.y_strides = packed(c.y);
  const auto how = std::make_shared<reduce_descriptor>();
  check(cudnnSetReduceTensorDescriptor(how->get(), *what, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                       CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES),
        "a reduction");
  c.workspace = [how](cudnnHandle_t h, const tensor_descriptor& x, const tensor_descriptor& y) {
    std::size_t bytes = 0;
    check(cudnnGetReductionWorkspaceSize(h, how->get(), x.get(), y.get(), &bytes), "a reduction");
    return static_cast<std::int64_t>(bytes);
  };
  c.launch = [how](cudnnHandle_t h, const tensor_descriptor& xd, const void* x,
                   const tensor_descriptor& yd, void* y, const call_memory& m) {
    return cudnnReduceTensor(h, how->get(), nullptr, 0, m.workspace, m.workspace_bytes, &one,
                             xd.get(), x, &none, yd.get(), y);
  };
  out.push_back(std::move(c));
}

inline bool takes(dtype t) {
  return t == dtype::f32 || t == dtype::f16 || t == dtype::bf16;
}
} // namespace detail

/// The calls that compute a layer; none where cuDNN has none for it.
inline std::vector<call> calls_for(const op::layer& l, numeric t) {
  std::vector<call> out;
  std::vector<detail::single_call> told;
  if (t == numeric::tf32 || op::is_view(l) || detail::is_empty(l)) return out;
  if (op::results(l).size > 1) return out;
  op::visit(
      [&](const auto& p) {
        dtype type = source_of(t);
        if constexpr (requires { p.element; }) type = storage_of(p.element, t);
        if constexpr (requires { detail::add_calls(p, type, told); })
          if (detail::takes(type)) detail::add_calls(p, type, told);
      },
      l);
  for (const detail::single_call& c : told) {
    try {
      out.push_back(detail::finished(c));
    } catch (const error&) {
      continue; // too large a tensor
    }
    out.back().certain = true;
    out.back().what.equivalence = name(t);
    out.back().what.flops = op::direct_flops(l);
  }
  return out;
}

} // namespace benanza::backend::cudnn
