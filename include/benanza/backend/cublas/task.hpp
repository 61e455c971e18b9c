// SPDX-License-Identifier: Apache-2.0
// Which layers are products of matrices, and how? A task is one way to see a layer as a stack of
// products with what cublasLt can do on their result: a vector added to each row, a matrix added,
// Relu or Gelu. Gemm and MatMul are one task, a convolution of one tap is two: in ONNX order, and
// with the channels last. What cannot be said without moving data is no task. Needs no GPU.
//
//   for (const task& t : tasks_for(layer, numeric::f16)) t.what, t.before, t.bias;
#pragma once

#include "../../core/layout.hpp"
#include "../cuda/placement.hpp"
#include "../tolerance.hpp"
#include "column_major.hpp"

#include <limits>
#include <string>

namespace benanza::backend::cublas {

/// An operand of a task: which of the layer's it is, and how it lies in the GPU's memory.
struct task_operand {
  int input = 0;
  cuda::stored is{};
  bool scaled = false; ///< takes the layer's output scale: it stands in units of the integer sum
};

enum class weights_place : std::uint8_t { none, left, right };

/// One way to see a layer as products.
struct task {
  std::string before{}; ///< of an algorithm's id: "nhwc:"
  product what{};
  task_operand left{}, right{};
  cuda::stored result{};
  weights_place weights = weights_place::none;
  std::optional<task_operand> bias{};   ///< one number a column of the result, added to each row
  std::optional<task_operand> addend{}; ///< of the result's dims and layout
  std::optional<op::unary_function> function{}; ///< the last of all
  std::string layouts{}, operand_layouts{}, result_layout{};

  /// True where nothing is done on the products.
  bool bare() const { return !bias && !addend && !function; }
};
using tasks = std::vector<task>;

/// Storage of what is added to the result. Products of e4m3 add bf16.
constexpr dtype addend_type(numeric t) {
  return t == numeric::e4m3 ? dtype::bf16 : result_of(t);
}
/// Storage of a vector that is added to each row. Products of integers add f32.
constexpr dtype bias_type(numeric t) {
  return quantised(t) ? dtype::f32 : addend_type(t);
}

/// True for the classes that cuBLAS computes in: both operands must be of one type.
constexpr bool has_type(numeric t) {
  return t != numeric::u8s8u8;
}
/// True where the right operand must be stored n x k, and the left m x k: cublasLt's "TN".
constexpr bool needs_turned_right(numeric t) {
  return t == numeric::s8s8s8 || t == numeric::e4m3;
}

/// How far cublasLt's Gelu, x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, lies from ONNX's with
/// the error function, at most.
inline constexpr double gelu_difference = 4.8e-4;

namespace detail {
/// Strides of stacks of matrices; turned ones are stored with rows and columns exchanged.
inline shape matrix_strides(const shape& dims, bool turned) {
  if (!turned) return cuda::detail::in_order(dims);
  shape exchanged = dims;
  std::swap(exchanged[dims.size - 2], exchanged[dims.size - 1]);
  shape s = cuda::detail::in_order(exchanged);
  std::swap(s[dims.size - 2], s[dims.size - 1]);
  return s;
}
inline shape strides_in(layout l, const shape& dims) {
  if (l == layout::plain) return cuda::detail::in_order(dims);
  shape last{dims[0]};
  for (int i = 2; i < dims.size; ++i)
    last.push(dims[i]);
  last.push(dims[1]);
  const shape s = cuda::detail::in_order(last);
  shape out{s[0], s[s.size - 1]};
  for (int i = 1; i + 1 < s.size; ++i)
    out.push(s[i]);
  return out;
}
inline cuda::stored dense(const shape& dims, const shape& strides, dtype type) {
  return {dims, strides, type, elements(dims)};
}

/// True if `operand` is one number for each index of the result's dim `channels`, and of no other.
inline bool is_vector(const shape& operand, const shape& result, int channels) {
  if (operand.size > result.size) return false;
  const shape full = expanded(operand, result.size);
  return full[channels] == result[channels] && elements(full) == full[channels];
}

/// True where the library's Gelu is ONNX's as far as anyone can tell in this class.
inline bool gelu_is_exact_enough(const op::layer& l, numeric t) {
  return !quantised(t) && tolerance_of(l, t).absolute >= gelu_difference;
}

/// Makes steps part of a task; false where cublasLt has no way. `channels` is the dim of the result
/// that is the products' columns; -1: none is.
inline bool add_steps(task& to, const op::step_list& steps, int input, int channels,
                      const op::layer& whole, numeric t) {
  for (const op::step& s : steps) {
    if (to.function) return false;
    if (!s.joins) {
      if (s.function == op::unary_function::gelu && !gelu_is_exact_enough(whole, t)) return false;
      if (s.function != op::unary_function::relu && s.function != op::unary_function::gelu)
        return false;
      to.function = s.function;
      continue;
    }
    if (s.join != op::binary_function::add) return false;
    const shape operand = s.operand.empty() ? to.result.dims : s.operand;
    const bool plain = !to.operand_layouts.starts_with(name(layout::channels_last));
    if (channels >= 0 && !to.bias && is_vector(operand, to.result.dims, channels)) {
      to.bias = {input, dense(operand, cuda::detail::in_order(operand), bias_type(t))};
      to.operand_layouts.append(",").append(name(layout::plain));
    } else if (!to.addend && operand == to.result.dims && addend_type(t) == source_of(t)) {
      to.addend = {input, to.result};
      to.operand_layouts.append(",").append(name(plain ? layout::plain : layout::channels_last));
    } else {
      return false;
    }
    ++input;
  }
  return true;
}

/// Turns weights where the class wants them so; false where what is no weight would have to be.
inline bool turn_for(numeric t, task& of) {
  if (!needs_turned_right(t)) return true;
  if (of.what.left_turned) return false;
  if (of.what.right_turned) return true;
  if (of.weights != weights_place::right) return false;
  of.what.right_turned = true;
  of.right.is.strides = matrix_strides(of.right.is.dims, true);
  return true;
}

inline std::string letters_of(const product& p) {
  return std::string(p.left_turned ? "ba" : "ab") + (p.right_turned ? ",ba,ab" : ",ab,ab");
}

/// A task of matrices, its operands in ONNX's order.
inline task matrices(const product& p, const shape& a, const shape& b, const shape& result,
                     bool constant, numeric t) {
  task out{.what = p,
           .left = {0, dense(a, cuda::detail::in_order(a), source_of(t))},
           .right = {1, dense(b, cuda::detail::in_order(b), weights_of(t))},
           .result = dense(result, cuda::detail::in_order(result), result_of(t)),
           .weights = constant ? weights_place::right : weights_place::none};
  out.operand_layouts = out.result_layout = name(layout::plain);
  return out;
}

/// A MatMul as a stack of products: outer dims that the right operand lacks are more rows of the
/// left. Nothing where operands broadcast in another way than from one matrix to the whole stack.
inline std::optional<product> stacked(const op::matmul& p) {
  shape a = p.a, b = p.b, c = p.output();
  a.size -= 2, b.size -= 2, c.size -= 2;
  a = expanded(a, c.size), b = expanded(b, c.size);
  product out{.m = p.m(), .n = p.n(), .k = p.k()};
  int outer = c.size;
  for (; outer > 0 && b[outer - 1] == 1; --outer)
    out.m *= a[outer - 1];
  out.batches = elements(c, 0, outer);
  const std::int64_t left = elements(a, 0, outer), right = elements(b, 0, outer);
  if ((left != out.batches && left != 1) || (right != out.batches && right != 1))
    return std::nullopt;
  out.one_left = left != out.batches;
  out.one_right = right != out.batches;
  return out;
}

inline void describe(const op::gemm& g, const op::step_list& steps, const op::layer& whole,
                     numeric t, tasks& out) {
  const product p{
      .m = g.m, .n = g.n, .k = g.k, .left_turned = g.transpose_a, .right_turned = g.transpose_b};
  task made = matrices(p, g.a_shape(), g.b_shape(), g.output(), g.constant_b, t);
  int inputs = 2;
  if (!g.c.empty()) {
    inputs = 3;
    if (is_vector(g.c, g.output(), 1))
      made.bias = {2, dense(g.c, cuda::detail::in_order(g.c), bias_type(t)), true};
    else if (g.c == g.output() && !quantised(t))
      made.addend = {2, dense(g.c, cuda::detail::in_order(g.c), addend_type(t))};
    else
      return;
  }
  if (!add_steps(made, steps, inputs, 1, whole, t) || !turn_for(t, made)) return;
  made.layouts = letters_of(made.what);
  out.push_back(std::move(made));
}

inline void describe(const op::matmul& p, const op::step_list& steps, const op::layer& whole,
                     numeric t, tasks& out) {
  const auto stack = stacked(p);
  if (!stack) return;
  task made = matrices(*stack, p.a, p.b, p.output(), p.constant_b, t);
  if (!add_steps(made, steps, 2, p.output().size - 1, whole, t) || !turn_for(t, made)) return;
  made.layouts = letters_of(made.what);
  out.push_back(std::move(made));
}

/// True for convolutions that only mix channels.
inline bool is_pointwise(const op::conv& c) {
  return c.kernel.all(1) && c.strides.all(1) && c.pads.all(0) && c.groups == 1;
}

inline void describe(const op::conv& c, const op::step_list& steps, const op::layer& whole,
                     numeric t, tasks& out) {
  if (!is_pointwise(c)) return;
  const std::int64_t images = c.input[0], channels = c.input[1],
                     places = elements(c.input, 2, c.input.size);
  for (const layout l : {layout::plain, layout::channels_last}) {
    const bool plain = l == layout::plain;
    const task_operand source{0, dense(c.input, strides_in(l, c.input), source_of(t))};
    const task_operand weights{
        1, dense(c.weights(), cuda::detail::in_order(c.weights()), weights_of(t))};
    task made{.before = plain ? "" : "nhwc:",
              .left = plain ? weights : source,
              .right = plain ? source : weights,
              .result = dense(c.output(), strides_in(l, c.output()), result_of(t)),
              .weights = plain ? weights_place::left : weights_place::right};
    made.what =
        plain ? product{.m = c.outputs,
                        .n = places,
                        .k = channels,
                        .batches = images,
                        .one_left = images > 1}
              : product{.m = images * places, .n = c.outputs, .k = channels, .right_turned = true};
    std::string places_in(letters(l, c.input.size)), weights_in = places_in;
    for (char& letter : weights_in)
      letter = letter == 'n' ? 'o' : letter == 'c' ? 'i' : letter;
    made.layouts = places_in + ',' + weights_in + ',' + places_in;
    made.operand_layouts = made.result_layout = name(l);
    if (c.bias && plain) continue; // one number a row of the result: cublasLt adds none
    if (c.bias) made.bias = {2, dense({c.outputs}, {1}, bias_type(t)), true};
    if (!add_steps(made, steps, c.bias ? 3 : 2, plain ? -1 : 1, whole, t) || !turn_for(t, made))
      continue;
    out.push_back(std::move(made));
  }
}

/// cuBLAS's plain functions count in 32 bits.
inline bool is_countable(const task& t) {
  const column_product p = told(t.what);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return p.m <= most && p.n <= most && p.k <= most && p.batches <= most;
}
} // namespace detail

/// All ways to see a layer as products; none where it is none, or cuBLAS lacks the class.
inline tasks tasks_for(const op::layer& l, numeric t) {
  tasks out;
  if (!has_type(t) || elements(op::output(l)) == 0 || op::cost(l).macs == 0) return out;
  std::visit(
      [&](const auto& p) {
        if constexpr (op::is_fused<std::decay_t<decltype(p)>>) {
          if constexpr (requires { detail::describe(p.base, p.steps, l, t, out); })
            detail::describe(p.base, p.steps, l, t, out);
        } else if constexpr (requires { detail::describe(p, op::step_list{}, l, t, out); }) {
          detail::describe(p, op::step_list{}, l, t, out);
        }
      },
      l);
  std::erase_if(out, [](const task& made) { return !detail::is_countable(made); });
  return out;
}

} // namespace benanza::backend::cublas
