// SPDX-License-Identifier: Apache-2.0
// Which processors are of the fastest kind? Some machines have efficient and fast cores: a time is
// of one kind.
//
//   fastest_of({0, 1, 2, 3, 4, 5})   // {4, 5}, where 0 to 3 are efficient ones
#pragma once

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace benanza::machine {

/// The numbers of a list such as "0-3,8"; empty where it is none.
inline std::vector<int> numbers(std::string_view list) {
  std::vector<int> out;
  const char *at = list.data(), *last = at + list.size();
  while (at < last) {
    int from = 0, to = 0;
    auto [end, bad] = std::from_chars(at, last, from);
    if (bad != std::errc{}) return {};
    to = from;
    if (end < last && *end == '-') {
      const auto [end_to, bad_to] = std::from_chars(end + 1, last, to);
      if (bad_to != std::errc{} || to < from || to - from > 1 << 16) return {};
      end = end_to;
    }
    for (int n = from; n <= to; ++n)
      out.push_back(n);
    if (end < last && *end != ',') return {};
    at = end + 1;
  }
  return out;
}

/// Those of `processors` that are as fast as the fastest of them, as Linux says: by their
/// capacities (ARM), or as Intel's two kinds. All of them, where it says nothing.
inline std::vector<int> fastest_of(const std::vector<int>& processors,
                                   const std::string& devices = "/sys/devices") {
  const auto line_of = [&devices](const std::string& path) {
    std::ifstream in(devices + path);
    std::string line;
    std::getline(in, line);
    return line;
  };
  std::map<int, int> speed;
  for (const int p : numbers(line_of("/cpu_core/cpus")))
    speed[p] = 2;
  for (const int p : numbers(line_of("/cpu_atom/cpus")))
    speed[p] = 1;
  for (const int p : processors)
    if (const auto capacity =
            numbers(line_of("/system/cpu/cpu" + std::to_string(p) + "/cpu_capacity"));
        capacity.size() == 1)
      speed[p] = capacity[0];
  int best = 0;
  for (const int p : processors) {
    if (!speed.contains(p)) return processors;
    best = std::max(best, speed[p]);
  }
  std::vector<int> out;
  for (const int p : processors)
    if (speed[p] * 20 >= best * 19)
      out.push_back(p); // favoured ones of a kind clock a little higher
  return out;
}

} // namespace benanza::machine
