// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/tf_idf.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("n-grams: key, dims and cost") {
  constexpr tf_idf text{.input = {2, 12},
                        .outputs = 7,
                        .least = 2,
                        .most = 3,
                        .skips = 5,
                        .pool = {4, 3},
                        .weigh = weighting::tf_idf,
                        .element = dtype::s32};
  CHECK_TWICE(write_key(text) == "2x12-o7-min2-max3-skip5-pool4x3-tfidf-s32");
  CHECK_TWICE(read_key(tf_idf{}, "2x12-o7-min2-max3-skip5-pool4x3-tfidf-s32") == text);
  CHECK_TWICE(text.output() == shape{2, 7});
  CHECK_TWICE(text.results()[0].element == dtype::f32);
  CHECK_TWICE(text.places(1) == 12);
  CHECK_TWICE(text.places(2) == 11 + 10 + 9 + 8 + 7 + 6);
  CHECK_TWICE(text.places(3) == 10 + 8 + 6 + 4 + 2); // numbers 12 apart there are not
  CHECK_TWICE(text.places(13) == 0);
  CHECK_TWICE(text.cost().other == 2 * 2 * 51); // pairs alone: the others do not count
  CHECK_TWICE(text.cost().fixed_bytes == 24 * 4 + 14 * 4);
  CHECK_TWICE(text.cost().constant_fixed_bytes == 8 * (4 + 6) + 7 * 12);
  constexpr tf_idf one{.input = {12}, .outputs = 4, .pool = {4}};
  CHECK_TWICE(write_key(one) == "12-o4-pool4");
  CHECK_TWICE(one.output() == shape{4});
  CHECK_TWICE(one.cost().other == 12);
}

TEST_CASE("n-grams: what makes no difference, and what makes no sense") {
  const tf_idf one{.input = {12}, .outputs = 4, .skips = 3, .pool = {4, 0}};
  CHECK(write_key(one.canonical_form()) == "12-o4-pool4");
  const auto refused = [&](auto change) {
    tf_idf p = one;
    change(p);
    return test::refusal_of([&] { p.validate(); });
  };
  CHECK(refused([](tf_idf& p) { p.input = {1, 2, 3}; }).find("rows") != std::string::npos);
  CHECK(refused([](tf_idf& p) { p.least = 2; }).find("out of range") != std::string::npos);
  CHECK(refused([](tf_idf& p) { p.pool = {0}; }).find("a pool of them") != std::string::npos);
  CHECK(refused([](tf_idf& p) { p.pool = {-1}; }).find("under 0") != std::string::npos);
  CHECK(refused([](tf_idf& p) { p.outputs = 0; }).find("a place of the result") !=
        std::string::npos);
  CHECK(refused([](tf_idf& p) { p.element = dtype::u8; }).find("whole numbers") !=
        std::string::npos);
}
