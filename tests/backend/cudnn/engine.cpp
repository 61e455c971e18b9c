// SPDX-License-Identifier: Apache-2.0
// Do an engine's id and its choice of knobs say the same, and is everything else refused?
#include <benanza/backend/cudnn/engine.hpp>

#include <doctest/doctest.h>

using namespace benanza::backend::cudnn;

TEST_CASE("cudnn: an id names the engine and its knobs, and gives them back") {
  const engine_choice c{.engine = 62, .knobs = {{2, 4}, {13, 0}, {18, -1}}};
  CHECK(id_of(c) == "eng62_k2=4_k13=0_k18=-1");
  CHECK(parse_engine("eng62_k2=4_k13=0_k18=-1") == c);
  CHECK(parse_engine("eng0") == engine_choice{});
  CHECK(id_of({}) == "eng0");
}

TEST_CASE("cudnn: what is no id is none") {
  for (const char* text : {"",
                           "eng",
                           "eng-1",
                           "62",
                           "engine62",
                           "eng62_",
                           "eng62_k",
                           "eng62_k2",
                           "eng62_k2=",
                           "eng62_k=4",
                           "eng62_k2=4_",
                           "eng62_k2=4k3=1",
                           "eng62_k2=4 ",
                           " eng62",
                           "eng62_k-1=4",
                           "eng62_k3=1_k2=1",
                           "eng62_k2=1_k2=1",
                           "eng62_x2=4",
                           "eng99999999999999999999",
                           "eng62_k2=99999999999999999999",
                           "nhwc:eng62",
                           "eng0x3e"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_engine(text).has_value());
  }
}
