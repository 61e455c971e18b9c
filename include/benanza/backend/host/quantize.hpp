// SPDX-License-Identifier: Apache-2.0
// How are numbers quantised, and codes turned back? Run by run of elements that share a scale, or
// that each have the next one, in one pass over memory; whole numbers are rounded by a shift in
// f32; codes that share bytes go through blocks. Additions and multiplications of codes go the same
// way.
//
//   kernel k = make(op::quantize{.input = {1, 64, 56, 56}, .code = dtype::u8}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/fold.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"
#include "detail/loops.hpp"
#include "detail/narrow_codes.hpp"

#include "../../op/on_codes.hpp"
#include "../../op/quantize.hpp"

#include <bit>

namespace benanza::backend::host {

namespace detail {

/// The code nearest to `v` plus a zero point, no less than `least`.
template <class C>
[[gnu::always_inline]] inline C code_of(float v, std::int32_t zero,
                                        std::int32_t least = std::numeric_limits<C>::min()) {
  // v + 1.5 x 2^23 has the rounded value in its last bits, as long as v is not larger than 2^22.
  constexpr float shift = 12582912.f;
  constexpr std::int32_t most = std::numeric_limits<C>::max();
  const float shifted = within(v, 4194303.f) + shift;
  const std::int32_t whole =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shift) + zero;
  return static_cast<C>(std::min(std::max(whole, least), most));
}

/// How codes are numbers: whole ones of a type; those of less than a byte, a byte each; floats.
template <class C>
struct code_kind {
  using storage = C;
  static constexpr bool whole = true;
  static float number(C c) { return static_cast<float>(c); }
  [[gnu::always_inline]] static C of(float v, C zero) { return code_of<C>(v, zero); }
};
template <dtype Type>
using code_type = std::integral_constant<dtype, Type>;
template <dtype Type>
struct code_kind<code_type<Type>> {
  using facts = code_facts<Type>;
  static constexpr bool whole = !holds_reals(Type);
  static constexpr bool is_signed = facts::number((1 << facts::bits) - 1) < 0;
  using storage = std::conditional_t<whole && is_signed, std::int8_t, std::uint8_t>;

  [[gnu::always_inline]] static float number(storage c) {
    if constexpr (whole)
      return static_cast<float>(c);
    else
      return numbers_in<float, Type>[c][0];
  }
  [[gnu::always_inline]] static storage of(float v, storage zero) {
    if constexpr (whole) {
      constexpr int most = (1 << (facts::bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
      const auto wide = static_cast<std::int32_t>(code_of<std::int16_t>(v, zero));
      return static_cast<storage>(std::min(std::max(wide, least), most));
    } else {
      return facts::code(v + number(zero));
    }
  }
};

/// A run of `n` elements: each has the next scale and zero point (null: zero), or all have one.
using quantise_run = void (*)(const std::byte* x, std::byte* y, std::int64_t n, const float* scale,
                              const std::byte* zero, bool moves);

/// From reals of storage `R` to codes.
template <class R, class Code>
void to_codes(const std::byte* from, std::byte* to, std::int64_t n, const float* scale,
              const std::byte* zeros, bool moves) {
  using kind = code_kind<Code>;
  using C = typename kind::storage;
  const R* x = reinterpret_cast<const R*>(from);
  C* y = reinterpret_cast<C*>(to);
  const C* zero = reinterpret_cast<const C*>(zeros);
  if (moves && zero) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = kind::of(number_of(x[i]) / scale[i], zero[i]);
    return;
  }
  if (moves) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = kind::of(number_of(x[i]) / scale[i], 0);
    return;
  }
  const float divisor = *scale, factor = 1.f / divisor;
  const C z = zero ? *zero : C{};
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    if constexpr (kind::whole)
      y[i] = kind::of(number_of(x[i]) * factor, z);
    else // ties of floats are small numbers of few bits
      y[i] = kind::of(number_of(x[i]) / divisor, z);
}

/// From codes to reals.
template <class R, class Code>
void from_codes(const std::byte* from, std::byte* to, std::int64_t n, const float* scale,
                const std::byte* zeros, bool moves) {
  using kind = code_kind<Code>;
  using C = typename kind::storage;
  const C* x = reinterpret_cast<const C*>(from);
  R* y = reinterpret_cast<R*>(to);
  const C* zero = reinterpret_cast<const C*>(zeros);
  const auto put = [](float v) {
    if constexpr (std::is_same_v<R, bf16_bits>)
      return R{computed_bf16(v)};
    else
      return v;
  };
  if (moves && zero) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = put((kind::number(x[i]) - kind::number(zero[i])) * scale[i]);
    return;
  }
  if (moves) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = put(kind::number(x[i]) * scale[i]);
    return;
  }
  const float factor = *scale, shift = zero ? kind::number(*zero) : 0.f;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = put((kind::number(x[i]) - shift) * factor);
}

template <class R, class Code>
quantise_run run_between(bool inverse) {
  return inverse ? from_codes<R, Code> : to_codes<R, Code>;
}
template <class R>
quantise_run run_between(dtype code, bool inverse) {
  switch (code) {
  case dtype::u8: return run_between<R, std::uint8_t>(inverse);
  case dtype::s8: return run_between<R, std::int8_t>(inverse);
  case dtype::u16: return run_between<R, std::uint16_t>(inverse);
  case dtype::s16: return run_between<R, std::int16_t>(inverse);
  case dtype::s32: return inverse ? from_codes<R, std::int32_t> : nullptr;
  case dtype::e8m0: return nullptr;
  default:
    return with_codes(code, [inverse](auto type) -> quantise_run {
      if constexpr (type.value != dtype::e8m0) return run_between<R, decltype(type)>(inverse);
      return nullptr;
    });
  }
}

/// The loop between codes and reals of that storage; null: there is none.
inline quantise_run run_between(dtype real, dtype code, bool inverse) {
  return real == dtype::bf16  ? run_between<bf16_bits>(code, inverse)
         : real == dtype::f32 ? run_between<float>(code, inverse)
                              : nullptr;
}

/// Dims of the data and of its scales, simplified: the last one is a run.
inline loops<2> quantise_loops(const op::quantize& p) {
  const shape strides = packed(p.input);
  const shape scales = p.block > 0 ? packed(p.scales()) : shape{};
  loops<2> l;
  for (int i = 0; i < p.input.size; ++i) {
    const std::int64_t scale = p.block > 0 ? scales[i] : i == p.axis ? 1 : 0;
    if (i == p.axis && p.block > 0) {
      l.push(p.input[i] / p.block, {strides[i] * p.block, scale});
      l.push(p.block, {strides[i], 0});
    } else {
      l.push(p.input[i], {strides[i], scale});
    }
  }
  l.simplify();
  l.widen(1);
  return l;
}
} // namespace detail

/// True where there is a kernel: codes of f32 and bf16, whole blocks of them.
inline bool runs(const op::quantize& p, dtype element) {
  return detail::run_between(element, p.code, p.inverse) != nullptr &&
         (p.block == 0 || p.input[p.axis] % p.block == 0) && p.input.size < 8;
}
inline bool runs(const op::dynamic_quantize&, dtype element) {
  return element == dtype::f32;
}
inline bool runs(const op::lookup_table&, dtype) {
  return true;
}

namespace detail {
/// Takes codes out of bytes, a byte each: whole numbers as such, floats as codes.
inline caster taker(dtype code) {
  return with_codes(code, [](auto type) -> caster {
    if constexpr (!holds_reals(type.value))
      return unpack<std::int8_t, type.value>; // no number is larger than 15
    else
      return type.value == dtype::e2m1 ? unpack<std::uint8_t, dtype::u4> : nullptr;
  });
}

/// Codes that share bytes: blocks of them, in which rows are runs.
inline kernel make_packed(const op::quantize& p, const job& j) {
  const loops<2> l = quantise_loops(p);
  const auto run = run_between(j.element, p.code, p.inverse);
  const auto take = taker(p.code), put = size_bits(p.code) == 4 ? pack<4> : pack<2>;
  const std::int64_t count = elements(p.input), n = l.size[l.rank - 1], real = j.width();
  const bool moves = l.stride[l.rank - 1][1] != 0;
  const int threads = team_for(j.threads, count * real);
  const std::int64_t scaled = p.zero_point ? elements(p.scales()) : 0;
  const auto room = std::make_shared<buffer>(scaled); // of zero points, a byte each
  const auto* scales = reinterpret_cast<const float*>(j.inputs[1]);
  const auto* zeros = p.zero_point ? j.inputs[2] : nullptr;
  return {"blocks", [=, x = j.inputs[0], y = j.output] {
            if (zeros) take(zeros, room->bytes(), scaled);
            const auto zero_at = [&](std::int64_t i) {
              return zeros ? room->bytes() + i : nullptr;
            };
            const auto ranges = [&](std::int64_t begin, std::int64_t end) {
              alignas(64) std::byte codes[block];
              walker<2> w(l, l.rank - 1, begin / n);
              std::int64_t column = begin % n;
              for (; begin < end; begin += block) {
                const std::int64_t length = std::min(block, end - begin);
                const std::int64_t bytes = bytes_of(p.code, begin);
                if (p.inverse) take(x + bytes, codes, length);
                for (std::int64_t i = 0; i < length;) {
                  const std::int64_t part = std::min(length - i, n - column);
                  const std::int64_t which = w.at[1] + (moves ? column : 0);
                  const std::int64_t reals = (begin + i) * real;
                  run(p.inverse ? codes + i : x + reals, p.inverse ? y + reals : codes + i, part,
                      scales + which, zero_at(which), moves);
                  i += part;
                  column += part;
                  if (column == n) column = 0, w.next();
                }
                if (!p.inverse) put(codes, y + bytes, length);
              }
            };
            share(threads, count, block, ranges);
          }};
}
} // namespace detail

inline detail::kernel make(const op::quantize& p, const detail::job& j) {
  if (elements(p.input) == 0) return {"runs", [] {}};
  if (packed_in_bytes(p.code)) return detail::make_packed(p, j);
  const auto run = detail::run_between(j.element, p.code, p.inverse);
  const detail::loops<2> l = detail::quantise_loops(p);
  const std::int64_t n = l.size[l.rank - 1];
  const bool moves = l.stride[l.rank - 1][1] != 0;
  const std::int64_t code = size_bytes(p.code), real = j.width();
  const std::int64_t read = p.inverse ? code : real, written = p.inverse ? real : code;
  const int threads = detail::team_for(j.threads, elements(p.input) * (read + written));
  const auto* x = j.inputs[0];
  const auto* scales = reinterpret_cast<const float*>(j.inputs[1]);
  const auto* zeros = p.zero_point ? j.inputs[2] : nullptr;
  std::byte* y = j.output;
  const auto zero_at = [=](std::int64_t i) { return zeros ? zeros + i * code : nullptr; };
  if (l.rank == 1)
    return {"runs", [=] {
              detail::share(threads, n, 4096, [&](std::int64_t i, std::int64_t end) {
                const std::int64_t which = moves ? i : 0;
                run(x + i * read, y + i * written, end - i, scales + which, zero_at(which), moves);
              });
            }};
  return {"runs", [=] {
            detail::share(threads, l.count(0, l.rank - 1), 1,
                          [&](std::int64_t i, std::int64_t end) {
                            detail::walker<2> w(l, l.rank - 1, i);
                            for (; i < end; ++i, w.next())
                              run(x + w.at[0] * read, y + w.at[0] * written, n, scales + w.at[1],
                                  zero_at(w.at[1]), moves);
                          });
          }};
}

namespace detail {
/// `n` codes, each by its place in a table of 256.
inline void look_up(const std::uint8_t* x, const std::uint8_t* table, std::uint8_t* y,
                    std::int64_t n) {
  std::int64_t i = 0;
#if defined(__AVX512VBMI__) && defined(__AVX512BW__)
  // Two registers hold a half of the table each; the topmost bit of a code says which half.
  const auto load = [](const std::uint8_t* p) { return _mm512_loadu_si512(p); };
  const __m512i a = load(table), b = load(table + 64), c = load(table + 128), d = load(table + 192);
  for (; i + 64 <= n; i += 64) {
    const __m512i codes = load(x + i);
    const __m512i low = _mm512_permutex2var_epi8(a, codes, b);
    const __m512i high = _mm512_permutex2var_epi8(c, codes, d);
    _mm512_storeu_si512(y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high));
  }
#endif
  for (; i < n; ++i)
    y[i] = table[x[i]];
}
} // namespace detail

inline detail::kernel make(const op::lookup_table& p, const detail::job& j) {
  const std::int64_t n = elements(p.input);
  const int threads = detail::team_for(j.threads, 2 * n);
  const auto* x = reinterpret_cast<const std::uint8_t*>(j.inputs[0]);
  const auto* table = reinterpret_cast<const std::uint8_t*>(j.inputs[1]);
  auto* y = reinterpret_cast<std::uint8_t*>(j.output);
  return {"table", [=] {
            detail::share(threads, n, 4096, [&](std::int64_t i, std::int64_t end) {
              detail::look_up(x + i, table, y + i, end - i);
            });
          }};
}

/// In two passes: the range, then the codes.
inline detail::kernel make(const op::dynamic_quantize& p, const detail::job& j) {
  const std::int64_t n = elements(p.input);
  if (j.output == nullptr || n == 0) return {"two-passes", [] {}};
  const int threads = detail::team_for(j.threads, 9 * n);
  auto* scale = reinterpret_cast<float*>(j.result_at(1));
  auto* zero = reinterpret_cast<std::uint8_t*>(j.result_at(2));
  const detail::scratch room(threads, 2);
  return {"two-passes", [=, from = j.inputs[0], to = j.output] {
            const auto* x = reinterpret_cast<const float*>(from);
            float low = 0, high = 0;
#pragma omp parallel for num_threads(threads) reduction(min                                        \
                                                        : low) reduction(max                       \
                                                                         : high) if (threads > 1)
            for (int k = 0; k < threads; ++k) {
              const std::int64_t begin = n * k / threads, end = n * (k + 1) / threads;
              if (begin == end) continue;
              low = std::min(low, detail::fold_extreme<false>(x + begin, end - begin));
              high = std::max(high, detail::fold_extreme<true>(x + begin, end - begin));
            }
            *scale = (high - low) / 255.f;
            *zero = *scale > 0 ? detail::code_of<std::uint8_t>(-low / *scale, 0) : 0;
            const float factor = *scale > 0 ? *scale : 1.f;
            detail::share(threads, n, 4096, [&](std::int64_t i, std::int64_t end) {
              detail::to_codes<float, std::uint8_t>(from + i * 4, to + i, end - i, &factor,
                                                    reinterpret_cast<const std::byte*>(zero),
                                                    false);
            });
          }};
}

namespace detail {

/// How two operands on codes become one: `a` and `b` are factors of an addition, `a` alone that of
/// a multiplication.
struct code_join {
  float a = 0, b = 0, shift = 0;
  float zero_a = 0, zero_b = 0;
  std::int32_t zero = 0, least = 0;
};

/// A run; an operand that does not move is the same for all.
template <class C, bool Multiplies, bool A, bool B>
void join_run(const C* x, const C* y, C* z, std::int64_t n, const code_join& how) {
  const code_join j = how;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto l = static_cast<float>(x[A ? i : 0]), r = static_cast<float>(y[B ? i : 0]);
    const float v =
        Multiplies ? (l - j.zero_a) * (r - j.zero_b) * j.a : l * j.a + r * j.b + j.shift;
    z[i] = code_of<C>(v, j.zero, j.least);
  }
}

template <class C, bool Multiplies>
void join_run(const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n, bool a_moves,
              bool b_moves, const code_join& j) {
  const C *x = reinterpret_cast<const C*>(a), *y = reinterpret_cast<const C*>(b);
  C* z = reinterpret_cast<C*>(to);
  if (a_moves && b_moves)
    join_run<C, Multiplies, true, true>(x, y, z, n, j);
  else if (a_moves)
    join_run<C, Multiplies, true, false>(x, y, z, n, j);
  else if (b_moves)
    join_run<C, Multiplies, false, true>(x, y, z, n, j);
  else
    join_run<C, Multiplies, false, false>(x, y, z, n, j);
}

template <class C>
kernel join_codes(const op::on_codes<op::binary>& p, const job& j) {
  const shape out = p.output();
  const shape a = broadcast_strides(p.base.a, out.size), b = broadcast_strides(p.base.b, out.size);
  const shape c = packed(out);
  loops<3> l;
  for (int i = 0; i < out.size; ++i)
    l.push(out[i], {a[i], b[i], c[i]});
  l.simplify();
  l.widen(2);
  const bool multiplies = p.base.function == op::binary_function::mul;
  return {"runs", [=, in = j.inputs, to = j.output, threads = team_for(j.threads, elements(out))] {
            const auto scale = [&](std::size_t k) {
              return *reinterpret_cast<const float*>(in[k]);
            };
            const auto zero = [&](std::size_t k) { return *reinterpret_cast<const C*>(in[k]); };
            code_join how{.a = scale(1) / scale(6), .b = scale(4) / scale(6)};
            how.zero_a = zero(2), how.zero_b = zero(5), how.zero = zero(7);
            how.shift = -(how.zero_a * how.a + how.zero_b * how.b);
            if (multiplies) how.a *= scale(4);
            how.least = p.rectified ? how.zero : std::numeric_limits<C>::min();
            const int last = l.rank - 1;
            const bool a_moves = l.stride[last][0] != 0, b_moves = l.stride[last][1] != 0;
            const auto run = multiplies ? join_run<C, true> : join_run<C, false>;
            const auto rows = [&](std::int64_t row, std::int64_t end) {
              walker<3> w(l, last, row);
              for (; row < end; ++row, w.next())
                run(in[0] + w.at[0], in[3] + w.at[1], to + w.at[2], l.size[last], a_moves, b_moves,
                    how);
            };
            share(threads, l.count(0, last), 1, rows);
          }};
}
} // namespace detail

/// True where there is a kernel: all codes of one type.
inline bool runs(const op::on_codes<op::binary>& p, dtype) {
  return p.a_type() == p.b_type() && p.a_type() == p.result_type();
}

inline detail::kernel make(const op::on_codes<op::binary>& p, const detail::job& j) {
  if (elements(p.output()) == 0) return {"runs", [] {}};
  return p.a_type() == dtype::u8 ? detail::join_codes<std::uint8_t>(p, j)
                                 : detail::join_codes<std::int8_t>(p, j);
}

} // namespace benanza::backend::host
