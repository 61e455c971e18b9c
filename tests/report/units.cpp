// SPDX-License-Identifier: Apache-2.0
// Are figures written as a person reads them? Three significant digits, units that suit, 80
// columns.
#include "analyzer/report/units.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace benanza::report;

TEST_CASE("times have three significant digits and the unit that suits them") {
  CHECK(show_time(26'314'000) == "26.3 ms");
  CHECK(show_time(1'234'000) == "1.23 ms");
  CHECK(show_time(355'400) == "355 us");
  CHECK(show_time(999'400) == "999 us");
  CHECK(show_time(999'600) == "1.00 ms");
  CHECK(show_time(9'996'000) == "10.0 ms");
  CHECK(show_time(99'960'000) == "100 ms");
  CHECK(show_time(999.6e6) == "1.00 s");
  CHECK(show_time(12'345e9) == "12345 s");
  CHECK(show_time(140) == "140 ns");
  CHECK(show_time(2.5) == "2.50 ns");
  CHECK(show_time(0.25) == "0.25 ns");
  CHECK(show_time(0) == "0 ns");
  CHECK(show_time(-1'234'000) == "-1.23 ms");
}

TEST_CASE("amounts are short, with the right prefix") {
  CHECK(show_amount(0) == "0");
  CHECK(show_amount(999) == "999");
  CHECK(show_amount(1000) == "1.00 k");
  CHECK(show_amount(999'499) == "999 k");
  CHECK(show_amount(999'500) == "1.00 M");
  CHECK(show_amount(25'557'032) == "25.6 M");
  CHECK(show_amount(9.22e18) == "9.22 E");
}

TEST_CASE("an interval is in the unit of its time") {
  CHECK(show({.ns = 1e6, .low_ns = 9.5e5, .high_ns = 1.2e6}) == "1.00 ms [0.95, 1.20]");
  CHECK(show({.ns = 26.3e6, .low_ns = 26.1e6, .high_ns = 26.62e6}) == "26.3 ms [26.1, 26.6]");
}

TEST_CASE("shares never round something to nothing, or nearly all to all") {
  CHECK(percent(0.972) == "97.2 %");
  CHECK(percent(0) == "0.0 %");
  CHECK(percent(1) == "100.0 %");
  CHECK(percent(0.0001) == "<0.1 %");
  CHECK(percent(0.9999) == ">99.9 %");
}

TEST_CASE("names cannot steer a terminal, and lines stay within 80 columns") {
  CHECK(printable("a\x1b[31mb\n") == "a?[31mb?");
  CHECK(counted(1, "node") == "1 node");
  CHECK(counted(0, "node") == "0 nodes");
  std::string long_text;
  for (int i = 0; i < 60; ++i)
    long_text += "word" + std::to_string(i) + (i == 59 ? "" : " ");
  std::istringstream lines(wrapped("! ", long_text));
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= columns);
    CHECK(line.substr(0, 2) == (joined.empty() ? "! " : "  "));
    joined += (joined.empty() ? "" : " ") + line.substr(2);
  }
  CHECK(joined == long_text);
  CHECK(wrapped("", std::string(100, 'x')) == std::string(100, 'x') + '\n');
  CHECK(wrapped("head: ", "") == "head: \n");
}
