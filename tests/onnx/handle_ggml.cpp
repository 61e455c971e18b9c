// SPDX-License-Identifier: Apache-2.0
// Products with weights in ggml's blocks, of one matrix and of experts.
#include "text_model.hpp"

using namespace benanza::test;

namespace test_of_ggml {
std::string product(const std::string& x, const std::string& w, const std::string& more = "") {
  auto m = text_model(23, "float[" + x + "] x",
                      "y = benanza.MatMulGgml<N = 8, format = \"q8_0\"" + more + ">(x, w)",
                      "uint8[" + w + "] w");
  auto& opset = *m.add_opset_import();
  opset.set_domain("benanza");
  opset.set_version(1);
  const auto g = graph_of(std::move(m));
  return layer_name(g, g.nodes.back());
}

TEST_CASE("MatMulGgml: one matrix") {
  CHECK(product("1,2,32", "8,34") == "MatMulGgml/1x2x32-n8-q8_0");
  CHECK_SAYS(product("1,2,32", "8,33"), "not bytes of 8x34");
  CHECK_SAYS(product("1,2,31", "8,34"), "whole blocks");
}

TEST_CASE("MatMulGgml: of experts those that the tokens are expected to choose") {
  CHECK(product("1,2,32", "4,8,34", ", chosen = 2") == "MatMulGgml/1x2x32-n8-q8_0-e2");
  CHECK(product("1,4,32", "8,8,34", ", chosen = 2") == "MatMulGgml/1x4x32-n8-q8_0-e4");
  CHECK(product("1,600,32", "8,8,34", ", chosen = 2") == "MatMulGgml/1x600x32-n8-q8_0-e8");
  CHECK(product("1,3,32", "1,8,34", ", chosen = 1") == "MatMulGgml/1x3x32-n8-q8_0");
  for (const char* chosen : {"", ", chosen = 0", ", chosen = 3", ", chosen = 5"})
    CHECK_SAYS(product("1,4,32", "4,8,34", chosen), "experts for each token");
  CHECK_SAYS(product("4,32", "4,8,34", ", chosen = 2"), "experts for each token");
  CHECK_SAYS(product("1,4,32", "4,7,34", ", chosen = 2"), "not bytes of 4x8x34");
}
} // namespace test_of_ggml
