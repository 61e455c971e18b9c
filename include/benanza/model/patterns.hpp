// SPDX-License-Identifier: Apache-2.0
// Which layers may a framework do as one? Pieces that are one layer, by a rule (model/rules.hpp),
// and runs of layers. A run is a row of words joined by '+': ONNX operators, `Activation` (any
// function of one number), `Elementwise` (that, or a join of two); a '?' behind a word says that
// it may be missing, a '*' that it may occur any number of times. A normalization may also be
// written out, as constants for each channel that are multiplied and added.
// `Add+LayerNormalization` and `Add+RMSNormalization` are runs of their own kind: others may read
// the sum too. A file of patterns has one a line, in any order: rules are applied first. '#'
// begins a comment.
//
//   run r = parse_run("Conv+BatchNormalization?+Add?+Activation?+Add?");
#pragma once

#include "../op/kinds.hpp"
#include "recognised.hpp"

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::model {

/// One word of a run.
struct run_word {
  std::string op; ///< an ONNX operator, `Activation` or `Elementwise`
  bool optional = false, repeated = false;
};

/// A row of layers that may be fused; the first is always there.
using run = std::vector<run_word>;

/// What may be done as one; of several that match, the first.
struct patterns {
  std::vector<rule> rules;
  std::vector<run> runs;
};

/// What frameworks fuse on a CPU, the most valuable first.
inline constexpr std::string_view usual_runs[] = {
    "Conv+BatchNormalization?+Add?+Activation?+Add?",
    "ConvTranspose+BatchNormalization?+Add?+Activation?",
    "Gemm+BatchNormalization?+Add?+Activation?+Mul?+Add?",
    "MatMul+Add?+Activation?+Mul?+Add?",
    "BatchNormalization+BatchNormalization?+Activation?",
    "Add+LayerNormalization",
    "Add+RMSNormalization",
    "Elementwise+Elementwise*",
};

/// A function of one number times another tensor, and what follows: SwiGLU and GeGLU where their
/// two products stay alone, as libraries without such an epilogue have them.
inline constexpr std::string_view gate_run = "Activation+Mul+Elementwise*";

namespace detail {
/// True for a function of one number that a step may be.
inline bool is_activation(const op::layer& l) {
  const auto* p = op::as<op::unary>(l);
  return p != nullptr && p->element == dtype::real && op::of_reals(p->function);
}
inline bool is_join(const op::layer& l) {
  const auto* p = op::as<op::binary>(l);
  return p != nullptr && p->element == dtype::real && p->operands == 2 &&
         op::detail::joinable(p->function);
}
} // namespace detail

/// True for a normalization of rows, which may take up the sum that it reads.
inline bool is_row_norm(const run_word& w) {
  return w.op == "LayerNormalization" || w.op == "RMSNormalization";
}
/// True for an addition and the normalization of its sum.
inline bool is_normalized_sum(const run& r) {
  return r.size() == 2 && is_row_norm(r[1]);
}

/// True for a run such as `gate_run`.
inline bool is_gate(const run& r) {
  return r.size() > 1 && r[0].op == "Activation" && r[1].op == "Mul";
}

/// True if the word matches that layer.
inline bool matches(const run_word& w, const op::layer& l) {
  if (w.op == "Activation") return detail::is_activation(l);
  if (w.op == "Elementwise") return detail::is_activation(l) || detail::is_join(l);
  if (w.op == "Sum" || w.op == "Add")
    return detail::is_join(l) && (op::family(l) == "Add" || op::family(l) == "Sum");
  return op::family(l) == w.op;
}

/// The run that a line says; refuses words that no layer can be.
inline run parse_run(std::string_view line) {
  run out;
  const auto refuse = [&](const std::string& why) {
    throw error("not a pattern: " + why, line, "write one such as " + std::string(usual_runs[0]));
  };
  while (true) {
    std::string_view word = line.substr(0, line.find('+'));
    run_word w;
    while (word.ends_with('?') || word.ends_with('*')) {
      (word.back() == '?' ? w.optional : w.repeated) = true;
      word.remove_suffix(1);
    }
    if (w.repeated) w.optional = true;
    w.op = word;
    const bool joins = op::detail::find_family<op::binary_function>(op::binary_families, w.op) ||
                       op::detail::find_family<op::unary_function>(op::unary_families, w.op);
    const bool begins = w.op == "Conv" || w.op == "ConvTranspose" || w.op == "Gemm" ||
                        w.op == "MatMul" || w.op == "BatchNormalization";
    const bool norm = is_row_norm(w);
    if (!joins && !begins && !norm && w.op != "Activation" && w.op != "Elementwise")
      refuse("\"" + w.op + "\" is nothing that is fused");
    if (out.empty() && w.optional) refuse("its first word has to be there");
    if (!out.empty() && begins && w.op != "BatchNormalization")
      refuse("\"" + w.op + "\" can only come first");
    if (norm && (out.size() != 1 || out[0].op != "Add" || w.optional))
      refuse("\"" + w.op + "\" can only follow one Add");
    if (!out.empty() && is_row_norm(out.back()))
      refuse("nothing is fused to \"" + out.back().op + '"');
    out.push_back(std::move(w));
    if (line.find('+') == std::string_view::npos) break;
    line.remove_prefix(line.find('+') + 1);
  }
  if (out.size() < 2) refuse("it has one word");
  return out;
}

/// Adds what a line says: a rule if it has a '='.
inline void add_pattern(patterns& to, std::string_view line) {
  if (line.find('=') == std::string_view::npos) return to.runs.push_back(parse_run(line));
  rule r = parse_rule(line);
  if (detail::recogniser_of(r.family) == nullptr)
    throw error("not a rule: pieces are never a \"" + r.family + '"', line,
                "write one such as " + std::string(usual_rules[0]));
  to.rules.push_back(std::move(r));
}

/// The usual patterns.
inline patterns default_patterns() {
  patterns out;
  for (std::string_view line : usual_rules)
    add_pattern(out, line);
  for (std::string_view line : usual_runs)
    add_pattern(out, line);
  return out;
}

/// The patterns of a file; `name` is the file's in messages.
inline patterns read_patterns(std::istream& in, const std::string& name) {
  patterns out;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (line.empty()) continue;
    try {
      add_pattern(out, line);
    } catch (const error& e) {
      throw error(e.what(), name + ", line " + std::to_string(number));
    }
  }
  if (out.rules.empty() && out.runs.empty())
    throw error("the file holds no patterns", name, "write one a line");
  return out;
}

} // namespace benanza::model
