// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

namespace benanza::analyzer {

std::span<const command> commands() {
  static constexpr std::span<const command> all; // in commands/, a line each
  return all;
}

const command* find_command(std::string_view name) {
  for (const command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

} // namespace benanza::analyzer
