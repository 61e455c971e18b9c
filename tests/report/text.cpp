// SPDX-License-Identifier: Apache-2.0
// Are several models reported on a line each?
#include "pages.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_text {
using namespace pages;

TEST_CASE("several models: a line each, pages only where asked for") {
  run r = synthetic::small_run();
  r.graphs.push_back(r.graphs[0]);
  r.graphs[1].name = "a-model-of-which-the-name-is-long@batch=128";
  r.graphs[1].nodes[0].layer = benanza::model::no_layer;
  const auto models = analyse(r, {numeric::f32, numeric::bf16});
  const std::string brief = text_report(r, models, {.pages = false});
  check_width(brief);
  CHECK(holds(brief, "tiny@batch=1         f32     1  1.54 ms"));
  CHECK(holds(brief, "--model NAME"));
  CHECK_FALSE(holds(brief, "GFLOP/s"));
  const std::string pages = text_report(r, models, {});
  check_width(pages);
  CHECK(holds(pages, "tiny@batch=1  batch 1  bf16  1 thread"));
  CHECK(holds(pages, "Not measured in bf16, so taken in f32: "));
}
} // namespace test_of_text
