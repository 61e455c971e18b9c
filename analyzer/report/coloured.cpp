// SPDX-License-Identifier: Apache-2.0
#include "coloured.hpp"

#include <algorithm>
#include <cstddef>

namespace benanza::report {

namespace {
constexpr std::string_view bold = "1", faint = "2", good = "1;32", careful = "1;33", bad = "1;31",
                           filled = "34;44";

/// Lines that begin so, in which colour, and whether to their end or only these words.
struct opening {
  std::string_view words, colour;
  bool whole_line = false;
};
constexpr opening openings[] = {
    {"  lower bound ", good, true},
    {"PARTIAL", careful},
    {"NO VERDICT", careful},
    {"! ", bad, true},
    {"Change first", bold},
    {"Where the time of the best run goes", bold},
    {"From the run of ", bold, true},
    {"Advice", bold},
    {"Limits", bold},
    {"  BROKEN  ", bad},
    {"  unsure  ", careful},
    {"Sure?", bold},
    {"More:", faint, true},
};

/// Verdicts, as words of their own.
struct verdict_word {
  std::string_view word, colour;
};
constexpr verdict_word verdicts[] = {
    {"FASTER", good}, {"SLOWER", bad}, {"UNSURE", careful}, {"SAME", faint}};

std::string painted(std::string_view text, std::string_view colour) {
  std::string out = "\x1b[";
  out.append(colour).append("m").append(text).append("\x1b[0m");
  return out;
}

/// The heading of a model's page: `resnet50@batch=1  batch 1  f32  1 thread`.
bool is_title(std::string_view line) {
  constexpr std::string_view batch = "  batch ";
  const std::size_t at = line.find(batch), number = at + batch.size();
  return at != std::string_view::npos && at > 0 && line.find(' ') == at && number < line.size() &&
         line[number] >= '0' && line[number] <= '9';
}

/// The bars and verdicts of a line.
std::string coloured_words(std::string_view line) {
  std::string out;
  const bool shares = line.find(" %") != std::string_view::npos;
  for (std::size_t i = 0; i < line.size();) {
    const bool starts = i == 0 || line[i - 1] == ' ';
    std::size_t end = std::min(line.find(' ', i), line.size());
    const std::string_view word = line.substr(i, end - i);
    if (!starts || word.empty()) {
      out += line[i++];
      continue;
    }
    const auto* verdict = std::find_if(std::begin(verdicts), std::end(verdicts),
                                       [&](const verdict_word& v) { return v.word == word; });
    if (verdict != std::end(verdicts))
      out += painted(word, verdict->colour);
    else if (shares && word.find_first_not_of('#') == std::string_view::npos)
      out += painted(word, filled);
    else
      out += word;
    i = end;
  }
  return out;
}

std::string coloured_line(std::string_view line) {
  if (is_title(line)) return painted(line, bold);
  for (const opening& o : openings)
    if (line.substr(0, o.words.size()) == o.words) {
      const std::size_t n = o.whole_line ? line.size() : o.words.size();
      return painted(line.substr(0, n), o.colour) + coloured_words(line.substr(n));
    }
  return coloured_words(line);
}
} // namespace

std::string coloured(std::string_view page) {
  std::string out;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    out += coloured_line(page.substr(0, end));
    if (end < page.size()) out += '\n';
    page.remove_prefix(std::min(end + 1, page.size()));
  }
  return out;
}

} // namespace benanza::report
