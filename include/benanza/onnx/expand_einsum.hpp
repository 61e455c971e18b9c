// SPDX-License-Identifier: Apache-2.0
// Einsum-12 as products, sums and transposes: a letter that occurs twice in a term is its diagonal,
// one that occurs in one term alone is summed away, and terms are joined from left to right by a
// MatMul over the letters that are not needed afterwards, or by a Mul where there are none. Dims
// under an ellipsis count as letters, from the last one on.
//
//   expand_einsum(p)   // "bij,bkj->bik": Transpose, MatMul
#pragma once

#include "../core/text.hpp"
#include "pieces.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace benanza::onnx {

namespace detail {
class einsum {
public:
  explicit einsum(pieces& p)
      : p_(p) {}

  void run() {
    if (p_.of.size() > most_terms) throw error("it has more than 32 terms");
    read();
    std::vector<term> left;
    for (std::size_t i = 0; i < letters_.size(); ++i)
      left.push_back({p_.in(static_cast<int>(i)), letters_[i], p_.of.dims(static_cast<int>(i))});
    for (std::size_t i = 0; i < left.size(); ++i) {
      take_diagonals(left[i]);
      std::string wanted = result_;
      for (std::size_t k = 0; k < left.size(); ++k)
        if (k != i) wanted += left[k].letters;
      sum_away(left[i], wanted);
    }
    term all = left.front();
    for (std::size_t i = 1; i < left.size(); ++i) {
      std::string wanted = result_;
      for (std::size_t k = i + 1; k < left.size(); ++k)
        wanted += left[k].letters;
      all = joined(all, left[i], wanted);
    }
    reorder(all, result_);
    p_.give(0, all.value == p_.in(0) ? p_("Identity", {all.value}) : all.value);
  }

private:
  static constexpr int most_terms = 32;

  /// A value with a letter for each dim.
  struct term {
    pieces::name value;
    std::string letters;
    shape dims;

    bool has(char c) const { return letters.find(c) != std::string::npos; }
    std::int64_t length(char c) const { return dims[static_cast<int>(letters.find(c))]; }
  };

  /// The letter of dim `i` from the last one under an ellipsis.
  static char covered(int i) { return static_cast<char>('0' + i); }

  void read() {
    std::string equation;
    for (char c : p_.of.word("equation", ""))
      if (c != ' ') equation += c;
    const std::size_t arrow = equation.find("->");
    int most_covered = 0, terms = 0;
    for (const std::string_view t : split_at(std::string_view(equation).substr(0, arrow), ",")) {
      if (terms == p_.of.size()) throw error("its equation has more terms than it has operands");
      letters_.push_back(spelled(std::string(t), p_.of.dims(terms++).size, most_covered));
    }
    if (terms != p_.of.size()) throw error("its equation has fewer terms than it has operands");
    std::string dots;
    for (int i = most_covered; i-- > 0;)
      dots += covered(i);
    if (arrow == std::string::npos)
      result_ = dots + once();
    else
      result_ = with_dots(equation.substr(arrow + 2), dots);
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const bool known = std::any_of(letters_.begin(), letters_.end(), [&](const std::string& s) {
        return s.find(result_[i]) != std::string::npos;
      });
      if (!known || result_.find(result_[i], i + 1) != std::string::npos)
        throw error("its equation's result has a letter twice, or one that no operand has");
    }
  }

  static std::string with_dots(const std::string& term, const std::string& dots) {
    const std::size_t at = term.find("...");
    const std::string before = term.substr(0, at);
    const std::string behind = at == std::string::npos ? "" : term.substr(at + 3);
    const std::string text = before + behind;
    for (char c : text)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
        throw error("its equation is not one of letters");
    return at == std::string::npos ? text : before + dots + behind;
  }

  /// The letters of a term for an operand of that many dims.
  static std::string spelled(const std::string& term, int rank, int& most_covered) {
    const int named = static_cast<int>(with_dots(term, "").size());
    const bool dots = named != static_cast<int>(term.size());
    if (rank < named || (!dots && rank != named))
      throw error("its equation does not fit its operands");
    std::string covers;
    for (int i = rank - named; i-- > 0;)
      covers += covered(i);
    most_covered = std::max(most_covered, rank - named);
    return with_dots(term, covers);
  }

  /// The letters that occur once in all terms, in the order of the alphabet.
  std::string once() const {
    std::string all, out;
    for (const std::string& s : letters_)
      for (char c : s)
        if (c > '9') all += c;
    std::sort(all.begin(), all.end());
    for (char c : all)
      if (std::count(all.begin(), all.end(), c) == 1) out += c;
    return out;
  }

  void reorder(term& t, const std::string& order) {
    if (t.letters == order) return;
    pieces::whole_numbers places;
    shape dims;
    for (char c : order) {
      places.push_back(static_cast<std::int64_t>(t.letters.find(c)));
      dims.push(t.length(c));
    }
    t = {p_.transposed(t.value, places), order, dims};
  }
  void reshape(term& t, const shape& dims) {
    if (!(t.dims == dims)) t.value = p_.reshaped(t.value, dims);
    t.dims = dims;
  }

  /// Of a square of n x n in the last two dims, every (n + 1)-th element.
  void take_diagonals(term& t) {
    for (std::size_t i = 0; i < t.letters.size(); ++i) {
      const char c = t.letters[i];
      const std::size_t again = t.letters.find(c, i + 1);
      if (again == std::string::npos) continue;
      const std::int64_t n = t.dims[static_cast<int>(i)];
      if (t.dims[static_cast<int>(again)] != n || n < 1)
        throw error("its equation does not fit its operands");
      pieces::whole_numbers order;
      std::string letters;
      shape dims;
      for (std::size_t k = 0; k < t.letters.size(); ++k)
        if (k != i && k != again) {
          order.push_back(static_cast<std::int64_t>(k));
          letters += t.letters[k];
          dims.push(t.dims[static_cast<int>(k)]);
        }
      order.push_back(static_cast<std::int64_t>(i));
      order.push_back(static_cast<std::int64_t>(again));
      pieces::name x = t.value;
      if (!std::is_sorted(order.begin(), order.end())) x = p_.transposed(x, order);
      dims.push(checked_multiply(n, n));
      x = p_.reshaped(x, dims);
      const std::int64_t axis = dims.size - 1;
      x = p_("Slice",
             {x, p_.whole({0}), p_.whole({dims.back()}), p_.whole({axis}), p_.whole({n + 1})});
      dims[dims.size - 1] = n;
      t = {x, letters + c, dims};
      i = static_cast<std::size_t>(-1); // from the first again
    }
  }

  void sum_away(term& t, const std::string& wanted) {
    pieces::whole_numbers axes;
    std::string letters;
    shape dims;
    for (std::size_t i = 0; i < t.letters.size(); ++i)
      if (wanted.find(t.letters[i]) == std::string::npos) {
        axes.push_back(static_cast<std::int64_t>(i));
      } else {
        letters += t.letters[i];
        dims.push(t.dims[static_cast<int>(i)]);
      }
    if (axes.empty()) return;
    t = {p_("ReduceSum", {t.value, p_.whole(axes)}, {{"keepdims", 0}}), letters, dims};
  }

  static std::int64_t length_of(const term& t, const std::string& letters) {
    std::int64_t n = 1;
    for (char c : letters)
      n = checked_multiply(n, t.length(c));
    return n;
  }

  term joined(term a, term b, const std::string& wanted) {
    std::string both, away, left, right;
    for (char c : a.letters)
      (!b.has(c) ? left : wanted.find(c) == std::string::npos ? away : both) += c;
    for (char c : b.letters)
      if (!a.has(c)) right += c;
    if (away.empty()) return multiplied(a, b, both + left + right);
    for (char c : away)
      if (a.length(c) != b.length(c)) throw error("its equation does not fit its operands");
    // What comes first in the result comes from the first factor.
    const std::size_t first = wanted.find_first_of(left + right);
    if (first != std::string::npos && right.find(wanted[first]) != std::string::npos)
      std::swap(a, b), std::swap(left, right);
    reorder(a, both + left + away);
    reorder(b, both + away + right);
    shape batch, from_b, out;
    for (char c : both) {
      batch.push(a.length(c));
      from_b.push(b.length(c));
      out.push(a.length(c) == 1 ? b.length(c) : a.length(c));
    }
    shape product = out;
    for (char c : left)
      out.push(a.length(c));
    for (char c : right)
      out.push(b.length(c));
    const std::int64_t rows = length_of(a, left), sums = length_of(a, away),
                       columns = length_of(b, right);
    for (auto [to, one, two] : {std::tuple(&batch, rows, sums), std::tuple(&from_b, sums, columns),
                                std::tuple(&product, rows, columns)}) {
      to->push(one);
      to->push(two);
    }
    reshape(a, batch);
    reshape(b, from_b);
    term t{p_("MatMul", {a.value, b.value}), both + left + right, product};
    reshape(t, out);
    return t;
  }

  /// The product of two terms element by element, each with dims of one where it lacks a letter.
  term multiplied(term a, term b, const std::string& letters) {
    shape out;
    for (term* t : {&a, &b}) {
      std::string own;
      shape dims;
      for (char c : letters) {
        if (t->has(c)) own += c;
        dims.push(t->has(c) ? t->length(c) : 1);
      }
      reorder(*t, own);
      reshape(*t, dims);
    }
    for (int i = 0; i < a.dims.size; ++i)
      out.push(a.dims[i] == 1 ? b.dims[i] : a.dims[i]);
    return {p_("Mul", {a.value, b.value}), letters, out};
  }

  pieces& p_;
  std::vector<std::string> letters_{}; ///< of each operand
  std::string result_{};
};
} // namespace detail

inline void expand_einsum(pieces& p) {
  detail::einsum(p).run();
}

} // namespace benanza::onnx
