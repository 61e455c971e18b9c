// SPDX-License-Identifier: Apache-2.0
// What else does benanza_analyze answer than bounds? Each command is a file of the wing whose
// question it answers, with options of its own: `benanza_analyze NAME ...`. The name comes first; a
// file of that name is
// `./NAME`.
//
//   if (const command* c = find_command("compose")) return c->run(arguments, {in, out, err});
#pragma once

#include <benanza/core/error.hpp>

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::analyzer {

struct streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

struct command {
  std::string_view name;
  const char* about; ///< a line of --help
  /// Answers the words after the name. Throws where it refuses.
  status (*run)(std::vector<std::string> arguments, const streams& to);
};

/// All of them, in the order of --help.
std::span<const command> commands();

/// The command of this name; null: there is none.
const command* find_command(std::string_view name);

} // namespace benanza::analyzer
