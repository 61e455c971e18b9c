// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

namespace benanza::analyzer {

// Each is in a file of its wing.
status answer_profile(std::vector<std::string> arguments, const streams& to);
status check_results(std::vector<std::string> arguments, const streams& to);
status compare_results(std::vector<std::string> arguments, const streams& to);
status compose(std::vector<std::string> arguments, const streams& to);
status keep_store(std::vector<std::string> arguments, const streams& to);
status run_coldstart(std::vector<std::string> arguments, const streams& to);
status sweep_results(std::vector<std::string> arguments, const streams& to);
status verify_result(std::vector<std::string> arguments, const streams& to);

std::span<const command> commands() {
  static constexpr command all[] = {
      {"check", "is a result what an experiment asked for?", check_results},
      {"coldstart", "when a new process has its first answer, and what shared weights save",
       run_coldstart},
      {"compare", "what became faster or slower between two results, and what can explain it",
       compare_results},
      {"compose", "put models together from what their sequences of layers took", compose},
      {"profile", "where a model's time goes: model, layers, calls within them", answer_profile},
      {"store", "of a store: who measured what when, is it whole, forget what is old", keep_store},
      {"sweep", "how a figure changes with batch, threads, a dim, type, system, version or date",
       sweep_results},
      {"verify", "do the figures that a bound rests on hold here?", verify_result},
  };
  return all;
}

const command* find_command(std::string_view name) {
  for (const command& c : commands())
    if (c.name == name) return &c;
  return nullptr;
}

} // namespace benanza::analyzer
