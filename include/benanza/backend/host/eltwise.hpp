// SPDX-License-Identifier: Apache-2.0
// How do elementwise layers run? Unary functions over blocks; functions of two operands over
// planes, the last two dims that broadcasting leaves after neighbours are joined. Sum, Max, Min and
// Mean of many go through all operands block by block, so that the result is written once.
//
//   kernel k = make(op::unary{.function = op::unary_function::erf, .input = {128, 3072}}, job);
#pragma once

#include "detail/functions.hpp"
#include "detail/job.hpp"
#include "detail/loops.hpp"

namespace benanza::backend::host {

namespace detail {

/// The functions of whole numbers; Not of truth values.
template <class T>
void over_whole(op::unary_function f, const T* from, T* to, std::int64_t n) {
  using enum op::unary_function;
  const auto each = [=](auto of) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<T>(of(from[i]));
  };
  const auto opposite = [](T v) { return wrapping<T>{0} - static_cast<wrapping<T>>(v); };
  switch (f) {
  case relu: return each([](T v) { return v > T{} ? v : T{}; });
  case abs: return each([=](T v) { return v < T{} ? static_cast<T>(opposite(v)) : v; });
  case neg: return each(opposite);
  case sign: return each([](T v) { return (v > T{}) - (v < T{}); });
  case bitwise_not: return each([](T v) { return static_cast<T>(~v); });
  case clip: {
    constexpr auto least = static_cast<int>(attribute::clip_whole_low);
    constexpr T low = std::is_unsigned_v<T> ? T{} : static_cast<T>(least);
    constexpr T high = static_cast<T>(attribute::clip_whole_high);
    return each([=](T v) { return std::min(std::max(v, low), high); });
  }
  default: return each([](T v) { return v == 0; });
  }
}

template <class T>
task whole_task(op::unary_function f, std::int64_t n, const job& j) {
  const int threads = team_for(j.threads, 2 * n * static_cast<std::int64_t>(sizeof(T)));
  return [=, from = reinterpret_cast<const T*>(j.inputs[0]), to = reinterpret_cast<T*>(j.output)] {
    share(threads, n, 1024, [&](std::int64_t begin, std::int64_t end) {
      over_whole(f, from + begin, to + begin, end - begin);
    });
  };
}

/// Everything a binary layer was prepared to.
struct binary_plan {
  loops<3> l; // result, a, b
  plane_function function = nullptr;
  widener widen = nullptr; // null: the operands are computed on as they are
  narrower narrow = nullptr;
  std::int64_t width = 0, result_width = 0; // bytes of an element
  std::vector<const std::byte*> inputs;
  std::byte* output = nullptr;
  float scale = 1;
  bool truth = false;
  int threads = 1;

  void run() const {
    const int outer = l.rank - 2;
    const std::int64_t rows = l.count(0, outer + 1), n = l.size[outer + 1];
    if (rows < 2 * threads)
      share(threads, n, block,
            [&](std::int64_t begin, std::int64_t end) { part(0, rows, begin, end); });
    else
      share(threads, rows, 1,
            [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, n); });
  }

private:
  /// True if every plane can go straight to its loop.
  bool direct() const { return widen == nullptr && inputs.size() <= 2 && scale == 1; }

  void part(std::int64_t row, std::int64_t row_end, std::int64_t begin, std::int64_t end) const {
    const int outer = l.rank - 2;
    const std::int64_t inner = l.size[outer], n = l.size[outer + 1];
    const auto row_step = l.stride[outer], step = l.stride[outer + 1];
    walker<3> at(l, outer, row / inner);
    for (std::int64_t first = row % inner; row < row_end; first = 0, at.next()) {
      const std::int64_t count = std::min(inner - first, row_end - row);
      const std::int64_t a = at.at[1] + first * row_step[1] + begin * step[1];
      const std::int64_t b = at.at[2] + first * row_step[2] + begin * step[2];
      plane p{count, end - begin, row_step[1], row_step[2], step[1] != 0, step[2] != 0};
      const std::int64_t to = row * n + begin;
      row += count;
      if (direct() && (count == 1 || p.n == n)) {
        function(inputs[0] + a * width, inputs[1] + b * width, output + to * result_width, p);
        continue;
      }
      // Whole rows as far as a block holds them, pieces of a row otherwise.
      const std::int64_t wide = std::min(p.n, block),
                         tall = p.n == n && wide == n ? block / wide : 1;
      for (std::int64_t r = 0; r < count; r += tall)
        for (std::int64_t c = 0; c < p.n; c += wide) {
          plane piece = p;
          piece.rows = std::min(tall, count - r);
          piece.n = std::min(wide, p.n - c);
          compute(a + r * p.a_row + c * step[1], b + r * p.b_row + c * step[2], to + r * n + c,
                  piece);
        }
    }
  }

  /// Widens what a plane reads to dense floats and sets how far apart their rows are.
  const std::byte* dense(const std::byte* from, float* scratch, std::int64_t rows, std::int64_t n,
                         std::int64_t& row, bool moves) const {
    const std::int64_t length = moves ? n : 1, held = row == 0 ? 1 : rows;
    if (row == length || held == 1)
      widen(from, scratch, held * length);
    else
      for (std::int64_t r = 0; r < held; ++r)
        widen(from + r * row * width, scratch + r * length, length);
    row = row == 0 ? 0 : length;
    return reinterpret_cast<const std::byte*>(scratch);
  }

  void compute(std::int64_t a, std::int64_t b, std::int64_t to, plane p) const {
    alignas(64) float x[block], y[block], z[block];
    std::byte* target = output + to * result_width;
    std::byte* sums = widen && !truth ? reinterpret_cast<std::byte*>(z) : target;
    const plane given = p;
    const std::byte* left = inputs[0] + a * width;
    if (widen) left = dense(left, x, p.rows, p.n, p.a_row, p.a_moves);
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const std::byte* right = inputs[k] + b * width;
      p.b_row = given.b_row;
      if (widen) right = dense(right, y, p.rows, p.n, p.b_row, p.b_moves);
      function(left, right, sums, p);
      left = sums;
      p.a_row = p.n;
      p.a_moves = true;
    }
    if (widen ? !truth : scale != 1)
      narrow(reinterpret_cast<const float*>(sums), target, p.rows * p.n, scale);
  }
};
} // namespace detail

namespace detail {
/// True for layers of whole numbers that are no codes.
inline bool of_whole(dtype layer_element) {
  return layer_element >= dtype::s8 && layer_element <= dtype::u64;
}
} // namespace detail

/// True where there is a kernel: f32 and bf16; codes but for functions that leave their range;
/// Abs, Neg, Sign, Relu, Clip and BitwiseNot of whole numbers; Not.
inline bool runs(const op::unary& p, dtype element) {
  using enum op::unary_function;
  const auto f = p.function;
  if (element == dtype::boolean) return f == logical_not;
  if (detail::of_whole(p.element))
    return f == relu || f == abs || f == neg || f == sign || f == clip || f == bitwise_not;
  if (f == logical_not || f == bitwise_not) return false;
  const bool reals = element == dtype::f32 || element == dtype::bf16;
  return reals || (detail::computes_in_f32(element) && f < tan);
}

inline detail::kernel make(const op::unary& p, const detail::job& j) {
  const std::int64_t n = elements(p.input);
  if (j.element == dtype::boolean)
    return {"loop", detail::whole_task<std::uint8_t>(p.function, n, j)};
  if (detail::of_whole(p.element))
    return {"loop", detail::with_whole(p.element, [&](auto v) {
              return detail::whole_task<decltype(v)>(p.function, n, j);
            })};
  const auto f = detail::unary_block(p.function);
  const int threads = detail::team_for(j.threads, 2 * n * 4);
  if (j.element == dtype::f32 && j.result == dtype::f32)
    return {"loop", [=, from = reinterpret_cast<const float*>(j.inputs[0]),
                     to = reinterpret_cast<float*>(j.output)] {
              detail::share(threads, n, 1024, [&](std::int64_t begin, std::int64_t end) {
                f(from + begin, to + begin, end - begin);
              });
            }};
  return {"loop", [=, widen = detail::widen_as(j.element), narrow = detail::narrow_as(j.result),
                   width = j.width(), written = size_bytes(j.result), from = j.inputs[0],
                   to = j.output, scale = j.scale] {
            detail::share(threads, n, detail::block, [&](std::int64_t begin, std::int64_t end) {
              alignas(64) float values[detail::block];
              for (; begin < end; begin += detail::block) {
                const std::int64_t length = std::min(detail::block, end - begin);
                widen(from + begin * width, values, length);
                f(values, values, length);
                narrow(values, to + begin * written, length, scale);
              }
            });
          }};
}

/// The loop of a layer's function for its storage, if there is one. ONNX has no Mean of whole
/// numbers.
inline detail::plane_function plane_for(const op::binary& p, dtype element) {
  if (element == dtype::boolean) return detail::truth_plane(p.function);
  if (detail::of_whole(p.element)) {
    if (p.function == op::binary_function::mean) return nullptr;
    return detail::with_whole(
        p.element, [&](auto v) { return detail::binary_plane<decltype(v)>(p.function); });
  }
  return detail::computes_in_f32(element) ? detail::binary_plane<float>(p.function) : nullptr;
}

inline detail::kernel make(const op::binary& p, const detail::job& j) {
  const shape out = p.output(), to = packed(out);
  op::binary shown = p;
  auto plan = std::make_shared<detail::binary_plan>();
  plan->inputs = j.inputs;
  if (p.operands == 1) {
    // One operand alone is the larger of itself and itself.
    shown.b = p.a;
    shown.function = op::binary_function::max;
    plan->inputs.push_back(j.inputs[0]);
  }
  const shape a = detail::broadcast_strides(shown.a, out.size);
  const shape b = detail::broadcast_strides(shown.b, out.size);
  for (int i = 0; i < out.size; ++i)
    plan->l.push(out[i], {to[i], a[i], b[i]});
  plan->l.simplify();
  plan->l.widen(2);
  plan->function = plane_for(shown, j.element);
  if (!detail::of_whole(p.element) && j.element != dtype::f32 && j.element != dtype::boolean)
    plan->widen = detail::widen_as(j.element);
  plan->narrow = detail::narrow_as(j.result);
  plan->width = j.width();
  plan->result_width = size_bytes(j.result);
  plan->output = j.output;
  plan->truth = j.result == dtype::boolean;
  const bool mean = p.function == op::binary_function::mean;
  plan->scale = j.scale / (mean ? static_cast<float>(p.operands) : 1.f);
  plan->threads = detail::team_for(j.threads, p.cost().bytes(numeric::f32));
  if (elements(out) == 0) return {"loop", [] {}};
  return {"loop", [plan] { plan->run(); }};
}

} // namespace benanza::backend::host
