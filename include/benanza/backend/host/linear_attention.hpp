// SPDX-License-Identifier: Apache-2.0
// How does a linear attention run? Columns of a state are independent, so a few vectors of them
// stay in the first-level cache for all tokens: for each token one trip through them to ask what
// they give for its key, and one to change and to read them. A single token goes through the state
// row by row, in the order of memory. Batches, heads and blocks of columns are shared among
// threads. Computed in f32.
//
//   kernel k = make(op::linear_attention{.batch = 1, .heads = 32, ...}, job);
#pragma once

#include "detail/approx.hpp"
#include "detail/convert.hpp"
#include "detail/job.hpp"
#include "detail/lanes.hpp"

#include <array>
#include <cmath>

namespace benanza::backend::host {

namespace detail {

/// `Vectors` vectors of columns of a state, row after row.
template <int Vectors>
struct state_columns {
  static constexpr std::int64_t width = Vectors * float_lanes::count;
  using row = std::array<float_vector, Vectors>;

  float* s = nullptr;
  std::int64_t rows = 0;

  static row zeros() {
    row r;
    r.fill(float_lanes::all(0));
    return r;
  }
  static row load(const float* from) {
    row r;
    for (std::size_t v = 0; v < Vectors; ++v)
      r[v] = float_lanes::load(from + v * float_lanes::count);
    return r;
  }
  static void store(const row& r, float* to) {
    for (std::size_t v = 0; v < Vectors; ++v)
      float_lanes::store(r[v], to + v * float_lanes::count);
  }

  /// Lets the state decay, adds key times `brought`, and gives what queries read then, one behind
  /// the other.
  template <bool Decays, std::size_t Queries>
  std::array<row, Queries> changed(const float* key, const float* decay, const row& brought,
                                   const float* query) const {
    std::array<row, Queries> sums;
    sums.fill(zeros());
    for (std::int64_t i = 0; i < rows; ++i) {
      const float_vector k = float_lanes::all(key[i]);
      row x = load(s + i * width);
      if constexpr (Decays) {
        const float_vector e = float_lanes::all(decay[i]);
        for (std::size_t v = 0; v < Vectors; ++v)
          x[v] *= e;
      }
      for (std::size_t v = 0; v < Vectors; ++v)
        x[v] = float_lanes::multiply_add(k, brought[v], x[v]);
      store(x, s + i * width);
      add_product(x, query, i, sums);
    }
    return sums;
  }
  /// What queries read, one behind the other; what the state gives for a key likewise.
  template <std::size_t Queries>
  std::array<row, Queries> read(const float* query) const {
    std::array<row, Queries> sums;
    sums.fill(zeros());
    for (std::int64_t i = 0; i < rows; ++i)
      add_product(load(s + i * width), query, i, sums);
    return sums;
  }

private:
  template <std::size_t Queries>
  [[gnu::always_inline]] void add_product(const row& x, const float* query, std::int64_t i,
                                          std::array<row, Queries>& sums) const {
    for (std::size_t q = 0; q < Queries; ++q) {
      const float_vector by = float_lanes::all(query[static_cast<std::int64_t>(q) * rows + i]);
      for (std::size_t v = 0; v < Vectors; ++v)
        sums[q][v] = float_lanes::multiply_add(by, x[v], sums[q][v]);
    }
  }
};

struct linear_attention_plan {
  op::linear_attention p{};
  std::array<const std::byte*, 6> in{};
  std::byte *out = nullptr, *last = nullptr;
  std::int64_t width = 4, state_width = 4; ///< bytes of an element
  bool floats = true;
  widener widen, widen_state;
  narrower narrow, narrow_state;
  float scale = 1;
  std::int64_t columns = 0; ///< of a block

  linear_attention_plan(const op::linear_attention& layer, const job& j)
      : p(layer)
      , out(j.output)
      , last(j.result_at(1))
      , width(j.width())
      , state_width(size_bytes(j.results[1].type))
      , floats(j.element == dtype::f32)
      , widen(widen_as(j.element))
      , widen_state(widen_as(j.results[1].type))
      , narrow(narrow_as(j.result))
      , narrow_state(narrow_as(j.results[1].type))
      , scale(static_cast<float>(1 / std::sqrt(static_cast<double>(layer.key_size)))) {
    std::copy_n(j.inputs.begin(), std::min(j.inputs.size(), in.size()), in.begin());
    constexpr std::int64_t n = float_lanes::count;
    columns = p.value_size <= n ? n : p.value_size <= 2 * n ? 2 * n : 4 * n;
  }

  bool single() const { return p.steps == 1; }
  std::int64_t blocks() const { return single() ? 1 : (p.value_size + columns - 1) / columns; }
  std::int64_t tasks() const { return p.batch * p.kv_heads * blocks(); }
  /// Floats of scratch memory for one thread.
  std::int64_t floats_a_thread() const {
    const std::int64_t one = p.value_size * (3 + p.shared()), all = columns * (p.key_size + 2);
    return p.key_size * (3 + p.shared()) + (single() ? one : all);
  }

  /// One block of columns of one head.
  void run(std::int64_t number, float* room) const {
    constexpr std::int64_t n = float_lanes::count;
    if (single()) return go<0>(number, room);
    columns == n       ? go<1>(number, room)
    : columns == 2 * n ? go<2>(number, room)
                       : go<4>(number, room);
  }

private:
  /// What a token brings besides its value.
  struct token {
    const float *key, *query, *decay;
    const float* asks; ///< with it the state before it decays gives what the key gives after
    float rate;
    std::int64_t at; ///< its place among those of all heads
  };

  template <int Vectors>
  void go(std::int64_t number, float* room) const {
    if (p.decays())
      p.corrects() ? go<Vectors, true, true>(number, room) : go<Vectors, true, false>(number, room);
    else
      p.corrects() ? go<Vectors, false, true>(number, room)
                   : go<Vectors, false, false>(number, room);
  }
  template <int Vectors, bool Decays, bool Corrects>
  void go(std::int64_t number, float* room) const {
    if constexpr (Vectors == 0)
      step<Decays, Corrects>(number, room);
    else
      steps<Vectors, Decays, Corrects>(number, room);
  }

  template <bool Decays, bool Corrects>
  token read(std::int64_t image, std::int64_t t, float* room) const {
    const std::int64_t row = image / p.kv_heads * p.steps + t, n = p.key_size;
    const std::int64_t at = row * p.kv_heads + image % p.kv_heads;
    float *decay = room, *asks = room + n;
    token k{.key = numbers(1, at * n, n, room + 2 * n),
            .query = numbers(0, at * p.shared() * n, p.shared() * n, room + 3 * n),
            .decay = decay,
            .asks = asks,
            .rate = 0,
            .at = at};
    if constexpr (Decays) find_decay(at, decay);
    if constexpr (Corrects) widen(in[5] + (p.one_rate ? row : at) * width, &k.rate, 1);
    if constexpr (Corrects && !Decays) k.asks = k.key;
    if constexpr (Corrects && Decays)
      over_lanes(
          n, [&](std::int64_t i, auto part) __attribute__((always_inline)) {
            part.store(part.load(k.key + i) * part.load(decay + i), asks + i);
          });
    return k;
  }
  float* behind_token(float* room) const { return room + p.key_size * (3 + p.shared()); }

  /// Where a row of a state is, in bytes.
  std::int64_t state_place(std::int64_t image, std::int64_t i) const {
    return (image * p.key_size + i) * p.value_size * state_width;
  }
  std::byte* result_place(const token& k, std::int64_t q, std::int64_t from) const {
    return out + ((k.at * p.shared() + q) * p.value_size + from) * width;
  }

  /// All tokens of a block of columns.
  template <int Vectors, bool Decays, bool Corrects>
  void steps(std::int64_t number, float* room) const {
    using state = state_columns<Vectors>;
    using row = typename state::row;
    float *line = behind_token(room), *sums = line + state::width;
    const state s{.s = sums + state::width, .rows = p.key_size};
    const std::int64_t image = number / blocks(), from = number % blocks() * state::width;
    const std::int64_t n = std::min(state::width, p.value_size - from);
    std::fill_n(line, (2 + p.key_size) * state::width, 0.f);
    for (std::int64_t i = 0; p.past && i < p.key_size; ++i)
      widen_state(in[3] + state_place(image, i) + from * state_width, s.s + i * state::width, n);

    for (std::int64_t t = 0; t < p.steps; ++t) {
      const token k = read<Decays, Corrects>(image, t, room);
      widen(in[2] + (k.at * p.value_size + from) * width, line, n);
      row brought = state::load(line);
      if constexpr (Corrects) {
        const row known = s.template read<1>(k.asks)[0];
        for (std::size_t v = 0; v < Vectors; ++v)
          brought[v] = (brought[v] - known[v]) * float_lanes::all(k.rate);
      }
      const auto give = [&](std::int64_t q, const row& r) {
        state::store(r, sums);
        narrow(sums, result_place(k, q, from), n, scale);
      };
      if (p.shared() == 1) {
        give(0, s.template changed<Decays, 1>(k.key, k.decay, brought, k.query)[0]);
        continue;
      }
      const auto two = s.template changed<Decays, 2>(k.key, k.decay, brought, k.query);
      give(0, two[0]);
      give(1, two[1]);
      std::int64_t q = 2;
      for (; q + 2 <= p.shared(); q += 2) {
        const auto more = s.template read<2>(k.query + q * p.key_size);
        give(q, more[0]);
        give(q + 1, more[1]);
      }
      if (q < p.shared()) give(q, s.template read<1>(k.query + q * p.key_size)[0]);
    }
    for (std::int64_t i = 0; i < p.key_size; ++i)
      narrow_state(s.s + i * state::width, last + state_place(image, i) + from * state_width, n, 1);
  }

  /// The only token of a head.
  template <bool Decays, bool Corrects>
  void step(std::int64_t image, float* room) const {
    const token k = read<Decays, Corrects>(image, 0, room);
    const std::int64_t n = p.value_size;
    float *line = behind_token(room), *next = line + n, *brought = next + n, *sums = brought + n;
    std::fill_n(line, n, 0.f);
    std::fill_n(sums, n * p.shared(), 0.f);
    const bool float_state = state_width == 4;
    const auto state_row = [&](std::int64_t i) -> const float* {
      if (!p.past) return line;
      const std::byte* from = in[3] + state_place(image, i);
      if (float_state) return reinterpret_cast<const float*>(from);
      widen_state(from, line, n);
      return line;
    };
    widen(in[2] + k.at * n * width, brought, n);
    if (Corrects && p.past) {
      for (std::int64_t i = 0; i < p.key_size; ++i)
        add_scaled(state_row(i), k.asks[i], sums, n);
      add_scaled(sums, -1, brought, n);
      std::fill_n(sums, n, 0.f);
    }
    for (std::int64_t j = 0; Corrects && j < n; ++j)
      brought[j] *= k.rate;
    for (std::int64_t i = 0; i < p.key_size; ++i) {
      const float* x = state_row(i);
      std::byte* to = last + state_place(image, i);
      float* y = float_state ? reinterpret_cast<float*>(to) : next;
      const float_vector by = float_lanes::all(k.key[i]);
      const float_vector e = float_lanes::all(Decays ? k.decay[i] : 1);
      const float_vector first = float_lanes::all(k.query[i]);
      over_lanes(
          n, [&](std::int64_t j, auto part) __attribute__((always_inline)) {
            const float_vector kept = Decays ? part.load(x + j) * e : part.load(x + j);
            const float_vector now = float_lanes::multiply_add(by, part.load(brought + j), kept);
            part.store(now, y + j);
            part.store(float_lanes::multiply_add(first, now, part.load(sums + j)), sums + j);
          });
      for (std::int64_t q = 1; q < p.shared(); ++q)
        add_scaled(y, k.query[q * p.key_size + i], sums + q * n, n);
      if (!float_state) narrow_state(next, to, n, 1);
    }
    for (std::int64_t q = 0; q < p.shared(); ++q)
      narrow(sums + q * n, result_place(k, q, 0), n, scale);
  }

  static void add_scaled(const float* x, float by, float* to, std::int64_t n) {
    const float_vector all = float_lanes::all(by);
    over_lanes(
        n, [&](std::int64_t j, auto part) __attribute__((always_inline)) {
          part.store(float_lanes::multiply_add(all, part.load(x + j), part.load(to + j)), to + j);
        });
  }

  /// Numbers of an operand as floats, in place where they are.
  const float* numbers(std::size_t operand, std::int64_t from, std::int64_t n, float* room) const {
    if (floats) return reinterpret_cast<const float*>(in[operand]) + from;
    widen(in[operand] + from * width, room, n);
    return room;
  }

  /// A token's factor for each row of the state.
  void find_decay(std::int64_t at, float* to) const {
    if (p.head_decay) {
      float one = 0;
      widen(in[4] + at * width, &one, 1);
      return void(std::fill_n(to, p.key_size, exponential(one)));
    }
    widen(in[4] + at * p.key_size * width, to, p.key_size);
    over_lanes(
        p.key_size, [&](std::int64_t i, auto part) __attribute__((always_inline)) {
          part.store(exponential(part.load(to + i)), to + i);
        });
  }
};
} // namespace detail

/// True where a layer has a kernel for operands stored as `element`.
inline bool runs(const op::linear_attention&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::linear_attention& p, const detail::job& j) {
  const char* const way = p.steps == 1 ? "rows" : "columns";
  if (j.output == nullptr) return {way, [] {}};
  const detail::linear_attention_plan plan(p, j);
  const std::int64_t bytes = checked_multiply(elements(p.state_dims()), 8 * p.steps);
  const int threads = detail::team_for(j.threads, bytes);
  const detail::scratch room(threads, plan.floats_a_thread());
  return {way, [=] {
            detail::share(threads, plan.tasks(), 1, [&](std::int64_t number, std::int64_t end) {
              for (; number < end; ++number)
                plan.run(number, room.mine());
            });
          }};
}

} // namespace benanza::backend::host
