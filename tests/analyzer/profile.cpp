// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze profile` answer, and what does it refuse?
#include "../profile/made_up.hpp"
#include "../result/document.hpp"
#include "command.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace test_of_profile_command {
using namespace benanza::test;
using benanza::result::json;

std::string file(const scratch_folder& f, benanza::result::run r = test_of_profile::levels_run()) {
  r.provenance = synthetic::empty_run().provenance;
  for (auto& m : r.measurements) {
    m.samples_ns = {m.median_ns};
    m.p10_ns = m.p90_ns = m.median_ns;
    m.stop_reason = "time";
    m.layouts = "plain";
  }
  std::ofstream(f / "levels.json") << synthetic::text(r);
  return f / "levels.json";
}

constexpr const char* ort =
    R"([{"cat":"Session","pid":1,"tid":1,"dur":50,"ts":0,"ph":"X","name":"model_run","args":{}},
{"cat":"Session","pid":1,"tid":1,"dur":20,"ts":100,"ph":"X","name":"model_run","args":{}},
{"cat":"Node","pid":1,"tid":1,"dur":9,"ts":105,"ph":"X","name":"first_kernel_time","args":{"op_name":"Relu","provider":"CPUExecutionProvider","node_index":"0"}}])";

TEST_CASE("profile: the first page, and what it says that it cannot have") {
  const scratch_folder f("profile");
  const outcome o = analyze({"profile", file(f)});
  CHECK(o.status == 0);
  CHECK(o.out.find("benanza: net@batch=1 f32, 1 thread, cpu\n") == 0);
  CHECK(o.out.find("model 10.0 us; events of layers +500 ns (+5.0 %); events of calls +3.50 us") !=
        std::string::npos);
  for (const char* title : {"A1 ", "T ", "A6 ", "A10 ", "A15 "})
    CHECK(o.out.find(std::string("\n") + title) != std::string::npos);
  CHECK(o.out.find("\nA2 ") == std::string::npos);
  CHECK(o.out.find("one batch was measured") != std::string::npos);
}

TEST_CASE("profile: every analysis as JSON, and a timeline with the framework next to ours") {
  const scratch_folder f("profile");
  std::ofstream(f / "ort.json") << ort;
  const outcome o = analyze({"profile", file(f), "--framework", f / "ort.json", "--timeline",
                             f / "t.json", "--format", "json"});
  CHECK(o.status == 0);
  const json j = json::parse(o.out);
  REQUIRE(j["runs"].size() == 2);
  std::set<std::string> analyses;
  for (const json& c : j["columns"]) {
    analyses.insert(c["analysis"]);
    for (const json& row : j["runs"][0][c["analysis"].get<std::string>()])
      CHECK(row.contains(c["column"].get<std::string>()));
  }
  CHECK(analyses.size() == 16);
  CHECK(j["runs"][1]["who"] == "onnxruntime");
  CHECK(j["runs"][1]["model_ns"] == 20'000);
  CHECK(j["runs"][1]["layer_events_ns"].is_null());
  std::ifstream in(f / "t.json");
  const json t = json::parse(std::string{std::istreambuf_iterator<char>(in), {}});
  CHECK(t["traceEvents"].size() > 10);
  // A framework alone needs no result.
  CHECK(analyze({"profile", "--framework", f / "ort.json", "--only", "A2"}).status == 0);
}

TEST_CASE("profile: where a level failed the answer is partial, and says so") {
  const scratch_folder f("profile");
  benanza::result::run r = test_of_profile::levels_run();
  r.measurements[2].error = "wrong result";
  const outcome o = analyze({"profile", file(f, r)});
  CHECK(o.status == 1);
  CHECK(o.err.find("partial: net@batch=1, level-call failed: wrong result") != std::string::npos);
  CHECK(o.out.find("measure with --levels call") != std::string::npos);
}

TEST_CASE("profile: what is refused is refused in a line") {
  const scratch_folder f("profile");
  const std::string levels = file(f);
  const auto refused = [](std::vector<std::string> words, const char* why) {
    const outcome o = analyze(std::move(words));
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(o.err.find(why) != std::string::npos);
  };
  refused({"profile", levels, "--only", "A2,A99"}, "A99");
  refused({"profile", levels, "--rows", "many"}, "--rows takes a number or all");
  refused({"profile", levels, "--model", "resnet"}, "--model resnet");
  refused({"profile", levels, "--framework", levels}, "no profile");
  refused({"profile", f / "absent.json"}, "absent.json");
  refused({"profile", levels, "--levels"}, "benanza_analyze profile --help");
  std::ofstream(f / "plain.json") << synthetic::text(synthetic::small_run());
  refused({"profile", f / "plain.json"}, "--levels call");
}
} // namespace test_of_profile_command
