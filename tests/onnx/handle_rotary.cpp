// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("RotaryEmbedding: three dims, four dims, places") {
  const char* const in = "float[2,4,6,8] x, float[2,6,32] z, int64[2,6] p, int64[1] o";
  const char* const own = "float[2,6,4] c, float[9,4] t, float[9,2] h";
  const auto rotary = [&](std::string_view node) {
    return last_layer(23, in, node, own, {.batch = 2});
  };
  CHECK(rotary("y = RotaryEmbedding(x, c, c)") == "RotaryEmbedding/2x4x6x8-own");
  CHECK(rotary("y = RotaryEmbedding(x, t, t, p)") == "RotaryEmbedding/2x4x6x8-t9");
  CHECK(rotary("y = RotaryEmbedding<rotary_embedding_dim = 4>(x, h, h, p)") ==
        "RotaryEmbedding/2x4x6x8-r4-t9");
  CHECK(rotary("y = RotaryEmbedding<num_heads = 4, interleaved = 1>(z, t, t, p)") ==
        "RotaryEmbedding/2x4x6x8-interleaved-t9-bshd");
  CHECK(rotary("y = com.microsoft.RotaryEmbedding(z, o, t, t)") ==
        "RotaryEmbedding/2x4x6x8-t9-bshd");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, t, t)"), "not 2x6x4");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, h, h, p)"), "not 9x4");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, t, h, p)"), "do not fit");
  CHECK_SAYS(rotary("y = RotaryEmbedding<num_heads = 5>(z, t, t, p)"), "num_heads");
  CHECK_SAYS(rotary("y = RotaryEmbedding(p, t, t, p)"), "three or four dims");
}
