// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("operators without a layer kind give their dims to what follows") {
  const auto behind = [](std::string_view node, std::string_view tensors = {}, int opset = 13) {
    return last_layer(opset, "float[2,3,4] x",
                      std::string("a = ").append(node).append(" y = Relu(a)"), tensors, two);
  };
  CHECK(behind("Cast<to = 10>(x)") == "Relu/2x3x4");
  CHECK(behind("Cast<to = 7>(x)") == "Relu/2x3x4-s64");
  CHECK(behind("Cast<to = \"FLOAT16\">(x)", "", 5) == "Relu/2x3x4");
  CHECK(behind("Where(c, x, x)", "bool[5,1,1,1] c") == "Relu/5x2x3x4");
  CHECK(behind("Expand(x, s)", "int64[4] s = {5,1,1,1}") == "Relu/5x2x3x4");
  CHECK(behind("Tile(x, s)", "int64[3] s = {1,2,1}") == "Relu/2x6x4");
  CHECK(behind("Einsum<equation = \"bij,bkj->bik\">(x, x)") == "Relu/2x3x3");
  CHECK(behind("Einsum<equation = \"...j -> j...\">(x)") == "Relu/4x2x3");
  CHECK(behind("Einsum<equation = \"bij,jk\">(x, w)", "float[4,5] w") == "Relu/2x3x5");
  CHECK(last_layer(13, "int64[1,3] x", "a = OneHot(x, d, v) y = Relu(a)",
                   "int64 d = {7}, float[2] v") == "Relu/1x3x7");
  CHECK(behind("MeanVarianceNormalization(x)") == "Relu/2x3x4");
  CHECK(behind("com.microsoft.SkipLayerNormalization(x, x, s)", "float[4] s", 17) == "Relu/2x3x4");
  CHECK(behind("ArgMax<axis = 1>(x)") == "Relu/2x1x4-s64");
  CHECK(behind("com.microsoft.QuickGelu(x)") == "Relu/2x3x4");
  CHECK(last_layer(13, "float[2,3] x", "y = Cast<to = 1>(x)", "", two) == "Identity/2x3");
  CHECK_SAYS(behind("Tile(x, s)", "int64[3] s = {1,4611686018427387904,1}"),
             "an input's dims are not known since Tile");
  CHECK_SAYS(behind("Expand(x, s)", "int64[1] s = {-7}"), "since Expand");
  CHECK_SAYS(behind("Einsum<equation = \"bij->bik\">(x)"), "since Einsum");
  CHECK_SAYS(behind("Einsum<equation = \"bi->b\">(x)"), "since Einsum");
  CHECK_SAYS(behind("NoSuchOperator(x)"), "since NoSuchOperator");
  CHECK_SAYS(behind("NonZero(x)"), "since NonZero");
}
