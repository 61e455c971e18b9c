// SPDX-License-Identifier: Apache-2.0
// When was a run? Dates of runs are ordered as texts, so they are kept in one zone, UTC: what was
// measured later comes later, whatever zone a machine is in and whether summer time just ended.
//
//   utc_date("2026-11-27T12:44:51-0400")   "2026-11-27T16:44:51+0000"
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace benanza::result {

/// A date with a zone, in UTC; any other text, and what is in UTC, as it is.
inline std::string utc_date(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00+0000";
  const std::string same(text);
  std::string digits = same;
  if (digits.size() == form.size() + 1 && digits[22] == ':') digits.erase(22, 1);
  if (digits.size() != form.size()) return same;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool fits = form[i] == '0'   ? digits[i] >= '0' && digits[i] <= '9'
                      : form[i] == '+' ? digits[i] == '+' || digits[i] == '-'
                                       : digits[i] == form[i];
    if (!fits) return same;
  }
  const auto number = [&](std::size_t at, std::size_t letters) {
    int out = 0;
    std::from_chars(digits.data() + at, digits.data() + at + letters, out);
    return out;
  };
  const int minutes = (digits[19] == '-' ? -1 : 1) * (60 * number(20, 2) + number(22, 2));
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (minutes == 0 || !day.ok()) return same;
  const long long seconds = 3600LL * number(11, 2) + 60 * (number(14, 2) - minutes) + number(17, 2);
  const auto then = std::chrono::sys_days(day) + std::chrono::seconds(seconds);
  const auto midnight = std::chrono::floor<std::chrono::days>(then);
  const std::chrono::year_month_day there(midnight);
  const auto left = static_cast<int>((then - midnight) / std::chrono::seconds(1));
  char out[80];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d+0000", int(there.year()),
                unsigned(there.month()), unsigned(there.day()), left / 3600, left / 60 % 60,
                left % 60);
  return out;
}

/// The same of the date in a run's provenance.
inline void put_date_in_utc(std::map<std::string, std::map<std::string, std::string>>& provenance) {
  const auto measuring = provenance.find("measuring");
  if (measuring == provenance.end()) return;
  const auto date = measuring->second.find("date");
  if (date != measuring->second.end()) date->second = utc_date(date->second);
}

} // namespace benanza::result
