// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/printable.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace benanza;

TEST_CASE("what could steer a terminal is not printed") {
  CHECK(printable("a\x1b[31mb\n") == "a?[31mb?");
  CHECK(printable("C1: \xc2\x9b"
                  "31m") == "C1: ?31m");
  CHECK(printable("\u202ereversed\u2066\u200f\u2028\ufeff\u061c") == "?reversed?????");
  CHECK(printable("no UTF-8: \xff\xc0\xaf\xed\xa0\x80\xf5\xe2\x82") == "no UTF-8: ?????????");
  CHECK(printable(std::string("a\0b", 3)) == "a?b");
}

TEST_CASE("names in any alphabet are printed as they are") {
  for (const char* name : {"modèle", "модель", "模型", "🙂 conv", "ÿ¡\u00a0", "\u2010\u20ac"})
    CHECK(printable(name) == name);
}

TEST_CASE("a long name is cut between two characters, and says so") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("éééé", 7) == "éé...");
  CHECK(printable("abc", 2) == "..");
  CHECK(printable(std::string(1 << 20, 'x')).size() == longest_shown);
}
