// SPDX-License-Identifier: Apache-2.0
// Which pieces are one layer? A rule says it: the layer and its operands, and the operators that
// make it up, each with what it reads. Small words are values, the same word the same value; `c` is
// a constant of one number, a longer word that begins with c any constant. `d:Sub(..)` calls a
// result d.
// `Mul|Div(..)` is either; `Add?(..)` may be missing, `Mul|Div*(..)` may occur any number of times,
// and then what its first operator (or else its first word) says takes its place. Both orders of
// what commutes fit, and views and Casts may be between.
//
//   rule r = parse_rule("Gelu(x) = Mul(Mul(x, Add(Erf(Div|Mul(x, c)), c)), c)");
#pragma once

#include "../core/error.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::model {

/// One place of a rule: an operator with what it reads, a value, or a number.
struct term {
  std::vector<std::string> words{}; ///< operators of which one is there; empty: no operator
  int value = -1;                   ///< what the result is called: index into rule::values
  bool optional = false, repeated = false;
  std::vector<term> reads{};

  bool is_operator() const { return !words.empty(); }
  bool is_number() const { return words.empty() && value < 0; }
  /// Which of `reads` takes the place of an operator that is missing.
  std::size_t rest() const {
    for (std::size_t i = 0; i < reads.size(); ++i)
      if (reads[i].is_operator()) return i;
    return 0;
  }
};

/// A layer and its pieces.
struct rule {
  std::string family;              ///< what the layer is
  std::vector<std::string> values; ///< the names of all values
  std::vector<int> operands;       ///< of the layer: indices into `values`
  term root;

  /// The value of that name; -1: the rule has none.
  int find(std::string_view name) const {
    const auto at = std::find(values.begin(), values.end(), name);
    return at == values.end() ? -1 : static_cast<int>(at - values.begin());
  }
  /// True for a value that has to be a constant.
  bool is_constant(int value) const {
    return values[static_cast<std::size_t>(value)].starts_with('c');
  }
};

namespace detail {
/// Reads one rule.
class rule_parser {
public:
  explicit rule_parser(std::string_view line)
      : line_(line) {}

  rule parse() {
    out_.family = word();
    if (!big(out_.family)) refuse("it does not begin with a layer");
    std::vector<std::string> operands;
    expect('(');
    do
      operands.push_back(word());
    while (take(','));
    expect(')');
    expect('=');
    out_.root = read_term(0);
    if (at_ != line_.size()) refuse("something follows its end");
    if (!out_.root.is_operator()) refuse("it has no operator");
    for (const std::string& name : operands) {
      out_.operands.push_back(out_.find(name));
      if (out_.operands.back() < 0) refuse("\"" + name + "\" is not among its values");
    }
    return std::move(out_);
  }

private:
  static constexpr int most_terms = 100, deepest = 30;

  static bool small(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
  static bool big(const std::string& s) { return s[0] >= 'A' && s[0] <= 'Z'; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw error("not a rule: " + why, line_, "write one such as Swish(x) = Mul(x, Sigmoid(x))");
  }
  bool take(char c) {
    skip();
    if (at_ == line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(std::string("a '") + c + "' is missing");
  }
  void skip() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t'))
      ++at_;
  }
  std::string word() {
    skip();
    const std::size_t from = at_;
    while (at_ < line_.size() && (small(line_[at_]) || (line_[at_] >= 'A' && line_[at_] <= 'Z')))
      ++at_;
    if (at_ == from) refuse("a word is missing");
    return std::string(line_.substr(from, at_ - from));
  }
  int named(const std::string& name) {
    if (!std::all_of(name.begin(), name.end(), small) || name == "c")
      refuse("\"" + name + "\" is no name of a value");
    const int known = out_.find(name);
    if (known >= 0) return known;
    out_.values.push_back(name);
    return static_cast<int>(out_.values.size()) - 1;
  }

  term read_term(int depth) {
    if (++terms_ > most_terms || depth > deepest) refuse("it is too long");
    term t;
    std::string first = word();
    if (!big(first)) {
      if (!take(':')) {
        if (first != "c") t.value = named(first);
        return t;
      }
      t.value = named(first);
      first = word();
    }
    t.words.push_back(first);
    while (take('|'))
      t.words.push_back(word());
    for (const std::string& w : t.words)
      if (!big(w)) refuse("\"" + w + "\" is no operator");
    t.repeated = take('*');
    t.optional = t.repeated || take('?');
    expect('(');
    do
      t.reads.push_back(read_term(depth + 1));
    while (take(','));
    expect(')');
    return t;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  int terms_ = 0;
  rule out_{};
};
} // namespace detail

/// The rule that a line says.
inline rule parse_rule(std::string_view line) {
  return detail::rule_parser(line).parse();
}

/// What exporters write out in pieces. Later rules see what earlier ones found.
inline constexpr std::string_view usual_rules[] = {
    "Reshape(x) = Transpose|Slice|Pad|Expand(x)", // where nothing moves
    "Square(x) = Mul(x, x)",
    "Cube(x) = Mul(x, Square(x))",
    "Softplus(x) = Log(Add(Exp(x), c))",
    "HardSigmoid(x) = Mul|Div(Clip(Add(x, c)), c)",
    "HardSwish(x) = Mul(x, HardSigmoid(x))",
    "HardSwish(x) = Mul|Div(Mul(x, Clip(Add(x, c))), c)",
    "Mish(x) = Mul(x, Tanh(Softplus(x)))",
    "Swish(x) = Mul(x, Sigmoid(Mul?(x, c)))",
    "Gelu(x) = Mul(Mul(x, Add(Erf(Mul|Div(x, c)), c)), c)",
    "Gelu(x) = Mul(x, Mul(Add(Erf(Mul|Div(x, c)), c), c))",
    "Gelu(x) = Mul(Mul|Div(x, c), Add(Erf(Mul|Div(x, c)), c))",
    "FastGelu(x) = Mul(Mul(x, Add(Tanh(Mul(Add(x, Mul(Cube(x), c)), c)), c)), c)",
    "FastGelu(x) = Mul(x, Mul(Add(Tanh(Mul(Add(x, Mul(Cube(x), c)), c)), c), c))",
    "FastGelu(x) = Mul(Mul(x, c), Add(Tanh(Mul(Add(x, Mul(Cube(x), c)), c)), c))",
    "FastGelu(x) = Mul(Mul(x, c), Add(Tanh(Mul(Mul(x, c), Add(Mul(Square(x), c), c))), c))",
    "LayerNormalization(x, cs, cb) = Add?(Mul?(Div(d:Sub(x, ReduceMean(x)),"
    " Sqrt(Add(ReduceMean(Square(d)), c))), cs), cb)",
    "LayerNormalization(x, cs, cb) = Add?(Mul?(Div(Sub(x, m:ReduceMean(x)),"
    " Sqrt(Add(ReduceMean(Square(Sub(x, m))), c))), cs), cb)",
    "LayerNormalization(x, cs, cb) = Add?(Mul?(Mul(d:Sub(x, ReduceMean(x)),"
    " Reciprocal(Sqrt(Add(ReduceMean(Square(d)), c)))), cs), cb)",
    "LayerNormalization(x, cs, cb) = Add?(Mul?(Mul(d:Sub(x, ReduceMean(x)),"
    " Div(c, Sqrt(Add(ReduceMean(Square(d)), c)))), cs), cb)",
    "LayerNormalization(x, cs, cb) = Add(Mul(x, r:Mul(Reciprocal(Sqrt(Add("
    "ReduceMean(Square(Sub(x, m:ReduceMean(x)))), c))), cs)), Sub(cb, Mul(m, r)))",
    "RMSNormalization(x, cs) = Mul?(Mul(x, Div(c, Sqrt(Add(ReduceMean(Square(x)), c)))), cs)",
    "RMSNormalization(x, cs) = Mul?(Mul(x, Reciprocal(Sqrt(Add(ReduceMean(Square(x)), c)))), cs)",
    "RMSNormalization(x, cs) = Mul?(Div(x, Sqrt(Add(ReduceMean(Square(x)), c))), cs)",
    "GroupNormalization(x, cs, ct) = Add(Mul(Reshape(InstanceNormalization(Reshape(x), ca, cb)), "
    "cs),"
    " ct)",
    "Softmax(x) = Div(e:Exp(Sub(x, ReduceMax(x))), ReduceSum(e))",
    "Softmax(x) = Where(IsNaN(s:Softmax(x)), c, s)", // rows of which nothing is seen
    "RotaryEmbedding(x, a, s) = Add(Mul(x, a), Mul(Concat(Neg(Slice|Split(Reshape?(x))),"
    " Slice|Split(Reshape?(x))), s))",
    "Attention(q, k, v, a, b, e, m) = Transpose?(p:MatMul(Softmax(Where?(m, Add?(Add?(Add?(Mul?("
    "Tanh?(Mul|Div?(Mul|Div?(s:MatMul(Transpose|Expand|Mul|Div*(q, c),"
    " Transpose|Expand|Mul|Div*(k, c)), ch), c)), c), a), b), e), c)), Transpose|Expand*(v)))",
};

} // namespace benanza::model
