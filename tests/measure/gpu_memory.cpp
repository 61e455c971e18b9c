// SPDX-License-Identifier: Apache-2.0
// How much of the GPU's memory does a group take, how much of it crosses the bus, and what is cold
// when it should be? On the fake GPU, which counts.
#include "fake_gpu.hpp"

#include <doctest/doctest.h>
#include <set>

using namespace benanza::test;

namespace {
/// A convolution with 1.0 MB of activations before it in f32, and 2.1 MB behind.
const std::string wide_conv = "Conv/1x16x128x128-32x1x1";
constexpr std::int64_t wide_bytes = 4 * 128 * 128 * (16 + 32);

std::int64_t algorithms_of(const fake_run& r) {
  std::set<std::string> ids;
  for (const gpu_row& row : r.rows)
    ids.insert(row.algorithm);
  return std::ssize(ids);
}
} // namespace

TEST_CASE("gpu: algorithms of a layer share operands, results and scratch memory") {
  const std::string options = "--benchmark_format=json --backends cudnn --types f32 --states hot";
  const fake_run small({small_conv}, "workspace 4096", options);
  const fake_run wide({wide_conv}, "workspace 1000000", options);
  REQUIRE(wide.ended.status == 0);
  const std::int64_t peak = wide.records.at(0)["peak_bytes"],
                     fixed = small.records.at(0)["peak_bytes"];
  const std::int64_t count = algorithms_of(wide);
  REQUIRE(count > 10);
  CHECK(wide.tidy());
  // As ONNX has it, with channels last, and both padded; one workspace for all.
  CHECK(peak - fixed < 4 * wide_bytes + 2'000'000);
  CHECK(peak - fixed < count * wide_bytes / 2);
  // An operand is brought there once for each layout, and few elements of results come back.
  CHECK(wide.records[0]["uploaded_bytes"] < 4 * wide_bytes);
  CHECK(wide.records[0]["downloaded_bytes"] < count * 4 * 3000);
}

TEST_CASE("gpu: algorithms that want more scratch memory than frameworks give are left out") {
  const std::string options = "--benchmark_format=json --backends cudnn --states hot ";
  const auto rows = [&](const std::string& more) {
    return std::ssize(fake_run({small_conv}, "workspace 70000", options + more).rows);
  };
  const std::int64_t all = rows("");
  CHECK(rows("--set most_workspace_bytes=69999") < all);
  CHECK(rows("--set most_workspace_bytes=69999 --all") == all);
}

TEST_CASE("gpu: operands of layers without weights are cold where weights would be") {
  const fake_run r({"Softmax/4x16-a1", "Add/4x16", "RMSNormalization/4x16-a1"},
                   "cost 20us\ncold 3us",
                   "--benchmark_format=json --backends cuda,cudnn,cublas --states hot,coldw");
  REQUIRE(r.ended.status == 0);
  CHECK(r.tidy());
  int cold = 0;
  for (const gpu_row& row : r.rows) {
    const double operands = row.name.starts_with("Softmax/") ? 1 : 2;
    CAPTURE(row.name);
    if (row.state == "hot") CHECK(is(row.min_ns, 20e3));
    if (row.state != "coldw") continue;
    ++cold;
    CHECK(is(row.median_ns, 20e3 + operands * 3e3));
  }
  CHECK(cold > 4);
}
