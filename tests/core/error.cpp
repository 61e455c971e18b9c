// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace benanza;

TEST_CASE("an error says what, where and what to do") {
  CHECK(std::string(error("the file is cut off").what()) == "the file is cut off");
  CHECK(std::string(error("cut off", "run.json, byte 9").what()) == "cut off (run.json, byte 9)");
  CHECK(std::string(error("cut off", "run.json", "run again").what()) ==
        "cut off (run.json); run again");
  CHECK(std::string(error("cut off", "", "run again").what()) == "cut off; run again");
  CHECK(std::string(error("").what()).empty());
}

TEST_CASE("an error is one line whatever the texts hold") {
  std::string evil = "a\nb\r\nc\td\x1b[31m\x7f";
  evil.push_back('\0');
  evil += "tail";
  const std::string text = error(evil, evil, evil).what();
  for (char c : text) {
    CHECK(static_cast<unsigned char>(c) >= 0x20);
    CHECK(c != 0x7f);
  }
  // A zero byte does not cut the text short.
  CHECK(text.size() == 3 * evil.size() + std::string(" ()").size() + std::string("; ").size());
}

TEST_CASE("names in other alphabets stay as they are") {
  CHECK(std::string(error("mod\xc3\xa8le").what()) == "mod\xc3\xa8le");
}

TEST_CASE("an error is a std::runtime_error") {
  CHECK_THROWS_AS(throw error("x"), std::runtime_error);
}

TEST_CASE("the exit statuses are those of the design") {
  static_assert(static_cast<int>(status::complete) == 0);
  static_assert(static_cast<int>(status::partial) == 1);
  static_assert(static_cast<int>(status::refused) == 2);
  static_assert(static_cast<int>(status::interrupted) == 130);
}
