// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "commands/coldstart.hpp"

namespace benanza::analyzer {

std::span<const command> commands() {
  static constexpr command all[] = {
      // in commands/, a line each
      {"coldstart", "when a new process has its first answer, and what shared weights save",
       run_coldstart},
  };
  return all;
}

const command* find_command(std::string_view name) {
  for (const command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

} // namespace benanza::analyzer
