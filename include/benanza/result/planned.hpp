// SPDX-License-Identifier: Apache-2.0
// Which cases did a run set out to measure? Its context says how many there are of each layer,
// type, backend and number of threads, those included that a filter left out of a layer, or that
// are in another shard. What of them has no row, wherever it was lost, gets one that says so: half
// a result never looks whole.
//
//   measuring[planned_fact] = planned_text(planned);     stand_for_absent(run, planned_of(run));
#pragma once

#include "run.hpp"
#include "stop_reason.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace benanza::result {

/// The fact, among those of measuring, that holds the numbers: a line each, "12
/// Relu/8/f32/host/t1".
inline constexpr const char* planned_fact = "planned";

/// Numbers of cases by the names of their settings.
using planned_cases = std::map<std::string, std::int64_t>;

/// The name of a case without its algorithm and state: "Relu/8/f32/host/t1".
inline std::string setting_name(std::string_view name) {
  const std::size_t threads = name.rfind('/');
  if (threads == name.npos || threads == 0) return std::string(name);
  const std::size_t state = name.rfind('/', threads - 1);
  if (state == name.npos || state == 0) return std::string(name);
  const std::size_t algorithm = name.rfind('/', state - 1);
  if (algorithm == name.npos) return std::string(name);
  return std::string(name.substr(0, algorithm)) + std::string(name.substr(threads));
}

inline std::string planned_text(const planned_cases& planned) {
  std::string out;
  for (const auto& [setting, n] : planned)
    out += std::to_string(n) + ' ' + setting + '\n';
  return out;
}

/// What a run says that it set out to measure; lines that say nothing are left out.
inline planned_cases planned_of(const run& r) {
  planned_cases out;
  const auto measuring = r.provenance.find("measuring");
  if (measuring == r.provenance.end()) return out;
  const auto fact = measuring->second.find(planned_fact);
  if (fact == measuring->second.end()) return out;
  std::string_view text = fact->second;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::int64_t n = 0;
    const auto [end, bad] = std::from_chars(line.data(), line.data() + line.size(), n);
    const auto digits = static_cast<std::size_t>(end - line.data());
    if (bad == std::errc{} && n > 0 && digits + 1 < line.size() && line[digits] == ' ')
      out[std::string(line.substr(digits + 1))] = n;
  }
  return out;
}

/// The algorithm and state of a row that represents cases that are not there; `count` says how
/// many.
inline constexpr std::string_view absent_name = "absent";
inline constexpr std::string_view absent_error =
    "not measured: left out by a filter, in another shard, or lost";

/// True for a row of what was not measured, or not to its end.
inline bool not_reached(const measurement& m) {
  return m.error == stopped || m.algorithm == absent_name;
}

/// True for the error of a case that is known not to win: its result is wrong, or it was given up
/// as too slow. After any other one, a crash or a lack of memory, what it would have taken is
/// unknown.
constexpr bool is_answer(std::string_view error) {
  return error.starts_with("wrong result") || error.starts_with("no sign of life") ||
         error.starts_with("took longer than the limit");
}

/// How many cases such a row represents.
inline std::int64_t cases_behind(const measurement& m) {
  return m.algorithm == absent_name ? std::max<std::int64_t>(1, m.count) : 1;
}

namespace detail {
/// A row for so many cases of a setting.
inline measurement absent_row(const std::string& setting, std::int64_t n) {
  measurement m;
  std::string rest = setting;
  const auto last_part = [&rest] {
    const std::size_t slash = rest.rfind('/');
    std::string out = slash == rest.npos ? std::string() : rest.substr(slash + 1);
    rest.resize(slash == rest.npos ? 0 : slash);
    return out;
  };
  const std::string threads = last_part();
  if (threads.starts_with('t'))
    std::from_chars(threads.data() + 1, threads.data() + threads.size(), m.threads);
  m.backend = last_part();
  m.type = m.equivalence = last_part();
  m.family = rest.substr(0, rest.find('/'));
  m.key = rest.substr(std::min(m.family.size() + 1, rest.size()));
  m.algorithm = m.state = absent_name;
  m.name =
      rest + '/' + m.type + '/' + m.backend + '/' + m.algorithm + '/' + m.state + '/' + threads;
  m.count = n;
  m.error = absent_error;
  return m;
}
} // namespace detail

/// Adds a row for each setting of which `r`, that holds each case once, has fewer than planned.
inline void stand_for_absent(run& r, planned_cases planned) {
  if (planned.empty()) return;
  std::map<std::string, std::string> devices; // by backend
  for (const measurement& m : r.measurements) {
    if (!m.device.empty()) devices[m.backend] = m.device;
    if (const auto of_it = planned.find(setting_name(m.name)); of_it != planned.end())
      --of_it->second;
  }
  for (const auto& [setting, n] : planned)
    if (n > 0) {
      measurement m = detail::absent_row(setting, n);
      if (const auto its = devices.find(m.backend); its != devices.end()) m.device = its->second;
      r.measurements.push_back(std::move(m));
    }
}

} // namespace benanza::result
