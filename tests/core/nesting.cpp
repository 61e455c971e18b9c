// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/nesting.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace benanza;

TEST_CASE("how deep a JSON is nested is seen without reading it") {
  CHECK(nesting("1") == 0);
  CHECK(nesting(R"({"a": [1, {"b": []}], "c": {}})") == 4);
  CHECK(nesting("[[1], [2], [3]]") == 2);
}

TEST_CASE("brackets in texts are no levels") {
  CHECK(nesting(R"(["[[[[", "\"[[", "\\"])") == 1);
  CHECK(nesting(R"(["\\", [1]])") == 2);
}

TEST_CASE("what is no JSON is passed over once") {
  CHECK(nesting("]]]}[") == 1);
  CHECK(nesting(R"("never ended [[[[)") == 0);
  CHECK(nesting("\"\\") == 0);
  CHECK(nesting(std::string(5'000'000, '[')) == 5'000'000);
}

TEST_CASE("what is nested deeper than anything of ours is refused by its name") {
  CHECK_NOTHROW(refuse_nested(std::string(deepest_json, '['), "run.json"));
  CHECK_THROWS_WITH_AS(refuse_nested(std::string(deepest_json + 1, '['), "run.json"),
                       doctest::Contains("(run.json)"), error);
}
