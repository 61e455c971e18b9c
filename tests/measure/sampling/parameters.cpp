// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/sampling/parameters.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("each parameter has a name of its own, a unit and a meaning, and can be set by it") {
  std::set<std::string> names;
  parameters p;
  parameters::visit(
      p, [&](std::string_view name, auto&, std::string_view unit, std::string_view meaning) {
        CHECK(names.emplace(name).second);
        CHECK_FALSE(unit.empty());
        CHECK_FALSE(meaning.empty());
      });
  CHECK(p.changed().empty());
  std::string all;
  for (const std::string& name : names) {
    p.set(name, "7");
    all += name;
  }
  parameters::visit(p, [&](std::string_view, const auto& value, std::string_view,
                           std::string_view) { CHECK(static_cast<double>(value) == 7); });
}

TEST_CASE("what was changed is written as it can be set again") {
  parameters p;
  p.set("most_smt_loss", "0.25");
  p.set("fewest_samples", "6");
  CHECK(p.changed() == "fewest_samples=6,most_smt_loss=0.25");
  parameters q;
  q.set("most_smt_loss", "0.25"), q.set("fewest_samples", "6");
  CHECK(q.changed() == p.changed());
}

TEST_CASE("a threshold is a number of its kind, above 0") {
  parameters p;
  CHECK_THROWS_WITH(p.set("nothing", "1"),
                    "no parameter is called \"nothing\" (--set); --parameters lists them");
  CHECK_THROWS_WITH(p.set("window_ns", "long"),
                    "a number of ns above 0 is needed, not \"long\" (--set window_ns)");
  for (const char* text : {"", "0", "-1", "1x", "nan", "inf", "1e40"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(p.set("window_ns", text), error);
  }
  CHECK_THROWS_AS(p.set("fewest_samples", "1.5"), error);
  CHECK_THROWS_AS(p.set("hot_every", "0"), error); // rounds are counted by it
}
