// SPDX-License-Identifier: Apache-2.0
// Whose results are meant where a store holds those of several systems? All of one machine,
// whatever its software; the one of the newest run, or the one of a number. Without a choice, where
// there are several machines, all of them are listed, each by its number, its processor and what it
// does not share with the others.
//
//   std::int64_t system = choose_system(store, "latest");   // or "", or "2"
#pragma once

#include "../../core/text.hpp"
#include "store.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/take_last.hpp>
#include <range/v3/view/transform.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace benanza::result::store {

namespace detail {
/// All facts of a system under names such as machine.cpu.
inline facts all_facts(const known_system& s) {
  facts out;
  for (const auto& [key, value] : s.identity.machine)
    out["machine." + key] = value;
  for (const auto& [key, value] : s.identity.software)
    out["software." + key] = value;
  return out;
}

/// What a list of systems says about `s`: at most six facts in which some of them differ.
inline std::string told_apart(const known_system& s, const std::vector<known_system>& all) {
  const auto cpu = s.identity.machine.find("cpu");
  std::string out = cpu == s.identity.machine.end() ? "unknown processor" : cpu->second;
  int told = 0;
  for (const auto& fact : all_facts(s)) {
    const bool shared = ranges::all_of(all, [&](const known_system& o) {
      const facts others = all_facts(o);
      const auto found = others.find(fact.first);
      return found != others.end() && found->second == fact.second;
    });
    if (!shared && fact.first != "machine.cpu" && told++ < 6)
      out += ", " + fact.first + " " + fact.second;
  }
  out += ", " + std::to_string(s.runs) + (s.runs == 1 ? " run" : " runs");
  return s.last_date.empty() ? out : out + ", the last " + s.last_date;
}

/// All systems in one line, the twelve newest at most.
inline std::string list_of(const std::vector<known_system>& all) {
  constexpr int most = 12;
  return join(all | ranges::views::take_last(most) |
                  ranges::views::transform([&](const known_system& s) {
                    return std::to_string(s.id) + ": " + told_apart(s, all);
                  }),
              "; ");
}
} // namespace detail

/// The system that `asked` names: "latest", a number, or nothing for the only one. Refuses what the
/// store does not hold, and nothing where it holds several.
inline std::int64_t choose_system(const store& s, const std::string& asked) {
  const std::vector<known_system> all = s.systems();
  if (all.empty())
    throw error("the store holds no results yet", s.path(), "run benanza_bench --store");
  if (asked == "latest") return s.latest_system().value_or(all.back().id);
  if (asked.empty()) {
    if (all.size() == 1) return all.front().id;
    throw error("the store holds results of " + std::to_string(all.size()) + " systems", s.path(),
                "choose with --system N or --system latest; there are " + detail::list_of(all));
  }
  std::int64_t number = 0;
  const auto [end, bad] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
  const bool whole = bad == std::errc{} && end == asked.data() + asked.size();
  if (whole && ranges::find(all, number, &known_system::id) != all.end()) return number;
  throw error("the store holds no system \"" + asked + "\"", s.path(),
              "there are " + detail::list_of(all) + "; or say latest");
}

/// The systems that `asked` means, the newest first: one, or without a choice all that are one
/// machine with different software.
inline std::vector<std::int64_t> chosen_systems(const store& s, const std::string& asked) {
  std::vector<known_system> all = s.systems();
  const bool one_machine = ranges::all_of(all, [&](const known_system& o) {
    return o.identity.machine == all.front().identity.machine;
  });
  if (!asked.empty() || all.size() < 2 || !one_machine) return {choose_system(s, asked)};
  ranges::sort(all, ranges::greater{},
               [](const known_system& o) { return std::pair(o.last_date, o.id); });
  return all | ranges::views::transform(&known_system::id) | ranges::to<std::vector>;
}

} // namespace benanza::result::store
