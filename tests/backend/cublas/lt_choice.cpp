// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/cublas/lt_choice.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace benanza::backend::cublas;

TEST_CASE("cublas: an id says all settings, and they can be read back") {
  const std::string text = "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0";
  const auto c = parse_lt(text);
  REQUIRE(c.has_value());
  CHECK((*c)[lt_setting::algo] == 21);
  CHECK((*c)[lt_setting::tile] == 20);
  CHECK((*c)[lt_setting::stages] == 8);
  CHECK((*c)[lt_setting::splitk] == 1);
  CHECK((*c)[lt_setting::cluster] == 0);
  CHECK(id_of(*c) == text);
  // Whatever the numbers are.
  std::uint32_t state = 1;
  for (int i = 0; i < 500; ++i) {
    lt_choice any;
    for (auto& v : any.values) {
      state = state * 1664525u + 1013904223u;
      v = state >> (state % 31);
    }
    any.fast_accum = state % 2 != 0;
    if (state % 3 == 0) any.hash = "09afd1c8";
    CHECK(parse_lt(id_of(any)) == any);
  }
  lt_choice large;
  large[lt_setting::custom] = std::numeric_limits<std::int64_t>::max();
  CHECK(parse_lt(id_of(large)) == large);
}

TEST_CASE("cublas: the settings are followed by how sums are made, and a hash") {
  const std::string settings = "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0";
  CHECK_FALSE(parse_lt(settings)->fast_accum);
  CHECK(parse_lt(settings)->hash.empty());
  const auto c = parse_lt(settings + "-fast-accum-h09afd1c8");
  REQUIRE(c.has_value());
  CHECK(c->fast_accum);
  CHECK(c->hash == "09afd1c8");
  CHECK(id_of(*c) == settings + "-fast-accum-h09afd1c8");
  CHECK(parse_lt(settings + "-h09afd1c8") != parse_lt(settings));
  for (const char* end : {"-fast", "-h", "-h09afd1c", "-h09afd1c88", "-h09AFD1C8", "-hxyzxyzxy",
                          "-h09afd1c8-fast-accum", "-fast-accum-fast-accum", "-fast-accum "})
    CHECK_FALSE_MESSAGE(parse_lt(settings + end).has_value(), end);
}

TEST_CASE("cublas: what is no id is none") {
  for (const char* text :
       {"", "lt:", "gemm", "eng62_k2=4", "lt:algo21",
        "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0",
        "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster",
        "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0 ",
        "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0_more1",
        "lt:algo021_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0",
        "lt:algo-1_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0",
        "lt:algo+1_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0",
        "lt:tile20_algo21_stages8_splitk1_red0_swz0_cust0_inner0_cluster0",
        "lt:algo99999999999999999999_tile0_stages0_splitk1_red0_swz0_cust0_inner0_cluster0",
        "nhwc:lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(parse_lt(text).has_value());
  }
}
