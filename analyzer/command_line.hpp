// SPDX-License-Identifier: Apache-2.0
// The options of benanza_analyze.
#pragma once

#include "request.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace benanza::analyzer {

/// An option that may be given again, each time with one value, or with several and commas between.
CLI::Option* each(CLI::Option* o);

/// Reads a command line into `asked`. What comes back is to be printed instead of an answer
/// (--help, --version); empty: nothing.
std::string parse(std::vector<std::string> arguments, request& asked);

} // namespace benanza::analyzer
