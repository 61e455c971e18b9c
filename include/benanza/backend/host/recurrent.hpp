// SPDX-License-Identifier: Apache-2.0
// How does a recurrent layer run? What inputs give is one product for as many steps as stay in the
// second-level cache; then step by step what states give is added, and gates are worked out in
// vectors. Weights are in panels of one tile's columns, each gate from a new panel on. Directions
// are shared among threads, or, where there are more threads than directions, the columns of every
// product.
//
//   kernel k = make(op::recurrent{.cell = op::cell_kind::lstm, ...}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/functions.hpp"
#include "detail/job.hpp"
#include "detail/product.hpp"

#include <array>
#include <utility>

namespace benanza::backend::host {

namespace detail {

/// Where the parts of one direction's packed weights are, in floats; panels hold elements of
/// `width` bytes.
struct recurrent_parts {
  std::int64_t row = 0;     ///< of one gate: the hidden numbers up to a whole tile
  std::int64_t columns = 0; ///< of all gates
  std::int64_t inputs = 0, states = 0, biases = 0, state_bias = 0, peepholes = 0, all = 0;

  recurrent_parts(const op::recurrent& p, std::int64_t width)
      : row((p.hidden + tile_columns - 1) / tile_columns * tile_columns)
      , columns(row * p.gates())
      , states(columns * p.inputs * width / 4)
      , biases(states + columns * p.hidden * width / 4)
      , state_bias(biases + columns)
      , peepholes(state_bias + row)
      , all(peepholes + 3 * row) {}
};

/// Rows of `gates` x `hidden` weights as panels: for each tile of columns, `depth` rows of it.
template <class T>
void pack_panels(const T* weights, T* to, std::int64_t gates, std::int64_t hidden, std::int64_t row,
                 std::int64_t depth) {
  for (std::int64_t column = 0; column < gates * row; ++column)
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t gate = column / row, j = column % row;
      to[(column / tile_columns * depth + k) * tile_columns +
         place_in_tile<T>(column % tile_columns)] =
          j < hidden ? weights[(gate * hidden + j) * depth + k] : T{};
    }
}

/// C += A B for B in panels, from column `first` to `end`.
template <class T>
void add_panels(const float* a, std::int64_t a_row, const T* panels, float* c, std::int64_t c_row,
                std::int64_t rows, std::int64_t first, std::int64_t end, std::int64_t depth) {
  for (std::int64_t column = first; column < end; column += tile_columns)
    add_product(a, a_row, panels + column * depth, tile_columns, c + column, c_row, rows,
                tile_columns, depth);
}

/// `T`: how operands and results are stored, f32 or bf16; all is computed in f32.
template <class T>
struct recurrent_plan {
  op::recurrent p;
  recurrent_parts parts;
  std::int64_t block = 1; ///< steps whose products with inputs are made at once
  int team = 1;           ///< threads that share the columns of a product
  const T *x = nullptr, *first_h = nullptr, *first_c = nullptr;
  const std::int32_t* lengths = nullptr;
  T *sequence = nullptr, *last_h = nullptr, *last_c = nullptr;
  std::array<std::array<block_function, 3>, 2> functions{};

  static constexpr std::int64_t block_floats = 128 * 1024;
  static constexpr bool widens = !std::is_same_v<T, float>;

  recurrent_plan(const op::recurrent& layer, const job& j)
      : p(layer)
      , parts(layer, sizeof(T))
      , block(
            std::clamp<std::int64_t>(block_floats / (layer.batch * parts.columns), 1, layer.steps))
      , x(operand(j, 0))
      , first_h(layer.initial_h ? operand(j, 5) : nullptr)
      , first_c(layer.initial_c ? operand(j, 6) : nullptr)
      , lengths(layer.lengths ? reinterpret_cast<const std::int32_t*>(j.inputs[4]) : nullptr)
      , sequence(reinterpret_cast<T*>(j.output)) {
    if (j.threads > p.directions()) team = j.threads;
    if (p.wanted > 1) last_h = reinterpret_cast<T*>(j.result_at(1));
    if (p.wanted > 2) last_c = reinterpret_cast<T*>(j.result_at(2));
    for (std::int64_t d = 0; d < p.directions(); ++d)
      for (int i = 0; i < p.functions(); ++i)
        functions[static_cast<std::size_t>(d)][static_cast<std::size_t>(i)] =
            unary_block(p.function(d, i));
  }

  /// Floats of scratch memory for one thread.
  std::int64_t floats_a_thread() const {
    return p.batch * (block * (parts.columns + (widens ? p.inputs : 0)) + 4 * parts.row) +
           2 * parts.row;
  }

  /// One direction.
  void run(std::int64_t d, const float* packed, float* room) const {
    const auto take = [&](std::int64_t n) { return std::exchange(room, room + n); };
    state s{.d = d, .weights = packed + d * parts.all};
    s.h = take(p.batch * parts.row);
    s.c = take(p.batch * parts.row);
    s.kept = take(p.batch * parts.row);
    s.after = take(p.batch * parts.row);
    s.line = take(parts.row);
    s.wide = widens ? take(p.batch * block * p.inputs) : nullptr;
    float* gates = take(p.batch * block * parts.columns);
    begin(s);
    const bool back = p.way == op::direction::reverse || d == 1;
    for (std::int64_t done = 0; done < p.steps; done += block) {
      const std::int64_t n = std::min(block, p.steps - done);
      const std::int64_t first = back ? p.steps - done - n : done;
      add_inputs(s, gates, first, n);
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t at = back ? n - 1 - k : k;
        step(s, gates + at * p.batch * parts.columns, first + at);
      }
    }
    end(s);
  }

private:
  struct state {
    std::int64_t d = 0;
    const float* weights = nullptr;
    float *h = nullptr, *c = nullptr;        ///< a row for each sequence of the batch
    float *kept = nullptr, *after = nullptr; ///< of a GRU: what its reset gate lets through
    float* line = nullptr;
    float* wide = nullptr; ///< inputs of some steps in f32
  };

  static const T* operand(const job& j, std::size_t k) {
    return reinterpret_cast<const T*>(j.inputs[k]);
  }
  static void read(const T* from, std::int64_t n, float* to) {
    widen<T>(reinterpret_cast<const std::byte*>(from), to, n);
  }
  static void write(const float* from, std::int64_t n, T* to) {
    narrow<T>(from, reinterpret_cast<std::byte*>(to), n, 1);
  }
  /// `n` rows of inputs in f32.
  const float* inputs(const state& s, std::int64_t first, std::int64_t n) const {
    const T* from = x + first * p.inputs;
    if constexpr (widens) {
      read(from, n * p.inputs, s.wide);
      return s.wide;
    } else {
      return from;
    }
  }
  static const T* panels(const state& s, std::int64_t at) {
    return reinterpret_cast<const T*>(s.weights + at);
  }
  std::int64_t state_place(std::int64_t d, std::int64_t n) const {
    return (p.batch_first ? n * p.directions() + d : d * p.batch + n) * p.hidden;
  }
  bool runs_at(std::int64_t n, std::int64_t t) const {
    return lengths == nullptr || t < lengths[n];
  }
  block_function function(const state& s, std::size_t i) const {
    return functions[static_cast<std::size_t>(s.d)][i];
  }

  void begin(const state& s) const {
    std::fill_n(s.h, 4 * p.batch * parts.row, 0.f); // and all that are behind it
    for (std::int64_t n = 0; n < p.batch; ++n) {
      if (first_h) read(first_h + state_place(s.d, n), p.hidden, s.h + n * parts.row);
      if (first_c) read(first_c + state_place(s.d, n), p.hidden, s.c + n * parts.row);
    }
  }
  void end(const state& s) const {
    for (std::int64_t n = 0; n < p.batch; ++n) {
      if (last_h) write(s.h + n * parts.row, p.hidden, last_h + state_place(s.d, n));
      if (last_c) write(s.c + n * parts.row, p.hidden, last_c + state_place(s.d, n));
    }
  }

  /// C += A B for the first columns of B, in panels, shared among the threads.
  void add(const float* a, std::int64_t a_row, const T* of, float* c, std::int64_t c_row,
           std::int64_t rows, std::int64_t columns, std::int64_t depth) const {
    share(team_for(team, columns * depth * static_cast<std::int64_t>(sizeof(T))), columns,
          tile_columns, [&](std::int64_t first, std::int64_t end) {
            add_panels(a, a_row, of, c, c_row, rows, first, end, depth);
          });
  }

  /// Biases and the products with inputs, of `steps` steps.
  void add_inputs(const state& s, float* gates, std::int64_t first, std::int64_t steps) const {
    const float* bias = s.weights + parts.biases;
    for (std::int64_t row = 0; row < steps * p.batch; ++row)
      std::copy_n(bias, parts.columns, gates + row * parts.columns);
    const T* of = panels(s, parts.inputs);
    if (!p.batch_first)
      return add(inputs(s, first * p.batch, steps * p.batch), p.inputs, of, gates, parts.columns,
                 steps * p.batch, parts.columns, p.inputs);
    for (std::int64_t n = 0; n < p.batch; ++n)
      add(inputs(s, n * p.steps + first, steps), p.inputs, of, gates + n * parts.columns,
          p.batch * parts.columns, steps, parts.columns, p.inputs);
  }

  void step(const state& s, float* gates, std::int64_t t) const {
    const bool gru = p.cell == op::cell_kind::gru;
    const std::int64_t now = gru ? 2 * parts.row : parts.columns;
    add(s.h, parts.row, panels(s, parts.states), gates, parts.columns, p.batch, now, p.hidden);
    if (gru) {
      if (p.reset_after) {
        for (std::int64_t n = 0; n < p.batch; ++n)
          std::copy_n(s.weights + parts.state_bias, parts.row, s.after + n * parts.row);
        add_product_of_last_gate(s, s.h, s.after, parts.row);
      }
      for (std::int64_t n = 0; n < p.batch; ++n)
        reset(s, gates + n * parts.columns, n);
      if (!p.reset_after) add_product_of_last_gate(s, s.kept, gates + 2 * parts.row, parts.columns);
    }
    for (std::int64_t n = 0; n < p.batch; ++n) {
      const std::int64_t place = p.batch_first
                                     ? ((n * p.steps + t) * p.directions() + s.d) * p.hidden
                                     : ((t * p.directions() + s.d) * p.batch + n) * p.hidden;
      if (!runs_at(n, t)) {
        std::fill_n(sequence + place, p.hidden, T{});
        continue;
      }
      float* row = gates + n * parts.columns;
      if (gru)
        finish_gru(s, row, n);
      else if (p.lstm())
        finish_lstm(s, row, n);
      else
        activate(s, 0, row, s.h + n * parts.row);
      write(s.h + n * parts.row, p.hidden, sequence + place);
    }
  }

  void add_product_of_last_gate(const state& s, const float* a, float* c,
                                std::int64_t c_row) const {
    const T* of = panels(s, parts.states) + 2 * parts.row * p.hidden;
    add(a, parts.row, of, c, c_row, p.batch, parts.row, p.hidden);
  }

  /// Activation `i` of a gate's row.
  void activate(const state& s, std::size_t i, float* row, float* to) const {
    if (p.clipped) {
      constexpr auto limit = static_cast<float>(attribute::recurrent_clip);
#pragma omp simd
      for (std::int64_t k = 0; k < parts.row; ++k)
        row[k] = std::min(std::max(row[k], -limit), limit);
    }
    function(s, i)(row, to, p.hidden);
  }

  /// Both gates of a GRU, and the state that the second one lets through.
  void reset(const state& s, float* row, std::int64_t n) const {
    float* r = row + parts.row;
    activate(s, 0, row, row);
    activate(s, 0, r, r);
    const float* from = (p.reset_after ? s.after : s.h) + n * parts.row;
    float* to = p.reset_after ? row + 2 * parts.row : s.kept + n * parts.row;
    if (p.reset_after) {
#pragma omp simd
      for (std::int64_t k = 0; k < p.hidden; ++k)
        to[k] += r[k] * from[k];
    } else {
#pragma omp simd
      for (std::int64_t k = 0; k < p.hidden; ++k)
        to[k] = r[k] * from[k];
    }
  }
  void finish_gru(const state& s, float* row, std::int64_t n) const {
    float *y = row + 2 * parts.row, *h = s.h + n * parts.row;
    activate(s, 1, y, y);
#pragma omp simd
    for (std::int64_t k = 0; k < p.hidden; ++k)
      h[k] = y[k] + row[k] * (h[k] - y[k]);
  }

  /// Gates are in the order input, output, forget, cell.
  void finish_lstm(const state& s, float* row, std::int64_t n) const {
    float *out = row + parts.row, *forget = out + parts.row, *cell = forget + parts.row;
    float *c = s.c + n * parts.row, *h = s.h + n * parts.row;
    const float* peep = s.weights + parts.peepholes;
    if (p.peepholes) {
#pragma omp simd
      for (std::int64_t k = 0; k < p.hidden; ++k) {
        row[k] += peep[k] * c[k];
        forget[k] += peep[2 * parts.row + k] * c[k];
      }
    }
    activate(s, 0, row, row);
    activate(s, 1, cell, cell);
    if (p.coupled) {
#pragma omp simd
      for (std::int64_t k = 0; k < p.hidden; ++k)
        forget[k] = 1.f - row[k];
    } else {
      activate(s, 0, forget, forget);
    }
#pragma omp simd
    for (std::int64_t k = 0; k < p.hidden; ++k)
      c[k] = forget[k] * c[k] + row[k] * cell[k];
    if (p.peepholes) {
#pragma omp simd
      for (std::int64_t k = 0; k < p.hidden; ++k)
        out[k] += peep[parts.row + k] * c[k];
    }
    activate(s, 0, out, out);
    function(s, 2)(c, s.line, p.hidden);
#pragma omp simd
    for (std::int64_t k = 0; k < p.hidden; ++k)
      h[k] = out[k] * s.line[k];
  }
};
} // namespace detail

/// True where there is a kernel: f32 and bf16.
inline bool runs(const op::recurrent&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::recurrent& p, dtype element) {
  return p.directions() * detail::recurrent_parts(p, size_bytes(element)).all * 4;
}

namespace detail {
template <class T>
void fold_recurrent(const op::recurrent& p, const operands& o, float* to) {
  const recurrent_parts parts(p, sizeof(T));
  std::fill_n(to, p.directions() * parts.all, 0.f);
  const std::int64_t gates = p.gates(), hidden = p.hidden;
  const auto number = [&o](std::size_t operand, std::int64_t i) {
    return static_cast<float>(load(o.inputs[operand].type, o.inputs[operand].bytes.data(), i));
  };
  for (std::int64_t d = 0; d < p.directions(); ++d, to += parts.all) {
    pack_panels(o.inputs[1].as<T>().data() + d * gates * hidden * p.inputs,
                reinterpret_cast<T*>(to + parts.inputs), gates, hidden, parts.row, p.inputs);
    pack_panels(o.inputs[2].as<T>().data() + d * gates * hidden * hidden,
                reinterpret_cast<T*>(to + parts.states), gates, hidden, parts.row, hidden);
    for (std::int64_t gate = 0; p.bias && gate < gates; ++gate)
      for (std::int64_t j = 0; j < hidden; ++j) {
        const std::int64_t at = (d * 2 * gates + gate) * hidden + j;
        const float of_states = number(3, at + gates * hidden);
        const bool apart = p.reset_after && gate == 2;
        to[parts.biases + gate * parts.row + j] = number(3, at) + (apart ? 0 : of_states);
        if (apart) to[parts.state_bias + j] = of_states;
      }
    for (std::int64_t i = 0; p.peepholes && i < 3 * hidden; ++i)
      to[parts.peepholes + i / hidden * parts.row + i % hidden] = number(7, d * 3 * hidden + i);
  }
}

template <class T>
task recurrent_task(const op::recurrent& p, const job& j) {
  recurrent_plan<T> plan(p, j);
  const int threads =
      plan.team > 1 ? 1 : static_cast<int>(std::min<std::int64_t>(j.threads, p.directions()));
  const scratch room(threads, plan.floats_a_thread());
  return [=, weights = j.weights] {
    share(threads, p.directions(), 1, [&](std::int64_t d, std::int64_t end) {
      for (; d < end; ++d)
        plan.run(d, reinterpret_cast<const float*>(*weights), room.mine());
    });
  };
}
} // namespace detail

/// Brings weights, biases and peepholes into panels and rows.
inline void fold_weights(const op::recurrent& p, const operands& o, float* to) {
  if (o.inputs[1].type == dtype::bf16) return detail::fold_recurrent<std::uint16_t>(p, o, to);
  detail::fold_recurrent<float>(p, o, to);
}

inline detail::kernel make(const op::recurrent& p, const detail::job& j) {
  if (j.output == nullptr) return {"steps", [] {}};
  return {"steps", j.element == dtype::bf16 ? detail::recurrent_task<std::uint16_t>(p, j)
                                            : detail::recurrent_task<float>(p, j)};
}

} // namespace benanza::backend::host
