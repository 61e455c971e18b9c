// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "commands/profile.hpp"

namespace benanza::analyzer {

std::span<const command> commands() {
  static constexpr command all[] = {
      // in commands/, a line each
      {"profile", "where a model's time goes: model, layers, calls within them", answer_profile},
  };
  return all;
}

const command* find_command(std::string_view name) {
  for (const command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

} // namespace benanza::analyzer
