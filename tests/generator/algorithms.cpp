// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using benanza::test::holds;
using benanza::test::one_line;
using benanza::test::scratch_folder;
using benanza::test::shell;

namespace {
const std::string generate = BENANZA_GENERATE_BINARY;

struct layers {
  scratch_folder folder{"algorithms"};
  std::string file = folder / "layers.txt";
  explicit layers(const std::string& text) { std::ofstream(file) << text; }
  benanza::test::outcome list(const std::string& options) const {
    return shell(generate + " --layers " + file + " --algorithms " + options);
  }
};

constexpr bool with_cudnn =
#ifdef BENANZA_WITH_CUDNN
    true;
#else
    false;
#endif
} // namespace

TEST_CASE("a layer counts as often as its model has it, in whichever form" *
          doctest::skip(!with_cudnn)) {
  const scratch_folder folder("uses");
  REQUIRE(shell(generate + " zoo lenet -q -o " + folder.path.string()).status == 0);
  const auto said =
      shell(generate + " " + (folder / "lenet.onnx") + " --algorithms --target h100 --types f16");
  CHECK(said.status == 0);
  CHECK(holds(said.out, "MaxPool/1x16x14x14-3x3-s3 f16 x1\n")); // in both forms
  CHECK_FALSE(holds(said.out, " x2\n"));
}

TEST_CASE("what cuDNN has outside its graph API is listed too" * doctest::skip(!with_cudnn)) {
  const layers some("LRN/1x96x55x55-n5\nLSTM/9x1x32-h32-b\n");
  const auto said = some.list("--target h100 --types f32");
  CHECK(said.status == 0);
  CHECK(holds(said.out, "\ncuDNN    lrn"));
  CHECK(holds(said.out, "\ncuDNN    rnn:standard"));
  CHECK_FALSE(holds(said.out, "no library has"));
}

TEST_CASE("what cuDNN has for layers on a GPU that is not here, as a table and as JSON" *
          doctest::skip(!with_cudnn)) {
  const layers some("Conv/16x64x56x56-64x3x3-s1-p1\nSoftmax/4x1000-a1\nConcat/1x8x4x4-a1-n2\n");
  const auto text = some.list("--target h200 --types f16");
  CHECK(text.status == 0);
  CHECK(holds(text.out, " on h200 (compute capability 9.0), described, not measured"));
  CHECK(holds(text.out, "\nConv/16x64x56x56-64x3x3-s1-p1 f16 x1\n"));
  CHECK(holds(text.out, "cuDNN    nhwc:eng"));
  CHECK(holds(text.out, "tensor-cores"));
  CHECK(holds(text.out, "\nCUDA     kernel:v8"));
  CHECK_FALSE(holds(text.out, "no library has anything"));
  const auto json = some.list("--target h200 --types f16,tf32 --format json");
  CHECK(json.status == 0);
  const auto all = nlohmann::json::parse(json.out);
  CHECK(all.at("target") == "h200");
  CHECK(nlohmann::json::parse(all.at("device").get<std::string>()).at("deviceVer") == 900);
  CHECK_FALSE(all.contains("warning"));
  std::set<std::string> types;
  for (const auto& l : all.at("layers")) {
    types.insert(l.at("type"));
    std::set<std::string> ids;
    bool moved = false;
    for (const auto& a : l.at("algorithms")) {
      moved = moved || a.at("library") == "CUDA";
      if (a.at("library") != "cuDNN") continue;
      CHECK(ids.insert(a.at("algorithm")).second);
      CHECK(a.at("algorithm_index") == ids.size() - 1);
      if (l.at("type") == "tf32") CHECK(holds(a.at("notes"), "tensor-cores"));
    }
    if (l.at("family") == "Conv") CHECK(ids.size() > 20);
    CHECK(moved != (l.at("family") == "Conv" || l.at("type") == "tf32"));
  }
  CHECK(types == std::set<std::string>{"f16", "tf32"});
  const std::string tables = some.folder / "tables/";
  CHECK(some.list("--target h200 --types f16 --format csv -o " + tables).status == 0);
  CHECK(holds(benanza::test::text_of(tables + "algorithms.csv"),
              "\"h200\",\"Conv\",\"16x64x56x56-64x3x3-s1-p1\",\"f16\",\"cuDNN\","));
}

TEST_CASE("of cuBLAS the plain functions are listed, and what the GPU alone can say is named" *
          doctest::skip(!with_cudnn)) {
  const layers some(
      "Gemm/1x10x256-w\nGemm/8x10x256-tb-c1x10-w\nConv/1x8x9x9-16x1x1-s1\nRelu/4x4\n");
  const auto text = some.list("--target h200 --types f32");
  CHECK(text.status == 0);
  CHECK(
      holds(text.out, "lt:..., wt:lt:...: cublasLt lists its algorithms on the GPU itself alone."));
  const auto json = some.list("--target h200 --types f32 --format json");
  CHECK(json.status == 0);
  std::map<std::string, std::string> found, unknown;
  const auto listed = nlohmann::json::parse(json.out);
  for (const auto& l : listed.at("layers")) {
    const std::string layer =
        l.at("family").get<std::string>() + '/' + l.at("key").get<std::string>();
    for (const auto& a : l.at("algorithms"))
      if (a.at("library") == "cuBLAS") found[layer] += a.at("algorithm").get<std::string>() + ' ';
    for (const auto& a : l.at("only_known_on_the_gpu"))
      unknown[layer] += a.get<std::string>() + ' ';
  }
  using words = std::map<std::string, std::string>;
  CHECK(found == words{{"Gemm/1x10x256-w", "gemm gemv wt:gemm wt:gemv "},
                       {"Conv/1x8x9x9-16x1x1-s1", "gemm nhwc:gemm "}});
  CHECK(unknown == words{{"Gemm/1x10x256-w", "lt:... wt:lt:... "},
                         {"Gemm/8x10x256-tb-c1x10-w", "lt:... wt:lt:... "},
                         {"Conv/1x8x9x9-16x1x1-s1", "lt:... nhwc:lt:... "}});
  CHECK(holds(some.list("--target h200 --types e4m3").out, "wt:lt:...: cublasLt lists"));
  CHECK_FALSE(holds(some.list("--target t4 --types tf32").out, "cuBLAS"));
  CHECK_FALSE(holds(layers("Relu/4x4\n").list("--target h200").out, "cuBLAS"));
}

TEST_CASE("a GPU that this CUDA no longer runs on is listed, and said to be so" *
          doctest::skip(!with_cudnn)) {
  const layers one("Conv/1x64x56x56-64x3x3-s1-p1\n");
  CHECK(holds(one.list("--target v100").out, "do not run on compute capability 7.0"));
}

TEST_CASE("targets that are none, and options that mean nothing alone, are refused in one line") {
  const layers one("Conv/1x64x56x56-64x3x3-s1-p1\n");
  std::ofstream(one.folder / "bad.json") << "{\"deviceVer\":900}";
  std::vector<std::string> refused = {
      generate + " --layers " + one.file + " --algorithms",
      generate + " --layers " + one.file + " --algorithms --target gtx8800",
      generate + " --layers " + one.file + " --algorithms --target " + (one.folder / "bad.json"),
      generate + " --layers " + one.file + " --algorithms --target h200 --types f17",
      generate + " --layers " + one.file + " --target h200 -o " + (one.folder / "out"),
      generate + " --layers " + one.file + " --types f16 -o " + (one.folder / "out"),
      generate + " --algorithms --target h200"};
  for (const std::string& command : refused) {
    const auto o = shell(command);
    CAPTURE(command);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(one_line(o.err));
  }
}

TEST_CASE("a description that cuDNN would not survive, or that is none, is refused in one line" *
          doctest::skip(!with_cudnn)) {
  const layers some("Relu/1x8x4x4\n");
  const auto described = [&](const std::string& name, const std::string& text) {
    std::ofstream(some.folder / name) << text;
    return some.folder / name;
  };
  const std::string levels(150'000, '[');
  REQUIRE(shell("mkfifo " + (some.folder / "pipe")).status == 0);
  for (const auto& [target, words] : std::vector<std::pair<std::string, std::string>>{
           {described("a", levels), "nested deeper than 64"},
           {described("b", "{\"deviceVer\":" + levels + std::string(levels.size(), ']') + "}"),
            "nested deeper than 64"},
           {described("c", "{\"deviceVer\":900,\"multiProc"), "--describe-device"},
           {described("n", "{\"deviceName\":\"" + std::string(256, 'n') + "\"}"), "too long"},
           {described("d", std::string(2'000'000, ' ')), "too long"},
           {some.folder / "pipe", "no file that can be read"},
           {"/dev/zero", "no file that can be read"},
           {"/", "no file that can be read"}}) {
    const auto o = some.list("--target " + target);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(one_line(o.err));
    CHECK(holds(o.err, words));
  }
}
