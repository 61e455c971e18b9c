// SPDX-License-Identifier: Apache-2.0
// Does the page of a GPU's model say which kernels ran, whether on tensor cores, and who says so?
#include "pages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_kernels {
using namespace pages;
using benanza::device_kernel;

namespace {
/// The small model on a GPU: of the first convolution two kernels were seen, of the second the
/// library has a note, the third has neither.
run gpu_run() {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements) {
    m.device = "gpu";
    m.backend = "cudnn";
    const std::string layer = m.family + '/' + m.key;
    if (layer == synthetic::conv) {
      m.kernels = {{.name = "cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_nhwc>",
                    .grid = {132, 2, 1},
                    .block = {256, 1, 1},
                    .registers = 128,
                    .shared_bytes = 49152,
                    .ns = 300e3},
                   {.name = "memset", .ns = 50e3},
                   {.name = "memset", .ns = 50e3}};
    }
    if (layer == synthetic::wide) m.notes = "heuristic,tensor-cores";
  }
  return r;
}
} // namespace

TEST_CASE("a GPU's page says which layers use tensor cores, who says so, and what ran") {
  run r = gpu_run();
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  CAPTURE(text);
  CHECK(holds(text, "tensor cores  2 of 3 layers with sums of products run on them, of 1 that is "
                    "not"));
  CHECK(holds(text, "(1 observed by kernel names, 1 by the library's note)."));
  CHECK(holds(text, "Kernels that were seen:\n"));
  CHECK(holds(text, "cutlass_tensorop_f16_s16816fprop_nhwc 75.0 %, 2 x memset 25.0 %"));

  const json a = json::parse(json_report(r, analyse(r), false))["analyses"][0];
  CHECK(a["tensor_cores"] == json{{"yes", 2},
                                  {"no", 0},
                                  {"unknown", 1},
                                  {"counted", 0},
                                  {"observed", 1},
                                  {"by_the_librarys_note", 1}});
  int seen = 0;
  for (const json& l : a["layers"]) {
    const bool conv = l["layer"] == synthetic::conv, wide = l["layer"] == synthetic::wide;
    if (l["basis"] == "view") continue;
    CHECK(l["bound"].contains("kernels") == conv);
    CHECK(l["bound"].contains("tensor_cores") == (conv || wide));
    if (conv) {
      CHECK(l["bound"]["kernels"][0]["grid"] == json({132, 2, 1}));
      CHECK_FALSE(l["bound"]["kernels"][1].contains("grid"));
      CHECK(l["bound"]["tensor_cores"] == json{{"use", "yes"}, {"by", "observed"}});
    }
    if (wide)
      CHECK(l["prediction"]["tensor_cores"] ==
            json{{"use", "yes"}, {"by", "by the library's note"}});
    seen += conv || wide;
  }
  CHECK(seen == 2);
}

TEST_CASE("what the GPU counted is next to the kernels, and answers for the tensor cores") {
  run r = gpu_run();
  for (measurement& m : r.measurements)
    if (m.family + '/' + m.key == synthetic::conv)
      m.counters = {.tensor_pipe_percent = 61.5,
                    .dram_read_bytes = 3 << 20,
                    .dram_written_bytes = 1 << 20,
                    .active_cycles = 31'000};
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  CAPTURE(text);
  CHECK(holds(text, "(1 by the GPU's counters, 1 by the library's note)."));
  CHECK(holds(text, "tensor pipes 61.5 % of active cycles, "));
  const json a = json::parse(json_report(r, analyse(r), false))["analyses"][0];
  for (const json& l : a["layers"])
    if (l["layer"] == synthetic::conv) {
      CHECK(l["bound"]["counters"]["dram_read_bytes"] == 3 << 20);
      CHECK(l["bound"]["tensor_cores"] == json{{"use", "yes"}, {"by", "counted"}});
    }
}

TEST_CASE("layers that run without tensor cores are named next to those that run on them") {
  run r = gpu_run();
  for (measurement& m : r.measurements)
    if (m.family + '/' + m.key == synthetic::deep) m.kernels = {{.name = "ampere_sgemm_32x32_nn"}};
  const std::string text = text_report(r, analyse(r), {});
  check_width(text);
  CHECK(holds(text, "; not:"));
  CHECK(holds(text, synthetic::deep + '.'));
}

TEST_CASE("a processor's page says nothing about tensor cores and kernels") {
  const run r = synthetic::small_run();
  const std::string text = text_report(r, analyse(r), {});
  CHECK_FALSE(holds(text, "tensor cores"));
  CHECK_FALSE(holds(text, "Kernels that were seen"));
  CHECK_FALSE(
      json::parse(json_report(r, analyse(r), false))["analyses"][0].contains("tensor_cores"));
}
} // namespace test_of_kernels
