// SPDX-License-Identifier: Apache-2.0
// How are the operands of a node written in a generated table? A word each: the number of the node
// that makes it (`17`, or `17.1` for its second result), `i` for an input of the model (`i.1` where
// another part of the model makes it), `c` for a constant. Nodes are only read from if they come
// before.
//
//   read_operands("17 c c", 20)   // {{17}, {constant}, {constant}}
//   inputs_of({{17}, {3}, {17}}) == std::vector{3, 17}
#pragma once

#include "../core/text.hpp"
#include "graph.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::model {

/// The operands of a node; of one that does not know them, the nodes that it reads.
inline std::vector<operand> known_operands(const node& n) {
  if (!n.operands.empty()) return n.operands;
  std::vector<operand> out;
  for (int i : n.inputs)
    out.push_back({i});
  return out;
}

/// The operands as a row of words.
inline std::string write_operands(const std::vector<operand>& operands) {
  std::string out;
  for (const operand& o : operands) {
    if (!out.empty()) out += ' ';
    out += o.node == constant ? "c" : o.node == model_input ? "i" : std::to_string(o.node);
    if (o.output != 0) out += '.' + std::to_string(o.output);
  }
  return out;
}

/// The operands that a row of words says; nothing if a word is none, or names a node that does not
/// come before node `number`.
inline std::optional<std::vector<operand>> read_operands(std::string_view text, int number) {
  std::vector<operand> out;
  for (const std::string_view word : items(text, " ")) {
    operand o;
    if (word == "c") {
      o.node = constant;
    } else if (word == "i.1") {
      o.output = made_elsewhere;
    } else if (word != "i") {
      const char *at = word.data(), *end = at + word.size();
      auto read = std::from_chars(at, end, o.node);
      if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '.')
        read = std::from_chars(read.ptr + 1, end, o.output);
      if (read.ec != std::errc{} || read.ptr != end || o.node < 0 || o.node >= number ||
          o.output < 0)
        return std::nullopt;
    }
    out.push_back(o);
  }
  return out;
}

/// The nodes that operands come from: ascending, each once.
inline std::vector<int> inputs_of(const std::vector<operand>& operands) {
  std::vector<int> out;
  for (const operand& o : operands)
    if (o.node >= 0) out.push_back(o.node);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

} // namespace benanza::model
