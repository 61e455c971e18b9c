// SPDX-License-Identifier: Apache-2.0
// How do runs look side by side? As one file of Chrome's trace events, which Perfetto opens: each
// run is a process, with its levels nested: the model, layers in it, calls in these. Where a
// profiler told when events began they are drawn so; ours are drawn one after the other, each as
// long as its own level's run measured it. An event shorter than what lies within it is drawn
// longer, and its argument `ns` is what was measured. Slices of one track have to nest: what does
// not gets a track of its own.
//
//   std::string json = timeline({ours, framework});   // {"displayTimeUnit": "ns", "traceEvents":
//   ...
#pragma once

#include "levelled_run.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
using ordered_json = nlohmann::ordered_json;

/// An event to draw.
struct drawn {
  trace::span span{};
  double measured_ns = 0;
  std::string told{};
};

/// The events of a run that were told one after the other, without times at which they began.
inline std::vector<drawn> laid_out(const levelled_run& r) {
  std::vector<drawn> out;
  out.push_back({{.level = trace::model_level, .name = r.graph, .kind = "model"}, r.model_ns, ""});
  double at = 0;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    const std::size_t own = out.size();
    out.push_back({{.level = trace::layer_level, .name = l.name, .kind = l.type, .begin_ns = at},
                   l.ns,
                   l.ran + (l.ran.empty() || l.what.empty() ? "" : ", ") + l.what});
    double within = at;
    for (const call& c : r.calls) {
      if (c.layer != static_cast<int>(i) || !c.has_ns) continue;
      out.push_back({{.level = trace::call_level,
                      .name = c.name,
                      .kind = c.kind,
                      .begin_ns = within,
                      .ns = c.ns},
                     c.ns,
                     c.told});
      within += c.ns;
    }
    out[own].span.ns = std::max(l.ns, within - at);
    at += out[own].span.ns;
  }
  out[0].span.ns = std::max(r.model_ns, at);
  return out;
}

inline std::vector<drawn> events_of(const levelled_run& r) {
  if (r.spans.empty()) return laid_out(r);
  std::vector<drawn> out;
  for (const trace::span& s : r.spans)
    out.push_back({s, s.ns, ""});
  return out;
}

/// Tracks on which what overlaps lies within each other.
class nested_tracks {
public:
  /// The number of the lane of a track on which the event nests; its times may be mended by less
  /// than a microsecond, to which profilers cut.
  int lane(trace::span& s) {
    std::vector<std::vector<double>>& lanes = open_[s.track];
    for (std::size_t i = 0;; ++i) {
      if (i == lanes.size()) lanes.emplace_back();
      if (fits(s, lanes[i])) return static_cast<int>(i);
    }
  }

private:
  static bool fits(trace::span& s, std::vector<double>& ends) {
    constexpr double cut_ns = 1000.5;
    const double end = s.end_ns();
    while (!ends.empty() && ends.back() <= s.begin_ns)
      ends.pop_back();
    if (!ends.empty() && end > ends.back()) {
      if (end - ends.back() <= cut_ns) { // its parent ends a little too soon
        s.ns = ends.back() - s.begin_ns;
      } else if (ends.back() - s.begin_ns <= cut_ns) { // the one before a little too late
        s.begin_ns = ends.back();
        s.ns = end - s.begin_ns;
        ends.pop_back();
        return fits(s, ends);
      } else {
        return false;
      }
    }
    ends.push_back(s.end_ns());
    return true;
  }
  std::map<std::string, std::vector<std::vector<double>>> open_{};
};

inline std::string title_of(const levelled_run& r) {
  std::string out = r.who + ": " + r.graph;
  if (!r.type.empty()) out += ' ' + r.type;
  if (r.threads > 0) out += " t" + std::to_string(r.threads);
  return out;
}

inline void add_process(ordered_json& events, const levelled_run& r, int pid) {
  const auto meta = [&](std::string_view what, int tid, ordered_json arguments) {
    events.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", std::move(arguments)}});
  };
  meta("process_name", 0, {{"name", title_of(r)}});
  meta("process_sort_index", 0, {{"sort_index", pid}});
  std::vector<drawn> all = events_of(r);
  std::stable_sort(all.begin(), all.end(), [](const drawn& a, const drawn& b) {
    if (a.span.begin_ns != b.span.begin_ns) return a.span.begin_ns < b.span.begin_ns;
    if (a.span.level != b.span.level) return a.span.level < b.span.level;
    return a.span.ns > b.span.ns;
  });
  constexpr std::string_view levels[] = {"", "model", "layer", "call"};
  nested_tracks tracks;
  std::map<std::pair<std::string, int>, int> tid_of;
  for (drawn& d : all) {
    const int lane = tracks.lane(d.span);
    const auto [at, fresh] =
        tid_of.try_emplace({d.span.track, lane}, static_cast<int>(tid_of.size()) + 1);
    if (fresh) {
      std::string name = d.span.track.empty() ? "run" : d.span.track;
      if (lane > 0) name += " (" + std::to_string(lane + 1) + ')';
      meta("thread_name", at->second, {{"name", name}});
      meta("thread_sort_index", at->second, {{"sort_index", at->second}});
    }
    ordered_json arguments{{"ns", d.measured_ns}};
    if (!d.span.kind.empty()) arguments["kind"] = d.span.kind;
    if (!d.told.empty()) arguments["told"] = d.told;
    if (d.span.ambiguous) arguments["parent"] = "ambiguous";
    events.push_back({{"ph", "X"},
                      {"cat", levels[std::clamp(d.span.level, 0, 3)]},
                      {"name", d.span.name.empty() ? d.span.kind : d.span.name},
                      {"pid", pid},
                      {"tid", at->second},
                      {"ts", d.span.begin_ns / 1e3},
                      {"dur", d.span.ns / 1e3},
                      {"args", std::move(arguments)}});
  }
}
} // namespace detail

/// The file. Names may hold anything: what is no UTF-8 in them is replaced.
inline std::string timeline(const std::vector<levelled_run>& runs) {
  detail::ordered_json events = detail::ordered_json::array();
  int pid = 0;
  for (const levelled_run& r : runs)
    detail::add_process(events, r, ++pid);
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i)
    out.append(i == 0 ? "\n" : ",\n")
        .append(events[i].dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  return out + "\n]}\n";
}

} // namespace benanza::profile
