// SPDX-License-Identifier: Apache-2.0
// How much of the last cache is ours? A virtual machine is told the whole of it, which it shares
// with all who run on the host: of 480 MiB, 30 to 60 may hold what we leave there. So it is tried:
// a little data is read again after so much else was read. As long as it comes back fast, a model
// of that size finds its weights in the last cache from one run to the next; from where it is as
// slow as it gets, reading more drives out no more.
//
//   last_cache c = look_at_last_cache(480 << 20, 2 << 20);   c.own_bytes, c.gone_bytes
#pragma once

#include "../backend/pages.hpp"
#include "../result/statistics.hpp"
#include "caches.hpp"
#include "weights_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace benanza::measure {

/// The fact of a run's `measuring` section that holds `last_cache::own_bytes`.
inline constexpr const char* own_cache_fact = "last_cache_own_bytes";

/// What the last cache holds of ours.
struct last_cache {
  std::int64_t own_bytes = 0;  ///< after reading so much, half of the gain is left; 0: not known
  std::int64_t gone_bytes = 0; ///< after reading so much, nothing is
};

/// How long it took to read data again after `swept_bytes` of others.
struct came_back {
  std::int64_t swept_bytes = 0;
  double ns = 0;
};

/// What is told by data that came back after ever larger sweeps: `series` ascends, its first
/// emptied the private caches only, and its last the whole of the last one.
inline last_cache judge_last_cache(const std::vector<came_back>& series) {
  constexpr double no_difference = 1.25, as_good_as_gone = 0.8;
  if (series.size() < 2) return {};
  const double near = series.front().ns, far = series.back().ns;
  // No cache behind the private ones, or none that can be told from memory.
  if (far < no_difference * near) return {0, series.back().swept_bytes};
  last_cache out{0, series.back().swept_bytes};
  const double halfway = (near + far) / 2;
  for (std::size_t i = 1; i < series.size() && out.own_bytes == 0; ++i) {
    const came_back &before = series[i - 1], &after = series[i];
    if (after.ns <= halfway) continue;
    const double share = (halfway - before.ns) / (after.ns - before.ns);
    const auto from = static_cast<double>(before.swept_bytes);
    out.own_bytes = static_cast<std::int64_t>(
        from * std::pow(static_cast<double>(after.swept_bytes) / from, share));
  }
  for (auto c = series.rbegin(); c != series.rend(); ++c) {
    if (c->ns < near + as_good_as_gone * (far - near)) break;
    out.gone_bytes = c->swept_bytes;
  }
  return out;
}

/// A network goes through memory at about so many bytes a ns, and others use the cache meanwhile.
inline constexpr double pace_of_networks = 3;

/// Tries it, in 0.5 s for 480 MiB: of `reported_bytes`, behind private caches of `private_bytes`.
/// Takes the median of several tries each: others come and go.
inline last_cache look_at_last_cache(std::int64_t reported_bytes, std::int64_t private_bytes) {
  constexpr std::int64_t data_bytes = 256 << 10;
  constexpr int unlike = 1, tries = 4; // the first ones of a size
  if (private_bytes <= 0 || reported_bytes < 4 * private_bytes) return {0, reported_bytes};

  const backend::page_memory data(data_bytes), others(static_cast<std::size_t>(reported_bytes));
  std::memset(data.data(), 1, data_bytes);
  std::memset(others.data(), 1, static_cast<std::size_t>(reported_bytes));
  using clock = std::chrono::steady_clock;
  static volatile std::uint64_t keep;
  const auto read = [](const std::byte* from, std::int64_t bytes) {
    const clock::time_point start = clock::now();
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < bytes; i += line_bytes)
      sum += std::to_integer<std::uint64_t>(from[i]);
    keep = sum;
    (void)keep;
    return std::chrono::duration<double, std::nano>(clock::now() - start).count();
  };
  const auto comes_back = [&](std::int64_t swept, double ns_a_byte) {
    std::vector<double> ns;
    // One after the other: some caches take in only what has come back before.
    for (int t = 0; t < unlike + tries; ++t) {
      const clock::time_point start = clock::now();
      read(others.data(), swept);
      while (std::chrono::duration<double, std::nano>(clock::now() - start).count() <
             ns_a_byte * static_cast<double>(swept)) {
      }
      const double took = read(data.data(), data_bytes);
      if (t >= unlike) ns.push_back(took);
    }
    return came_back{swept, result::median(ns)};
  };
  const came_back all = comes_back(reported_bytes, 0);
  std::vector<came_back> series;
  for (std::int64_t swept = 2 * private_bytes; swept < reported_bytes; swept *= 2) {
    series.push_back(comes_back(swept / line_bytes * line_bytes, 1 / pace_of_networks));
    if (series.back().ns >= all.ns && series.size() > 1) break; // it stays so
  }
  series.push_back(all);
  return judge_last_cache(series);
}

/// What this process, or the one that started it, has found out; it is looked for once.
inline last_cache own_last_cache(std::int64_t reported_bytes, std::int64_t private_bytes) {
  constexpr const char* variable = "BENANZA_LAST_CACHE";
  long long own = 0, gone = 0;
  if (const char* known = std::getenv(variable);
      known != nullptr && std::sscanf(known, "%lld,%lld", &own, &gone) == 2 && own >= 0 && gone > 0)
    return {own, gone};
  last_cache found{0, reported_bytes};
  if (reported_bytes < available_memory() / 2) try {
      found = look_at_last_cache(reported_bytes, private_bytes);
    } catch (const std::bad_alloc&) { // what there is serves the layers
    }
  backend::page_store::get().release(); // as much as the cache, and perhaps never needed again
  // A worker process must come to the same cases.
  setenv(variable,
         (std::to_string(found.own_bytes) + "," + std::to_string(found.gone_bytes)).c_str(), 1);
  return found;
}

} // namespace benanza::measure
