// SPDX-License-Identifier: Apache-2.0
// All results of an LSTM, GRU or RNN (ONNX opsets 7 to 22), by their equations, in double. Every
// state follows from the one before it, so all are computed at the first question and kept.
//
//   lines_of(recurrent{.cell = cell_kind::lstm, ...}, operands).at(3)
#pragma once

#include "eltwise.hpp"

namespace benanza::backend::reference {

class recurrent_states {
public:
  recurrent_states(const op::recurrent& p, const operands& o)
      : p_(p)
      , x_(all(o, 0))
      , w_(all(o, 1))
      , r_(all(o, 2))
      , b_(all(o, 3))
      , lengths_(all(o, 4))
      , peepholes_(all(o, 7))
      , sequence_(size(elements(p.output())))
      , h_(size(elements(p.state())))
      , c_(h_) {
    if (p.initial_h) h_ = all(o, 5);
    if (p.initial_c) c_ = all(o, 6);
    for (std::int64_t d = 0; d < p.directions(); ++d)
      for (std::int64_t n = 0; n < p.batch; ++n)
        run(d, n);
  }

  /// The exact value at a flat index over all results.
  double at(std::int64_t flat) const {
    std::size_t i = size(flat);
    if (i < sequence_.size()) return sequence_[i];
    i -= sequence_.size();
    return i < h_.size() ? h_[i] : c_[i - h_.size()];
  }

private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
  static std::vector<double> all(const operands& o, std::size_t k) {
    std::vector<double> out;
    if (k < o.inputs.size() && !o.inputs[k].bytes.empty())
      load_all(o.inputs[k].type, o.inputs[k].bytes.data(), o.inputs[k].count(), out);
    return out;
  }
  std::size_t state_place(std::int64_t d, std::int64_t n) const {
    return size((p_.batch_first ? n * p_.directions() + d : d * p_.batch + n) * p_.hidden);
  }

  /// One sequence of the batch in one direction.
  void run(std::int64_t d, std::int64_t n) {
    const std::int64_t length = lengths_.empty() ? p_.steps : std::int64_t(lengths_[size(n)]);
    const bool back = p_.way == op::direction::reverse || d == 1;
    double* h = h_.data() + state_place(d, n);
    double* c = c_.data() + state_place(d, n);
    for (std::int64_t s = 0; s < std::min(length, p_.steps); ++s) {
      const std::int64_t t = back ? std::min(length, p_.steps) - 1 - s : s;
      const std::int64_t row = p_.batch_first ? n * p_.steps + t : t * p_.batch + n;
      step(d, x_.data() + row * p_.inputs, h, c);
      const std::int64_t place =
          p_.batch_first ? row * p_.directions() + d : (t * p_.directions() + d) * p_.batch + n;
      std::copy_n(h, p_.hidden, sequence_.data() + place * p_.hidden);
    }
  }

  double function(std::int64_t d, int i, double v) const {
    return function_value(p_.function(d, i), v);
  }
  double clipped(double v) const {
    return p_.clipped ? std::clamp(v, -attribute::recurrent_clip, attribute::recurrent_clip) : v;
  }
  /// W's or R's row for hidden number `j` of a gate, times `v`.
  double product(const std::vector<double>& weights, std::int64_t d, std::int64_t gate,
                 std::int64_t j, const double* v, std::int64_t n) const {
    const double* row = weights.data() + ((d * p_.gates() + gate) * p_.hidden + j) * n;
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      sum += row[k] * v[k];
    return sum;
  }
  double bias(std::int64_t d, std::int64_t which, std::int64_t j) const {
    return b_.empty() ? 0 : b_[size((d * 2 * p_.gates() + which) * p_.hidden + j)];
  }
  double peephole(std::int64_t d, std::int64_t which, std::int64_t j) const {
    return peepholes_.empty() ? 0 : peepholes_[size((d * 3 + which) * p_.hidden + j)];
  }
  /// What comes from the input, and from the state, with their biases.
  double from_input(std::int64_t d, std::int64_t gate, std::int64_t j, const double* x) const {
    return product(w_, d, gate, j, x, p_.inputs) + bias(d, gate, j);
  }
  double from_state(std::int64_t d, std::int64_t gate, std::int64_t j, const double* h) const {
    return product(r_, d, gate, j, h, p_.hidden) + bias(d, p_.gates() + gate, j);
  }

  void step(std::int64_t d, const double* x, double* h, double* c) {
    std::vector<double> next(size(p_.hidden)), next_c = next;
    const auto sum = [&](std::int64_t gate, std::int64_t j) {
      return from_input(d, gate, j, x) + from_state(d, gate, j, h);
    };
    if (p_.cell == op::cell_kind::gru) {
      std::vector<double> z = next, r = next, kept = next;
      for (std::int64_t j = 0; j < p_.hidden; ++j) {
        z[size(j)] = function(d, 0, clipped(sum(0, j)));
        r[size(j)] = function(d, 0, clipped(sum(1, j)));
        kept[size(j)] = r[size(j)] * h[j];
      }
      for (std::int64_t j = 0; j < p_.hidden; ++j) {
        const double state =
            p_.reset_after ? r[size(j)] * from_state(d, 2, j, h) : from_state(d, 2, j, kept.data());
        const double y = function(d, 1, clipped(from_input(d, 2, j, x) + state));
        next[size(j)] = (1 - z[size(j)]) * y + z[size(j)] * h[j];
      }
    } else if (p_.lstm()) { // gates in the order input, output, forget, cell
      for (std::int64_t j = 0; j < p_.hidden; ++j) {
        const double i = function(d, 0, clipped(sum(0, j) + peephole(d, 0, j) * c[j]));
        const double f =
            p_.coupled ? 1 - i : function(d, 0, clipped(sum(2, j) + peephole(d, 2, j) * c[j]));
        const double cell = f * c[j] + i * function(d, 1, clipped(sum(3, j)));
        const double out = function(d, 0, clipped(sum(1, j) + peephole(d, 1, j) * cell));
        next_c[size(j)] = cell;
        next[size(j)] = out * function(d, 2, cell);
      }
      std::copy(next_c.begin(), next_c.end(), c);
    } else {
      for (std::int64_t j = 0; j < p_.hidden; ++j)
        next[size(j)] = function(d, 0, clipped(sum(0, j)));
    }
    std::copy(next.begin(), next.end(), h);
  }

  op::recurrent p_;
  std::vector<double> x_, w_, r_, b_, lengths_, peepholes_;
  std::vector<double> sequence_, h_, c_;
};

inline recurrent_states lines_of(const op::recurrent& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
