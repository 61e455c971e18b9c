// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/text.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using texts = std::vector<std::string_view>;

TEST_CASE("between marks are parts, which may be empty") {
  CHECK(split_at("f32,bf16", ",") == texts{"f32", "bf16"});
  CHECK(split_at("one", ",") == texts{"one"});
  CHECK(split_at("", ",") == texts{""});
  CHECK(split_at(",a,,", ",") == texts{"", "a", "", ""});
  CHECK(split_at("low; high", "; ") == texts{"low", "high"});
}

TEST_CASE("lines end with their mark, the last one perhaps not") {
  CHECK(items("", "\n") == texts{});
  CHECK(items("a\nb", "\n") == texts{"a", "b"});
  CHECK(items("a\nb\n", "\n") == texts{"a", "b"});
  CHECK(items("\n\na", "\n") == texts{"", "", "a"});
}

TEST_CASE("texts and whole numbers are joined") {
  CHECK(join(std::vector<int>{}, "x").empty());
  CHECK(join(std::vector<std::int64_t>{1, 64, -1}, "x") == "1x64x-1");
  CHECK(join(texts{"a", "", "b"}, ", ") == "a, , b");
  CHECK(join(split_at("a,b", ","), ",") == "a,b");
}
