// SPDX-License-Identifier: Apache-2.0
// Why does oneDNN not offer an implementation? From 3.4 it says so, for each that it passes over,
// if ONEDNN_VERBOSE=dispatch is in the environment when it is first called: as lines on standard
// output, which are caught here. Older ones say nothing; then only what was asked for by name and
// not found is reported.
//
//   refusals_of("onednn_verbose,v1,primitive,create:dispatch,...")   // {{"brg:avx512_core",
//   "..."}}
#pragma once

#include "../../machine/caught_output.hpp"
#include "../concept.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend::onednn {

using machine::caught_output;

/// True if the library prints on standard output what it passes over.
inline bool logs_dispatch() {
  const char* verbose = std::getenv("ONEDNN_VERBOSE");
  return verbose != nullptr && std::string_view(verbose).find("dispatch") != std::string_view::npos;
}

/// What the lines of the library say of implementations, each once, in their order. A line is
/// onednn_verbose,v1,primitive,create:dispatch,KIND,cpu,KIND,IMPLEMENTATION,...,REASON,FILE:LINE.
inline std::vector<refused_algorithm> refusals_of(std::string_view text) {
  std::vector<refused_algorithm> out;
  std::set<std::string, std::less<>> known;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t comma = std::min(line.find(',', at), line.size());
      fields.push_back(line.substr(at, comma - at));
      at = comma + 1;
    }
    const auto begin = std::find(fields.begin(), fields.end(), "create:dispatch");
    if (fields.front() != "onednn_verbose" || fields.end() - begin < 7 || begin[2] != "cpu")
      continue;
    const std::string_view its = begin[4], reason = *(fields.end() - 2);
    if (its.empty() || !known.emplace(its).second) continue;
    out.push_back({std::string(its), std::string(reason)});
  }
  return out;
}

} // namespace benanza::backend::onednn
