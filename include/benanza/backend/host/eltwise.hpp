// SPDX-License-Identifier: Apache-2.0
// How do elementwise layers run? Unary functions over blocks; functions of two operands over
// planes, the last two dims that broadcasting leaves after neighbours are joined; many small ones
// are brought together first. Sum, Max, Min and Mean of many go through all operands block by
// block, so that the result is written once.
//
//   kernel k = make(op::unary{.function = op::unary_function::erf, .input = {128, 3072}}, job);
#pragma once

#include "detail/copy.hpp"
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
    if (const int inner = small_dims(); inner > 0) return run_together(l.rank - inner);
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

  /// How many inner dims are so small that most of the time would go into finding the way.
  int small_dims() const {
    constexpr std::int64_t small_plane = 64, small_row = 8;
    const std::int64_t n = l.size[l.rank - 1], rows = l.size[l.rank - 2];
    if (!direct() || inputs.size() != 2) return 0;
    if (l.rank > 2 && rows * n <= small_plane) return 2;
    return rows > 1 && n <= small_row ? 1 : 0;
  }

  /// What the dims from `outer` on hold is brought together, as often as a block holds it.
  void run_together(int outer) const {
    const std::int64_t n = l.count(outer, l.rank), items = l.count(0, outer);
    const std::int64_t most = std::max<std::int64_t>(1, block / n);
    bool moves[2]{}; // an operand that does not is brought once
    std::int64_t places[2][64]{};
    loops<3> inner;
    for (int d = outer; d < l.rank; ++d)
      inner.push(l.size[d], l.stride[d]);
    walker<3> inside(inner, inner.rank, 0);
    for (std::int64_t i = 0; i < n; ++i, inside.next())
      for (std::size_t k = 0; k < 2; ++k)
        places[k][i] = inside.at[k + 1];
    for (int d = 0; d < outer; ++d)
      for (std::size_t k = 0; k < 2; ++k)
        moves[k] |= l.stride[d][k + 1] != 0;
    with_width(width, [&](auto unit) {
      using element = decltype(unit);
      share(threads, items, most, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) element held[2][block];
        walker<3> at(l, outer, begin);
        for (bool first = true; begin < end; begin += most, first = false) {
          const std::int64_t some = std::min(most, end - begin);
          for (std::int64_t r = 0; r < some; ++r, at.next())
            for (std::size_t k = 0; k < 2; ++k) {
              if (!first && !moves[k]) continue;
              const auto* from = reinterpret_cast<const element*>(inputs[k]) + at.at[k + 1];
              for (std::int64_t i = 0; i < n; ++i)
                held[k][r * n + i] = from[places[k][i]];
            }
          function(reinterpret_cast<const std::byte*>(held[0]),
                   reinterpret_cast<const std::byte*>(held[1]), output + begin * n * result_width,
                   {1, some * n, 0, 0, true, true});
        }
      });
    });
  }

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
