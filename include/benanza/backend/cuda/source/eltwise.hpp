// SPDX-License-Identifier: Apache-2.0
// The programs of elementwise layers, alone or with steps behind them: operands that broadcast as
// NumPy says, computed in f32 (whole numbers in 64 bits), each read once and the result written
// once.
//
//   program p = *program_of(op::binary{.a = {8, 64, 28, 28}, .b = {64, 1, 1}}, {}, type, 1);
#pragma once

#include "function.hpp"
#include "place.hpp"

#include <algorithm>

namespace benanza::backend::cuda::source {

/// Operands that an elementwise kernel takes at most.
inline constexpr std::int64_t most_operands = 16;

namespace detail {

/// Puts a program of elements together, operand by operand.
class program_of_operands {
public:
  /// Of a result of such elements; `widest`: bytes of the widest element that it reads or writes.
  program_of_operands(const shape& output, std::string result, std::int64_t widest)
      : output_(output) {
    made_.count = elements(output);
    made_.count_in = counter::of(made_.count);
    made_.result = std::move(result);
    made_.element_bytes = widest;
  }
  counter count_in() const { return made_.count_in; }

protected:
  std::string add_parameter(std::string_view type) {
    const std::string n = std::to_string(parameters_++);
    made_.parameters.append("const ").append(type).append("* __restrict__ x" + n + ", ");
    made_.arguments += 'x' + n + ", ";
    return n;
  }
  /// Adds an operand that broadcasts to the output; what its element is called.
  std::string add_operand(const shape& dims, const std::string& type) {
    const std::string n = add_parameter(type);
    const shape full = expanded(dims, output_.size), strides = packed(full), to = packed(output_);
    block b;
    for (int d = 0; d < output_.size; ++d)
      b.push({output_[d], to[d], full[d] == 1 ? 0 : strides[d]});
    reading r{.element = type};
    lines place;
    if (elements(dims) == made_.count) {
      place("  return x", n, " + i;");
      r.together = 0;
    } else {
      write_place(b.loops, made_.count_in, 0, place);
      place("  return x", n, " + at;");
      r.together = together_in(b.loops, 0);
    }
    r.place = place.text();
    made_.readings.push_back(std::move(r));
    return 'a' + n;
  }

  shape output_;
  program made_{};

private:
  int parameters_ = 0;
};

/// A program in the arithmetic of one type.
class elementwise : program_of_operands {
public:
  elementwise(const shape& output, const arithmetic& numbers)
      : program_of_operands(output, numbers.stored, 0)
      , numbers_(numbers) {
    made_.functions = numbers.functions;
  }

  /// Adds an operand that broadcasts to the output; its value's name.
  std::string operand(const shape& dims) {
    return "load(" + add_operand(dims, numbers_.stored) + ')';
  }
  /// Adds the statement `v = expression`.
  void then(const std::string& expression) { body_("  v = ", expression, ";"); }
  void begin(const std::string& expression) {
    body_("  ", numbers_.computed, " v = ", expression, ";");
  }
  void functions(const std::string& more) { made_.functions += more; }

  /// Ends with a truth value, or a number as it is stored.
  program finish(bool truth, std::int64_t stored_bytes) {
    if (truth) made_.result = "unsigned char";
    made_.element_bytes = stored_bytes;
    body_(truth ? "  return v != 0;" : "  return store(v);");
    made_.combine = body_.text();
    return std::move(made_);
  }

private:
  arithmetic numbers_;
  lines body_{};
};

/// Adds the steps of a fused layer; false where one has no expression.
template <class Layer>
bool add_steps(const Layer& l, const arithmetic& a, elementwise& out) {
  for (const op::step& s : l.steps) {
    if (s.joins) {
      const std::string joined = out.operand(l.operand_of(s));
      out.then(expression_of(s.join, "v", joined, a));
    } else if (const auto e = expression_of(s.function, "v", a)) {
      out.then(*e);
    } else {
      return false;
    }
  }
  return true;
}

/// What a layer begins with: its own function of its own operands.
inline bool begin(const op::unary& l, const arithmetic& a, elementwise& out) {
  const std::string x = out.operand(l.input);
  const auto e = expression_of(l.function, "v", a);
  out.begin(x);
  if (e) out.then(*e);
  return e.has_value();
}

inline bool begin(const op::binary& l, const arithmetic& a, elementwise& out) {
  if (l.operands > most_operands || (op::of_bits(l.function) && !a.whole)) return false;
  out.functions(functions_of(l.function, a));
  out.begin(out.operand(l.a));
  for (std::int64_t i = 1; i < l.operands; ++i) {
    const std::string b = out.operand(l.b);
    out.then(expression_of(l.function, "v", b, a));
  }
  if (l.function == op::binary_function::mean)
    out.then("v / " +
             (a.whole ? std::to_string(l.operands) : literal(static_cast<double>(l.operands), a)));
  return true;
}

/// Truth values are written as such.
inline bool is_truth(const op::unary& l) {
  return op::tells(l.function);
}
inline bool is_truth(const op::binary& l) {
  return l.truth();
}
} // namespace detail

/// The program of a unary or binary layer whose elements are of `type`; nothing where kernels
/// cannot compute it. `scale` is that of quantised results.
template <class Layer>
std::optional<program> elementwise_program(const Layer& l, dtype type, double scale) {
  const auto a = arithmetic_of(type, scale);
  if (!a) return std::nullopt;
  detail::elementwise out(l.output(), *a);
  if (!detail::begin(l, *a, out)) return std::nullopt;
  return out.finish(detail::is_truth(l), size_bytes(type));
}

/// The same with steps behind it: those of quantised layers come after the scale.
template <class Base>
std::optional<program> elementwise_program(const op::fused<Base>& l, dtype type, double scale) {
  const auto a = arithmetic_of(type);
  if (!a) return std::nullopt;
  detail::elementwise out(l.output(), *a);
  if (!detail::begin(l.base, *a, out)) return std::nullopt;
  if (scale != 1) out.then("v * " + literal(scale, *a));
  if (!detail::add_steps(l, *a, out)) return std::nullopt;
  return out.finish(false, size_bytes(type));
}

} // namespace benanza::backend::cuda::source
