// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("Attention: four dims, three dims, grouped queries, masks") {
  const char* const four = "float[1,8,16,32] q, float[1,2,20,32] k, float[1,2,20,24] v";
  CHECK(last_layer(23, four, "y = Attention(q, k, v)") == "Attention/1x8x16x32-kv2-k20-v24");
  CHECK(last_layer(23, four, "y = Attention<is_causal = 1, scale = 0.5>(q, k, v)") ==
        "Attention/1x8x16x32-kv2-k20-v24-causal");
  CHECK(last_layer(23, four, "y = Attention(q, k, v, m)", "float[16,20] m") ==
        "Attention/1x8x16x32-kv2-k20-v24-mask1x1x16x20");
  CHECK(dims_of_y(23, four, "y = Attention(q, k, v)") == "1x8x16x24");
  const char* const three = "float[1,16,256] q, float[1,20,64] k, float[1,20,48] v";
  const char* const node = "y = Attention<q_num_heads = 8, kv_num_heads = 2>(q, k, v)";
  CHECK(last_layer(23, three, node) == "Attention/1x8x16x32-kv2-k20-v24-bshd");
  CHECK(dims_of_y(23, three, node) == "1x16x192");
}

TEST_CASE("Attention: what does not fit") {
  const char* const four = "float[1,8,16,32] q, float[1,8,16,32] k, float[1,8,16,32] v, "
                           "float[1,8,4,32] p, bool[16,16] b, float[3,16] m";
  const auto attention = [&](std::string_view node) { return last_layer(23, four, node); };
  CHECK(attention("y = Attention<softcap = 50.0>(q, k, v)") == "Attention/1x8x16x32-cap");
  CHECK(attention("y = Attention(q, k, v, b)") == "Attention/1x8x16x32-mask1x1x16x16-bool");
  CHECK(attention("y = Attention<is_causal = 1, left_window_size = 3>(q, k, v)") ==
        "Attention/1x8x16x32-causal-w4");
  CHECK(attention("y = Attention<right_window_size = 0>(q, k, v)") == "Attention/1x8x16x32-causal");
  CHECK(attention("y = Attention<left_window_size = 2, right_window_size = 1>(q, k, v)") ==
        "Attention/1x8x16x32-causal-p1-w4");
  CHECK(attention("y = Attention<left_window_size = 3>(q, k, v)") ==
        "Attention/1x8x16x32-causal-p15-w19");
  CHECK(attention("y = Attention<right_window_size = 99>(q, k, v)") == "Attention/1x8x16x32");
  CHECK_SAYS(attention("y = Attention<left_window_size = -2>(q, k, v)"), "out of range");
  CHECK_SAYS(attention("y = Attention<right_window_size = 1, past_length = 9223372036854775807>"
                       "(q, k, v)"),
             "out of range");
  CHECK_SAYS(attention("y = Attention(q, k, v, , p)"), "input 5 is missing");
  CHECK_SAYS(attention("y, a, c = Attention(q, k, v, , p, q)"), "do not fit");
  CHECK_SAYS(attention("y = Attention(q, k, v, m)"), "does not broadcast");
  CHECK_SAYS(attention("y = Attention(q, k, p)"), "do not fit");
  CHECK_SAYS(attention("y = Attention(q, k, m)"), "do not fit");
  const char* const three = "float[1,16,256] q, float[1,20,64] k, float[1,20,48] v";
  CHECK_SAYS(last_layer(23, three, "y = Attention(q, k, v)"), "q_num_heads");
  CHECK_SAYS(last_layer(23, three, "y = Attention<q_num_heads = 7, kv_num_heads = 2>(q, k, v)"),
             "do not fit");
  CHECK_SAYS(last_layer(23, "float[1,6,2,4] q, float[1,4,2,4] k", "y = Attention(q, k, k)"),
             "no multiple");
  // What follows can be resolved all the same.
  CHECK(last_layer(23, four, "a, c, d = Attention(q, k, v, , p, p) y = Relu(c)") ==
        "Relu/1x8x20x32");
}
