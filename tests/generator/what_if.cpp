// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <generator/what_if/data_sheet.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

using namespace benanza;
using namespace benanza::generator;
using benanza::test::holds;
using benanza::test::one_line;
using benanza::test::scratch_folder;
using benanza::test::shell;

namespace {
const std::string generate = BENANZA_GENERATE_BINARY;

constexpr bool with_cudnn =
#ifdef BENANZA_WITH_CUDNN
    true;
#else
    false;
#endif

struct asked {
  scratch_folder folder{"what_if"};
  std::string file = folder / "layers.txt";
  explicit asked(const std::string& text) { std::ofstream(file) << text; }
  test::outcome what_if(const std::string& options) const {
    // Without what may be installed here.
    return shell("unset VIRTUAL_ENV CONDA_PREFIX; export HOME=" + folder.path.string() + "; " +
                 generate + " --layers " + file + " --algorithms --what-if " + options);
  }
};

nlohmann::json layer_of(const nlohmann::json& all, const std::string& family,
                        const std::string& type) {
  for (const auto& l : all.at("layers"))
    if (l.at("family") == family && l.at("type") == type) return l;
  return {};
}
} // namespace

TEST_CASE("a roofline of a data sheet is the longer of arithmetic and memory") {
  const data_sheet a100 = *find_data_sheet("a100");
  CHECK_FALSE(find_data_sheet("my_gpu.json"));
  CHECK(a100.flops_per_ns(numeric::bf16) == 312e3);
  const auto roof_of = [&](const char* layer, numeric t) {
    const op::layer l = op::parse(layer);
    return roofline(a100, l, t, op::direct_flops(l));
  };
  // 2 * 4096^3 operations, 3 * 4096^2 elements
  const auto f16 = roof_of("Gemm/4096x4096x4096-w", numeric::f16);
  REQUIRE(f16);
  CHECK(f16->ns == doctest::Approx(2.0 * 4096 * 4096 * 4096 / 312e3));
  CHECK_FALSE(f16->by_memory());
  const auto add = roof_of("Add/1024x1024", numeric::f32);
  REQUIRE(add);
  CHECK(add->by_memory());
  CHECK(add->ns == doctest::Approx(3 * 4 * 1024 * 1024 / 2039.0));
  CHECK(roof_of("Reshape/2x3-6", numeric::f32)->ns == 0);
  CHECK_FALSE(roof_of("Gemm/64x64x64-w", numeric::e4m3)); // an A100 has none
}

TEST_CASE("what is known of layers on a GPU that is not here, each figure with its mark" *
          doctest::skip(!with_cudnn)) {
  const asked some("Gemm/128x3072x768-w\nConv/1x64x56x56-64x3x3-s1-p1\nConcat/1x8x4x4-a1-n2\n");
  const auto o = some.what_if("--target h100 --types f32,f16 --format json");
  CHECK(o.err == "");
  REQUIRE(o.status == 0);
  const auto all = nlohmann::json::parse(o.out);
  CHECK(all.at("measured") == false);
  CHECK(all.at("data_sheet").at("mark") == "data sheet");
  CHECK(all.at("data_sheet").at("dense_tflop_per_s").at("f16") == 989.5);

  const auto product = layer_of(all, "Gemm", "f16");
  CHECK(product.at("roofline").at("mark") == "roofline of data sheet");
  CHECK(product.at("roofline").at("limited_by") == "memory");
  CHECK(product.at("roofline").at("us").get<double>() ==
        doctest::Approx(2 * (128 * 3072 + 3072 * 768 + 128 * 768) / 3350e3));
  CHECK(product.at("cudnn").at("mark") == "listed");
  CHECK(product.at("cudnn").at("tensor_cores") == "listed");
  const auto conv = layer_of(all, "Conv", "f16");
  CHECK(conv.at("cudnn").at("engines") > 5);
  CHECK(conv.at("cudnn").at("first").size() == 2);
  CHECK(layer_of(all, "Concat", "f16").at("cudnn").contains("refused"));
  CHECK(layer_of(all, "Conv", "f32").at("cudnn").at("tensor_cores") == "none");

  const auto& types = all.at("models")[0].at("types");
  REQUIRE(types.size() == 2);
  CHECK(types[1].at("algorithms").at("no_engine").at("layers") == 1);
  const auto& on = types[1].at("tensor_cores");
  CHECK(on.at("by_cudnn").at("layers") == 2);
  CHECK(on.at("roofline").at("without_us") > on.at("roofline").at("with_us"));
}

TEST_CASE("the page of a model has fusion by rooflines, and fits its columns" *
          doctest::skip(!with_cudnn)) {
  const scratch_folder folder("what_if_model");
  REQUIRE(shell(generate + " zoo squeezenet-v1.1 -q -o " + folder.path.string()).status == 0);
  const auto o = shell(generate + " " + (folder / "squeezenet-v1.1.onnx") +
                       " --algorithms --what-if --target a100");
  CHECK(o.status == 0);
  CHECK(holds(o.out, "squeezenet-v1.1@batch=1 on a100 (compute capability 8.0): not measured\n"));
  for (const char* type : {"\n  f32  ", "\n  tf32 ", "\n  f16  ", "\n  bf16 "})
    CHECK(holds(o.out, type));
  CHECK(holds(o.out, "\n     26     26     26     26     26 ")); // of Conv+Relu, in each type
  CHECK(holds(o.out, "gains most"));
  CHECK(holds(o.out, "\n1  Rooflines"));
  CHECK(holds(o.out, "\n4  Tensor cores"));
  CHECK(holds(o.out, "Launches are not in it: of "));
  std::size_t lines = 0;
  for (const std::string_view line : items(o.out, "\n")) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
    ++lines;
  }
  CHECK(lines < 65);
}

TEST_CASE("what is not known is no number" * doctest::skip(!with_cudnn)) {
  const asked some("Gemm/128x3072x768-w\n");
  const auto old = some.what_if("--target v100 --format json");
  REQUIRE(old.status == 0);
  const auto v100 = nlohmann::json::parse(old.out);
  for (const auto& t : v100.at("models")[0].at("types")) {
    const bool there = t.at("type") == "f32" || t.at("type") == "f16";
    CHECK(t.contains("roofline") == there);
  }
  CHECK_FALSE(layer_of(v100, "Gemm", "bf16").contains("roofline"));
  CHECK(layer_of(v100, "Gemm", "bf16").at("cudnn").at("tensor_cores") == "none");

  const auto known = some.what_if("--target h100 --types f16 --format json");
  REQUIRE(known.status == 0);
  const auto h100 = nlohmann::json::parse(known.out);
  std::ofstream(some.folder / "gpu.json") << h100.at("device").dump();
  const auto described = some.what_if("--types f16 --target " + (some.folder / "gpu.json"));
  CHECK(described.status == 0);
  CHECK(holds(described.out, "no data sheet is known"));
  CHECK_FALSE(std::regex_search(described.out, std::regex("[0-9] [um]s")));
}

TEST_CASE("options of --what-if mean nothing alone") {
  const asked one("Relu/4x4\n");
  const auto o =
      shell(generate + " --layers " + one.file + " --what-if -o " + (one.folder / "out"));
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
}
