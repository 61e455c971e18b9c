// SPDX-License-Identifier: Apache-2.0
// Is the question for tensor cores answered by what was seen, before what a library says?
#include "result/synthetic.hpp"

#include <benanza/advice/tensor_cores.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_tensor_cores {
using namespace benanza;
using advice::tensor_answer;
using advice::tensor_answer_of;
using advice::told_by;

namespace {
result::measurement on_gpu(const std::string& backend, const std::string& algorithm,
                           const std::string& notes, std::vector<device_kernel> kernels = {}) {
  result::measurement m = synthetic::timed(synthetic::conv, algorithm, 0, "hot", {1000});
  m.backend = backend;
  m.device = "gpu";
  m.notes = notes;
  m.kernels = std::move(kernels);
  return m;
}
const device_kernel mma{.name = "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT"},
    sgemm{.name = "ampere_sgemm_128x64_nn"}, unheard_of{.name = "who_knows"};
} // namespace

TEST_CASE("tensor cores: kernels that were seen answer, whatever the library says") {
  const auto answer = [](const result::measurement& m) { return tensor_answer_of(m); };
  CHECK(answer(on_gpu("cudnn", "eng1", "heuristic", {mma})) ==
        tensor_answer{tensor_use::yes, told_by::kernels});
  CHECK(answer(on_gpu("cudnn", "eng1", "heuristic,tensor-cores", {sgemm})) ==
        tensor_answer{tensor_use::no, told_by::kernels});
  CHECK(answer(on_gpu("cublas", "gemm", "", {sgemm, mma})) ==
        tensor_answer{tensor_use::yes, told_by::kernels});
}

TEST_CASE("tensor cores: the GPU's own counters answer before names") {
  result::measurement m = on_gpu("cudnn", "eng1", "tensor-cores", {mma});
  m.counters = {.tensor_pipe_percent = 0, .active_cycles = 100};
  CHECK(tensor_answer_of(m) == tensor_answer{tensor_use::no, told_by::counters});
  m.counters.tensor_pipe_percent = 0.5;
  m.kernels = {sgemm};
  CHECK(tensor_answer_of(m) == tensor_answer{tensor_use::yes, told_by::counters});
  m.counters.active_cycles = 0; // nothing was counted
  CHECK(tensor_answer_of(m).by == told_by::kernels);
}

TEST_CASE("tensor cores: without a kernel that shows it the library's note answers, or nothing") {
  const auto answer = [](const char* backend, const char* algorithm, const char* notes,
                         std::vector<device_kernel> kernels = {}) {
    return tensor_answer_of(on_gpu(backend, algorithm, notes, std::move(kernels)));
  };
  const tensor_answer yes{tensor_use::yes, told_by::library}, no{tensor_use::no, told_by::library},
      unknown{};
  CHECK(answer("cudnn", "nhwc:eng62_k2=4", "heuristic,tensor-cores") == yes);
  CHECK(answer("cudnn", "nhwc:eng62_k2=4", "heuristic,tensor-cores", {unheard_of}) == yes);
  CHECK(answer("cudnn", "eng0", "winograd") == no);
  CHECK(answer("cudnn", "eng0", "non-tensor-cores") == no);
  CHECK(answer("cudnn", "legacy:gemm_fma", "legacy") == unknown);
  CHECK(answer("cublas", "gemm", "") == unknown);
  CHECK(answer("cublas", "lt:algo21_tile20", "heuristic,tensor-cores,waves=0.5") == yes);
  for (const char* id : {"lt:algo21_tile20", "nhwc:lt:algo21_tile20", "wt:lt:algo21_tile20"})
    CHECK(answer("cublas", id, "heuristic,waves=0.5") == no);
  CHECK(answer("cublas", "lt:algo21_tile20", "heuristic,refused") == unknown);
  result::measurement cpu = on_gpu("onednn", "jit:avx512_core_amx", "");
  cpu.device = "cpu";
  CHECK(tensor_answer_of(cpu) == unknown);
}
} // namespace test_of_tensor_cores
