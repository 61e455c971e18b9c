// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
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

TEST_CASE("what cuDNN has for layers on a GPU that is not here, as a table and as JSON" *
          doctest::skip(!with_cudnn)) {
  const layers some("Conv/16x64x56x56-64x3x3-s1-p1\nSoftmax/4x1000-a1\nConcat/1x8x4x4-a1-n2\n");
  const auto text = some.list("--target h200 --types f16");
  CHECK(text.status == 0);
  CHECK(holds(text.out, " on h200 (compute capability 9.0), described, not measured"));
  CHECK(holds(text.out, "Conv/16x64x56x56-64x3x3-s1-p1  f16 x1: "));
  CHECK(holds(text.out, "nhwc:eng"));
  CHECK(holds(text.out, "tensor cores"));
  CHECK(holds(text.out, "cuDNN has nothing for:\n  Concat/1x8x4x4-a1-n2 f16 x1\n"));
  CHECK(
      holds(text.out, "  Concat/1x8x4x4-a1-n2 f16 x1: memcpy, kernel:v1, kernel:v4, kernel:v8\n"));
  CHECK_FALSE(holds(text.out, "Nothing at all is there for:"));
  const auto json = some.list("--target h200 --types f16,tf32 --format json");
  CHECK(json.status == 0);
  const auto all = nlohmann::json::parse(json.out);
  CHECK(all.at("target") == "h200");
  CHECK(all.at("device").at("deviceVer") == 900);
  CHECK_FALSE(all.contains("warning"));
  std::set<std::string> types;
  for (const auto& l : all.at("layers")) {
    types.insert(l.at("type"));
    std::set<std::string> ids;
    for (const auto& a : l.at("algorithms")) {
      CHECK(ids.insert(a.at("algorithm")).second);
      CHECK(a.at("algorithm_index") == ids.size() - 1);
      if (l.at("type") == "tf32") CHECK(holds(a.at("notes"), "tensor-cores"));
    }
    if (l.at("family") == "Conv") CHECK(ids.size() > 20);
    CHECK(l.at("movers").empty() == (l.at("family") == "Conv" || l.at("type") == "tf32"));
  }
  CHECK(types == std::set<std::string>{"f16", "tf32"});
}

TEST_CASE("of cuBLAS the plain functions are listed, and what the GPU alone can say is named" *
          doctest::skip(!with_cudnn)) {
  const layers some(
      "Gemm/1x10x256-w\nGemm/8x10x256-tb-c1x10-w\nConv/1x8x9x9-16x1x1-s1\nRelu/4x4\n");
  const auto text = some.list("--target h200 --types f32");
  CHECK(text.status == 0);
  CHECK(holds(text.out, "\ncuBLAS has, where cublasLt lists its algorithms on the GPU itself "
                        "alone:\n"));
  CHECK(holds(text.out, "\n  Gemm/1x10x256-w f32 x1: gemm, gemv, wt:gemm, wt:gemv, "
                        "lt:..., wt:lt:...\n"));
  CHECK(holds(text.out, "\n  Gemm/8x10x256-tb-c1x10-w f32 x1: lt:..., wt:lt:...\n"));
  CHECK(holds(text.out, "\n  Conv/1x8x9x9-16x1x1-s1 f32 x1: gemm, nhwc:gemm, lt:..., "
                        "nhwc:lt:...\n"));
  CHECK(holds(some.list("--target h200 --types e4m3").out,
              "\n  Gemm/1x10x256-w e4m3 x1: wt:lt:...\n"));
  const auto json = some.list("--target h200 --types f32 --format json");
  CHECK(json.status == 0);
  const auto listed = nlohmann::json::parse(json.out);
  for (const auto& l : listed.at("layers")) {
    CHECK(l.contains("cublas") == (l.at("family") != "Relu"));
    if (l.at("key") != "1x10x256-w") continue;
    REQUIRE(l.at("cublas").at("algorithms").size() == 4);
    CHECK(l.at("cublas").at("algorithms")[1].at("algorithm") == "gemv");
    CHECK(holds(l.at("cublas").at("left_out"), "on the GPU itself"));
  }
  CHECK_FALSE(holds(some.list("--target t4 --types tf32").out, "cuBLAS has"));
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
