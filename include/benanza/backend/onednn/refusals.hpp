// SPDX-License-Identifier: Apache-2.0
// Why does oneDNN not offer an implementation? From 3.4 it says so, for each that it passes over,
// if ONEDNN_VERBOSE=dispatch stands in the environment when it is first called: as lines on
// standard output, which are caught here. Older ones say nothing; then only what was asked for by
// name and not found is told.
//
//   refusals_of("onednn_verbose,v1,primitive,create:dispatch,...")   // {{"brg:avx512_core",
//   "..."}}
#pragma once

#include "../../core/error.hpp"
#include "../concept.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace benanza::backend::onednn {

/// True if the library prints on standard output what it passes over.
inline bool dispatch_is_told() {
  const char* verbose = std::getenv("ONEDNN_VERBOSE");
  return verbose != nullptr && std::string_view(verbose).find("dispatch") != std::string_view::npos;
}

/// Takes what is printed on standard output, from its making until `text` is called or it ends.
class caught_output {
public:
  caught_output() {
    std::fflush(stdout);
    own_ = dup(STDOUT_FILENO);
    file_ = memfd_create("output", 0);
    if (own_ < 0 || file_ < 0 || dup2(file_, STDOUT_FILENO) < 0)
      throw error("standard output cannot be caught");
  }
  caught_output(const caught_output&) = delete;
  caught_output& operator=(const caught_output&) = delete;
  ~caught_output() {
    give_back();
    close(file_);
  }

  std::string text() {
    give_back();
    std::string out(static_cast<std::size_t>(std::max<off_t>(lseek(file_, 0, SEEK_END), 0)), '\0');
    const ssize_t n = pread(file_, out.data(), out.size(), 0);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }

private:
  void give_back() {
    if (own_ < 0) return;
    std::fflush(stdout);
    dup2(own_, STDOUT_FILENO);
    close(own_);
    own_ = -1;
  }

  int own_ = -1, file_ = -1;
};

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
