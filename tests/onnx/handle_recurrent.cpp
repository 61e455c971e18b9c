// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("recurrent layers: what is optional, and what does not fit") {
  const char* const in = "float[5,2,3] x";
  const char* const weights = "float[2,16,3] w, float[2,16,4] r, float[2,32] b, float[2,2,4] h";
  const benanza::onnx::options o{.batch = 5};
  CHECK(last_layer(14, in, "y, l, c = LSTM<direction = \"bidirectional\">(x, w, r, b, , h, h)",
                   weights, o) == "LSTM/5x2x3-h4-bidirectional-b-h0-c0-n3");
  CHECK(last_layer(14, in, "a, l = LSTM<direction = \"bidirectional\">(x, w, r) y = Relu(l)",
                   weights, o) == "Relu/2x2x4");
  CHECK(last_layer(14, in,
                   "y = GRU<linear_before_reset = 1, clip = 2.0, activations = [\"Sigmoid\", "
                   "\"Tanh\"]>(x, w, r)",
                   "float[1,12,3] w, float[1,12,4] r", o) == "GRU/5x2x3-h4-after-clip");
  CHECK(last_layer(14, in, "y = RNN<layout = 1, activations = [\"Relu\"]>(x, w, r)",
                   "float[1,4,3] w, float[1,4,4] r", o) == "RNN/2x5x3-h4-nt-f0");
  CHECK(dims_of_y(14, in, "y = RNN<layout = 1>(x, w, r)", "float[1,4,3] w, float[1,4,4] r", o) ==
        "5x2x1x4");
  CHECK_SAYS(last_layer(14, in, "y = GRU(x, w, r)", weights, o), "not 1x12x3");
  CHECK_SAYS(last_layer(14, in, "y = RNN<activations = [\"Affine\"]>(x, w, r)",
                        "float[1,4,3] w, float[1,4,4] r", o),
             "none that layers have");
}
