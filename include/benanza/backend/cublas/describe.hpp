// SPDX-License-Identifier: Apache-2.0
// Which layers are products of matrices, and how? Gemm and MatMul are one task, or two where they
// have weights: these as the model's file has them, and with rows and columns exchanged (`wt:`), as
// what is stored k x n here is n x k in a framework. A convolution of one tap is two: in ONNX
// order, and with the channels last. Sums over one run of dims are products with ones (`ones:`).
// What cannot be said without moving data is no task. Needs no GPU.
//
//   tasks all = tasks_for(op::parse("Conv/1x64x56x56-256x1x1-s1"), numeric::f32);   all[1].before
//   == "nhwc:"
#pragma once

#include "../../op/kinds.hpp"
#include "../row_sums.hpp"
#include "epilogue.hpp"

#include <limits>

namespace benanza::backend::cublas {

namespace detail {
inline std::string letters_of(const product& p) {
  return std::string(p.left_turned ? "ba" : "ab") + (p.right_turned ? ",ba,ab" : ",ab,ab");
}

/// Adds a task, and where it has weights also the one with these turned; of both what the class
/// takes.
inline void add_both_ways(task as_stored, numeric t, tasks& out) {
  as_stored.layouts = letters_of(as_stored.what);
  task turned = as_stored;
  turned.before = cuda::turned_weights_prefix;
  turned.what.right_turned = !turned.what.right_turned;
  turned.right.is.strides = cuda::matrix_strides(turned.right.is.dims, true);
  turned.layouts = letters_of(turned.what);
  const bool taken = lies_right(as_stored.what, t);
  const bool differs = !taken || cuda::lies_two_ways(as_stored.what.k, as_stored.what.n);
  const bool may_turn = as_stored.weights == weights_place::right && differs;
  if (taken) out.push_back(std::move(as_stored));
  if (may_turn && lies_right(turned.what, t)) out.push_back(std::move(turned));
}

/// A task of matrices, its operands in ONNX's order.
inline task matrices(const product& p, const shape& a, const shape& b, const shape& result,
                     bool constant, numeric t) {
  task out{.what = p,
           .left = {0, dense(a, packed(a), source_of(t))},
           .right = {1, dense(b, packed(b), weights_of(t))},
           .result = dense(result, packed(result), result_of(t)),
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
      made.bias = {2, dense(g.c, packed(g.c), bias_type(t)), true};
    else if (g.c == g.output() && !quantised(t))
      made.addend = {2, dense(g.c, packed(g.c), addend_type(t))};
    else
      return;
  }
  if (add_steps(made, steps, inputs, 1, whole, t)) add_both_ways(std::move(made), t, out);
}

inline void describe(const op::matmul& p, const op::step_list& steps, const op::layer& whole,
                     numeric t, tasks& out) {
  const auto stack = stacked(p);
  if (!stack) return;
  task made = matrices(*stack, p.a, p.b, p.output(), p.constant_b, t);
  if (add_steps(made, steps, 2, p.output().size - 1, whole, t))
    add_both_ways(std::move(made), t, out);
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
    const task_operand weights{1, dense(c.weights(), packed(c.weights()), weights_of(t))};
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
    if (!add_steps(made, steps, c.bias ? 3 : 2, plain ? -1 : 1, whole, t)) continue;
    if (!lies_right(made.what, t)) continue;
    out.push_back(std::move(made));
  }
}

/// A sum as a product with ones; TF32 would round what is added.
inline void describe_sums(const row_sums& s, numeric t, tasks& out) {
  if (quantised(t) || t == numeric::tf32 || t == numeric::e4m3) return;
  const auto operand = [t](const shape& dims) {
    return task_operand{0, dense(dims, packed(dims), source_of(t))};
  };
  const shape result = s.inner == 1 ? shape{s.outer, 1} : shape{s.outer, 1, s.inner};
  task made{.before = "ones:",
            .result = dense(result, packed(result), result_of(t)),
            .factor = static_cast<float>(s.factor)};
  if (s.inner == 1) {
    made.what = {.m = s.outer, .n = 1, .k = s.reduced};
    made.left = operand({s.outer, s.reduced});
    made.right = operand({s.reduced, 1});
    made.right.ones = true;
  } else {
    made.what = {.m = 1, .n = s.inner, .k = s.reduced, .batches = s.outer, .one_left = s.outer > 1};
    made.left = operand({1, s.reduced});
    made.left.ones = true;
    made.right = operand({s.outer, s.reduced, s.inner});
  }
  made.layouts = letters_of(made.what);
  made.operand_layouts = made.result_layout = name(layout::plain);
  out.push_back(std::move(made));
}
inline void describe(const op::reduce& p, const op::step_list& steps, const op::layer&, numeric t,
                     tasks& out) {
  if (steps.size > 0 || p.element != dtype::real) return;
  if (const auto sums = row_sums_of(p)) describe_sums(*sums, t, out);
}
inline void describe(const op::pool& p, const op::step_list& steps, const op::layer&, numeric t,
                     tasks& out) {
  if (steps.size > 0) return;
  if (const auto sums = row_sums_of(p)) describe_sums(*sums, t, out);
}

/// True for layers that multiply, and for sums.
inline bool may_be_products(const op::layer& l) {
  return op::cost(l).macs != 0 || op::is<op::reduce, op::pool>(l);
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
  if (!has_type(t) || elements(op::output(l)) == 0 || !detail::may_be_products(l)) return out;
  op::visit(
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
