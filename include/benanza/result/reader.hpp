// SPDX-License-Identifier: Apache-2.0
// How does a result file become a run? `read` takes the text that benanza_bench wrote and checks
// all of it: what is cut off, not ours, of another schema, or impossible is refused in one line
// that names the place. Rows that Google Benchmark aggregated are left out: they have no samples.
//
//   run r = read_file("run.json");   run s = read(std::cin, "standard input");
#pragma once

#include "run.hpp"

#include <istream>
#include <string>
#include <string_view>

namespace benanza::result {

/// The run that a stream holds, read to its end; `source` is its name in messages. Refuses what is
/// not a result.
run read(std::istream& in, const std::string& source);

/// The run that `text` holds.
run read(std::string_view text, const std::string& source);

/// The run that a file (or a pipe that has a name) holds.
run read_file(const std::string& path);

} // namespace benanza::result

#ifndef BENANZA_COMPILED_RESULT
#include "run_forms.hpp"
#endif
