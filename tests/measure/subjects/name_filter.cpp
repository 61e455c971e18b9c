// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/subjects/name_filter.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("the filter is an extended regular expression, turned round by a minus") {
  CHECK(name_filter("")("anything"));
  CHECK(name_filter("all")("anything"));
  CHECK(name_filter("Conv")("Conv/1x4/f32"));
  CHECK_FALSE(name_filter("^Conv/")("FusedConv/1x4"));
  CHECK(name_filter("/f16/")("Conv/1/f16/x"));
  CHECK_FALSE(name_filter("/f16/")("Conv/1/bf16/x"));
  CHECK_FALSE(name_filter("-(ref|gemm)")("Conv/1/f32/onednn/ref"));
  CHECK(name_filter("-(ref|gemm)")("Conv/1/f32/onednn/jit"));
  CHECK_THROWS_AS(name_filter("(("), error);
}

TEST_CASE("how a name must begin is known of a filter that says it plainly") {
  const auto may = [](const char* filter) { return name_filter(filter).may_select("Conv/1x4/"); };
  for (const char* filter : {"", "all", "Conv", "^Conv", "^Conv/1x4/f32", "^C.*", "^[A-D]",
                             "^Conv|x", "^Cox?nv", "^Convx*/1", "-^Conv", "^"})
    CHECK_MESSAGE(may(filter), filter);
  for (const char* filter : {"^Relu", "^Conv/1x8", "^Cox+", "^reorder/", "^Convx.*", "^conv$"})
    CHECK_FALSE_MESSAGE(may(filter), filter);
}
