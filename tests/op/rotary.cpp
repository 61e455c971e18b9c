// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/rotary.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("rotary: key, dims and cost") {
  constexpr rotary llama{.sizes = {1, 32, 128, 64}, .table = 2048, .sequence_major = true};
  CHECK_TWICE(write_key(llama) == "1x32x128x64-t2048-bshd");
  CHECK_TWICE(read_key(rotary{}, "1x32x128x64-t2048-bshd") == llama);
  CHECK_TWICE(llama.output() == shape{1, 128, 2048});
  CHECK_TWICE(llama.angles() == shape{2048, 32});
  CHECK_TWICE(llama.cost().other == 3 * 32 * 128 * 64); // six for each pair
  CHECK_TWICE(llama.cost().sources == 32 * 128 * 64 + 128 * 64);
  CHECK_TWICE(llama.cost().fixed_bytes == 128 * 8);
  constexpr rotary part{
      .sizes = {2, 4, 3, 8}, .rotated = 4, .interleaved = true, .own_places = true};
  CHECK_TWICE(write_key(part) == "2x4x3x8-r4-interleaved-own");
  CHECK_TWICE(part.angles() == shape{2, 3, 2});
  CHECK_TWICE(part.cost().sources == 2 * 4 * 3 * 8 + 2 * 3 * 4);
  CHECK(read_key(rotary{}, "2x4x3x8-r4-interleaved-own") == part);
  constexpr rotary wide{.sizes = {1, 4, 3, 8}, .rotated = 4, .wide = true};
  CHECK_TWICE(write_key(wide) == "1x4x3x8-r4-wide");
  CHECK_TWICE(wide.angles() == shape{1, 3, 4});
  CHECK_TWICE(wide.cost().sources == 4 * 3 * 8 + 2 * 3 * 4);
}

TEST_CASE("rotary: what makes no difference is not in the key, what makes no sense is refused") {
  const rotary one{.sizes = {1, 4, 1, 8}, .rotated = 8, .own_places = true, .sequence_major = true};
  CHECK(write_key(one.canonical_form()) == "1x4x1x8");
  const auto refused = [](const rotary& p) { return test::refusal_of([&] { p.validate(); }); };
  CHECK_REFUSED(rotary{}.validate(), "batch, heads");
  CHECK(refused({.sizes = {1, 4, 0, 8}}).find("2^40") != std::string::npos);
  CHECK(refused({.sizes = {1, 4, 2, 7}}).find("pairs") != std::string::npos);
  CHECK(refused({.sizes = {1, 4, 2, 8}, .rotated = 10}).find("pairs") != std::string::npos);
  CHECK(refused({.sizes = {1, 4, 2, 8}, .table = -1}).find("table") != std::string::npos);
  CHECK(refused({.sizes = {1 << 30, 1 << 30, 1, 8}}).find("2^56") != std::string::npos);
}
