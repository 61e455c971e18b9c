// SPDX-License-Identifier: Apache-2.0
// What does the command `benanza_analyze` do? It reads results, from files or a store, merges them,
// and reports how fast each model could run on that machine, or what a framework called (its logs).
// `analyze` is the program without its process: arguments and streams in, exit status out, and at
// most one line on `err`.
//
//   int status = analyze({"run.json", "--model", "resnet50"}, std::cin, std::cout, std::cerr);
#pragma once

#include <benanza/core/error.hpp>

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// The program: returns the exit status (0 complete, 1 partial, 2 refused).
int analyze(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
            std::ostream& err);

/// The same for a caller who wants to know why it was refused: then it throws.
status parse_and_respond(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
                         std::ostream& err);

} // namespace benanza::analyzer
