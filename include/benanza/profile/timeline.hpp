// SPDX-License-Identifier: Apache-2.0
// How do runs look side by side? Each run is a process, with its levels nested: the model, layers
// in it, calls in these. Where a profiler says when events began, they are drawn so; ours are drawn
// one after the other, each as long as its own level's run measured it. An event shorter than what
// is within it is drawn longer, and says what was measured. Slices of one track have to nest: what
// does not gets a track of its own. What is said here is written by chrome_trace.hpp and by
// perfetto_trace.hpp.
//
//   for (const timeline_process& p : timeline({ours, framework})) p.tracks[0].slices[0].name ...
#pragma once

#include "../core/printable.hpp"
#include "levelled_run.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::profile {

/// An event as it is drawn. All texts are UTF-8, and may hold anything else.
struct timeline_slice {
  int level = trace::model_level;
  std::string name{}, kind{}, told{};
  double begin_ns = 0, ns = 0;
  double measured_ns = 0; ///< what `ns` would be if nothing longer were within it
  bool ambiguous = false; ///< what it is within
  double end_ns() const { return begin_ns + ns; }
  std::string_view category() const {
    return level <= trace::model_level ? "model" : level == trace::layer_level ? "layer" : "call";
  }
};

/// Slices that are within each other or apart, by when they begin, the outer first.
struct timeline_track {
  int tid = 0; ///< of no other track of the file, and no process
  std::string name{};
  std::vector<timeline_slice> slices{};
};

/// A run. No time is negative.
struct timeline_process {
  int pid = 0; ///< from 1, in the order of the runs
  std::string name{};
  std::vector<timeline_track> tracks{}; ///< in the order in which they are shown
};

namespace detail {
/// An event to draw.
struct drawn {
  trace::span span{};
  double measured_ns = 0;
  std::string told{};
};

/// The events of a run that were reported one after the other, without times at which they began.
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

/// Tracks on which events that overlap are within each other.
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

/// `text` with what is no UTF-8 in it replaced.
inline std::string valid_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = benanza::detail::utf8_length(text);
    out += n == 0 ? "\ufffd" : text.substr(0, n);
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

/// The tracks of a run, numbered from `first` on.
inline std::vector<timeline_track> tracks_of(const levelled_run& r, int first) {
  std::vector<drawn> all = events_of(r);
  std::stable_sort(all.begin(), all.end(), [](const drawn& a, const drawn& b) {
    if (a.span.begin_ns != b.span.begin_ns) return a.span.begin_ns < b.span.begin_ns;
    if (a.span.level != b.span.level) return a.span.level < b.span.level;
    return a.span.ns > b.span.ns;
  });
  const double before = all.empty() ? 0 : std::min(all.front().span.begin_ns, 0.0);
  nested_tracks lanes;
  std::vector<timeline_track> out;
  std::map<std::pair<std::string, int>, std::size_t> place;
  for (drawn& d : all) {
    d.span.begin_ns -= before;
    const int lane = lanes.lane(d.span);
    const auto [at, fresh] = place.try_emplace({d.span.track, lane}, out.size());
    if (fresh) {
      timeline_track& t = out.emplace_back();
      t.tid = first + static_cast<int>(at->second);
      t.name = d.span.track.empty() ? "run" : valid_text(d.span.track);
      if (lane > 0) t.name += " (" + std::to_string(lane + 1) + ')';
    }
    out[at->second].slices.push_back(
        {.level = d.span.level,
         .name = valid_text(d.span.name.empty() ? d.span.kind : d.span.name),
         .kind = valid_text(d.span.kind),
         .told = valid_text(d.told),
         .begin_ns = d.span.begin_ns,
         .ns = d.span.ns,
         .measured_ns = d.measured_ns,
         .ambiguous = d.span.ambiguous});
  }
  return out;
}
} // namespace detail

inline std::vector<timeline_process> timeline(const std::vector<levelled_run>& runs) {
  std::vector<timeline_process> out;
  int tid = static_cast<int>(runs.size());
  for (const levelled_run& r : runs) {
    out.push_back({.pid = static_cast<int>(out.size()) + 1,
                   .name = detail::valid_text(detail::title_of(r)),
                   .tracks = detail::tracks_of(r, tid + 1)});
    tid += static_cast<int>(out.back().tracks.size());
  }
  return out;
}

} // namespace benanza::profile
