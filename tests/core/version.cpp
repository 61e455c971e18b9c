// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/version.hpp>
#include <doctest/doctest.h>

using namespace benanza;

TEST_CASE("the version is numbers and a text that agree") {
  CHECK(std::string(BENANZA_VERSION) == std::to_string(BENANZA_VERSION_MAJOR) + "." +
                                            std::to_string(BENANZA_VERSION_MINOR) + "." +
                                            std::to_string(BENANZA_VERSION_PATCH));
  CHECK(version_of_number(3021012, 1000) == "3.21.12");
  CHECK(version_of_number(90100, 100) == "9.1.0");
}

TEST_CASE("--version has a line for the program, its revision, its compiler and each library") {
  const std::string text =
      version_text("benanza_x", {{"fmt", "9.1.0"}, {"a library of a long name", "2"}});
  CHECK(text.starts_with("benanza_x " BENANZA_VERSION "\nrevision          "));
  CHECK(text.find("\ncompiler          ") != std::string::npos);
  CHECK(text.find("\nfmt               9.1.0\n") != std::string::npos);
  CHECK(text.ends_with("\na library of a long name 2\n"));
}
