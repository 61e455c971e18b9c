// SPDX-License-Identifier: Apache-2.0
// In which way do queries come to a model? The scenarios of MLPerf Inference, as a word of the
// command line: one query after the other (single_stream), several executions a query
// (multi_stream), queries that arrive by chance (server), or all at once (offline).
//
//   scenario l = parse_scenario("server:rate=20,seconds=5");   name(l) ==
//   "server:rate=20,seconds=5" scenario l = parse_scenario("server:limit=50ms");          // the
//   highest rate with that latency
#pragma once

#include "../../core/error.hpp"
#include "../../core/printable.hpp"
#include "../../core/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace benanza::measure {

enum class scenario_kind { single_stream, multi_stream, server, offline };

inline constexpr std::array<std::string_view, 4> scenario_kinds{"single_stream", "multi_stream",
                                                                "server", "offline"};

/// What is asked of a whole model. Numbers that a kind has no use for keep their defaults.
struct scenario {
  scenario_kind kind = scenario_kind::single_stream;
  int streams = 8;        ///< of multi_stream: executions a query
  double rate = 0;        ///< of server: queries a second; 0: the highest that keeps `limit_ns`
  double limit_ns = 0;    ///< of server without a rate: what the percentile may take at most
  double percentile = 90; ///< that is reported; 99 for all but single_stream
  double seconds = 2;     ///< how long queries come
  std::uint64_t seed = 1; ///< of the arrivals
  bool operator==(const scenario&) const = default;
};

namespace detail {
/// The scenario that a kind is without further words.
inline scenario usual_scenario(scenario_kind kind) {
  scenario l{.kind = kind};
  if (kind != scenario_kind::single_stream) l.percentile = 99;
  return l;
}

template <class Number>
Number number_of(std::string_view text, std::string_view what, std::string_view whole) {
  Number n{};
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || !(n > Number{0}) ||
      !std::isfinite(static_cast<double>(n)))
    throw error("\"" + printable(text) + "\" is no " + std::string(what) + " above zero",
                printable(whole));
  return n;
}

/// A number as short as it can be.
/// Nanoseconds of a time with its unit; without one it is in milliseconds.
inline double time_of(std::string_view value, std::string_view text) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [unit, ns] : units)
    if (value.ends_with(unit))
      return ns * number_of<double>(value.substr(0, value.size() - unit.size()), "time", text);
  return 1e6 * number_of<double>(value, "time", text);
}
inline std::string shortest(double v) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}
} // namespace detail

/// The scenario that a text asks for; refuses what is none, in one line.
inline scenario parse_scenario(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  scenario l;
  bool known = false;
  for (std::size_t i = 0; i < scenario_kinds.size(); ++i)
    if (kind == scenario_kinds[i]) {
      l = detail::usual_scenario(static_cast<scenario_kind>(i));
      known = true;
    }
  if (!known)
    throw error("there is no scenario called \"" + printable(kind) + '"', "",
                "there are single_stream, multi_stream, server and offline");
  if (colon != std::string_view::npos)
    for (const std::string_view word : split_at(text.substr(colon + 1), ",")) {
      const auto equals = word.find('=');
      const std::string_view what = word.substr(0, equals);
      std::string_view value =
          equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
      const bool server = l.kind == scenario_kind::server;
      if (what == "streams" && l.kind == scenario_kind::multi_stream) {
        l.streams = detail::number_of<int>(value, "number of streams", text);
      } else if (what == "rate" && server) {
        l.rate = detail::number_of<double>(value, "rate", text);
      } else if (what == "limit" && server) {
        l.limit_ns = detail::time_of(value, text);
      } else if (what == "percentile") {
        l.percentile = detail::number_of<double>(value, "percentile", text);
      } else if (what == "seconds") {
        l.seconds = detail::number_of<double>(value, "number of seconds", text);
      } else if (what == "seed" && server) {
        l.seed = detail::number_of<std::uint64_t>(value, "seed", text);
      } else {
        throw error("\"" + printable(what) + "\" says nothing of this scenario", printable(text),
                    "write KIND:NAME=VALUE,... with percentile, seconds; streams of multi_stream; "
                    "rate or limit, and seed, of server");
      }
    }
  if (l.kind == scenario_kind::server && (l.rate > 0) == (l.limit_ns > 0))
    throw error("a server has either a rate of queries or a limit of their latency",
                printable(text), "write server:rate=20 (a second) or server:limit=50ms");
  if (!(l.percentile < 100)) throw error("a percentile is below 100", printable(text));
  if (l.seconds > 3600 || l.streams > 1'000'000 || l.rate > 1e7)
    throw error("so much is not asked of a model", printable(text),
                "at most 3600 seconds, a million streams, ten million queries a second");
  return l;
}

/// The text of a scenario, without what is usual; parse_scenario(name(l)) == l.
inline std::string name(const scenario& l) {
  const scenario usual = detail::usual_scenario(l.kind);
  std::string out(scenario_kinds[static_cast<std::size_t>(l.kind)]);
  char before = ':';
  const auto add = [&](std::string_view what, const std::string& value) {
    out.append(1, before).append(what).append("=").append(value);
    before = ',';
  };
  if (l.streams != usual.streams) add("streams", std::to_string(l.streams));
  if (l.rate > 0) add("rate", detail::shortest(l.rate));
  if (l.limit_ns > 0) add("limit", detail::shortest(l.limit_ns / 1e6) + "ms");
  if (l.percentile != usual.percentile) add("percentile", detail::shortest(l.percentile));
  if (l.seconds != usual.seconds) add("seconds", detail::shortest(l.seconds));
  if (l.seed != usual.seed) add("seed", std::to_string(l.seed));
  return out;
}

} // namespace benanza::measure
