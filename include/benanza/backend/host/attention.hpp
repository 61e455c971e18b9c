// SPDX-License-Identifier: Apache-2.0
// How does attention run? In blocks of queries by blocks of keys that stay in the second-level
// cache, with a running maximum and sum (Milakov and Gimelshein 2018; Dao et al. 2022): no score
// goes to memory. Queries of all heads that share keys form one matrix. Everything is summed in
// f32.
//
//   kernel k = make(op::attention{.batch = 1, .heads = 12, .queries = 197, ...}, job);
#pragma once

#include "detail/fold.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"
#include "detail/product.hpp"
#include "detail/tile.hpp"

#include <utility>

namespace benanza::backend::host {

namespace detail {

struct attention_plan {
  /// Of queries and keys in a block. Its scores stay in the second-level cache; more queries bring
  /// keys into columns less often, but with causality more of them in vain.
  static constexpr std::int64_t most_rows = 192, most_causal_rows = 96, key_block = 256;
  /// Fewer rows than this do not pay for bringing keys into columns.
  static constexpr std::int64_t few = 5;

  op::attention p{};
  std::int64_t shared = 1;    ///< heads of queries for each of the keys
  std::int64_t rows = 0;      ///< of all queries that share keys
  std::int64_t blocks = 1;    ///< of as many rows, but for the last
  std::int64_t row_block = 0; ///< whole tiles
  std::int64_t columns = 0;   ///< of a value, up to a whole tile
  std::int64_t mask_steps[4]{};
  bool floats = true; ///< keys and values
  widener widen = nullptr, widen_kept = nullptr;
  narrower narrow = nullptr;
  std::int64_t width = 4, kept_width = 4;
  const std::byte *queries = nullptr, *keys = nullptr, *values = nullptr, *mask = nullptr;
  const std::int64_t* lengths = nullptr; ///< how many keys each batch has
  std::byte* to = nullptr;
  scratch room{};

  attention_plan(const op::attention& layer, const job& j)
      : p(layer)
      , shared(layer.heads / layer.kv_heads)
      , rows(shared * layer.queries)
      , blocks(parts_of(rows, layer.causal ? most_causal_rows : most_rows))
      , row_block(parts_of(parts_of(rows, blocks), tile_rows) * tile_rows)
      , columns((layer.value_size + tile_columns - 1) / tile_columns * tile_columns)
      , floats(kept_type(layer, j) == dtype::f32)
      , widen(widen_as(j.element))
      , widen_kept(layer.stored == dtype::f16 ? widen_half : widen_as(kept_type(layer, j)))
      , narrow(narrow_as(j.result))
      , width(j.width())
      , kept_width(size_bytes(kept_type(layer, j)))
      , queries(j.inputs[0])
      , keys(j.inputs[1])
      , values(j.inputs[2])
      , mask(layer.mask.empty() ? nullptr : j.inputs[3])
      , lengths(layer.lengths
                    ? reinterpret_cast<const std::int64_t*>(j.inputs[layer.mask.empty() ? 3 : 4])
                    : nullptr)
      , to(j.output) {
    std::int64_t step = 1;
    for (int i = layer.mask.size - 1; i >= 0; --i) {
      mask_steps[i] = layer.mask[i] == 1 ? 0 : step;
      step *= layer.mask[i];
    }
  }

  static dtype kept_type(const op::attention& layer, const job& j) {
    return layer.stored == dtype::real ? j.element : layer.stored;
  }
  static void widen_half(const std::byte* from, float* to, std::int64_t n) {
    from_half(from, reinterpret_cast<std::byte*>(to), n);
  }
  static std::int64_t parts_of(std::int64_t n, std::int64_t most) { return (n + most - 1) / most; }
  /// Of a tile's columns of keys or of values.
  std::int64_t panel_floats() const { return std::max(key_block, p.head_size) * tile_columns; }
  /// Floats of scratch memory for one thread.
  std::int64_t floats_a_thread() const {
    return row_block * (p.head_size + key_block + columns + 2) +
           key_block * (p.head_size + columns + 1) + panel_floats();
  }

  /// One block of queries, by its number.
  void run(std::int64_t number) const {
    const std::int64_t image = number / blocks; // of batch and heads of keys
    const std::int64_t first = number % blocks * row_block;
    work_space w{room.mine(), row_block, p.head_size, columns, panel_floats()};
    w.rows = std::min(row_block, rows - first);
    w.batch = image / p.kv_heads;
    w.kv_head = image % p.kv_heads;
    w.first = first;
    seen all{.first = p.keys};
    for (std::int64_t i = 0; i < w.rows; ++i) {
      bring(queries + row_of(w, i) * p.head_size * width, w.query + i * p.head_size, p.head_size,
            1.f / std::sqrt(static_cast<float>(p.head_size)));
      const seen one = seen_by(w, i);
      all = {std::min(all.first, one.first), std::max(all.end, one.end)};
      w.most[i] = -infinite;
      w.sum[i] = 0;
    }
    std::fill_n(w.result, w.rows * columns, 0.f);
    for (std::int64_t k = all.first; k < all.end; k += key_block)
      add_keys(w, k, std::min(key_block, all.end - k));
    for (std::int64_t i = 0; i < w.rows; ++i)
      narrow(w.result + i * columns, to + row_of(w, i) * p.value_size * width, p.value_size,
             w.sum[i] > 0 ? 1.f / w.sum[i] : 0.f);
  }

private:
  /// What a thread writes while it works on a block of queries.
  struct work_space {
    float *query, *scores, *result, *most, *sum, *panel, *line, *value, *added;
    std::int64_t rows = 0, batch = 0, kv_head = 0, first = 0;

    work_space(float* at, std::int64_t row_block, std::int64_t head_size, std::int64_t columns,
               std::int64_t panel_floats) {
      const auto take = [&](std::int64_t n) { return std::exchange(at, at + n); };
      // First those of which whole tiles are read and written: each begins on a cache line.
      scores = take(row_block * key_block);
      result = take(row_block * columns);
      panel = take(panel_floats);
      value = take(key_block * columns);
      query = take(row_block * head_size);
      line = take(key_block * head_size);
      most = take(row_block);
      sum = take(row_block);
      added = take(key_block);
    }
  };

  /// Keys from `first` to before `end`.
  struct seen {
    std::int64_t first = 0, end = 0;
  };
  /// What row `i` of a block sees. With lengths, causality is counted from the last key.
  seen seen_by(const work_space& w, std::int64_t i) const {
    const std::int64_t length =
        lengths == nullptr ? p.keys : std::clamp<std::int64_t>(lengths[w.batch], 0, p.keys);
    if (!p.causal) return {0, length};
    const std::int64_t before = p.past + (lengths == nullptr ? 0 : length - p.queries);
    const std::int64_t place = before + (w.first + i) % p.queries + 1;
    const std::int64_t end = std::clamp<std::int64_t>(place, 0, length);
    return {p.window == 0 ? 0 : std::clamp<std::int64_t>(place - p.window, 0, end), end};
  }

  /// Where row `i` of a block is among all queries, and all results.
  std::int64_t row_of(const work_space& w, std::int64_t i) const {
    const std::int64_t head = w.kv_head * shared + (w.first + i) / p.queries;
    const std::int64_t query = (w.first + i) % p.queries;
    return p.sequence_major ? (w.batch * p.queries + query) * p.heads + head
                            : (w.batch * p.heads + head) * p.queries + query;
  }
  /// Where key `k` is among all keys, and all values.
  std::int64_t key_of(const work_space& w, std::int64_t k) const {
    return keys_apart() ? (w.batch * p.keys + k) * p.kv_heads + w.kv_head
                        : (w.batch * p.kv_heads + w.kv_head) * p.keys + k;
  }
  bool keys_apart() const { return p.sequence_major && !p.cached; }
  std::int64_t key_step() const { return keys_apart() ? p.kv_heads : 1; }

  void bring(const std::byte* from, float* line, std::int64_t n, float factor) const {
    widen(from, line, n);
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      line[i] *= factor;
  }

  /// `n` rows of keys or values from `k` on, as floats: in place, or in `room_for_them`.
  const float* brought(const work_space& w, const std::byte* from, std::int64_t k, std::int64_t n,
                       std::int64_t size, float* room_for_them, std::int64_t row,
                       std::int64_t& step) const {
    const std::byte* first = from + key_of(w, k) * size * kept_width;
    const std::int64_t apart = key_step() * size;
    if (floats && size == row) {
      step = apart;
      return reinterpret_cast<const float*>(first);
    }
    for (std::int64_t i = 0; i < n; ++i)
      widen_kept(first + i * apart * kept_width, room_for_them + i * row, size);
    step = row;
    return room_for_them;
  }

  /// Adds what `n` keys from `k` on give.
  void add_keys(const work_space& w, std::int64_t k, std::int64_t n) const {
    std::int64_t step = 0;
    const std::int64_t d = p.head_size;
    const float* key = brought(w, keys, k, n, d, w.line, d, step);
    if (w.rows < few)
      for (std::int64_t i = 0; i < w.rows; ++i)
        multiply_rows(w.query + i * d, key, step, w.scores + i * key_block, n, d);
    else
      score(w, key, step, n);
    for (std::int64_t i = 0; i < w.rows; ++i)
      weigh(w, i, k, n);
    const float* value = brought(w, values, k, n, p.value_size, w.value, columns, step);
    if (w.rows < few)
      add_product(w.scores, key_block, value, step, w.result, columns, w.rows, columns, n);
    else
      add_values(w, value, step, n);
  }

  /// The products of all queries with `n` keys, a tile's columns after the other: those of a tile
  /// are together, and stay in the first-level cache for all rows.
  void score(const work_space& w, const float* key, std::int64_t step, std::int64_t n) const {
    const std::int64_t d = p.head_size;
    for (std::int64_t at = 0; at < n; at += tile_columns) {
      transpose_plane(w.panel, tile_columns, key + at * step, step,
                      std::min<std::int64_t>(tile_columns, n - at), d);
      add_product<true>(w.query, d, w.panel, tile_columns, w.scores + at, key_block, w.rows,
                        tile_columns, d);
    }
  }

  /// Adds values by their weights, in the same way.
  void add_values(const work_space& w, const float* value, std::int64_t step,
                  std::int64_t n) const {
    for (std::int64_t at = 0; at < columns; at += tile_columns) {
      for (std::int64_t i = 0; i < n; ++i)
        std::copy_n(value + i * step + at, tile_columns, w.panel + i * tile_columns);
      add_product(w.scores, key_block, w.panel, tile_columns, w.result + at, columns, w.rows,
                  tile_columns, n);
    }
  }

  /// Turns the scores of row `i` into weights, and what was summed before to the same maximum.
  void weigh(const work_space& w, std::int64_t i, std::int64_t k, std::int64_t n) const {
    const seen all = seen_by(w, i);
    const std::int64_t from = std::clamp<std::int64_t>(all.first - k, 0, n);
    const std::int64_t count = std::clamp<std::int64_t>(all.end - k, from, n) - from;
    float* row = w.scores + i * key_block;
    std::fill(row, row + from, 0.f);
    std::fill(row + from + count, row + n, 0.f);
    if (count == 0) return;
    row += from;
    if (p.softcap) cap(row, count);
    if (mask != nullptr) add_mask(w, i, row, k + from, count);
    const float before = w.most[i], most = std::max(before, fold_extreme<true>(row, count));
    if (most == -infinite) { // nothing is seen yet
      std::fill_n(row, count, 0.f);
      return;
    }
    const float kept = exponential(before - most);
    w.sum[i] = w.sum[i] * kept + fold_exponentials<true>(row, count, most, row);
    w.most[i] = most;
    if (before == most) return;
    float* result = w.result + i * columns;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j)
      result[j] *= kept;
  }

  static void cap(float* row, std::int64_t n) {
    constexpr auto most = static_cast<float>(attribute::softcap);
    over_lanes(
        n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
          at.store(hyperbolic_tangent(at.load(row + i) * (1 / most)) * most, row + i);
        });
  }

  /// Adds the mask to `n` scores from key `k` on.
  void add_mask(const work_space& w, std::int64_t i, float* row, std::int64_t k,
                std::int64_t n) const {
    const std::int64_t head = w.kv_head * shared + (w.first + i) / p.queries;
    const std::int64_t query = (w.first + i) % p.queries;
    const std::int64_t at =
        w.batch * mask_steps[0] + head * mask_steps[1] + query * mask_steps[2] + k * mask_steps[3];
    const bool each = mask_steps[3] != 0;
    if (p.truth_mask) {
      const auto* is_seen = reinterpret_cast<const std::uint8_t*>(mask) + at;
      if (!each && *is_seen == 0) std::fill_n(row, n, -infinite);
#pragma omp simd
      for (std::int64_t j = 0; j < (each ? n : 0); ++j)
        row[j] = is_seen[j] != 0 ? row[j] : -infinite;
      return;
    }
    widen(mask + at * width, w.added, each ? n : 1);
    if (each) {
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j)
        row[j] += w.added[j];
    } else {
      for (std::int64_t j = 0; j < n; ++j)
        row[j] += w.added[0];
    }
  }
};
} // namespace detail

inline detail::kernel make(const op::attention& p, const detail::job& j) {
  detail::attention_plan plan(p, j);
  const int threads = detail::team_for(j.threads, 16 * p.cost().macs / p.head_size);
  plan.room = detail::scratch(threads, plan.floats_a_thread());
  return {"blocks", [=, count = p.batch * p.kv_heads * plan.blocks] {
            detail::share(threads, count, 1, [&](std::int64_t at, std::int64_t end) {
              for (; at < end; ++at)
                plan.run(at);
            });
          }};
}

} // namespace benanza::backend::host
