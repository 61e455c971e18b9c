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

/// The row of a table of the first model, of a type and, of its layers, of that name.
nlohmann::json row_of(const nlohmann::json& all, const std::string& table, const std::string& type,
                      const std::string& layer = {}) {
  for (const auto& row : all.at("models")[0].at(table))
    if (row.at("type") == type && (layer.empty() || row.at("layer") == layer)) return row;
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

TEST_CASE("what is known of layers on a GPU that is not here" * doctest::skip(!with_cudnn)) {
  const std::string gemm = "Gemm/128x3072x768-w", conv = "Conv/1x64x56x56-64x3x3-s1-p1",
                    concat = "Concat/1x8x4x4-a1-n2";
  const asked some(gemm + '\n' + conv + '\n' + concat + '\n');
  const auto o = some.what_if("--target h100 --types f32,f16 --format json");
  CHECK(o.err == "");
  REQUIRE(o.status == 0);
  const auto all = nlohmann::json::parse(o.out);
  CHECK(all.at("measured") == false);
  bool peak = false;
  for (const auto& p : all.at("peaks"))
    peak = peak || (p.at("type") == "f16" && p.at("dense_tflop_per_s") == 989.5);
  CHECK(peak);

  const auto product = row_of(all, "layers", "f16", gemm);
  CHECK(product.at("limited_by") == "memory");
  CHECK(product.at("roofline_ns").get<double>() ==
        doctest::Approx(2 * (128 * 3072 + 3072 * 768 + 128 * 768) / 3350.0));
  CHECK(product.at("tensor_cores") == "listed");
  const auto convolution = row_of(all, "layers", "f16", conv);
  CHECK(convolution.at("engines") > 5);
  CHECK(convolution.at("first").size() == 2);
  CHECK(row_of(all, "layers", "f16", concat).at("refused").is_string());
  CHECK(row_of(all, "layers", "f32", conv).at("tensor_cores") == "none");

  CHECK(row_of(all, "engines", "f16").at("none_layers") == 1);
  const auto on = row_of(all, "tensor_cores", "f16");
  CHECK(on.at("listed_layers") == 2);
  CHECK(on.at("without_ns") > on.at("with_ns"));
  CHECK(row_of(all, "tensor_cores", "f32").is_null());
}

TEST_CASE("the page of a model has fusion by rooflines, and fits its columns" *
          doctest::skip(!with_cudnn)) {
  const scratch_folder folder("what_if_model");
  REQUIRE(shell(generate + " zoo squeezenet-v1.1 -q -o " + folder.path.string()).status == 0);
  const auto o = shell(generate + " " + (folder / "squeezenet-v1.1.onnx") +
                       " --algorithms --what-if --target a100");
  CHECK(o.status == 0);
  CHECK(holds(o.out, " on a100 (compute capability 8.0), described, not measured\n"));
  for (const char* type : {"\nf32  ", "\ntf32 ", "\nf16  ", "\nbf16 "})
    CHECK(holds(o.out, type));
  CHECK(holds(o.out, "\nConv+Relu   26                  26 "));
  CHECK(holds(o.out, "gains most"));
  CHECK(holds(o.out, "Rooflines of all layers"));
  CHECK(holds(o.out, "Layers that multiply, and may use tensor cores [l]"));
  CHECK(holds(o.out, "of 64 kernels at least, 38 fused"));
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
  for (const auto& t : v100.at("models")[0].at("rooflines")) {
    const bool there = t.at("type") == "f32" || t.at("type") == "f16";
    CHECK(t.at("unfused_ns").is_null() != there);
  }
  const auto bf16 = row_of(v100, "layers", "bf16", "Gemm/128x3072x768-w");
  CHECK(bf16.at("roofline_ns").is_null());
  CHECK(bf16.at("tensor_cores") == "none");

  const auto known = some.what_if("--target h100 --types f16 --format json");
  REQUIRE(known.status == 0);
  const auto h100 = nlohmann::json::parse(known.out);
  std::ofstream(some.folder / "gpu.json") << h100.at("device").get<std::string>();
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
