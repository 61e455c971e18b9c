// SPDX-License-Identifier: Apache-2.0
// Do equal texts have one number, and is a number forgotten that an undone transaction gave?
#include "../../program.hpp"

#include <benanza/result/store/dictionary.hpp>

#include <doctest/doctest.h>

using namespace benanza::result::store;

TEST_CASE("equal texts have one number, and texts are not run together") {
  const benanza::test::scratch_folder f("dictionary");
  const database d(f / "a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "a.db", 100);
  d.run("CREATE TABLE word (id INTEGER PRIMARY KEY, a TEXT, b INTEGER)");
  dictionary<2> words(d, "word", {"a", "b"});
  CHECK_FALSE(words.find({"x", "1"}));
  const auto one = words.of({"x", "1"});
  CHECK(words.of({"x", "1"}) == one);
  CHECK(words.find({"x", "1"}) == one);
  CHECK(words.of({"x1", ""}) != one);
  CHECK(words.of({"x", "2"}) != one);
  CHECK(dictionary<2>(d, "word", {"a", "b"}).of({"x", "1"}) == one);
}

TEST_CASE("numbers of an undone transaction are not given out again for other texts") {
  const benanza::test::scratch_folder f("dictionary");
  const database d(f / "a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "a.db", 100);
  d.run("CREATE TABLE word (id INTEGER PRIMARY KEY, a TEXT)");
  dictionary<1> words(d, "word", {"a"});
  {
    const transaction undone(d);
    words.of({"lost"});
  }
  words.forget();
  CHECK_FALSE(words.find({"lost"}));
  const auto kept = words.of({"kept"});
  CHECK(words.of({"lost"}) != kept);
}
