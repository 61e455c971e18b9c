// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/coloured.hpp"

#include <doctest/doctest.h>

#include <string>

using benanza::report::coloured;

TEST_CASE("colours: headings, warnings, verdicts and bars have one") {
  CHECK(coloured("PARTIAL     2 nodes\n") == "\x1b[1;33mPARTIAL\x1b[0m     2 nodes\n");
  CHECK(coloured("  lower bound   1 ms\nx") == "\x1b[1;32m  lower bound   1 ms\x1b[0m\nx");
  CHECK(coloured("m@batch=1  batch 1  f32") == "\x1b[1mm@batch=1  batch 1  f32\x1b[0m");
  CHECK(coloured("  Conv 3 % ## 118") == "  Conv 3 % \x1b[34;44m##\x1b[0m 118");
  CHECK(coloured("a layer  SLOWER by 3 %") == "a layer  \x1b[1;31mSLOWER\x1b[0m by 3 %");
}

TEST_CASE("colours: what is in the middle of a word has none") {
  for (const std::string same : {"", "\n", "\n\n", "a ## without a share", "UNSURELY SAMENESS",
                                 "conv#1 3 %", "a  batch of  words", "a b  batch 1"})
    CHECK(coloured(same) == same);
}
