// SPDX-License-Identifier: Apache-2.0
// Are lines handed on whole and in order, wherever the buffer's end falls?
#include <benanza/trace/lines.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace test_of_lines {
struct seen {
  std::vector<std::string> lines;
  std::vector<std::int64_t> numbers;
  benanza::trace::line_totals totals;
};

seen lines_of(const std::string& text) {
  seen out;
  std::istringstream in(text);
  out.totals = benanza::trace::for_each_line(in, [&](std::string_view line, std::int64_t number) {
    out.lines.emplace_back(line);
    out.numbers.push_back(number);
  });
  return out;
}

TEST_CASE("short texts") {
  CHECK(lines_of("").lines.empty());
  CHECK_FALSE(lines_of("").totals.cut_off);
  const seen s = lines_of("a\n\nbc\r\n");
  CHECK(s.lines == std::vector<std::string>{"a", "", "bc"});
  CHECK(s.numbers == std::vector<std::int64_t>{1, 2, 3});
  CHECK(s.totals.lines == 3);
  CHECK(s.totals.bytes == 7);
  CHECK_FALSE(s.totals.cut_off);
}

TEST_CASE("what no line end follows was cut off") {
  const seen s = lines_of("a\nb");
  CHECK(s.lines == std::vector<std::string>{"a"});
  CHECK(s.totals.cut_off);
}

TEST_CASE("lines of every length across the buffer's end") {
  std::string text;
  std::vector<std::string> expected;
  std::uint32_t state = 1;
  while (text.size() < 3 * benanza::trace::line_limit_bytes) {
    state = state * 1664525u + 1013904223u;
    expected.emplace_back(state % 5000, static_cast<char>('a' + state % 26));
    text += expected.back() + '\n';
  }
  CHECK(lines_of(text).lines == expected);
}

TEST_CASE("a line that is longer than the buffer is handed on once, by its beginning") {
  const std::size_t limit = benanza::trace::line_limit_bytes;
  for (std::size_t n : {limit - 1, limit, limit + 1, 2 * limit, 3 * limit + 17}) {
    CAPTURE(n);
    const seen s = lines_of("first\n" + std::string(n, 'x') + "\nlast\n");
    REQUIRE(s.lines.size() == 3);
    CHECK(s.lines[1] == std::string(std::min(n, limit), 'x'));
    CHECK(s.lines[2] == "last");
    CHECK(s.numbers == std::vector<std::int64_t>{1, 2, 3});
  }
}

} // namespace test_of_lines
