// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("LinearAttention: rules, what they need, and what does not fit") {
  const char* const in = "float[2,5,24] q, float[2,5,12] k, float[2,5,6] v, float[2,3,4,2] p, "
                         "float[2,5,3] h, float[2,5,1] o, float16[2,5,24] g";
  const auto linear = [&](std::string_view rule, std::string_view operands) {
    return last_layer(27, in,
                      "y, z = LinearAttention<q_num_heads = 6, kv_num_heads = 3, update_rule = \"" +
                          std::string(rule) + "\">(" + std::string(operands) + ")",
                      {}, {.batch = 2});
  };
  CHECK(linear("linear", "q, k, v") == "LinearAttention/2x6x5x4-kv3-v2");
  CHECK(linear("gated", "q, k, v, p, k") == "LinearAttention/2x6x5x4-kv3-v2-gated-past");
  CHECK(linear("gated", "q, k, v, , h") == "LinearAttention/2x6x5x4-kv3-v2-gated-per_head");
  CHECK(linear("delta", "q, k, v, p, , o") == "LinearAttention/2x6x5x4-kv3-v2-delta-one_rate-past");
  CHECK(linear("gated_delta", "q, k, v, , k, h") == "LinearAttention/2x6x5x4-kv3-v2-gated_delta");
  // States are kept in f32 where the others are not.
  CHECK(linear("linear", "g, k, v, p") == "LinearAttention/2x6x5x4-kv3-v2-past-f32");
  CHECK_SAYS(linear("gated", "q, k, v"), "input 4 is missing");
  CHECK_SAYS(linear("delta", "q, k, v"), "input 5 is missing");
  CHECK_SAYS(linear("gated", "q, k, v, , o"), "its decay 2x5x1 does not fit");
  CHECK_SAYS(linear("delta", "q, k, v, , , k"), "its rates 2x5x12 do not fit");
  CHECK_SAYS(linear("linear", "q, k, v, h"), "its past 2x5x3 is not 2x3x4x2");
  CHECK_SAYS(linear("linear", "q, q, v"), "do not fit its heads");
  CHECK_SAYS(linear("most", "q, k, v"), "'most'");
  CHECK_SAYS(last_layer(27, in, "y, z = LinearAttention<q_num_heads = 6>(q, k, v)"), "no heads");
}
