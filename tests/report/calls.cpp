// SPDX-License-Identifier: Apache-2.0
// Do the pages of calls say what was called, in 80 columns, and is the file of layers one that can
// be read back?
#include "analyzer/logs/choices.hpp"
#include "analyzer/logs/page.hpp"
#include "analyzer/report/tables/formats.hpp"
#include "result/synthetic.hpp"
#include "trace/log_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace test_of_calls {
using namespace log_text;
using benanza::result::run;
using benanza::trace::call_log;
using nlohmann::json;

const dims picture{1, 64, 56, 56};

std::string conv(const std::string& algorithm) {
  return conv_call(picture, {64, 64, 3, 3}, picture, 1, 1, algorithm);
}
std::string gemm() {
  return cublas_call("cublasSgemm_v2", gemm_sizes(true, false, 1000, 1, 2048));
}
std::string refused() {
  return conv("WINOGRAD") + cudnn_call("cudnnConvolutionForward",
                                       "Error: CUDNN_STATUS_BAD_PARAM; Reason: x\n", "91900 56",
                                       'E');
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::string page_of(const benanza::report::tables::chapter& answer) {
  return benanza::report::tables::text_of(answer);
}

json values_of(const benanza::report::tables::chapter& answer) {
  return json::parse(benanza::report::tables::json_of(answer));
}

void fits(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    CAPTURE(line);
    // A word that is longer than a line is not cut.
    CHECK((line.size() <= 80 || line.find(' ', 24) == std::string::npos));
  }
}

TEST_CASE("a page of calls without a model") {
  std::string text;
  for (int i = 0; i < 3; ++i)
    text += conv("IMPLICIT_PRECOMP_GEMM") + conv("IMPLICIT_PRECOMP_GEMM") + gemm();
  const std::vector<call_log> logs{read(text + refused())};
  const std::string page = page_of(benanza::report::calls_answer(logs, false, 10));
  fits(page);
  CHECK(has(page, "a.log: 9 calls, cublas 13.1.0, cudnn 9.19.0; 3 iterations of 3"));
  CHECK(has(page, "    6  f32   Conv/1x64x56x56-64x3x3-s1-p1; cudnnConvolutionForward,"));
  CHECK(has(page, "IMPLICIT_PRECOMP_GEMM, plain,"));
  CHECK(has(page, "    3  f32   Gemm/1x1000x2048-tb; "));
  CHECK(has(page, "Calls that failed\ntimes  call\n    1  cudnnConvolutionForward"));
  CHECK(has(page, "STATUS_BAD_PARAM"));
  CHECK(has(page_of(benanza::report::calls_answer(logs, false, 1)), "1 more row: --layers all"));
}

TEST_CASE("versions as people write them") {
  using benanza::report::show_version;
  CHECK(show_version("91900") == "9.19.0");
  CHECK(show_version("90100") == "9.1.0");
  CHECK(show_version("8204") == "8.2.4");
  CHECK(show_version("7501") == "7.5.1");
  CHECK(show_version("13.1.0") == "13.1.0");
  CHECK(show_version("").empty());
}

TEST_CASE("the file of layers holds each once, and reads back") {
  const std::vector<call_log> logs{
      read(conv("A") + gemm() + conv("B") +
           cudnn_call("cudnnTransformTensor",
                      tensor("srcDesc", picture) + tensor("destDesc", picture, "FLOAT", true)) +
           cublas_call("cublasSaxpy_v2", argument("n", "3")))};
  const std::string file = benanza::report::layers_file(logs);
  CHECK(file == "# from a.log\n# measure with: benanza_bench --types f32\n"
                "Conv/1x64x56x56-64x3x3-s1-p1  # 2 calls: cudnnConvolutionForward, f32\n"
                "Gemm/1x1000x2048-tb  # 1 call: cublasSgemm, f32\n");
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with('#')) CHECK_NOTHROW(benanza::op::parse(line.substr(0, line.find(' '))));
  CHECK(benanza::report::layers_file({read(cublas_call("cublasSaxpy_v2", argument("n", "3")))})
            .empty());
}

TEST_CASE("calls compared with a model, as text and as JSON") {
  const run r = synthetic::on_gpu(synthetic::fused_run());
  const std::vector<call_log> logs{read(conv("FFT") + conv("FFT") + gemm() +
                                        cublas_call("cublasSaxpy_v2", argument("n", "3")) +
                                        refused())};
  const benanza::bound::source s(r);
  const benanza::advice::framework_choices c =
      benanza::advice::framework_choices_of(s, r.graphs[0], logs, {});
  const std::string page = page_of(benanza::report::framework_answer(r, c, false, 10));
  fits(page);
  CHECK(has(page, "held against block@batch=1, measured on Test CPU 9000, 2 cores, onednn 2.6.3"));
  CHECK(has(page, "1 of 4 calls are layers of the model; they compute 1 of its 6 nodes"));
  CHECK(has(page, "   1                   Conv/1x64x56x56-64x3x3-s1-p1\n"));
  CHECK(has(page, "called        -  f32 cudnnConvolutionForward, FFT, plain, workspace 4"));
  CHECK(has(page, "  fastest  "));
  CHECK(has(page, "f32 onednn jit:avx512_core"));
  CHECK(has(page, "Calls that are no layer of the model\n"));
  CHECK(has(page, "Calls of its layers, but more often than it has them\n"));
  CHECK(has(page, "Layers without a call"));
  CHECK(has(page, "    2  Relu/1x64x56x56\n"));

  const json j = values_of(benanza::report::framework_answer(r, c, false, 10));
  CHECK_FALSE(has(page, "The calls ran on a GPU"));
  CHECK(j["only_a_cpu_was_measured"] == false);
  const run of_cpu = synthetic::fused_run();
  const benanza::bound::source cpu(of_cpu);
  const benanza::advice::framework_choices unknown =
      benanza::advice::framework_choices_of(cpu, of_cpu.graphs[0], logs, {});
  const std::string without =
      page_of(benanza::report::framework_answer(of_cpu, unknown, false, 10));
  fits(without);
  CHECK(has(without, "! The calls ran on a GPU, and this result is of a CPU"));
  CHECK_FALSE(has(without, "  fastest  "));
  CHECK(values_of(benanza::report::framework_answer(of_cpu, unknown, false,
                                                    10))["only_a_cpu_was_measured"] == true);
  CHECK(j["status"] == "complete");
  CHECK(j["model"] == "block@batch=1");
  CHECK(j["layers"][0]["layer"] == synthetic::conv);
  CHECK(j["layers"][0]["nodes"][0] == "node0");
  CHECK(j["layers"][0]["algorithm"] == "CUDNN_CONVOLUTION_FWD_ALGO_FFT");
  CHECK(j["layers"][0]["called_ns"].is_null());
  CHECK(j["layers"][0]["line"] == 1);
  CHECK(j["layers"][0]["fastest_algorithm"] == "jit:avx512_core");
  CHECK(j["layers"][0]["fastest_type"] == "f32");
  CHECK(j["calls_not_in_model"].size() == 2);
  CHECK(j["calls_too_many"][0]["count"] == 1);
  CHECK(j["logs"][0]["failed_calls"][0]["status"] == "CUDNN_STATUS_BAD_PARAM");
  const json alone = values_of(benanza::report::calls_answer(logs, true, 10));
  CHECK(alone["status"] == "partial");
  CHECK(alone["calls"].size() == 3);
  CHECK(alone["calls"][0]["count"] == 2);
  CHECK(alone["calls"][0]["first_line"] == 1);
}

TEST_CASE("a name from a log cannot steer a terminal") {
  const std::vector<call_log> logs{read(
      cudnn_call("cudnnActivationForward", nested("activationDesc", "cudnnActivationDescriptor_t",
                                                  value("mode", "x", "\x1b[31mRED")) +
                                               tensor("srcDesc", picture)))};
  CHECK_FALSE(has(page_of(benanza::report::calls_answer(logs, false, 10)), "\x1b"));
}

} // namespace test_of_calls
