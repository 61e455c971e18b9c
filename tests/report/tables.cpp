// SPDX-License-Identifier: Apache-2.0
// Does an answer say the same in every format, whatever its texts hold?
#include "analyzer/report/tables/formats.hpp"
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace test_of_tables {
using namespace benanza::report::tables;
using benanza::test::holds;
using nlohmann::json;

chapter some_answer(const std::string& name) {
  chapter out{.title = "Two models of " + name, .fields = {{"schema", whole(1)}, {"note", name}}};
  out.add({.key = "models",
           .title = "Models",
           .columns = {{"model", "model", unit::name},
                       {"ns", "time", unit::time},
                       {"share", "share", unit::share},
                       {"", "for people"},
                       {"for_programs", ""}},
           .rows = {{name, 26.3e6, 0.5, "seen", whole(7)}, {"b", nothing{}, 1.0, "", true}}});
  for (const char* kind : {"f32", "bf16"}) {
    chapter within{.key = "types", .title = kind, .fields = {{"type", kind, true}}};
    within.add({.key = "layers",
                .columns = {{"layer", "layer", unit::name}, {"uses", "uses", unit::count}},
                .rows = {{"Relu", whole(3)}, {"Conv", whole(1)}, {"Add", whole(2)}},
                .shown = 2});
    out.chapters.push_back(std::move(within));
  }
  return out;
}

TEST_CASE("tables: times are shown in their unit, and are ns for programs") {
  const chapter a = some_answer("net");
  const std::string text = text_of(a), md = markdown_of(a), tex = latex_of(a);
  for (const std::string& page : {text, md, tex})
    for (const char* part : {"26.3 ms", "50.0", "Models", "Two models", "seen", "1 more row"})
      CHECK_MESSAGE(holds(page, part), part, "\n", page);
  CHECK(holds(text, "net    26.3 ms   50.0 %  seen\n"));
  CHECK(holds(text, "b            -  100.0 %\n"));
  CHECK(holds(md, "| `net` | 26.3 ms | 50.0 % | seen |\n"));
  CHECK_FALSE(holds(text, "for_programs"));
  const json j = json::parse(json_of(a));
  CHECK(j["models"][0] ==
        json{{"model", "net"}, {"ns", 26.3e6}, {"share", 0.5}, {"for_programs", 7}});
  CHECK(j["models"][1]["ns"].is_null());
  CHECK(j["models"][1]["for_programs"] == true);
  REQUIRE(j["types"].size() == 2);
  CHECK(j["types"][1]["layers"].size() == 3); // programs get all rows
}

TEST_CASE("tables: as CSV each is a file, whose rows say of what they are") {
  const auto all = csv_of(some_answer("net"));
  REQUIRE(all.size() == 2);
  CHECK(all[0].first == "models");
  CHECK(all[0].second == "\"model\",\"ns\",\"share\",\"for_programs\"\n"
                         "\"net\",26300000,0.5,7\n\"b\",,1,1\n");
  CHECK(all[1].first == "layers");
  CHECK(all[1].second.starts_with("\"type\",\"layer\",\"uses\"\n\"f32\",\"Relu\",3\n"));
  CHECK(holds(all[1].second, "\"bf16\",\"Add\",2\n"));
  // Fields alone are a row; of a list a row each.
  CHECK(csv_of({.fields = {{"n", whole(2)}}})[0].second == "\"n\"\n2\n");
  chapter list;
  for (const int n : {1, 2})
    list.chapters.push_back({.key = "runs", .fields = {{"run", whole(n)}}});
  REQUIRE(csv_of(list).size() == 1);
  CHECK(csv_of(list)[0].second == "\"run\"\n1\n2\n");
}

TEST_CASE("tables: what a file says is markup, formula or command in no format") {
  const std::string bad = "=1+1|<b>`\\end{x}$\x1b[2J\n\"&";
  const chapter a = some_answer(bad);
  for (const std::string& page : {text_of(a), markdown_of(a), latex_of(a), csv_of(a)[0].second})
    CHECK_MESSAGE(!holds(page, "\x1b"), page);
  CHECK(holds(markdown_of(a), "&lt;b&gt;")); // as code names need no escape
  CHECK_FALSE(holds(latex_of(a), "\\end{x}"));
  CHECK(holds(csv_of(a)[0].second, "\n\"'=1+1"));
  CHECK(json::parse(json_of(a))["models"][0]["model"] == bad);
}

TEST_CASE("tables: what is no number is nothing, as it is in JSON") {
  chapter a;
  a.add({.key = "rows", .columns = {{"n", "n", unit::time}}, .rows = {{std::nan("")}, {2.0}}});
  CHECK(csv_of(a)[0].second == "\"n\"\n\n2\n");
  CHECK(json::parse(json_of(a))["rows"][0]["n"].is_null());
  CHECK(text_of(a) == "      n\n      -\n2.00 ns\n");
}

TEST_CASE("tables: a long name has a line of its own, and figures stay in their columns") {
  const std::string longer(60, 'x');
  const std::string text = text_of(some_answer(longer));
  CHECK(holds(text, '\n' + longer + "\n       26.3 ms"));
}

TEST_CASE("tables: parts of one key are one list, and an empty one is there") {
  chapter a;
  a.add({.key = "rows", .columns = {{"n", "n"}}, .rows = {{whole(1)}}});
  a.add({.key = "rows", .columns = {{"why", "why"}}, .rows = {{"refused"}}});
  a.add({.key = "none", .columns = {{"n", "n"}}});
  const json j = json::parse(json_of(a));
  CHECK(j["rows"] == json::parse(R"([{"n": 1}, {"why": "refused"}])"));
  CHECK(j["none"] == json::array());
  CHECK(csv_of(a)[0].second == "\"n\",\"why\"\n1,\n,\"refused\"\n");
}
} // namespace test_of_tables
