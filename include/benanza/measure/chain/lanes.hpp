// SPDX-License-Identifier: Apache-2.0
// Which steps of a chain may run side by side, and on which of a device's queues? A step waits for
// those that wrote what it reads, and for those that used the room that it writes. It goes on the
// lane of one that it waits for, if nothing else does yet; else on one that is at rest, or a new
// one.
//
//   lane_plan p = lanes_of({{.reads = {}, .writes = 0}, {{0}, 1}, {{0}, 2}, {{1, 2}, 3}});
//   p[2].lane == 1   p[3].behind == {1, 2}
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace benanza::measure {

/// The rooms that a step reads and writes.
struct rooms_used {
  std::vector<int> reads{};
  int writes = -1;
};

/// Where a step runs, and behind which others.
struct lane_step {
  int lane = 0;
  std::vector<std::size_t> behind{};
};
using lane_plan = std::vector<lane_step>;

inline constexpr int most_lanes = 4;

inline lane_plan lanes_of(const std::vector<rooms_used>& steps) {
  struct room {
    std::vector<std::size_t> writer{}, readers{};
  };
  std::map<int, room> rooms;
  std::vector<std::size_t> ends;                   // the last step of each lane
  std::vector<bool> followed(steps.size(), false); // a step waits for it
  lane_plan out(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<std::size_t>& behind = out[i].behind;
    const auto wait_for = [&behind](const std::vector<std::size_t>& some) {
      behind.insert(behind.end(), some.begin(), some.end());
    };
    for (const int r : steps[i].reads)
      wait_for(rooms[r].writer);
    room& written = rooms[steps[i].writes];
    wait_for(written.writer);
    wait_for(written.readers);
    std::sort(behind.begin(), behind.end());
    behind.erase(std::unique(behind.begin(), behind.end()), behind.end());

    std::size_t lane = ends.size();
    for (std::size_t k = 0; k < ends.size(); ++k)
      if (std::binary_search(behind.begin(), behind.end(), ends[k])) lane = k;
    for (std::size_t k = 0; lane == ends.size() && k < ends.size(); ++k)
      if (followed[ends[k]]) lane = k;
    if (lane == ends.size() && ends.size() == most_lanes)
      lane = static_cast<std::size_t>(std::min_element(ends.begin(), ends.end()) - ends.begin());
    if (lane == ends.size()) ends.push_back(i);
    ends[lane] = i;
    out[i].lane = static_cast<int>(lane);
    for (const std::size_t before : behind)
      followed[before] = true;

    for (const int r : steps[i].reads)
      rooms[r].readers.push_back(i);
    written = {.writer = {i}};
  }
  return out;
}

/// How many lanes there are.
inline int count_of(const lane_plan& p) {
  int most = 0;
  for (const lane_step& s : p)
    most = std::max(most, s.lane + 1);
  return most;
}

} // namespace benanza::measure
