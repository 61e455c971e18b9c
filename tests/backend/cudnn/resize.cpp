// SPDX-License-Identifier: Apache-2.0
// Is a resize offered only where it repeats each element, and described as such?
#include "listed.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::listed;
using cudnn_test::remade;

TEST_CASE("cudnn: nearest neighbours in a result of whole times the size have engines") {
  for (const char* gpu : {"a100", "h200", "b200"})
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      for (const char* layer : {"Resize/1x64x28x28-1x64x56x56", "Resize/2x3x7x9-2x3x21x9",
                                "Upsample/1x16x13x13-1x16x26x26-asymmetric"}) {
        CAPTURE(std::string(layer));
        std::set<std::string> layouts;
        for (const offer& o : listed(layer, t, gpu)) {
          layouts.insert(o.what.operand_layouts);
          CHECK(o.what.operand_layouts == o.what.result_layout);
          CHECK(o.what.equivalence == name(t));
          CHECK(remade(o, gpu));
        }
        CHECK(layouts == std::set<std::string>{"plain", "channels_last"});
      }
}

TEST_CASE("cudnn: a resize that takes other samples is not offered") {
  for (const char* layer :
       {"Resize/1x64x28x28-1x64x56x56-linear", "Resize/1x64x28x28-1x64x56x56-cubic",
        "Resize/1x64x28x28-1x64x56x56-align_corners", "Resize/1x64x28x28-1x64x42x42",
        "Resize/1x64x28x28-1x64x14x14"}) {
    CAPTURE(std::string(layer));
    CHECK(recipes_for(op::parse(layer), numeric::f32).empty());
  }
  CHECK(recipes_for(op::parse("Resize/1x64x28x28-1x64x56x56"), numeric::s8s8s8).empty());
}

TEST_CASE("cudnn: a resized dim is described as two, of which the source has one once") {
  using backend::cudnn::detail::repetition;
  const auto r = repetition({2, 3, 5, 7}, {2, 3, 10, 21});
  REQUIRE(r);
  CHECK(r->from == shape{6, 5, 1, 7, 1});
  CHECK(r->to == shape{6, 5, 2, 7, 3});
  const auto last = repetition({2, 5, 7, 3}, {2, 10, 21, 3});
  REQUIRE(last);
  CHECK(last->from == shape{2, 5, 1, 7, 1, 3});
  CHECK(last->to == shape{2, 5, 2, 7, 3, 3});
  CHECK_FALSE(repetition({2, 4}, {2, 6}));
  CHECK_FALSE(repetition({2, 2, 2, 2}, {4, 4, 4, 4})); // nine dims
}
