// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/facts.hpp>
#include <benanza/measure/cache/llc_share.hpp>
#include <benanza/measure/cache/read_back.hpp>
#include <benanza/result/statistics.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

using namespace benanza;
using namespace benanza::measure;

namespace {
constexpr std::int64_t mib = 1 << 20;

/// Data that comes back in 10 us as long as `by_byte * bytes + by_ns * ns` is well under one, and
/// in 30 when it is well over it; read at `ns_a_byte`.
std::vector<reuse> series(double by_byte, double by_ns, double ns_a_byte) {
  std::vector<reuse> out;
  for (std::int64_t swept = 4 * mib; swept <= 1024 * mib; swept *= 2) {
    const auto bytes = static_cast<double>(swept);
    const double ns = ns_a_byte * bytes, used = by_byte * bytes + by_ns * ns;
    out.push_back({swept, ns, 10e3 + 20e3 / (1 + std::pow(used, -4))});
  }
  return out;
}

llc_share judged(double by_byte, double by_ns) {
  return fit_llc_share(series(by_byte, by_ns, 0.1), series(by_byte, by_ns, 0.4));
}

/// A trial whose data come back in `near` or `far`, by how many bytes are swept.
struct told_trial {
  std::int64_t gone_from = 0;
  double near = 1000, far = 3000;
  std::vector<std::int64_t> sweeps{};

  double far_ns() const { return far; }
  reuse reuse_after(std::int64_t swept, double ns_a_byte) {
    sweeps.push_back(swept);
    return {swept, std::max(ns_a_byte, 0.1) * static_cast<double>(swept),
            swept < gone_from ? near : far};
  }
};
} // namespace

TEST_CASE("a cache of one's own is used up by what is read, however long that takes") {
  const llc_share c = judged(1 / (60. * mib), 0);
  CHECK(c.own.bytes == doctest::Approx(60. * mib).epsilon(0.1));
  CHECK(c.own.ns == 0);
  CHECK(c.gone_bytes > 60 * mib);
  CHECK(c.gone_bytes <= 256 * mib);
}

TEST_CASE("a cache that others use is used up by time, however little is read") {
  const llc_share c = judged(0, 1 / 11e6);
  CHECK(c.own.ns == doctest::Approx(11e6).epsilon(0.1));
  CHECK(c.own.bytes == 0);
}

TEST_CASE("a cache that both use up has both") {
  const llc_share c = judged(1 / (100. * mib), 1 / 40e6);
  CHECK(c.own.bytes == doctest::Approx(100. * mib).epsilon(0.2));
  CHECK(c.own.ns == doctest::Approx(40e6).epsilon(0.2));
}

TEST_CASE("a last cache that is no faster than memory, or not there, holds nothing") {
  CHECK_FALSE(fit_llc_share({}, {}).own.known());
  const std::vector<reuse> one{{4 * mib, 1e6, 1000}},
      same{{4 * mib, 1e6, 1000}, {8 * mib, 2e6, 900}, {32 * mib, 8e6, 1100}};
  CHECK_FALSE(fit_llc_share(one, one).own.known());
  CHECK_FALSE(fit_llc_share(same, same).own.known());
  CHECK(fit_llc_share(same, same).gone_bytes == 32 * mib);
  // A single slow try in between is no end.
  const std::vector<reuse> bumpy{{1 * mib, 1e5, 1000},
                                 {2 * mib, 2e5, 2950},
                                 {4 * mib, 4e5, 1000},
                                 {8 * mib, 8e5, 2950},
                                 {16 * mib, 16e5, 3000}};
  const llc_share c = fit_llc_share(bumpy, bumpy);
  CHECK(c.own.bytes > 4 * mib);
  CHECK(c.own.bytes < 8 * mib);
  CHECK(c.gone_bytes == 8 * mib);
  CHECK_FALSE(probe_llc(32 * mib, 0).own.known());
  CHECK(probe_llc(2 * mib, 1 * mib).gone_bytes == 2 * mib);
}

TEST_CASE(
    "what outlasts a cache follows from fast reading, and is no more than four times all of it") {
  constexpr std::int64_t reported = 480 << 20;
  // Gone after 16 MB at the pace of a network: but a product reads those in half a millisecond.
  CHECK(llc_share{{.bytes = 245e6, .ns = 4.8e6}, 16 << 20}.outlasting_bytes(reported) >
        140'000'000);
  CHECK(llc_share{{.ns = 1e9}, 16 << 20}.outlasting_bytes(reported) == reported);
  CHECK(llc_share{{.bytes = 1e6}, 16 << 20}.outlasting_bytes(reported) == 64 << 20);
  CHECK(llc_share{{}, reported}.outlasting_bytes(reported) == 4 * reported);
}

TEST_CASE("a probe sweeps no more than the last cache is said to hold, whatever it sees") {
  for (const std::int64_t gone_from : {4, 16, 64, 100, 1000})
    for (const double near : {1000.0, 2900.0, 3000.0, 5000.0}) {
      CAPTURE(gone_from);
      CAPTURE(near);
      told_trial trial{.gone_from = gone_from * mib, .near = near};
      const llc_share c = probe_llc_with(trial, 100 * mib, 2 * mib);
      CHECK(*std::max_element(trial.sweeps.begin(), trial.sweeps.end()) < 100 * mib);
      CHECK(*std::min_element(trial.sweeps.begin(), trial.sweeps.end()) == 4 * mib);
      CHECK(c.gone_bytes > 0);
      CHECK(c.gone_bytes <= 100 * mib);
      CHECK(c.own.known() == (near == 1000 && gone_from > 4));
    }
}

TEST_CASE("data stay a little better each time until the cache has settled") {
  constexpr std::ptrdiff_t tries = 4;
  /// After how many times it has settled, if they fall by that much each time until the last.
  const auto times = [](double falls, int until) {
    std::vector<double> ns;
    do
      ns.push_back(16e3 * std::pow(1 - falls, std::min(static_cast<int>(ns.size()), until)));
    while (!stopped_falling(ns, tries));
    return ns.size();
  };
  CHECK(times(0, 0) == 16);
  CHECK(times(0.02, 5) == 16);
  CHECK(times(0.02, 20) == 24);
  CHECK(times(0.02, 1000) == 48); // for ever: enough
}

TEST_CASE("a probe goes on until more takes nothing away") {
  // Memory was slow when it was tried: nothing that comes back is as slow again.
  struct slow_once : told_trial {
    double far_ns() const { return 1.2 * far; }
  } trial{{.gone_from = 20 * mib, .near = 2000}};
  const llc_share c = probe_llc_with(trial, 4096 * mib, 2 * mib);
  CHECK(*std::max_element(trial.sweeps.begin(), trial.sweeps.end()) == 64 * mib);
  CHECK(c.own.known());
}

TEST_CASE("what was flushed has to come from memory" * doctest::skip(!machine::flushes)) {
  const std::vector<std::byte> data(256 << 10, std::byte{7}), before = data;
  double far_ns = HUGE_VAL, near_ns = HUGE_VAL; // the least: others' load on memory can only add
  for (int i = 0; i < 75; ++i) {
    flush(data);
    far_ns = std::min(far_ns, read_lines_ns(data, 1));
    near_ns = std::min(near_ns, read_lines_ns(data, 1));
  }
  CHECK(far_ns > 1.3 * near_ns);
  CHECK(data == before);
}

TEST_CASE("this machine's share of the last cache is no more than is reported") {
  // Of a large cache a part: to probe all of it takes seconds, and shows no more.
  const std::int64_t own = machine::detail::cache_bytes(2);
  const std::int64_t reported = std::min(machine::last_level_cache_bytes(), 16 * own);
  const llc_share c = probe_llc_if_possible(reported, own);
  CHECK(c.own.bytes >= 0);
  CHECK(c.own.ns >= 0);
  CHECK(c.gone_bytes > 0);
  CHECK(c.gone_bytes <= reported);
  CHECK(probe_llc_if_possible(8 * mib, 0).gone_bytes == 8 * mib); // no private caches: no probe
  const std::int64_t too_much = std::int64_t{1} << 50;            // is not tried
  CHECK(probe_llc_if_possible(too_much, mib).gone_bytes == too_much);
  CHECK_FALSE(probe_llc_if_possible(too_much, mib).own.known());
}

TEST_CASE("a share is handed to other processes as text, and nonsense is none") {
  const llc_share c{{.bytes = 1000.5, .ns = 2e6}, 2000};
  const auto read = parse_llc_share(to_text(c).c_str());
  REQUIRE(read.has_value());
  CHECK(read->own.bytes == c.own.bytes);
  CHECK(read->own.ns == c.own.ns);
  CHECK(read->gone_bytes == c.gone_bytes);
  CHECK_FALSE(parse_llc_share(nullptr).has_value());
  for (const char* nonsense : {"nonsense", "", "1000,2000", "-1,1,1", "1,1,0"}) {
    CAPTURE(nonsense);
    CHECK_FALSE(parse_llc_share(nonsense).has_value());
  }
}
