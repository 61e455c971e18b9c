// SPDX-License-Identifier: Apache-2.0
// How does a reduction run over any axes? Neighbouring axes that are both kept or both reduced are
// joined. If the innermost is then reduced, each output folds rows; if it is kept, whole rows of
// outputs are folded at once. Rows are folded in vector Ts and pieces of them added up in
// double.
//
//   kernel k = make(op::reduce{.function = op::reduction::max, .input = {1, 64, 56, 56}, .axes =
//   {1}}, job);
#pragma once

#include "detail/fold.hpp"
#include "detail/functions.hpp"
#include "detail/job.hpp"
#include "detail/loops.hpp"

namespace benanza::backend::host {

namespace detail {

/// Whole numbers of a type as those of 64 bits with a sign, which order and add up alike.
struct whole_ways {
  using reader = void (*)(const std::byte*, std::int64_t*, std::int64_t);
  using writer = void (*)(std::byte*, std::int64_t, std::int64_t);
  reader read = nullptr; ///< null: they are stored so
  writer write = nullptr;
  std::int64_t low = 0, high = 0; ///< ends of the type
};

/// `turned`: a u64 whose order matters; its first bit is turned round.
template <class T, bool Turned = false>
struct whole_number {
  static constexpr std::uint64_t turn = Turned ? std::uint64_t{1} << 63 : 0;
  static constexpr std::int64_t of(T v) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(v) ^ turn);
  }
};
template <class T, bool Turned = false>
whole_ways ways_of_whole() {
  using number = whole_number<T, Turned>;
  whole_ways w;
  if (Turned || sizeof(T) < 8)
    w.read = [](const std::byte* from, std::int64_t* to, std::int64_t n) {
      const T* x = reinterpret_cast<const T*>(from);
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = number::of(x[i]);
    };
  w.write = [](std::byte* to, std::int64_t i, std::int64_t v) {
    reinterpret_cast<T*>(to)[i] = static_cast<T>(static_cast<std::uint64_t>(v) ^ number::turn);
  };
  w.low = number::of(std::numeric_limits<T>::lowest());
  w.high = number::of(std::numeric_limits<T>::max());
  return w;
}

inline whole_ways ways_of_whole(dtype t, op::reduction f) {
  if (t == dtype::u64 && (f == op::reduction::max || f == op::reduction::min))
    return ways_of_whole<std::uint64_t, true>();
  if (t != dtype::boolean)
    return with_whole(t, [](auto v) { return ways_of_whole<decltype(v)>(); });
  whole_ways w = ways_of_whole<std::uint8_t>();
  w.high = 1;
  return w;
}

/// A reduction in `T` added up in `Sum`: float and double, or whole numbers of 64 bits. Narrower
/// storage is widened block by block.
template <class T, class Sum>
struct reduce_plan {
  static constexpr bool real = std::is_floating_point_v<T>;
  op::reduction function;
  loops<1> kept, reduced; // without the innermost, which is `n` long
  bool inner_reduced = false;
  std::int64_t n = 1, count = 1; // elements that one output combines
  widener widen = nullptr;
  whole_ways whole_numbers{};
  std::int64_t width = sizeof(T); // of an element in storage
  dtype result = dtype::f32;
  double scale = 1;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  int threads = 1;

  void run() const {
    const std::int64_t items = kept.count(0, kept.rank);
    if (!inner_reduced) return run_columns(items);
    if (reduced.rank == 0 && n <= piece && function != op::reduction::log_sum_exp)
      return run_rows(items);
    if (items >= 2 * threads || threads == 1)
      return share(threads, items, 1, [&](std::int64_t begin, std::int64_t end) {
        walker<1> at(kept, kept.rank, begin);
        for (; begin < end; ++begin, at.next())
          write(begin, whole(at.at[0], 0, pieces()));
      });
    // Few outputs: each is folded by all threads.
    walker<1> at(kept, kept.rank, 0);
    for (std::int64_t i = 0; i < items; ++i, at.next()) {
      Sum parts[64]{};
      int used = 0;
      share(std::min(threads, 64), pieces(), 1, [&](std::int64_t begin, std::int64_t end) {
        const Sum part = whole(at.at[0], begin, end);
#pragma omp critical(benanza_reduce)
        parts[used++] = part;
      });
      Sum total = parts[0];
      for (int k = 1; k < used; ++k)
        total = joined(total, parts[k]);
      write(i, total);
    }
  }

  /// Outputs that combine nothing.
  void fill(std::int64_t outputs) const {
    Sum nothing = start<Sum>(function);
    if constexpr (real) {
      if (function == op::reduction::mean) nothing = std::numeric_limits<Sum>::quiet_NaN();
    } else {
      using op::reduction;
      if (function == reduction::max) nothing = whole_numbers.low;
      if (function == reduction::min) nothing = whole_numbers.high;
      if (function == reduction::mean) return;
    }
    for (std::int64_t i = 0; i < outputs; ++i)
      write(i, nothing);
  }

private:
  static constexpr std::int64_t piece = 4 * block;

  std::int64_t pieces_of_row() const {
    return (n + piece - 1) / piece;
  }
  std::int64_t pieces() const {
    return reduced.count(0, reduced.rank) * pieces_of_row();
  }

  bool widens() const {
    return real ? width != sizeof(T) : whole_numbers.read != nullptr;
  }

  const T* row(std::int64_t at, std::int64_t length, T* room) const {
    if (!widens()) return reinterpret_cast<const T*>(from) + at;
    if constexpr (real)
      widen(from + at * width, room, length);
    else
      whole_numbers.read(from + at * width, room, length);
    return room;
  }

  /// One short row an output, many rows a block: most of the time would go into finding the way.
  void run_rows(std::int64_t items) const {
    share(threads, items, 16, [&](std::int64_t begin, std::int64_t end) {
      alignas(64) T room[piece];
      alignas(64) T sums[block];
      const auto fold = rows_fold<T>(function, n);
      const std::int64_t most = widens() ? std::min(block, piece / n) : block;
      for (std::int64_t rows = 0; begin < end; begin += rows) {
        rows = std::min(most, end - begin);
        fold(row(begin * n, rows * n, room), n, rows, sums);
        finish(sums, begin, rows);
      }
    });
  }

  /// The results of two ranges as one.
  Sum joined(Sum a, Sum b) const {
    if constexpr (real)
      if (function == op::reduction::log_sum_exp) {
        const Sum most = a > b ? a : b;
        return most + std::log(std::exp(a - most) + std::exp(b - most));
      }
    return combined(function, a, b);
  }

  /// Pieces [begin, end) of the output whose elements start at `base`.
  Sum whole(std::int64_t base, std::int64_t begin, std::int64_t end) const {
    alignas(64) T room[piece];
    const auto fold = rows_fold<T>(function);
    const auto each = [&](auto f) {
      const std::int64_t per_row = pieces_of_row();
      walker<1> at(reduced, reduced.rank, begin / per_row);
      std::int64_t k = begin % per_row;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t length = std::min(piece, n - k * piece);
        f(row(base + at.at[0] + k * piece, length, room), length);
        if (++k == per_row) k = 0, at.next();
      }
    };
    Sum total = start<Sum>(function);
    each([&](const T* values, std::int64_t length) {
      T part = 0;
      fold(values, length, 1, &part);
      total = combined(function, total, static_cast<Sum>(part));
    });
    if constexpr (real)
      if (function == op::reduction::log_sum_exp) {
        // Exponentials of values less this range's maximum: ranges come together in `joined`.
        double sum = 0;
        const auto most = static_cast<float>(total);
        each([&](const float* values, std::int64_t length) {
          sum += static_cast<double>(fold_exponentials(values, length, most));
        });
        return total + std::log(sum);
      }
    return total;
  }

  /// The innermost dim is kept: outputs in blocks of columns.
  void run_columns(std::int64_t items) const {
    const std::int64_t blocks = (n + block - 1) / block;
    share(threads, items * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) {
        const std::int64_t item = begin / blocks, first = begin % blocks * block;
        columns(item, first, std::min(block, n - first));
      }
    });
  }

  void columns(std::int64_t item, std::int64_t first, std::int64_t length) const {
    alignas(64) T room[block];
    alignas(64) T sums[block], most[block];
    const walker<1> place(kept, kept.rank, item);
    const std::int64_t base = place.at[0] + first, rows = reduced.count(0, reduced.rank);
    const auto fold = column_fold<T>(function);
    std::fill_n(sums, length, start<T>(function));
    walker<1> at(reduced, reduced.rank, 0);
    for (std::int64_t r = 0; r < rows; ++r, at.next())
      fold(row(base + at.at[0], length, room), sums, length);
    if constexpr (real)
      if (function == op::reduction::log_sum_exp) {
        std::copy_n(sums, length, most);
        std::fill_n(sums, length, 0.f);
        for (std::int64_t r = 0; r < rows; ++r, at.next())
          add_exponentials(row(base + at.at[0], length, room), most, sums, length);
        over_lanes(
            length, [&](std::int64_t i, auto v) __attribute__((always_inline)) {
              v.store(v.load(most + i) + logarithm(v.load(sums + i)), sums + i);
            });
      }
    finish(sums, item * n + first, length);
  }

  /// Writes `length` outputs from `out` on; log_sum_exp is complete already.
  void finish(T* sums, std::int64_t out, std::int64_t length) const {
    if constexpr (real) {
      const auto less = static_cast<float>(
          function == op::reduction::mean ? scale / static_cast<double>(count) : scale);
      if (function == op::reduction::l2)
        over_lanes(
            length, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
              at.store(root(at.load(sums + i)), sums + i);
            });
      if (function == op::reduction::log_sum)
        over_lanes(
            length, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
              at.store(logarithm(at.load(sums + i)), sums + i);
            });
      narrow_as(result)(sums, to + out * size_bytes(result), length, less);
    } else {
      for (std::int64_t i = 0; i < length; ++i)
        write(out + i, static_cast<Sum>(sums[i]));
    }
  }

  void write(std::int64_t i, Sum total) const {
    if constexpr (real) {
      if (function == op::reduction::mean) total /= static_cast<double>(count);
      if (function == op::reduction::l2) total = std::sqrt(total);
      if (function == op::reduction::log_sum) total = std::log(total);
      total *= scale;
      if (result == dtype::f32)
        reinterpret_cast<float*>(to)[i] = static_cast<float>(total);
      else
        store(result, to, i, total);
    } else {
      if (function == op::reduction::mean) {
        const bool positive = result == dtype::u64; // which has no sign to divide with
        total = positive ? static_cast<Sum>(static_cast<std::uint64_t>(total) /
                                            static_cast<std::uint64_t>(count))
                         : total / count;
      }
      whole_numbers.write(to, i, total);
    }
  }
};

/// Fills in a plan for a reduction.
template <class T, class Sum>
kernel reduced(const op::reduce& p, const job& j) {
  auto plan = std::make_shared<reduce_plan<T, Sum>>();
  plan->function = p.function;
  const shape strides = packed(p.input);
  loops<2> l; // the second stride says whether a dim is reduced, so that unlike ones are not joined
  for (int i = 0; i < p.input.size; ++i)
    if (p.input[i] != 1) {
      const bool joins = l.rank > 0 && (l.stride[l.rank - 1][1] == 1) == p.reduces(i);
      if (joins) {
        l.size[l.rank - 1] *= p.input[i];
        l.stride[l.rank - 1][0] = strides[i];
      } else {
        l.push(p.input[i], {strides[i], p.reduces(i)});
      }
    }
  l.widen(1);
  plan->inner_reduced = l.stride[l.rank - 1][1] != 0;
  plan->n = l.size[l.rank - 1];
  plan->count = reduction_length(p);
  for (int i = 0; i + 1 < l.rank; ++i)
    (l.stride[i][1] != 0 ? plan->reduced : plan->kept).push(l.size[i], {l.stride[i][0]});
  if constexpr (std::is_floating_point_v<T>)
    plan->widen = widen_as(j.element);
  else
    plan->whole_numbers = ways_of_whole(j.element, p.function);
  plan->width = j.width();
  plan->result = j.result;
  plan->scale = static_cast<double>(j.scale);
  plan->from = j.inputs[0];
  plan->to = j.output;
  plan->threads = team_for(j.threads, elements(p.input) * j.width());
  if (elements(p.input) == 0) return {"loop", [plan, n = elements(p.output())] { plan->fill(n); }};
  return {plan->inner_reduced ? "rows" : "columns", [plan] { plan->run(); }};
}
} // namespace detail

namespace detail {
/// True for elements that are added up as whole numbers of 64 bits.
inline bool sums_in_whole(const op::reduce& p, dtype element) {
  return !holds_reals(element) && size_bits(element) >= 8 && (p.element != dtype::real) &&
         !wraps(p.element);
}
} // namespace detail

/// True where there is a kernel: f32, bf16 and codes; whole numbers without roots and logarithms,
/// those of less than 32 bits, whose sums are others', with their ends alone.
inline bool runs(const op::reduce& p, dtype element) {
  using enum op::reduction;
  const bool end = p.function == max || p.function == min;
  const bool real = p.function == l2 || p.function == log_sum || p.function == log_sum_exp;
  if (detail::sums_in_whole(p, element)) return size_bits(element) < 32 ? end : !real;
  if (detail::wraps(p.element)) return end;
  return detail::computes_in_f32(element);
}

inline detail::kernel make(const op::reduce& p, const detail::job& j) {
  if (detail::sums_in_whole(p, j.element)) return detail::reduced<std::int64_t, std::int64_t>(p, j);
  return detail::reduced<float, double>(p, j);
}

} // namespace benanza::backend::host
