// SPDX-License-Identifier: Apache-2.0
// How is a timeline written for programs that read Chrome's trace events? As one object of JSON,
// with times in us; its argument `ns` is what was measured.
//
//   std::string json = chrome_trace(timeline(runs));   // {"displayTimeUnit": "ns", "traceEvents":
//   ...
#pragma once

#include "timeline.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
using ordered_json = nlohmann::ordered_json;

inline void add_process(ordered_json& events, const timeline_process& p) {
  const auto meta = [&](std::string_view what, int tid, ordered_json arguments) {
    events.push_back({{"ph", "M"},
                      {"name", what},
                      {"pid", p.pid},
                      {"tid", tid},
                      {"args", std::move(arguments)}});
  };
  meta("process_name", 0, {{"name", p.name}});
  meta("process_sort_index", 0, {{"sort_index", p.pid}});
  for (const timeline_track& t : p.tracks) {
    meta("thread_name", t.tid, {{"name", t.name}});
    meta("thread_sort_index", t.tid, {{"sort_index", t.tid}});
    for (const timeline_slice& s : t.slices) {
      ordered_json arguments{{"ns", s.measured_ns}};
      if (!s.kind.empty()) arguments["kind"] = s.kind;
      if (!s.told.empty()) arguments["told"] = s.told;
      if (s.ambiguous) arguments["parent"] = "ambiguous";
      events.push_back({{"ph", "X"},
                        {"cat", s.category()},
                        {"name", s.name},
                        {"pid", p.pid},
                        {"tid", t.tid},
                        {"ts", s.begin_ns / 1e3},
                        {"dur", s.ns / 1e3},
                        {"args", std::move(arguments)}});
    }
  }
}
} // namespace detail

/// The file.
inline std::string chrome_trace(const std::vector<timeline_process>& processes) {
  detail::ordered_json events = detail::ordered_json::array();
  for (const timeline_process& p : processes)
    detail::add_process(events, p);
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i)
    out.append(i == 0 ? "\n" : ",\n").append(events[i].dump(-1, ' ', true));
  return out + "\n]}\n";
}

} // namespace benanza::profile
