// SPDX-License-Identifier: Apache-2.0
// Which recurrent layers has cuDNN, and in which order are their gates? What they compute is tried
// on the fake GPU (call_run.cpp).
#include <benanza/backend/cudnn/recurrent.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
std::size_t ways(const char* layer, numeric t) {
  return recurrent_calls(op::parse(layer), t).size();
}
} // namespace

TEST_CASE("cudnn: recurrent layers are offered by every algorithm, in every class") {
  for (const char* layer : {"LSTM/5x3x7-h6-b", "GRU/5x3x7-h6-after", "RNN/5x3x7-h6"}) {
    CHECK(ways(layer, numeric::f32) == 4);
    CHECK(ways(layer, numeric::tf32) == 4);
    CHECK(ways(layer, numeric::bf16) == 8);
    CHECK(ways(layer, numeric::f16) == 12);
    CHECK(ways(layer, numeric::s8s8s8) == 0);
  }
  int certain = 0;
  for (const call& c : recurrent_calls(op::parse("LSTM/5x3x7-h6-b"), numeric::f32)) {
    CHECK(c.what.equivalence == "f32");
    certain += c.certain;
  }
  CHECK(certain == 1);
}

TEST_CASE("cudnn: recurrent layers that the library computes otherwise are not offered") {
  for (const char* layer :
       {"GRU/5x3x7-h6", "LSTM/5x3x7-h6-peep", "LSTM/5x3x7-h6-coupled", "LSTM/5x3x7-h6-clip",
        "LSTM/5x3x7-h6-len", "RNN/5x3x7-h6-f2", "LSTM/5x3x7-h6-reverse"}) {
    CAPTURE(std::string(layer));
    CHECK(ways(layer, numeric::f32) == 0);
  }
}

TEST_CASE("cudnn: both directions of a step are side by side, and states by direction") {
  const auto calls = recurrent_calls(op::parse("LSTM/4x2x3-h5-bidirectional-n3"), numeric::f32);
  REQUIRE(!calls.empty());
  REQUIRE(calls[0].results.size() == 3);
  CHECK(calls[0].results[0].dims == shape{4, 2, 2, 5});
  CHECK(calls[0].results[0].strides == shape{20, 5, 10, 1});
  CHECK(calls[0].results[1].strides == packed(shape{2, 2, 5}));
  const auto turned = recurrent_calls(op::parse("LSTM/4x2x3-h5-bidirectional-nt-n2"), numeric::f32);
  REQUIRE(!turned.empty());
  CHECK(turned[0].results[0].strides == packed(shape{2, 4, 2, 5}));
  CHECK(turned[0].results[1].strides == shape{5, 10, 1});
}
