// SPDX-License-Identifier: Apache-2.0
// How do layers run that read or write where indices say? GatherElements and GatherND walk their
// result in order; ScatterElements and ScatterND copy their data and then write the updates.
// Threads share lines, columns or places such that no two write one place: where updates meet, they
// come in order.
//
//   kernel k = make(op::indexing{.data = {4, 9}, .indices = {4, 3}, .axis = 1}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/copy.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"

namespace benanza::backend::host {

/// Movers take every type; what is combined is computed in its own, but for floats of 16 bits,
/// which are combined in f32 and rounded once.
inline bool runs(const op::indexing& p, dtype element) {
  using enum op::scatter_reduction;
  if (p.reduction == none) return true;
  const bool wide = element == dtype::f32 || element == dtype::f64 || element == dtype::s32 ||
                    element == dtype::s64 || element == dtype::f16 || element == dtype::bf16;
  return wide || (p.reduction >= max && (element == dtype::s8 || element == dtype::u8));
}
inline bool runs(const op::tensor_scatter&, dtype) {
  return true;
}

namespace detail {

/// Copies `bytes` from one place to another, by all threads.
inline void copy_whole(int threads, const std::byte* from, std::byte* to, std::int64_t bytes) {
  share(threads, bytes, 64, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

/// How the elements of an indices' tensor lie in the data, but for what the indices say.
struct element_lines {
  loops<1> outer;            ///< all dims but the last
  std::int64_t rows, n;      ///< how often, and how long is, the last dim
  std::int64_t step;         ///< of the data along the last dim
  std::int64_t stride, size; ///< of the data along the axis

  explicit element_lines(const op::indexing& p) {
    const shape strides = packed(p.data);
    const int last = p.indices.size - 1;
    for (int i = 0; i < last; ++i)
      outer.push(p.indices[i], {i == p.axis ? 0 : strides[i]});
    rows = elements(p.indices, 0, last);
    n = p.indices[last];
    step = last == p.axis ? 0 : strides[last];
    stride = strides[p.axis];
    size = p.data[p.axis];
  }
  bool along_rows() const { return step == 0; }

  /// Calls `see(number among the indices, place in the data)` for part of the rows and columns.
  template <class Index, class See>
  void walk(const Index* indices, std::int64_t row, std::int64_t row_end, std::int64_t begin,
            std::int64_t end, const See& see) const {
    if (row >= row_end) return; // a dim may be zero
    walker<1> at(outer, outer.rank, row);
    for (; row < row_end; ++row, at.next()) {
      const Index* of_row = indices + row * n;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto named = static_cast<std::int64_t>(of_row[i]);
        see(row * n + i, at.at[0] + i * step + (named < 0 ? named + size : named) * stride);
      }
    }
  }
};

/// Where the rows of indices lead in the data, counted in runs.
struct named_places {
  std::int64_t numbers, rows, each_batch, all, run;
  std::int64_t bound[8]{};

  explicit named_places(const op::indexing& p)
      : numbers(p.named())
      , rows(elements(p.indices, 0, p.indices.size - 1))
      , each_batch(elements(p.indices, p.batch_dims, p.indices.size - 1))
      , all(1)
      , run(p.run()) {
    const shape bounds = p.index_bounds();
    for (int i = 0; i < bounds.size; ++i)
      all *= bound[i] = bounds[i];
  }
  template <class Index>
  [[gnu::always_inline]] std::int64_t operator()(const Index* indices, std::int64_t row) const {
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < numbers; ++k) {
      const auto named = static_cast<std::int64_t>(indices[row * numbers + k]);
      at = at * bound[k] + (named < 0 ? named + bound[k] : named);
    }
    return at;
  }
};

template <op::scatter_reduction Reduction>
struct put_updates {
  template <class T>
  [[gnu::always_inline]] void operator()(T& to, T update) const {
    using enum op::scatter_reduction;
    if constexpr (Reduction == add)
      to = static_cast<T>(to + update);
    else if constexpr (Reduction == mul)
      to = static_cast<T>(to * update);
    else if constexpr (Reduction == max)
      to = update > to ? update : to;
    else if constexpr (Reduction == min)
      to = update < to ? update : to;
    else
      to = update;
  }
};

template <class E, class Index>
task gather_task(const op::indexing& p, const job& j, int threads) {
  const auto* data = reinterpret_cast<const E*>(j.inputs[0]);
  const auto* indices = reinterpret_cast<const Index*>(j.inputs[1]);
  auto* to = reinterpret_cast<E*>(j.output);
  if (p.of_elements())
    return [lines = element_lines(p), threads, data, indices, to] {
      const auto part = [&](std::int64_t row, std::int64_t row_end, std::int64_t begin,
                            std::int64_t end) {
        lines.walk(indices, row, row_end, begin, end,
                   [&](std::int64_t i, std::int64_t at) { to[i] = data[at]; });
      };
      if (lines.rows < 2 * threads)
        share(threads, lines.n, 16,
              [&](std::int64_t begin, std::int64_t end) { part(0, lines.rows, begin, end); });
      else
        share(threads, lines.rows, 1,
              [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, lines.n); });
    };
  return [places = named_places(p), threads, data, indices, to] {
    const std::int64_t run = places.run;
    if (run == 0) return;
    share(threads, places.rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const E* from = data + (r / places.each_batch * places.all + places(indices, r)) * run;
        if (run == 1)
          to[r] = *from;
        else
          copy_bytes(reinterpret_cast<std::byte*>(to + r * run),
                     reinterpret_cast<const std::byte*>(from),
                     run * static_cast<std::int64_t>(sizeof(E)));
      }
    });
  };
}

/// How the data come to where updates are put: copied, or widened to f32 and afterwards narrowed.
template <class Stored>
struct scatter_room {
  static constexpr bool widens =
      std::is_same_v<Stored, bf16_bits> || std::is_same_v<Stored, half_bits>;
  using number = std::conditional_t<widens, float, Stored>;
  std::int64_t count;
  int threads;
  const std::byte* data;
  std::byte* result;
  scratch room{};

  scatter_room(const op::indexing& p, const job& j, int team)
      : count(elements(p.data))
      , threads(team)
      , data(j.inputs[0])
      , result(j.output) {
    if (widens && result != nullptr) room = scratch(1, count);
  }
  number* place() const {
    if constexpr (widens)
      return result == nullptr ? nullptr : room.mine();
    else
      return reinterpret_cast<number*>(result);
  }
  void begin() const {
    if constexpr (widens)
      share(threads, count, 1024, [&, to = place()](std::int64_t first, std::int64_t end) {
        if constexpr (std::is_same_v<Stored, half_bits>)
          from_half(data + 2 * first, reinterpret_cast<std::byte*>(to + first), end - first);
        else
          widen<std::uint16_t>(data + 2 * first, to + first, end - first);
      });
    else
      copy_whole(threads, data, result, count * static_cast<std::int64_t>(sizeof(Stored)));
  }
  void end() const {
    if constexpr (widens)
      share(threads, count, 1024, [&, from = place()](std::int64_t first, std::int64_t last) {
        if constexpr (std::is_same_v<Stored, half_bits>)
          to_half(reinterpret_cast<const std::byte*>(from + first), result + 2 * first,
                  last - first);
        else
          narrow<std::uint16_t>(from + first, result + 2 * first, last - first, 1.f);
      });
  }
};

template <class Stored, class Index, class Put>
task scatter_task(const op::indexing& p, const job& j, int threads, Put change) {
  const auto* indices = reinterpret_cast<const Index*>(j.inputs[1]);
  const auto* updates = reinterpret_cast<const Stored*>(j.inputs[2]);
  const scatter_room<Stored> room(p, j, threads);
  auto* to = room.place();
  const auto put = [change](auto& there, Stored update) __attribute__((always_inline)) {
    if constexpr (scatter_room<Stored>::widens)
      change(there, number_of(update));
    else
      change(there, update);
  };
  if (p.of_elements())
    return [room, lines = element_lines(p), threads, indices, updates, to, put] {
      room.begin();
      const auto part = [&](std::int64_t row, std::int64_t row_end, std::int64_t begin,
                            std::int64_t end) {
        lines.walk(indices, row, row_end, begin, end,
                   [&](std::int64_t i, std::int64_t at) { put(to[at], updates[i]); });
      };
      if (lines.along_rows())
        share(threads, lines.rows, 1,
              [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, lines.n); });
      else
        share(threads, lines.n, 16,
              [&](std::int64_t begin, std::int64_t end) { part(0, lines.rows, begin, end); });
      room.end();
    };
  return [room, places = named_places(p), threads, indices, updates, to, put] {
    room.begin();
    const std::int64_t run = places.run;
    // Long runs are cut; of short ones each thread takes those that lie in its part of the data.
    const bool cut = run >= 64 * threads;
    const auto rows = [&](std::int64_t first, std::int64_t last, std::int64_t begin,
                          std::int64_t end) {
      for (std::int64_t r = 0; r < places.rows; ++r) {
        const std::int64_t at = places(indices, r);
        if (at < first || at >= last) continue;
        for (std::int64_t i = begin; i < end; ++i)
          put(to[at * run + i], updates[r * run + i]);
      }
    };
    if (cut)
      share(threads, run, 16,
            [&](std::int64_t begin, std::int64_t end) { rows(0, places.all, begin, end); });
    else if (run > 0)
      share(threads, places.all, 1,
            [&](std::int64_t begin, std::int64_t end) { rows(begin, end, 0, run); });
    room.end();
  };
}

template <class T, class Index>
task combine_task(const op::indexing& p, const job& j, int threads) {
  using enum op::scatter_reduction;
  if (p.reduction == max) return scatter_task<T, Index>(p, j, threads, put_updates<max>{});
  if (p.reduction == min) return scatter_task<T, Index>(p, j, threads, put_updates<min>{});
  if constexpr (sizeof(T) >= 2) {
    if (p.reduction == mul) return scatter_task<T, Index>(p, j, threads, put_updates<mul>{});
    return scatter_task<T, Index>(p, j, threads, put_updates<add>{});
  }
  return {};
}

template <class Index>
task indexing_task(const op::indexing& p, const job& j, int threads) {
  task made;
  if (p.reduction == op::scatter_reduction::none) {
    with_width(j.width(), [&](auto e) {
      using element = decltype(e);
      made = p.scatters() ? scatter_task<element, Index>(p, j, threads,
                                                         put_updates<op::scatter_reduction::none>{})
                          : gather_task<element, Index>(p, j, threads);
    });
    return made;
  }
  switch (j.element) {
  case dtype::f16: return combine_task<half_bits, Index>(p, j, threads);
  case dtype::bf16: return combine_task<bf16_bits, Index>(p, j, threads);
  case dtype::f64: return combine_task<double, Index>(p, j, threads);
  case dtype::s32: return combine_task<std::int32_t, Index>(p, j, threads);
  case dtype::s64: return combine_task<std::int64_t, Index>(p, j, threads);
  case dtype::s8: return combine_task<std::int8_t, Index>(p, j, threads);
  case dtype::u8: return combine_task<std::uint8_t, Index>(p, j, threads);
  default: return combine_task<float, Index>(p, j, threads);
  }
}
} // namespace detail

/// Indices are read on every execution.
inline detail::kernel make(const op::indexing& p, const detail::job& j) {
  const std::int64_t moved = (p.scatters() ? elements(p.data) : 0) + elements(p.taken());
  const int threads = detail::team_for(j.threads, 2 * moved * j.width());
  return {p.of_elements() ? "elements" : "places",
          p.index == dtype::s32 ? detail::indexing_task<std::int32_t>(p, j, threads)
                                : detail::indexing_task<std::int64_t>(p, j, threads)};
}

namespace detail {
/// A row of the cache with its new places: up to three pieces, each of the cache or of the updates.
struct cache_rows {
  std::int64_t row, updated; ///< bytes
  std::int64_t rows_of_batch, inner;
  std::int64_t size, length; ///< places
  bool circular;

  /// Bytes [begin, end) of a row.
  void copy(const std::byte* cache, const std::byte* update, std::byte* to, std::int64_t offset,
            std::int64_t begin, std::int64_t end) const {
    const auto piece = [&](std::int64_t first, std::int64_t last, const std::byte* from) {
      const std::int64_t a = std::max(first * inner, begin), b = std::min(last * inner, end);
      if (a < b) copy_bytes(to + a, from + a - first * inner, b - a);
    };
    const std::int64_t stop = offset + length, around = std::max<std::int64_t>(stop - size, 0);
    piece(0, around, update + (length - around) * inner);
    piece(around, offset, cache + around * inner);
    piece(offset, std::min(stop, size), update);
    piece(stop, size, cache + stop * inner);
  }
};
} // namespace detail

inline detail::kernel make(const op::tensor_scatter& p, const detail::job& j) {
  const std::int64_t inner = elements(p.cache, p.axis + 1, p.cache.size) * j.width();
  const detail::cache_rows rows{.row = p.cache[p.axis] * inner,
                                .updated = p.length * inner,
                                .rows_of_batch = elements(p.cache, 1, p.axis),
                                .inner = inner,
                                .size = p.cache[p.axis],
                                .length = p.length,
                                .circular = p.circular};
  const std::int64_t bytes = elements(p.cache) * j.width();
  const int threads = detail::team_for(j.threads, 2 * bytes);
  const auto* offsets = p.offsets ? reinterpret_cast<const std::int64_t*>(j.inputs[2]) : nullptr;
  return {"copy", [rows, bytes, threads, offsets, cache = j.inputs[0], update = j.inputs[1],
                   to = j.output] {
            detail::share(threads, bytes, 64, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t at = begin; at < end;) {
                const std::int64_t r = at / rows.row, first = at % rows.row;
                const std::int64_t last = std::min(rows.row, first + end - at);
                std::int64_t offset = offsets == nullptr ? 0 : offsets[r / rows.rows_of_batch];
                offset = std::clamp<std::int64_t>(
                    offset, 0, rows.circular ? rows.size - 1 : rows.size - rows.length);
                rows.copy(cache + r * rows.row, update + r * rows.updated, to + r * rows.row,
                          offset, first, last);
                at += last - first;
              }
            });
          }};
}

} // namespace benanza::backend::host
