// SPDX-License-Identifier: Apache-2.0
#include "planned.hpp"

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("a plan's group is refused where its times do not come from here") {
  const library_list libraries = real_libraries();
  result::plan p = plan_of(graph_of(residual), libraries, 1);
  p.provenance = {{"machine", {{"cpu", "mine"}}}, {"software", {{"onednn_version", "2.6.3"}}}};
  auto here = p.provenance;
  const group g = plan_group(p, libraries, here);
  REQUIRE(g.cases.size() == 1);
  CHECK(g.cases[0].name == "model/test/f32/chain/plan/run/t1");
  CHECK(g.what->flops > 0);
  here["machine"]["cpu"] = "another";
  CHECK_THROWS_WITH_AS(plan_group(p, libraries, here), doctest::Contains("from elsewhere"), error);
}
