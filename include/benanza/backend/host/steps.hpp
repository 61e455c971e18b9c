// SPDX-License-Identifier: Apache-2.0
// How does a run of elementwise layers go through memory once? Block by block: each function is
// applied to a block of values that stays in the first cache, and the last one writes the result.
// Operands that broadcast are read along the last dim that broadcasting leaves.
//
//   kernel k = make(op::fused<op::unary>{.base = ..., .steps = {binary_function::mul}}, job);
#pragma once

#include "eltwise.hpp"

namespace benanza::backend::host {

namespace detail {

/// A function of the values so far, or of these and an operand.
struct block_step {
  block_function function = nullptr; ///< null: a join
  plane_function join = nullptr;
  std::size_t operand = 0; ///< of a join
};

/// Everything a run of elementwise functions was prepared to.
struct step_plan {
  static constexpr int most_operands = 8;
  loops<1 + most_operands> l; // result, operands
  std::vector<block_step> steps;
  std::vector<const std::byte*> inputs;
  std::byte* output = nullptr;
  std::int64_t width = 0;  // bytes of an element
  widener widen = nullptr; // null: floats
  narrower narrow = nullptr;
  int threads = 1;

  void run() const {
    const int last = l.rank - 1;
    const std::int64_t rows = l.count(0, last), n = l.size[last];
    if (rows < 2 * threads)
      share(threads, n, block,
            [&](std::int64_t begin, std::int64_t end) { part(0, rows, begin, end); });
    else
      share(threads, rows, 1,
            [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, n); });
  }

private:
  void part(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t end) const {
    const int last = l.rank - 1;
    for (walker<1 + most_operands> at(l, last, row); row < row_end; ++row, at.next())
      for (std::int64_t from = begin; from < end; from += block)
        compute(at.at, row * l.size[last] + from, from, std::min(block, end - from));
  }

  void compute(const std::array<std::int64_t, 1 + most_operands>& offsets, std::int64_t to,
               std::int64_t from, std::int64_t n) const {
    alignas(64) float values[block], widened[block];
    const auto& moves = l.stride[l.rank - 1];
    const auto read = [&](std::size_t k, float* room) {
      const std::byte* at = inputs[k] + (offsets[k + 1] + from * moves[k + 1]) * width;
      if (widen == nullptr) return reinterpret_cast<const float*>(at);
      widen(at, room, moves[k + 1] == 0 ? 1 : n);
      return static_cast<const float*>(room);
    };
    float* result = widen == nullptr ? reinterpret_cast<float*>(output) + to : values;
    const float* so_far = read(0, values);
    bool moved = moves[1] != 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const block_step& s = steps[i];
      float* target = i + 1 == steps.size() ? result : values;
      if (s.join == nullptr) {
        s.function(so_far, target, n);
      } else {
        const float* other = read(s.operand, widened);
        s.join(reinterpret_cast<const std::byte*>(so_far),
               reinterpret_cast<const std::byte*>(other), reinterpret_cast<std::byte*>(target),
               {1, n, 0, 0, moved, moves[s.operand + 1] != 0});
      }
      so_far = target;
      moved = true;
    }
    if (widen != nullptr) narrow(values, output + to * width, n, 1);
  }
};

inline std::size_t operands_of(const op::unary&) {
  return 1;
}
inline std::size_t operands_of(const op::binary& p) {
  return static_cast<std::size_t>(p.operands);
}
} // namespace detail

/// True where there is a kernel: f32 and bf16, of as many operands as the loops have room for.
template <class Base>
requires std::is_same_v<Base, op::unary> || std::is_same_v<Base, op::binary>
bool runs(const op::fused<Base>& p, dtype element) {
  std::size_t operands = detail::operands_of(p.base);
  for (const op::step& s : p.steps)
    operands += s.joins;
  if constexpr (std::is_same_v<Base, op::binary>)
    if (p.base.operands < 2 || p.base.function == op::binary_function::mean ||
        plane_for(p.base, element) == nullptr)
      return false;
  return (element == dtype::f32 || element == dtype::bf16) &&
         operands <= detail::step_plan::most_operands;
}

template <class Base>
requires std::is_same_v<Base, op::unary> || std::is_same_v<Base, op::binary> detail::kernel
make(const op::fused<Base>& p, const detail::job& j) {
  const shape out = p.output(), dense = packed(out);
  if (elements(out) == 0) return {"blocks", [] {}};
  auto plan = std::make_shared<detail::step_plan>();
  std::vector<shape> strides;
  const auto add = [&](const shape& dims) {
    strides.push_back(detail::broadcast_strides(dims, out.size));
  };
  const auto join = [&](op::binary_function f, const shape& dims) {
    plan->steps.push_back({.join = detail::binary_plane<float>(f), .operand = strides.size()});
    add(dims);
  };
  if constexpr (std::is_same_v<Base, op::unary>) {
    add(p.base.input);
    plan->steps.push_back({.function = detail::unary_block(p.base.function)});
  } else {
    add(p.base.a);
    for (std::int64_t k = 1; k < p.base.operands; ++k)
      join(p.base.function, p.base.b);
  }
  for (const op::step& s : p.steps)
    if (s.joins)
      join(s.join, p.operand_of(s));
    else
      plan->steps.push_back({.function = detail::unary_block(s.function)});
  for (int i = 0; i < out.size; ++i) {
    std::array<std::int64_t, 1 + detail::step_plan::most_operands> each{dense[i]};
    for (std::size_t k = 0; k < strides.size(); ++k)
      each[k + 1] = strides[k][i];
    plan->l.push(out[i], each);
  }
  plan->l.simplify();
  plan->l.widen(1);
  plan->inputs = j.inputs;
  plan->output = j.output;
  plan->width = j.width();
  if (j.element != dtype::f32) {
    plan->widen = detail::widen_as(j.element);
    plan->narrow = detail::narrow_as(j.result);
  }
  plan->threads = detail::team_for(j.threads, p.cost().bytes(numeric::f32));
  return {"blocks", [plan] { plan->run(); }};
}

} // namespace benanza::backend::host
