// SPDX-License-Identifier: Apache-2.0
// benanza_analyze compose: models from sequences, in text and JSON, and what it refuses.
#include "command.hpp"
#include "result/document.hpp"

#include <benanza/model/forms.hpp>
#include <benanza/model/sequences.hpp>
#include <benanza/result/graph_file.hpp>

#include <doctest/doctest.h>

#include <fstream>

using namespace benanza;
using namespace benanza::test;

namespace {
/// A run, and in place of its cases the sequences of its models, each of 1 us a layer.
result::run sequences_run(std::int64_t length, double ns_a_layer = 1000,
                          result::run r = synthetic::small_run(),
                          model::form wanted = model::form::unfused) {
  const result::measurement like = r.measurements.front();
  r.measurements.clear();
  std::vector<model::graph> graphs;
  for (const model::graph* g : model::one_form_each(r.graphs, wanted))
    graphs.push_back(*g);
  for (const auto& [name, s] : model::unique_sequences(graphs, {.length = length}).unique) {
    r.graphs.push_back(s);
    for (const char* state : {"hot", "cold"}) {
      result::measurement m = like;
      m.name = name + "/f32/chain/first/" + state + "/t1";
      m.family = "sequence";
      m.key = name.substr(model::sequence_prefix.size());
      m.backend = "chain";
      m.algorithm = "first";
      m.state = state;
      m.type = m.equivalence = "f32";
      m.threads = 1;
      m.median_ns = m.min_ns = m.p10_ns = m.p90_ns =
          ns_a_layer * static_cast<double>(s.nodes.size());
      m.samples_ns = {m.median_ns};
      m.clock_ns = m.min_clock_ns = 0;
      r.measurements.push_back(m);
    }
  }
  return r;
}

void put(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}
} // namespace

TEST_CASE("compose puts models together and compares them with runs of the whole") {
  const scratch_folder s("compose");
  put(s / "run.json", synthetic::text(sequences_run(2)));
  put(s / "whole.json", synthetic::text(sequences_run(model::whole_model, 1010)));
  const outcome o = analyze({"compose", s / "run.json", "--granularity", "2"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.out.find("G = 2, chain, f32, 1 thread") != std::string::npos);
  const outcome both = analyze({"compose", s / "run.json", "--granularity", "2", "--against",
                                s / "whole.json", "--format", "json"});
  CAPTURE(both.err);
  REQUIRE(both.status == 0);
  const auto j = nlohmann::json::parse(both.out);
  for (const auto& m : j.at("models"))
    CHECK(m.at("n").get<double>() == doctest::Approx(1 / 1.01));
  CHECK(j.at("accuracy").at("within_5_percent") == j.at("models").size());
  CHECK(j.at("saving").at("by_latency").get<double>() > 0);
  const outcome best = analyze({"compose", s / "run.json", "--tiling", "best"});
  CAPTURE(best.err);
  CHECK(best.status == 0);
  CHECK(best.out.find("best tiling") != std::string::npos);
}

TEST_CASE("what sequences take and what models made of them take is of one state of the caches") {
  const scratch_folder s("compose_states");
  put(s / "whole.json", synthetic::text(sequences_run(model::whole_model, 1010)));
  const auto composed_over_sequences = [&](double hot_factor) {
    result::run r = sequences_run(2);
    for (result::measurement& m : r.measurements)
      if (m.family == "sequence" && m.state == "hot") {
        m.samples_ns = {m.median_ns * hot_factor};
        m.median_ns = m.min_ns = m.p10_ns = m.p90_ns = m.samples_ns[0];
      }
    put(s / "run.json", synthetic::text(r));
    const outcome o = analyze({"compose", s / "run.json", "--granularity", "2", "--against",
                               s / "whole.json", "--format", "json"});
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    const auto j = nlohmann::json::parse(o.out);
    REQUIRE(j.at("models").size() == 1);
    return j.at("models")[0].at("n").get<double>() * j.at("saving").at("by_latency").get<double>();
  };
  CHECK(composed_over_sequences(0.5) == doctest::Approx(composed_over_sequences(1)));
}

TEST_CASE("compose shows no interval of sequences that were measured in one state") {
  const scratch_folder s("compose_one_state");
  for (const char* state : {"hot", "llcw", "coldw", "cold"}) {
    CAPTURE(state);
    result::run r = sequences_run(2);
    std::erase_if(r.measurements, [](const auto& m) { return m.state == "cold"; });
    for (result::measurement& m : r.measurements)
      m.name.replace(m.name.find("/hot/"), 5, '/' + std::string(state) + '/'), m.state = state;
    put(s / "run.json", synthetic::text(r));
    const outcome o = analyze({"compose", s / "run.json", "--granularity", "2"});
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    CHECK(o.out.find("  -  ") != std::string::npos);
    CHECK(o.out.find("in one state (" + std::string(state) + ")") != std::string::npos);
    CHECK(o.out.find("hot,coldw,cold)") != std::string::npos);
    const auto j = nlohmann::json::parse(
        analyze({"compose", s / "run.json", "--granularity", "2", "--format", "json"}).out);
    CHECK(j.at("models")[0].at("low_ns").is_null());
  }
}

TEST_CASE("compose puts fused forms together from sequences of fused layers") {
  const scratch_folder s("compose_fused");
  put(s / "run.json",
      synthetic::text(sequences_run(2, 1000, synthetic::fused_run(), model::form::fused)));
  const outcome o =
      analyze({"compose", s / "run.json", "--granularity", "2", "--fused", "--format", "json"});
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const auto j = nlohmann::json::parse(o.out);
  REQUIRE(j.at("models").size() == 1);
  CHECK(j.at("models")[0].at("model") == "block@batch=1,fused");
  const outcome unfused = analyze({"compose", s / "run.json", "--granularity", "2"});
  CHECK(unfused.status == 2);
  CHECK(unfused.err.find("--fused") != std::string::npos);
}

TEST_CASE("compose refuses what is not whole in one line that names what is missing") {
  const scratch_folder s("compose_refused");
  result::run r = sequences_run(2);
  put(s / "run.json", synthetic::text(r));
  const auto refused = [](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), "compose");
    const outcome o = analyze(arguments);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(o.err.find(words) != std::string::npos);
  };
  refused({s / "run.json"}, "--granularity");
  refused({s / "run.json", "--granularity", "0"}, "from 1 on");
  refused({s / "run.json", "--granularity", "2", "--tiling", "best"}, "leave --granularity out");
  refused({s / "run.json", "--granularity", "1"}, "with this --granularity");
  refused({s / "run.json", "--granularity", "2", "--against", s / "run.json"}, "no run of");
  refused({s / "run.json", "--granularity", "2", "--threads", "3"}, "no sequence");
  refused({s / "run.json", "--granularity", "2", "--model", "nothing-is-called-so"}, "nothing-is");
  refused({s / "absent.json", "--granularity", "2"}, "absent.json");
  result::run lacking = r;
  std::erase_if(lacking.measurements,
                [&](const auto& m) { return m.key == r.measurements.front().key; });
  put(s / "lacking.json", synthetic::text(lacking));
  refused({s / "lacking.json", "--granularity", "2"},
          "--benchmark_filter='^sequence/(" + r.measurements.front().key + ")/'");
  const std::vector<model::graph> models = r.graphs;
  std::erase_if(r.graphs, [](const auto& g) { return !model::is_sequence(g); });
  put(s / "anonymous.json", synthetic::text(r));
  refused({s / "anonymous.json", "--granularity", "2"}, "--models");
  put(s / "map.json", result::to_text({.graphs = models, .known = {}}));
  const outcome o =
      analyze({"compose", s / "anonymous.json", "--granularity", "2", "--models", s / "map.json"});
  CAPTURE(o.err);
  CHECK(o.status == 0);
}

TEST_CASE("compose reads stores, and other commands say that it is about sequences alone") {
  const scratch_folder s("compose_store");
  put(s / "run.json", synthetic::text(sequences_run(2)));
  put(s / "whole.json", synthetic::text(sequences_run(model::whole_model, 1010)));
  const outcome bounds = analyze({s / "run.json"});
  CHECK(bounds.status == 2);
  CHECK(bounds.out.empty());
  CHECK(bounds.err.find("benanza_analyze compose") != std::string::npos);
  const outcome input =
      analyze({"compose", "--granularity", "2"}, synthetic::text(sequences_run(2)));
  CHECK(input.status == 0);
  CHECK(analyze({"compose", s / "run.json", "--granularity", "2", "--system", "1"}).status == 2);

  const std::string store = s / "s.db";
  if (analyze({"--import", s / "run.json", s / "whole.json", "--store", store}).status != 0)
    return; // built without SQLite
  const auto told = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compose");
    const outcome o = analyze(arguments);
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    return o.out;
  };
  CHECK(told({store, "--granularity", "2", "--against", store, "--system", "latest"}) ==
        told({s / "run.json", "--granularity", "2", "--against", s / "whole.json"}));
  CHECK(analyze({store}).err.find("benanza_analyze compose") != std::string::npos);
}
