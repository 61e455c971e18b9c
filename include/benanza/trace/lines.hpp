// SPDX-License-Identifier: Apache-2.0
// How is a log of many gigabytes read? Line by line through one buffer of fixed size. A line is
// handed on without its end; what is longer than the buffer is handed on as its beginning. The last
// line counts only if it is whole: what follows the last line end was cut off.
//
//   line_totals t = for_each_line(in, [&](std::string_view line, std::int64_t number) { ... });
#pragma once

#include "../core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::trace {

inline constexpr std::size_t line_limit_bytes = std::size_t{1} << 20;

/// What was read.
struct line_totals {
  std::int64_t lines = 0, bytes = 0;
  bool cut_off = false; ///< something followed the last line end
};

/// Calls `take(line, number)` for each whole line of `in`, numbered from 1; throws what it throws.
template <class Take>
line_totals for_each_line(std::istream& in, Take&& take) {
  line_totals out;
  std::string buffer(line_limit_bytes, '\0');
  std::size_t kept = 0;  // bytes of a line that has not ended, at the front of the buffer
  bool overlong = false; // its beginning was handed on already
  const auto hand_on = [&](const char* from, std::size_t size) {
    ++out.lines;
    if (size != 0 && from[size - 1] == '\r') --size;
    take(std::string_view(from, size), out.lines);
  };
  while (in) {
    in.read(buffer.data() + kept, static_cast<std::streamsize>(buffer.size() - kept));
    const auto got = static_cast<std::size_t>(in.gcount());
    out.bytes += static_cast<std::int64_t>(got);
    const char *at = buffer.data(), *unseen = at + kept, *const end = unseen + got;
    while (unseen != end) {
      const void* found = std::memchr(unseen, '\n', static_cast<std::size_t>(end - unseen));
      if (found == nullptr) break;
      const char* stop = static_cast<const char*>(found);
      if (!std::exchange(overlong, false)) hand_on(at, static_cast<std::size_t>(stop - at));
      at = unseen = stop + 1;
    }
    kept = static_cast<std::size_t>(end - at);
    if (kept == buffer.size()) {
      if (!std::exchange(overlong, true)) hand_on(at, kept);
      kept = 0;
    } else if (kept != 0) {
      std::memmove(buffer.data(), at, kept);
    }
  }
  if (in.bad()) throw error("the log cannot be read");
  out.cut_off = kept != 0 || overlong;
  return out;
}

} // namespace benanza::trace
