// SPDX-License-Identifier: Apache-2.0
// Is an experiment read as it was written, is what is none refused in one line, and is every way in
// which a result is not what was asked for found?
#include "synthetic.hpp"

#include <benanza/result/experiment.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace benanza::result;

experiment of_small_run() {
  const run r = synthetic::small_run();
  experiment e{.name = "small", .note = "a note"};
  e.models.push_back({r.graphs[0].name, content_of(r.graphs[0])});
  e.types = {"f32"};
  e.states = {"hot"};
  e.backends = {"onednn"};
  e.effort = "normal";
  e.scenarios = {"single_stream"};
  e.expects["machine"]["cores"] = "8";
  e.expects["software"]["onednn_version"] = ">=2.6 <4";
  return e;
}

/// What such an experiment asks for.
run as_asked() {
  run r = synthetic::small_run();
  r.provenance["machine"]["cores"] = "8";
  r.provenance["software"]["onednn_version"] = "2.6.3";
  r.provenance["measuring"]["effort"] = "normal";
  std::erase_if(r.measurements, [](const measurement& m) { return m.backend != "onednn"; });
  measurement m = r.measurements[0];
  m.family = "model";
  m.key = r.graphs[0].name;
  m.backend = "chain";
  m.state = "single_stream";
  r.measurements.push_back(m);
  return r;
}

std::string refusal(const std::string& text) {
  try {
    (void)read_experiment(text, "e.json");
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

/// What differs, in the order in which it is reported.
std::vector<std::string> differing(const experiment& e, const run& r) {
  std::vector<std::string> out;
  for (const deviation& d : deviations(e, r))
    out.push_back(d.what);
  return out;
}

} // namespace

TEST_CASE("an experiment comes back as it was written") {
  const experiment e = of_small_run();
  const std::string text = to_json(e).dump();
  CHECK(to_json(read_experiment(text, "e.json")).dump() == text);
}

TEST_CASE("what is no experiment is refused in one line that names the file") {
  for (
      const char* text :
      {"", "[]", "{}", "{\"benanza_experiment\": 2}", "{\"benanza_experiment\": 1}",
       R"({"benanza_experiment": 1, "models": []})",
       R"({"benanza_experiment": 1, "models": [{"name": "m"}]})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": 5}]})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "threads": [0]})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "types": ["f33"]})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "effort": "much"})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "graphs": "/etc/a"})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "graphs": "../a"})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "graphs": "a/../../b"})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "graphs": "a\u0000b"})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "expects": []})",
       R"({"benanza_experiment": 1, "models": [{"name": "m", "content": "c"}], "tyqes\u001b": []})"}) {
    CAPTURE(text);
    const std::string said = refusal(text);
    CHECK(said.find("e.json") != std::string::npos);
    CHECK(said.find('\n') == std::string::npos);
    CHECK(said.find('\x1b') == std::string::npos);
  }
  CHECK(refusal(std::string(100'000, '[')).find("e.json") != std::string::npos);
}

TEST_CASE("a model is what its layers are and what reads what, whatever it is called") {
  run r = synthetic::small_run();
  const std::string content = content_of(r.graphs[0]);
  r.graphs[0].name = "another";
  r.graphs[0].nodes[0].name = "another";
  CHECK(content_of(r.graphs[0]) == content);
  auto other = r.graphs[0];
  other.batch = 2;
  CHECK(content_of(other) != content);
  other = r.graphs[0];
  other.nodes.pop_back();
  CHECK(content_of(other) != content);
}

TEST_CASE("versions hold where each comparison does") {
  CHECK(holds("2.6.3", "2.6.3"));
  CHECK(holds(">=2.6 <4", "2.6.3"));
  CHECK(holds(">=2.6 <4", "3.12"));
  CHECK(holds("==2.6", "2.6.0"));
  CHECK_FALSE(holds(">=2.6 <4", "4.0"));
  CHECK_FALSE(holds(">2.6.3", "2.6.3"));
  CHECK_FALSE(holds(">=2", "not told"));
  CHECK_FALSE(holds("2.6", "2.6.3"));
  CHECK_FALSE(holds(">=", "2.6.3"));
  CHECK_FALSE(holds("", "2.6.3"));
}

TEST_CASE("a result is what was asked for, or every difference is named") {
  const experiment e = of_small_run();
  const run r = as_asked();
  CHECK(differing(e, r).empty());
  using names = std::vector<std::string>;
  run other = r;
  other.provenance["machine"]["cores"] = "2";
  other.provenance["software"]["onednn_version"] = "4.1";
  CHECK(differing(e, other) == names{"machine.cores", "software.onednn_version"});
  other = r;
  other.graphs[0].batch = 3;
  CHECK(differing(e, other) == names{"model " + r.graphs[0].name});
  other = r;
  other.measurements.pop_back();
  CHECK(differing(e, other) == names{"scenario"});
  other = r;
  other.provenance["measuring"]["effort"] = "quick";
  other.provenance["measuring"]["interrupted"] = "yes";
  CHECK(differing(e, other) == names{"effort", "run"});
  other = r;
  for (measurement& m : other.measurements)
    m.backend = "host";
  CHECK(differing(e, other) == names{"backend", "backend"}); // one lacks, another is there
  experiment more = e;
  more.types.push_back("bf16");
  more.threads = {1, 2};
  more.states.push_back("cold");
  CHECK(differing(more, r) == names{"type", "state", "threads"});
  other = r;
  other.measurements[0].error = "crashed";
  CHECK(differing(e, other) == names{"cases"});
}
