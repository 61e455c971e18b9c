// SPDX-License-Identifier: Apache-2.0
// What does benanza_generate say, and where? Answers go to standard output, which must take them;
// notes go to standard error, one line each. Names from files are cleaned and cut, and of one kind
// of note a screen is shown at most. What is true of all variants of a model is said once.
//
//   say("written to g\n");   tell(unresolved_notes(graphs), "layers that are not resolved");
#pragma once

#include <benanza/core/error.hpp>
#include <benanza/model/graph.hpp>

#include <fmt/format.h>
#include <range/v3/view/take.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

/// Notes of one kind that are shown.
inline constexpr std::size_t most_notes = 20;

/// Prints an answer. Refuses where it cannot be written; a reader that went away, as `head` does,
/// is no failure.
inline void say(std::string_view text) {
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((std::fflush(stdout) != 0 || !whole) && errno != EPIPE)
    throw error(std::string("standard output cannot be written: ") + std::strerror(errno));
}

/// Prints one line on standard error; nothing can be done where that fails.
inline void note(std::string_view text) {
  const std::string line = fmt::format("benanza_generate: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Prints notes of one kind, and how many of them are not shown.
inline void tell(const std::vector<std::string>& notes, std::string_view kind) {
  for (const std::string& n : notes | ranges::views::take(most_notes))
    note(n);
  if (notes.size() > most_notes)
    note(fmt::format("and {} more {}", notes.size() - most_notes, kind));
}

namespace detail {
/// What `texts_of` says of each graph, behind the graph's name, or behind the model's if it is the
/// same for all its variants.
template <class Texts>
std::vector<std::string> once_a_model(std::span<const model::graph> graphs, const Texts& texts_of) {
  constexpr std::size_t longest = 100;
  std::map<std::string, std::size_t> variants;
  std::map<std::pair<std::string, std::string>, std::size_t> times;
  for (const model::graph& g : graphs) {
    ++variants[g.model];
    for (const std::string& t : texts_of(g))
      ++times[{g.model, t}];
  }
  std::vector<std::string> out;
  for (const model::graph& g : graphs)
    for (const std::string& t : texts_of(g)) {
      std::size_t& left = times.at({g.model, t});
      if (left == 0) continue; // said of the whole model
      const bool alike = variants[g.model] > 1 && left == variants[g.model];
      out.push_back(printable(alike ? g.model : g.name, longest) + ": " + t);
      if (alike) left = 0;
    }
  return out;
}
} // namespace detail

/// What was changed to make the models fit, and what was assumed of them.
inline std::vector<std::string> repair_notes(std::span<const model::graph> graphs) {
  return detail::once_a_model(graphs, [](const model::graph& g) {
    std::set<std::string> texts;
    for (const auto* list : {&g.repairs, &g.assumptions})
      for (const std::string& line : *list)
        texts.insert(printable(line, 300));
    return texts;
  });
}

/// Which operators are no layers and why, the most frequent first.
inline std::vector<std::string> unresolved_notes(std::span<const model::graph> graphs) {
  return detail::once_a_model(graphs, [](const model::graph& g) {
    std::vector<std::pair<std::int64_t, std::string>> counted;
    for (const auto& [what, count] : model::unresolved(g))
      counted.emplace_back(count, fmt::format("{} x{} not resolved: {}", printable(what.first, 80),
                                              count, printable(what.second, 300)));
    std::stable_sort(counted.begin(), counted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> texts;
    for (auto& [count, text] : counted)
      texts.push_back(std::move(text));
    return texts;
  });
}

} // namespace benanza::generator
