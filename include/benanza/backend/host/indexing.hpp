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

/// Where a row of indices leads: index k says the place first + k * step + index * stride. Indices
/// below zero count from the end of `size`.
struct index_row {
  std::int64_t first = 0, step = 0, stride = 1, size = 0;

  [[gnu::always_inline]] std::int64_t operator()(std::int64_t k, std::int64_t index) const {
    return first + k * step + (index < 0 ? index + size : index) * stride;
  }
};

/// Something done for `n` indices at places of a tensor, in order: (the tensor's bytes, those of
/// the other, the indices, n, where they lead).
using row_loop = void (*)(std::byte*, const std::byte*, const std::byte*, std::int64_t, index_row);

/// A loop for each type of indices.
struct row_loops {
  row_loop narrow, wide;
  row_loop of(const op::indexing& p) const { return p.index == dtype::s32 ? narrow : wide; }
};

/// Where the elements of an indices' tensor are in the data, apart from what the indices say.
struct element_lines {
  loops<1> outer;       ///< all dims but the last
  std::int64_t rows, n; ///< how often, and how long is, the last dim
  index_row of_row;     ///< but for where the row begins
  std::int64_t index_bytes;

  explicit element_lines(const op::indexing& p)
      : rows(elements(p.indices, 0, p.indices.size - 1))
      , index_bytes(size_bytes(p.index)) {
    const shape strides = packed(p.data);
    const int last = p.indices.size - 1;
    for (int i = 0; i < last; ++i)
      outer.push(p.indices[i], {i == p.axis ? 0 : strides[i]});
    n = p.indices[last];
    of_row = {.first = 0,
              .step = last == p.axis ? 0 : strides[last],
              .stride = strides[p.axis],
              .size = p.data[p.axis]};
  }
  bool along_rows() const { return of_row.step == 0; }

  /// Calls `see(number of the first index, where it and its row lead)` for part of the rows and
  /// columns.
  template <class See>
  void walk(std::int64_t row, std::int64_t row_end, std::int64_t begin, const See& see) const {
    if (row >= row_end) return; // a dim may be zero
    walker<1> at(outer, outer.rank, row);
    for (index_row where = of_row; row < row_end; ++row, at.next()) {
      where.first = at.at[0] + begin * where.step;
      see(row * n + begin, where);
    }
  }
};

/// Where the rows of indices lead in the data, counted in runs.
struct named_places {
  static constexpr std::int64_t most = 512;
  std::int64_t numbers, rows, each_batch, all, run;
  std::int64_t bound[8]{};
  bool wide;
  const std::byte* indices;

  named_places(const op::indexing& p, const job& j)
      : numbers(p.named())
      , rows(elements(p.indices, 0, p.indices.size - 1))
      , each_batch(elements(p.indices, p.batch_dims, p.indices.size - 1))
      , all(1)
      , run(p.run())
      , wide(p.index != dtype::s32)
      , indices(j.inputs[1]) {
    const shape bounds = p.index_bounds();
    for (int i = 0; i < bounds.size; ++i)
      all *= bound[i] = bounds[i];
  }
  /// Calls `see(first row, places, how many)` for part of the rows.
  template <class See>
  void walk(std::int64_t row, std::int64_t row_end, const See& see) const {
    std::int64_t places[most];
    while (row < row_end) {
      const std::int64_t batch = row / each_batch;
      const std::int64_t count = std::min({most, row_end - row, (batch + 1) * each_batch - row});
      wide ? name<std::int64_t>(places, row, count, batch * all)
           : name<std::int32_t>(places, row, count, batch * all);
      see(row, places, count);
      row += count;
    }
  }

private:
  template <class Index>
  void name(std::int64_t* places, std::int64_t row, std::int64_t count, std::int64_t first) const {
    const Index* named = reinterpret_cast<const Index*>(indices) + row * numbers;
    for (std::int64_t r = 0; r < count; ++r, named += numbers) {
      std::int64_t at = 0;
      for (std::int64_t k = 0; k < numbers; ++k)
        at = at * bound[k] + named[k] + (named[k] < 0 ? bound[k] : 0);
      places[r] = first + at;
    }
  }
};

template <class E, class Index>
void take_row(std::byte* to, const std::byte* data, const std::byte* indices, std::int64_t n,
              index_row where) {
  auto* y = reinterpret_cast<E*>(to);
  const auto* x = reinterpret_cast<const E*>(data);
  const auto* index = reinterpret_cast<const Index*>(indices);
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = x[where(i, index[i])];
}

inline task gather_task(const op::indexing& p, const job& j, int threads) {
  const std::byte *data = j.inputs[0], *indices = j.inputs[1];
  std::byte* to = j.output;
  const std::int64_t width = j.width();
  row_loops take{};
  with_width(width, [&](auto e) {
    take = {take_row<decltype(e), std::int32_t>, take_row<decltype(e), std::int64_t>};
  });
  if (p.of_elements())
    return [lines = element_lines(p), threads, data, indices, to, width, row = take.of(p)] {
      const auto part = [&](std::int64_t first, std::int64_t last, std::int64_t begin,
                            std::int64_t end) {
        lines.walk(first, last, begin, [&](std::int64_t i, const index_row& where) {
          row(to + i * width, data, indices + i * lines.index_bytes, end - begin, where);
        });
      };
      if (lines.rows < 2 * threads)
        share(threads, lines.n, 16,
              [&](std::int64_t begin, std::int64_t end) { part(0, lines.rows, begin, end); });
      else
        share(threads, lines.rows, 1,
              [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, lines.n); });
    };
  return [of = named_places(p, j), threads, data, to, width, row = take.wide] {
    const std::int64_t bytes = of.run * width;
    if (bytes == 0) return;
    share(threads, of.rows, 1, [&](std::int64_t begin, std::int64_t end) {
      of.walk(begin, end, [&](std::int64_t r, const std::int64_t* places, std::int64_t n) {
        if (of.run == 1)
          return row(to + r * width, data, reinterpret_cast<const std::byte*>(places), n, {});
        for (std::int64_t k = 0; k < n; ++k)
          copy_bytes(to + (r + k) * bytes, data + places[k] * bytes, bytes);
      });
    });
  };
}

/// An element joined with its update.
template <op::scatter_reduction Reduction, class T>
[[gnu::always_inline]] inline T updated(T there, T update) {
  using enum op::scatter_reduction;
  if constexpr (Reduction == add) return static_cast<T>(there + update);
  if constexpr (Reduction == mul) return static_cast<T>(there * update);
  if constexpr (Reduction == max) return update > there ? update : there;
  if constexpr (Reduction == min) return update < there ? update : there;
  return update;
}

/// The loops over updates of one type. Numbers are in the result as the type itself, or as f32 for
/// floats of 16 bits.
struct update_loops {
  row_loops row{};                                                        ///< at places
  void (*run)(std::byte* to, const std::byte* updates, std::int64_t n){}; ///< of neighbours
  std::int64_t width = 0;                                                 ///< bytes of an update
  std::int64_t number = 0;          ///< bytes of a number that updates are joined with
  caster widens = {}, narrows = {}; ///< between the two; null where they are the same
};

template <op::scatter_reduction Reduction, class Stored>
struct updating {
  static constexpr bool half =
      std::is_same_v<Stored, bf16_bits> || std::is_same_v<Stored, half_bits>;
  using number = std::conditional_t<half, float, Stored>;

  [[gnu::always_inline]] static void put(number& there, Stored update) {
    if constexpr (half)
      there = updated<Reduction>(there, number_of(update));
    else
      there = updated<Reduction>(there, update);
  }
  template <class Index>
  static void row(std::byte* to, const std::byte* updates, const std::byte* indices, std::int64_t n,
                  index_row where) {
    auto* y = reinterpret_cast<number*>(to);
    const auto* x = reinterpret_cast<const Stored*>(updates);
    const auto* index = reinterpret_cast<const Index*>(indices);
    for (std::int64_t i = 0; i < n; ++i)
      put(y[where(i, index[i])], x[i]);
  }
  static void run(std::byte* to, const std::byte* updates, std::int64_t n) {
    auto* y = reinterpret_cast<number*>(to);
    const auto* x = reinterpret_cast<const Stored*>(updates);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      put(y[i], x[i]);
  }
  static constexpr update_loops loops{.row = {row<std::int32_t>, row<std::int64_t>},
                                      .run = run,
                                      .width = sizeof(Stored),
                                      .number = sizeof(number)};
};

template <class Stored>
update_loops loops_over(op::scatter_reduction reduction) {
  using enum op::scatter_reduction;
  if (reduction == max) return updating<max, Stored>::loops;
  if (reduction == min) return updating<min, Stored>::loops;
  if constexpr (sizeof(Stored) >= 2)
    return reduction == mul ? updating<mul, Stored>::loops : updating<add, Stored>::loops;
  return {};
}

inline update_loops loops_over(const op::indexing& p, const job& j) {
  update_loops made;
  if (p.reduction == op::scatter_reduction::none) {
    with_width(j.width(),
               [&](auto e) { made = updating<op::scatter_reduction::none, decltype(e)>::loops; });
    return made;
  }
  switch (j.element) {
  case dtype::f16:
    made = loops_over<half_bits>(p.reduction);
    made.widens = from_half, made.narrows = to_half;
    return made;
  case dtype::bf16:
    made = loops_over<bf16_bits>(p.reduction);
    made.widens = from_bfloat, made.narrows = to_bfloat;
    return made;
  case dtype::f64: return loops_over<double>(p.reduction);
  case dtype::s32: return loops_over<std::int32_t>(p.reduction);
  case dtype::s64: return loops_over<std::int64_t>(p.reduction);
  case dtype::s8: return loops_over<std::int8_t>(p.reduction);
  case dtype::u8: return loops_over<std::uint8_t>(p.reduction);
  default: return loops_over<float>(p.reduction);
  }
}

/// The data copied to where updates are put, or widened into memory of their own and afterwards
/// narrowed.
class scatter_room {
public:
  scatter_room(const op::indexing& p, const job& j, const update_loops& of, int threads)
      : count_(elements(p.data))
      , threads_(threads)
      , data_(j.inputs[0])
      , result_(j.output)
      , of_(of) {
    if (of.widens != nullptr && result_ != nullptr) room_ = scratch(1, count_);
  }
  std::byte* begin() const {
    if (of_.widens == nullptr) {
      copy_whole(threads_, data_, result_, count_ * of_.width);
      return result_;
    }
    auto* to = reinterpret_cast<std::byte*>(room_.mine());
    share(threads_, count_, block, [&](std::int64_t first, std::int64_t end) {
      of_.widens(data_ + first * of_.width, to + first * of_.number, end - first);
    });
    return to;
  }
  void end(const std::byte* from) const {
    if (of_.narrows != nullptr)
      share(threads_, count_, block, [&](std::int64_t first, std::int64_t end) {
        of_.narrows(from + first * of_.number, result_ + first * of_.width, end - first);
      });
  }

private:
  std::int64_t count_;
  int threads_;
  const std::byte* data_;
  std::byte* result_;
  update_loops of_;
  scratch room_{};
};

inline task scatter_task(const op::indexing& p, const job& j, int threads) {
  const std::byte *indices = j.inputs[1], *updates = j.inputs[2];
  const update_loops put = loops_over(p, j);
  const scatter_room room(p, j, put, threads);
  if (p.of_elements())
    return [room, lines = element_lines(p), threads, indices, updates, put, row = put.row.of(p)] {
      std::byte* to = room.begin();
      const auto part = [&](std::int64_t first, std::int64_t last, std::int64_t begin,
                            std::int64_t end) {
        lines.walk(first, last, begin, [&](std::int64_t i, const index_row& where) {
          row(to, updates + i * put.width, indices + i * lines.index_bytes, end - begin, where);
        });
      };
      if (lines.along_rows())
        share(threads, lines.rows, 1,
              [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, lines.n); });
      else
        share(threads, lines.n, 16,
              [&](std::int64_t begin, std::int64_t end) { part(0, lines.rows, begin, end); });
      room.end(to);
    };
  return [room, of = named_places(p, j), threads, updates, put] {
    std::byte* to = room.begin();
    const std::int64_t run = of.run;
    // Long runs are cut; of short ones each thread takes those that are in its part of the data.
    const bool cut = run >= 64 * threads;
    const auto rows = [&](std::int64_t first, std::int64_t last, std::int64_t begin,
                          std::int64_t end) {
      const auto update = [&](std::int64_t r, std::int64_t i) {
        return updates + (r * run + i) * put.width;
      };
      of.walk(0, of.rows, [&](std::int64_t r, const std::int64_t* places, std::int64_t n) {
        if (run == 1 && first == 0 && last == of.all)
          return put.row.wide(to, update(r, 0), reinterpret_cast<const std::byte*>(places), n, {});
        for (std::int64_t k = 0; k < n; ++k)
          if (places[k] >= first && places[k] < last)
            put.run(to + (places[k] * run + begin) * put.number, update(r + k, begin), end - begin);
      });
    };
    if (cut)
      share(threads, run, 16,
            [&](std::int64_t begin, std::int64_t end) { rows(0, of.all, begin, end); });
    else if (run > 0)
      share(threads, of.all, 1,
            [&](std::int64_t begin, std::int64_t end) { rows(begin, end, 0, run); });
    room.end(to);
  };
}
} // namespace detail

/// Indices are read on every execution.
inline detail::kernel make(const op::indexing& p, const detail::job& j) {
  const std::int64_t moved = (p.scatters() ? elements(p.data) : 0) + elements(p.taken());
  const int threads = detail::team_for(j.threads, 2 * moved * j.width());
  return {p.of_elements() ? "elements" : "places",
          p.scatters() ? detail::scatter_task(p, j, threads) : detail::gather_task(p, j, threads)};
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
