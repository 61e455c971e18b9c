// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: ONNX LSTM-7..22, GRU-7..22 and RNN-7..22. One or two directions over a
// sequence; weights are constant. What is optional in ONNX and costs (biases, initial states,
// peepholes, lengths of sequences, clipping) is in the key; values are not. Activations are those
// that the cell has by default, or listed by their places in `cell_functions`.
//
//   recurrent{.cell = cell_kind::lstm, .steps = 16, .batch = 1, .inputs = 100, .hidden = 128,
//             .bias = true}              key: 16x1x100-h128-b
#pragma once

#include "eltwise.hpp"
#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// The order is that of `cell_families`.
enum class cell_kind : std::uint8_t { rnn, gru, lstm };
inline constexpr std::string_view cell_families[] = {"RNN", "GRU", "LSTM"};

/// Which way a sequence is read; the order is that of `direction_names`.
enum class direction : std::uint8_t { forward, reverse, bidirectional };
inline constexpr std::string_view direction_names[] = {"forward", "reverse", "bidirectional"};

/// What a cell's activation may be; keys hold places in this list.
inline constexpr unary_function cell_functions[] = {
    unary_function::relu,       unary_function::tanh,     unary_function::sigmoid,
    unary_function::leaky_relu, unary_function::elu,      unary_function::thresholded_relu,
    unary_function::softsign,   unary_function::softplus, unary_function::hard_sigmoid};

struct recurrent {
  cell_kind cell = cell_kind::rnn;
  std::int64_t steps = 0, batch = 0, inputs = 0;
  std::int64_t hidden = 0;
  direction way = direction::forward;
  bool bias = false;
  bool lengths = false; ///< each sequence of the batch has a length of its own
  bool initial_h = false, initial_c = false;
  bool peepholes = false;
  bool coupled = false;     ///< LSTM's input_forget: the forget gate is what the input gate leaves
  bool reset_after = false; ///< GRU's linear_before_reset: its reset gate acts behind the product
  bool clipped = false;     ///< what goes into activations is kept in a range
  bool batch_first = false; ///< layout 1: the batch comes before the steps
  std::int64_t wanted = 1;  ///< results: the sequence, the last state, an LSTM's last cell
  list<6> activations{};    ///< empty: the cell's own

  static constexpr std::optional<recurrent> of(std::string_view family) {
    if (const auto f = detail::find_family<cell_kind>(cell_families, family))
      return recurrent{.cell = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return cell_families[static_cast<std::size_t>(cell)];
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    list<3> sizes{steps, batch, inputs};
    a.dims("", sizes);
    if (sizes.size == 3) steps = sizes[0], batch = sizes[1], inputs = sizes[2];
    a.number("hidden", "h", hidden, 0, true);
    a.choice("way", "direction", way, direction_names);
    a.flag("bias", "b", bias);
    a.flag("lengths", "len", lengths);
    a.flag("initial_h", "h0", initial_h);
    if (lstm()) {
      a.flag("initial_c", "c0", initial_c);
      a.flag("peepholes", "peep", peepholes);
      a.flag("coupled", "coupled", coupled);
    }
    if (cell == cell_kind::gru) a.flag("reset_after", "after", reset_after);
    a.flag("clipped", "clip", clipped);
    a.flag("batch_first", "nt", batch_first);
    a.number("wanted", "n", wanted, 1);
    a.tagged_list("activations", "f", activations);
  }

  constexpr bool lstm() const { return cell == cell_kind::lstm; }
  /// Products that a step needs for each hidden number.
  constexpr std::int64_t gates() const { return lstm() ? 4 : cell == cell_kind::gru ? 3 : 1; }
  constexpr std::int64_t directions() const { return way == direction::bidirectional ? 2 : 1; }
  /// Activations of one direction.
  constexpr int functions() const { return lstm() ? 3 : cell == cell_kind::gru ? 2 : 1; }
  /// Activation `i` of direction `d`.
  constexpr unary_function function(std::int64_t d, int i) const {
    if (!activations.empty())
      return cell_functions[activations[static_cast<int>(d) * functions() + i]];
    const bool gate = cell != cell_kind::rnn && i == 0;
    return gate ? unary_function::sigmoid : unary_function::tanh;
  }

  constexpr void validate() const {
    for (std::int64_t n : {steps, batch, inputs, hidden})
      if (n < 1 || n > dim_limit)
        throw error("a recurrent layer takes steps, batch, inputs and hidden of 1 to 2^40");
    if (wanted < 1 || wanted > (lstm() ? 3 : 2))
      throw error("a recurrent layer gives its sequence, its last state and, an LSTM, its cell");
    if ((initial_c || peepholes || coupled) && !lstm())
      throw error("only an LSTM has a cell, peepholes and coupled gates");
    if (reset_after && cell != cell_kind::gru) throw error("only a GRU has a reset gate");
    if (!activations.empty() && activations.size != directions() * functions())
      throw error("a recurrent layer has too many or too few activations");
    for (std::int64_t f : activations)
      if (f < 0 || f >= static_cast<std::int64_t>(std::size(cell_functions)))
        throw error("a recurrent layer's activation is none that cells have");
    for (const result& r : results())
      check_dims(r.dims);
    (void)cost();
  }

  constexpr shape input() const {
    return batch_first ? shape{batch, steps, inputs} : shape{steps, batch, inputs};
  }
  constexpr shape input_weights() const {
    return {directions(), checked_multiply(gates(), hidden), inputs};
  }
  constexpr shape state_weights() const {
    return {directions(), checked_multiply(gates(), hidden), hidden};
  }
  /// Of the products of inputs, then of states.
  constexpr shape biases() const { return {directions(), checked_multiply(2 * gates(), hidden)}; }
  constexpr shape peephole_weights() const { return {directions(), checked_multiply(3, hidden)}; }
  /// The sequence of states.
  constexpr shape output() const {
    return batch_first ? shape{batch, steps, directions(), hidden}
                       : shape{steps, directions(), batch, hidden};
  }
  /// One state.
  constexpr shape state() const {
    return batch_first ? shape{batch, directions(), hidden} : shape{directions(), batch, hidden};
  }
  constexpr result_list results() const {
    result_list all{{output()}};
    for (std::int64_t i = 1; i < wanted; ++i)
      all.push({state()});
    return all;
  }

  /// Both products of each step, and its activations and elementwise operations as published: of an
  /// LSTM 5 activations and 4 others, of a GRU 3 and 5, of a simple cell one.
  constexpr work cost() const {
    const std::int64_t weights = elements(input_weights()) + elements(state_weights());
    const std::int64_t rows = checked_multiply(steps, batch);
    const std::int64_t states = checked_multiply(rows, checked_multiply(directions(), hidden));
    work w;
    w.macs = checked_multiply(rows, weights);
    w.weights = weights;
    w.vectors = (bias ? elements(biases()) : 0) + (peepholes ? elements(peephole_weights()) : 0);
    w.sources = elements(input()) + (initial_h ? elements(state()) : 0) +
                (initial_c ? elements(state()) : 0);
    w.fixed_bytes = lengths ? checked_multiply(4, batch) : 0;
    for (const result& r : results())
      w.results += elements(r.dims);
    const std::int64_t each = lstm() ? 9 : cell == cell_kind::gru ? 8 : 1;
    w.other = checked_multiply(states, each + (bias ? gates() : 0) + (peepholes ? 6 : 0));
    return w;
  }

  /// What makes no difference is left out: activations that are the cell's own.
  constexpr recurrent canonical_form() const {
    recurrent p = *this;
    if (activations.empty()) return p;
    recurrent own = *this;
    own.activations = {};
    bool same = activations.size == directions() * functions();
    for (std::int64_t f : activations)
      same = same && f >= 0 && f < static_cast<std::int64_t>(std::size(cell_functions));
    for (int i = 0; same && i < activations.size; ++i)
      same = function(i / functions(), i % functions()) == own.function(0, i % functions());
    return same ? own : p;
  }
  constexpr bool operator==(const recurrent&) const = default;
};

} // namespace benanza::op
