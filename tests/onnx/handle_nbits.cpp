// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("products with weights of a few bits") {
  const auto layer = [](std::string_view more, std::string_view operands,
                        std::string_view tensors) {
    return last_layer(17, "float[1,3,64] x",
                      "y = com.microsoft.MatMulNBits<K = 64, N = 2, block_size = 32" +
                          std::string(more) + ">(x" + std::string(operands) + ")",
                      tensors);
  };
  std::string codes = "uint8[2,2,16] b = {1";
  for (int i = 1; i < 64; ++i)
    codes += ", 1";
  codes += "}, float[4] s = {1, 1, 1, 1}";
  CHECK(layer("", ", b, s", codes) == "MatMulNBits/1x3x64-n2-k32");
  CHECK(layer("", ", b, s, z", codes + ", uint8[2] z = {8, 8}") == "MatMulNBits/1x3x64-n2-k32-z");
  CHECK(layer("", ", b, s, , , c", codes + ", float[2] c = {0, 0}") ==
        "MatMulNBits/1x3x64-n2-k32-b");
  const auto g = graph_of(
      text_model(17, "float[1,3,64] x",
                 "y = com.microsoft.MatMulNBits<K = 64, N = 2, block_size = 32>(x, b, s)", codes));
  CHECK(g.parameters == 128 + 4);
  CHECK(g.parameter_bytes == 64 + 16);
  CHECK_SAYS(layer(", bits = 8", ", b, s", codes), "2x2x16, not 2x2x32");
  CHECK_SAYS(layer(", bits = 2", ", b, s", codes), "4 or 8 bits");
  CHECK_SAYS(layer("", ", b, s, z", codes + ", float[4] z = {8, 8, 8, 8}"), "not packed codes");
  CHECK_SAYS(layer("", ", b, s, , g", codes + ", int32[1] g = {0}"), "g_idx");
  CHECK(layer(", experts = 2", ", b2, s2", "uint8[4,2,16] b2, float[8] s2") ==
        "MatMulNBits/1x3x64-n2-k32-e2");
  CHECK_SAYS(layer(", experts = 2", ", b, s", codes), "2x2x16, not 2 of 2x2x16");
  CHECK_SAYS(layer(", experts = 4", ", b, s", codes), "fewer than the experts");
}
