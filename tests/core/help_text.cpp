// SPDX-License-Identifier: Apache-2.0
// Does a program's --help fit a terminal, with no word lost?
#include <benanza/core/help_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

TEST_CASE("help: lines are broken between words, behind the column of what they explain") {
  const std::string text = "Usage: program [OPTIONS]\n\nFirst:\n"
                           "  -o,--output FILE            write there, whole or not at all, and "
                           "into a folder as report.md\n"
                           "  --a-name-that-is-longer-than-its-column\n"
                           "                              what it is, in more words than a line "
                           "of forty columns holds\n";
  CHECK(benanza::fit_help(text, 0) == text);
  for (const std::size_t columns : {50u, 60u, 80u, 200u}) {
    std::string fitted = benanza::fit_help(text, columns), words;
    std::size_t longest = 0, length = 0;
    for (const char c : fitted) {
      length = c == '\n' ? 0 : length + 1;
      longest = std::max(longest, length);
    }
    CHECK(longest <= columns);
    const auto without_spaces = [](std::string t) {
      t.erase(std::remove_if(t.begin(), t.end(), [](char c) { return c == ' ' || c == '\n'; }),
              t.end());
      return t;
    };
    CHECK(without_spaces(fitted) == without_spaces(text));
  }
  CHECK(benanza::fit_help("  -o FILE     write it there, whole or not at all\n", 40) ==
        "  -o FILE     write it there, whole or\n              not at all\n");
  const std::string word = "  " + std::string(100, 'x') + '\n'; // is not cut
  CHECK(benanza::fit_help(word, 50) == word);
}
