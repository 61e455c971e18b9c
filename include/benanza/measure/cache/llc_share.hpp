// SPDX-License-Identifier: Apache-2.0
// What is our share of the last-level cache (LLC), and for how long? A virtual machine sees all of
// it, and shares it with the host's other guests: of 480 MiB, what we leave there may be gone after
// 10 ms whether we read much or little. So it is measured: a little data is read again after so
// much else was read, as fast as that goes, and at the pace of a network. Some caches take in
// hardly anything that comes from memory, and keep what was once found in them: so each try begins
// with data that is not there, and goes on until as much comes in as leaves, as in a network that
// runs again and again.
//
//   llc_share s = probe_llc(480 << 20, 2 << 20);   s.own.ns, s.gone_bytes
#pragma once

#include "../../core/stopwatch.hpp"
#include "../../machine/pages.hpp"
#include "../../model/footprint.hpp"
#include "../../result/own_cache.hpp"
#include "../../result/statistics.hpp"
#include "states.hpp"
#include "weights_pool.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace benanza::measure {

/// What the LLC holds of ours.
struct llc_share {
  result::own_cache own{};
  std::int64_t gone_bytes = 0; ///< after reading so much, at the pace of a network, nothing is left

  /// So much read on end leaves nothing there, even if it goes as fast as large products read their
  /// weights: in as little time others take away less.
  std::int64_t outlasting_bytes(std::int64_t reported_bytes) const {
    constexpr double fast = 40; // bytes a ns
    const auto bytes = static_cast<std::int64_t>(own.bytes_until_gone(fast));
    return std::max(4 * gone_bytes, std::min(bytes, reported_bytes));
  }
};

/// How long it took to read data again after `swept_bytes` of others were read, in `swept_ns`.
struct reuse {
  std::int64_t swept_bytes = 0;
  double swept_ns = 0, ns = 0;
};

/// After how much, and how long, the data came back halfway between `near` and `far`; nothing if
/// they always came back faster. `series` ascends. A single slow try is no half: the last time they
/// were still fast counts.
inline std::optional<reuse> halfway(const std::vector<reuse>& series, double near, double far) {
  const double half = (near + far) / 2;
  for (std::size_t i = series.size(); i-- > 1;) {
    const reuse &before = series[i - 1], &after = series[i];
    if (after.ns <= half) return std::nullopt;
    if (before.ns > half) continue;
    const double share = (half - before.ns) / (after.ns - before.ns);
    const auto between = [share](double x, double y) { return x * std::pow(y / x, share); };
    return reuse{static_cast<std::int64_t>(between(static_cast<double>(before.swept_bytes),
                                                   static_cast<double>(after.swept_bytes))),
                 between(before.swept_ns, after.swept_ns), half};
  }
  return std::nullopt;
}

/// What the times of reuse after ever larger sweeps say, read as fast as that goes, and slowly.
/// Each series ascends; its first sweep emptied the private caches only, and its last the whole
/// LLC.
inline llc_share fit_llc_share(const std::vector<reuse>& fast, const std::vector<reuse>& slow) {
  constexpr double no_difference = 1.25, as_good_as_gone = 0.8;
  if (slow.size() < 2 || fast.size() < 2) return {};
  const double near = std::min(fast.front().ns, slow.front().ns), far = slow.back().ns;
  llc_share out{{}, slow.back().swept_bytes};
  // No cache behind the private ones, or none that differs from memory.
  if (far < no_difference * near) return out;
  for (auto c = slow.rbegin(); c != slow.rend(); ++c) {
    if (c->ns < near + as_good_as_gone * (far - near)) break;
    out.gone_bytes = c->swept_bytes;
  }
  const auto at_once = halfway(fast, near, far), at_pace = halfway(slow, near, far);
  if (!at_once || !at_pace) return out;
  // What is used up by a byte, and by a ns: half is gone where both together are 1.
  const auto f = static_cast<double>(at_once->swept_bytes),
             s = static_cast<double>(at_pace->swept_bytes);
  const double longer = at_pace->swept_ns - at_once->swept_ns, more = f - s;
  double by_byte = 0, by_ns = 0;
  if (more <= 0) { // time does not count
    by_byte = 2 / (f + s);
  } else if (longer <= 0) { // reading does not
    by_ns = 2 / (at_pace->swept_ns + at_once->swept_ns);
  } else {
    by_byte = longer / (f * at_pace->swept_ns - s * at_once->swept_ns);
    by_ns = more / (f * at_pace->swept_ns - s * at_once->swept_ns);
  }
  out.own = {.bytes = by_byte > 0 ? 1 / by_byte : 0, .ns = by_ns > 0 ? 1 / by_ns : 0};
  return out;
}

/// True if times of data that came back again and again are no longer about to fall: what was found
/// in the cache stays there a little better each time, for some twenty times.
inline bool stopped_falling(const std::vector<double>& ns, std::ptrdiff_t tries) {
  constexpr std::ptrdiff_t at_least = 4, at_most = 12; // times `tries`
  constexpr double falling = 0.95;
  if (std::ssize(ns) % tries != 0 || std::ssize(ns) < at_least * tries) return false;
  if (std::ssize(ns) >= at_most * tries) return true;
  const auto middle = ns.end() - tries;
  return result::median({middle, ns.end()}) >= falling * result::median({middle - tries, middle});
}

/// Reads a little data again after others were read.
class cache_trial {
public:
  /// No sweep reads more than `most_bytes`.
  explicit cache_trial(std::int64_t most_bytes)
      : others_(static_cast<std::size_t>(most_bytes)) {
    std::memset(data_.data(), 1, data_.size());
  }

  /// How long the data take to come from memory, when nothing that helps to find them is cached.
  double far_ns() {
    std::vector<double> ns;
    for (std::ptrdiff_t t = 0; t < tries; ++t) {
      flush({data_.data(), data_bytes});
      sweep(static_cast<std::int64_t>(others_.size()));
      ns.push_back(read(data_.data(), data_bytes));
    }
    return result::median(ns);
  }

  /// How long they take after each so large a sweep, which waits until it took `ns_a_byte`, once
  /// the cache has settled.
  reuse reuse_after(std::int64_t swept_bytes, double ns_a_byte) {
    std::vector<double> ns, swept_ns;
    const std::byte* const own = data_.data() + place_++ % places * data_bytes;
    do {
      const stopwatch timer;
      sweep(swept_bytes);
      while (timer.ns() < ns_a_byte * static_cast<double>(swept_bytes)) {
      }
      swept_ns.push_back(timer.ns());
      ns.push_back(read(own, data_bytes));
    } while (!stopped_falling(ns, tries));
    return {swept_bytes, result::median(swept_ns), result::median({ns.end() - tries, ns.end()})};
  }

private:
  static constexpr std::int64_t data_bytes = 256 << 10, places = 64;
  static constexpr std::ptrdiff_t tries = 4;

  static double read(const std::byte* from, std::int64_t bytes) {
    static volatile std::uint64_t keep;
    const stopwatch timer;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < bytes; i += line_bytes)
      sum += std::to_integer<std::uint64_t>(from[i]);
    keep = sum;
    (void)keep;
    return timer.ns();
  }
  void sweep(std::int64_t bytes) {
    // Pages that were never written are all the same page.
    if (bytes > written_)
      std::memset(others_.data() + written_, 1, static_cast<std::size_t>(bytes - written_));
    written_ = std::max(written_, bytes);
    read(others_.data(), bytes);
  }

  machine::page_memory data_{places * data_bytes}, others_;
  std::int64_t written_ = 0, place_ = 1;
};

/// Measures several times, each with sweeps from twice the private caches' bytes up: others come
/// and go. `trial` is a cache_trial of `reported_bytes`, or acts like one.
template <class Trial>
llc_share probe_llc_with(Trial& trial, std::int64_t reported_bytes, std::int64_t private_bytes) {
  constexpr int probes = 3;
  constexpr double long_enough_s = 2;
  constexpr double gone_for_good = 0.9, no_rise = 1.05;
  const stopwatch timer;
  const auto after = [&](double swept_bytes, double ns_a_byte) {
    return trial.reuse_after(static_cast<std::int64_t>(swept_bytes) / line_bytes * line_bytes,
                             ns_a_byte);
  };
  const auto series = [&](double ns_a_byte, double far) {
    std::vector<reuse> out;
    for (std::int64_t swept = 2 * private_bytes; swept < reported_bytes; swept *= 2) {
      out.push_back(after(static_cast<double>(swept), ns_a_byte));
      const double near = out.front().ns, now = out.back().ns;
      if (out.size() == 1) continue;
      const double before = out[out.size() - 2].ns;
      if (now >= near + gone_for_good * (far - near) ||
          (before > (near + far) / 2 && now < no_rise * before))
        break; // it stays so
    }
    if (const auto half = halfway(out, out.front().ns, far)) { // it is steep there
      const auto beyond = std::upper_bound(
          out.begin(), out.end(), half->swept_bytes,
          [](std::int64_t bytes, const reuse& c) { return bytes < c.swept_bytes; });
      const auto between = std::sqrt(static_cast<double>(beyond[-1].swept_bytes) *
                                     static_cast<double>(beyond->swept_bytes));
      out.insert(beyond, after(between, ns_a_byte));
    }
    const reuse last = out.back();
    out.push_back({reported_bytes,
                   last.swept_ns * static_cast<double>(reported_bytes) /
                       static_cast<double>(last.swept_bytes),
                   far});
    return out;
  };
  llc_share out{{}, reported_bytes};
  std::vector<double> bytes, ns;
  for (int probe = 0; probe < probes && timer.seconds() < long_enough_s; ++probe) {
    const double far = trial.far_ns();
    const llc_share seen = fit_llc_share(series(0, far), series(1 / model::pace_of_networks, far));
    if (seen.own.known()) bytes.push_back(seen.own.bytes), ns.push_back(seen.own.ns);
    out.gone_bytes = std::min(out.gone_bytes, seen.gone_bytes);
  }
  out.own = {.bytes = result::typical(bytes), .ns = result::typical(ns)};
  return out;
}

/// Measures it, in two seconds or three: of `reported_bytes`, behind private caches of
/// `private_bytes`.
inline llc_share probe_llc(std::int64_t reported_bytes, std::int64_t private_bytes) {
  if (private_bytes <= 0 || reported_bytes < 4 * private_bytes) return {{}, reported_bytes};
  cache_trial trial(reported_bytes);
  return probe_llc_with(trial, reported_bytes, private_bytes);
}

/// The same, if there is memory enough for it.
inline llc_share probe_llc_if_possible(std::int64_t reported_bytes, std::int64_t private_bytes) {
  if (reported_bytes < machine::available_memory() / 2) try {
      return probe_llc(reported_bytes, private_bytes);
    } catch (const std::bad_alloc&) { // what there is serves the layers
    }
  return {{}, reported_bytes};
}

/// As one process hands it to another that is to measure alike.
inline std::string to_text(const llc_share& s) {
  char text[96];
  std::snprintf(text, sizeof text, "%.17g,%.17g,%lld", s.own.bytes, s.own.ns,
                static_cast<long long>(s.gone_bytes));
  return text;
}
inline std::optional<llc_share> parse_llc_share(const char* text) {
  double own_bytes = 0, own_ns = 0;
  long long gone = 0;
  if (text == nullptr || std::sscanf(text, "%lf,%lf,%lld", &own_bytes, &own_ns, &gone) != 3 ||
      !(own_bytes >= 0) || !(own_ns >= 0) || gone <= 0)
    return std::nullopt;
  return llc_share{{own_bytes, own_ns}, gone};
}

} // namespace benanza::measure
