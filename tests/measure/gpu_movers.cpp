// SPDX-License-Identifier: Apache-2.0
// Layers that no library of NVIDIA's computes, from the benchmark program to its result: copies of
// the CUDA runtime and kernels that are compiled at run time, on a GPU whose times are known.
#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::string cuda_json = "--backends cuda --benchmark_format=json ";
const std::string no_machine = "--benchmark_filter=-^machine/ "; // it has copies too

/// False where kernels cannot be compiled for the fake GPU.
bool has_compiler() {
  return shell("c++ --version").status == 0;
}
} // namespace

TEST_CASE("movers: each has the time that the GPU takes, in every state" *
          doctest::skip(!has_compiler())) {
  const fake_run r({"Concat/1x8x6x6-a1-n2"},
                   "cost 20us\ncall memcpy cost 4us\ncall memcpy cold 1us\n"
                   "kernel v4 cost 6us\nkernel v1 cold 2us",
                   cuda_json + no_machine + "--states hot,cold");
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  std::map<std::string, double> hot, cold;
  for (const gpu_row& row : r.rows) {
    CHECK(row.error == "");
    (row.state == "hot" ? hot : cold)[row.algorithm] = row.min_ns;
  }
  CHECK(hot.size() == 3);
  CHECK(is(hot["memcpy"], 2 * 4e3)); // a copy for each operand
  CHECK(is(hot["kernel:v1"], 20e3));
  CHECK(is(hot["kernel:v4"], 6e3));
  CHECK(is(cold["memcpy"], 2 * 5e3));
  CHECK(is(cold["kernel:v1"], 20e3 + 2 * 2e3));
  CHECK(r.tidy());
  CHECK(r.records.at(0)["made"]["kernel-library"] == 2 + 4); // and those that measure the GPU
}

TEST_CASE("movers: one that is wrong, or cannot be compiled or started, fails alone" *
          doctest::skip(!has_compiler())) {
  const fake_run r({"Transpose/1x8x16x12-o0x2x3x1"},
                   "kernel v1 wrong\nkernel v4 unsupported\nkernel tile32 refuses-to-run",
                   cuda_json + no_machine + "--states hot --types f16");
  CHECK(r.ended.status == 1);
  std::map<std::string, std::string> errors;
  for (const gpu_row& row : r.rows)
    errors[row.algorithm] = row.error;
  CHECK(errors.at("kernel:v1").starts_with("wrong result: output 0 "));
  CHECK(holds(errors.at("kernel:v4"), "scripted not to be compiled"));
  CHECK(holds(errors.at("kernel:tile32"), "a kernel cannot be started"));
  CHECK(errors.at("kernel:v8") == "");
  CHECK(r.tidy());
}

TEST_CASE("movers: every kind of layer that moves data has one" * doctest::skip(!has_compiler())) {
  const fake_run r({"Transpose/1x8x16x12-o0x2x3x1", "Slice/4x10x12-2x3x8-from1x2x4",
                    "Split/1x8x6x6-a1-n2", "Pad/1x3x5x5-b0x0x1x1-e0x0x1x1", "Gather/10x16-1x4",
                    "Resize/1x3x7x5-1x3x14x10-linear", "DepthToSpace/1x12x5x7-k2",
                    "Concat/7-a0-n3-s64", "Greater/3x8-8"},
                   "cost 3us", cuda_json + no_machine + "--states hot --effort quick");
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  std::map<std::string, int> rows;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.name);
    CHECK(row.error == "");
    ++rows[row.name.substr(0, row.name.find('/'))];
  }
  CHECK(rows.size() == 9);
  CHECK(r.tidy());
}

TEST_CASE("movers: no program needs the driver to start") {
  const outcome o = shell("ldd " + layers_bench);
  CHECK(o.status == 0);
  CHECK_FALSE(holds(o.out, "libcuda.so"));
}

TEST_CASE("movers: without a GPU they are listed, and each says why it has no time" *
          doctest::skip(has_driver())) {
  const scratch_folder s("movers");
  std::ofstream(s / "layers") << "Concat/1x8x6x6-a1-n2\nConv/1x4x8x8-8x3x3-s1-p1\n";
  const std::string bench =
      "env BENANZA_LAYERS=" + (s / "layers") + ' ' + layers_bench + " --backends cuda ";
  const outcome listed = shell(bench + "--benchmark_list_tests");
  CHECK(listed.status == 0);
  CHECK(holds(listed.out, "Concat/1x8x6x6-a1-n2/f32/cuda/memcpy/hot/t1"));
  CHECK(holds(listed.out, "Concat/1x8x6x6-a1-n2/f32/cuda/kernel:v4/hot/t1"));
  CHECK_FALSE(holds(listed.out, "Conv/"));
  const outcome o = shell(bench + "--benchmark_format=json --benchmark_filter=Concat");
  CHECK(o.status == 1);
  REQUIRE(json::accept(o.out));
  int cases = 0;
  const json result = json::parse(o.out);
  for (const auto& b : result.at("benchmarks")) {
    CHECK(holds(b.at("error_message"), "no NVIDIA driver"));
    ++cases;
  }
  CHECK(cases > 2);
}
