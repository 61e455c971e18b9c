// SPDX-License-Identifier: Apache-2.0
// Within what did an event happen? Events of all profilers are spans with a level: a model, layers
// within it, calls of a library or kernels within these. The parent of a span is the one of the
// level above whose time contains its own. Where several do and none of them is within the others,
// that is ambiguous: no parent is guessed, and a run that is serialised would show it.
//
//   std::vector<span> s{{1, "run", "", 0, 100}, {2, "conv", "", 10, 50}};
//   containment found = find_parents(s);   s[1].parent == 0   found.ambiguous == 0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace benanza::trace {

/// Levels of a stack: what runs, what that runs, and so on.
inline constexpr int model_level = 1, layer_level = 2, call_level = 3;

/// Something that went on for a while. Times in ns, from when its model's run began.
struct span {
  int level = model_level;
  std::string name{}, kind{};
  double begin_ns = 0, ns = 0;
  std::string track{};    ///< a thread, or a queue of a device: spans of one never overlap halfway
  int parent = -1;        ///< place in the list; -1: none is known
  bool told = false;      ///< the profiler said the parent, as launches do of kernels
  bool ambiguous = false; ///< several of the level above contain it
  double end_ns() const { return begin_ns + ns; }
  bool operator==(const span&) const = default;
};

/// How the spans below the first level found their parents.
struct containment {
  std::size_t contained = 0, told = 0, ambiguous = 0, outside = 0;
};

namespace detail {
/// Spans of one level, to be asked for those that contain an interval.
class span_level {
public:
  span_level(const std::vector<span>& all, int level)
      : all_(all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].level == level) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return all[a].begin_ns < all[b].begin_ns;
    });
    double latest = 0;
    for (const std::size_t i : order_)
      latest_end_.push_back(latest = latest_end_.empty() ? all[i].end_ns()
                                                         : std::max(latest, all[i].end_ns()));
  }

  /// Those within whose time `s` is, to within `error` ns. One that ends where `s` begins does not
  /// contain it, and one that `s` has no time in common with neither.
  std::vector<std::size_t> containing(const span& s, double error) const {
    std::vector<std::size_t> out;
    auto behind = std::upper_bound(order_.begin(), order_.end(), s.begin_ns + error,
                                   [&](double at, std::size_t i) { return at < all_[i].begin_ns; });
    while (behind != order_.begin()) {
      const auto place = static_cast<std::size_t>(--behind - order_.begin());
      if (latest_end_[place] + error < s.end_ns()) break; // so do all before it
      const span& p = all_[*behind];
      if (p.end_ns() + error >= s.end_ns() && p.end_ns() > s.begin_ns) out.push_back(*behind);
    }
    return out;
  }

private:
  const std::vector<span>& all_;
  std::vector<std::size_t> order_{}; ///< by beginning
  std::vector<double> latest_end_{}; ///< of all until there
};

/// The innermost of several: the one that all others contain; -1: there is none such.
inline int innermost(const std::vector<span>& all, const std::vector<std::size_t>& some) {
  if (some.empty()) return -1;
  const std::size_t least =
      *std::min_element(some.begin(), some.end(),
                        [&](std::size_t a, std::size_t b) { return all[a].ns < all[b].ns; });
  for (const std::size_t i : some)
    if (i != least &&
        (all[i].track != all[least].track || all[i].ns <= all[least].ns ||
         all[i].begin_ns > all[least].begin_ns || all[i].end_ns() < all[least].end_ns()))
      return -1;
  return static_cast<int>(least);
}
} // namespace detail

/// Finds the parent of each span below the first level that has none. Of several that contain it
/// the ones on its own track count first, and of those that are within each other the innermost.
/// `error_ns`: by how much times may be wrong, as where they are cut to whole microseconds.
inline containment find_parents(std::vector<span>& all, double error_ns = 0) {
  containment out;
  int deepest = model_level;
  for (const span& s : all)
    deepest = std::max(deepest, s.level);
  for (int level = model_level + 1; level <= deepest; ++level) {
    const detail::span_level above(all, level - 1);
    for (span& s : all) {
      if (s.level != level) continue;
      if (s.parent >= 0) {
        ++out.told;
        continue;
      }
      std::vector<std::size_t> found = above.containing(s, 0);
      if (found.empty() && error_ns > 0) found = above.containing(s, error_ns);
      std::vector<std::size_t> own;
      std::copy_if(found.begin(), found.end(), std::back_inserter(own),
                   [&](std::size_t i) { return all[i].track == s.track; });
      s.parent = detail::innermost(all, own.empty() ? found : own);
      s.ambiguous = s.parent < 0 && !found.empty();
      ++(s.parent >= 0 ? out.contained : s.ambiguous ? out.ambiguous : out.outside);
    }
  }
  return out;
}

} // namespace benanza::trace
