// SPDX-License-Identifier: Apache-2.0
// benanza_generate and sequences of layers: what is written in place of single layers, what a sweep
// says, and that an anonymous suite names nothing.
#include "program.hpp"

#include <benanza/model/sequence.hpp>
#include <benanza/result/graph_file.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace benanza;
using namespace benanza::test;
namespace fs = std::filesystem;

namespace {
const std::string generator_program = BENANZA_GENERATE_BINARY;

outcome generate_with(const std::string& arguments) {
  return shell(generator_program + " " + arguments);
}
} // namespace

TEST_CASE("sequences take the place of layers, and everything of a model as one of them") {
  const scratch_folder s("sequences");
  REQUIRE(generate_with("zoo lenet -o " + (s / "m")).status == 0);
  const std::string model = s / "m/lenet.onnx";
  const outcome o = generate_with(model + " --granularity 3 -o " + (s / "three"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(o.out.find("unique ones to measure") != std::string::npos);
  const auto three = result::read_graph_file(s / "three/graphs.json");
  std::size_t sequences = 0;
  for (const model::graph& g : three.graphs)
    sequences += model::is_sequence(g);
  CHECK(sequences + 1 == three.graphs.size());
  CHECK(sequences >= 4);
  for (const model::graph& g : three.graphs)
    for (const op::layer& l : g.layers)
      CHECK(three.known.contains(op::name(l)));
  REQUIRE(generate_with(model + " --granularity all -o " + (s / "all")).status == 0);
  const auto all = result::read_graph_file(s / "all/graphs.json");
  REQUIRE(all.graphs.size() == 2);
  CHECK(model::text_of(all.graphs[0]) == model::text_of(all.graphs[1]));
  CHECK(text_of(s / "three/graph.cpp").find("sequence/") != std::string::npos);
}

TEST_CASE("sequences of the fused form are of fused layers, and the model is next to its form") {
  const scratch_folder s("fused_sequences");
  REQUIRE(generate_with("zoo lenet -o " + (s / "m")).status == 0);
  const std::string model = s / "m/lenet.onnx";
  const outcome o = generate_with(model + " --granularity 2 --fused --no-sources -o " + (s / "f"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  std::size_t models = 0, forms = 0, fused = 0;
  for (const model::graph& g : result::read_graph_file(s / "f/graphs.json").graphs) {
    models += !model::is_sequence(g) && g.unfused.empty();
    forms += !g.unfused.empty();
    if (model::is_sequence(g)) {
      CHECK(g.unfused.empty());
      for (const op::layer& l : g.layers)
        fused += op::family(l).find('+') != std::string::npos;
    }
  }
  CHECK(models == 1);
  CHECK(forms == 1);
  CHECK(fused > 0);
  CHECK(generate_with(model + " --sweep 1:2 --fused").status == 0);
  CHECK(generate_with(model + " --fused -o " + (s / "x")).status == 2);
  CHECK(generate_with(model + " --sweep 1:2 --fused --no-fusion").status == 2);
}

TEST_CASE("an anonymous suite names no model and no node, and its map is elsewhere") {
  const scratch_folder s("anonymous");
  REQUIRE(generate_with("zoo lenet bvlc-alexnet -o " + (s / "m")).status == 0);
  const std::string command = (s / "m/lenet.onnx") + " --granularity 3 --anonymise --decoy " +
                              (s / "m/bvlc-alexnet.onnx") + " -o ";
  const outcome o = generate_with(command + (s / "suite"));
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK(shell("grep -rilE 'lenet|alexnet|@batch' " + (s / "suite")).out.empty());
  const auto suite = result::read_graph_file(s / "suite/graphs.json");
  std::string before;
  for (const model::graph& g : suite.graphs) {
    CHECK(model::is_sequence(g));
    CHECK(before < g.name);
    before = g.name;
  }
  const auto map = nlohmann::json::parse(text_of(s / "suite.map.json"));
  CHECK(map.at("sequences").size() == 2);
  REQUIRE(map.at("decoys").size() == 1);
  CHECK(map.at("decoys")[0] == "bvlc-alexnet@batch=1");
  CHECK(result::read_graph_file(s / "suite.map.json").graphs.size() == 2);
  const outcome inside =
      generate_with(command + (s / "suite") + " --map " + (s / "suite/map.json"));
  CHECK(inside.status == 2);
  CHECK(one_line(inside.err));
}

TEST_CASE("an anonymous suite and its map change together, and the map is its owner's alone") {
  const scratch_folder s("anonymous_map");
  REQUIRE(generate_with("zoo lenet bvlc-alexnet -o " + (s / "m")).status == 0);
  const std::string how = " --granularity 3 --anonymise -o " + (s / "suite");
  REQUIRE(generate_with((s / "m/lenet.onnx") + how).status == 0);
  const std::string map = text_of(s / "suite.map.json");
  CHECK(std::filesystem::status(s / "suite.map.json").permissions() ==
        std::filesystem::perms(0600));
  REQUIRE(shell("touch " + (s / "suite/note.txt")).status == 0);
  CHECK(generate_with((s / "m/bvlc-alexnet.onnx") + how).status == 2);
  CHECK(text_of(s / "suite.map.json") == map);
  REQUIRE(shell("rm " + (s / "suite/note.txt")).status == 0);
  CHECK(generate_with((s / "m/bvlc-alexnet.onnx") + how).status == 0);
  CHECK(text_of(s / "suite.map.json") != map);
}

TEST_CASE("a sweep prints a row a granularity and recommends one, without a folder") {
  const scratch_folder s("sweep");
  REQUIRE(generate_with("zoo resnet18-v1 -o " + (s / "m")).status == 0);
  const std::string model = s / "m/resnet18-v1.onnx";
  const outcome o = generate_with(model + " --sweep 1:4 --format json");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const auto j = nlohmann::json::parse(o.out);
  REQUIRE(j.at("granularities").size() == 4);
  CHECK(j.at("granularities")[0].at("mean_length") == 1.0);
  CHECK(j.at("granularities")[0].at("saving") > 1.0);
  CHECK(j.at("recommended") > 1);
  const std::string text = generate_with(model + " --sweep 1:4 --split window").out;
  CHECK(text.find("take --granularity ") != std::string::npos);
  CHECK(text.find("the longest that saves 90 % or more of what") != std::string::npos);
  // Of LeNet no sequence comes twice.
  REQUIRE(generate_with("zoo lenet -o " + (s / "m")).status == 0);
  const std::string alone = generate_with((s / "m/lenet.onnx") + " --sweep 1:4").out;
  CHECK(alone.find("1.00\n") != std::string::npos);
  CHECK(alone.find("take --granularity") == std::string::npos);
  CHECK(alone.find("no G above 1 was seen to save anything") != std::string::npos);
  for (const std::string& wrong : std::vector<std::string>{
           " --sweep 4:1", " --sweep x", " --granularity 0 -o " + (s / "x"), " --granularity 2",
           " --anonymise -o " + (s / "x"), " --sweep 1:2 --granularity 2"}) {
    const outcome no = generate_with(model + wrong);
    CAPTURE(wrong);
    CHECK(no.status == 2);
    CHECK(one_line(no.err));
  }
  const outcome alike = generate_with("stats " + model + " --similarity --granularity 4");
  CAPTURE(alike.err);
  CHECK(alike.status == 0);
  CHECK(alike.out.find("resnet18-v1@batch=1") != std::string::npos);
  const outcome pair =
      generate_with("stats " + model + " " + (s / "m/lenet.onnx") + " --similarity");
  CHECK(pair.out.find("0.000      0.000  resnet18-v1@batch=1  lenet@batch=1") != std::string::npos);
}
