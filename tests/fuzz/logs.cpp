// SPDX-License-Identifier: Apache-2.0
// Logs of cuDNN, cuBLAS and cublasLt, alone and with a result.
#include "../result/document.hpp"
#include "../trace/log_text.hpp"
#include "analysis.hpp"
#include "analyzer/logs/page.hpp"
#include "mutate.hpp"

namespace {
void take_log(std::string_view bytes) {
  static const std::string result =
      fuzz::put("logged.json", synthetic::text(synthetic::fused_run()));
  switch (fuzz::turn(bytes, 16)) {
  case 0: fuzz::analyze({result, "--calls", "-"}, bytes); break; // the slowest by far
  case 1: fuzz::analyze_as_json({"--calls", "-"}, bytes); break;
  case 2: fuzz::analyze({"--calls", "-"}, bytes); break;
  default: break;
  }
  std::istringstream in{std::string(bytes)};
  const std::vector<benanza::trace::call_log> logs{benanza::trace::read_log(in, "log")};
  std::istringstream layers(benanza::report::layers_file(logs));
  for (std::string line; std::getline(layers, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    while (!line.empty() && line.back() == ' ')
      line.pop_back();
    if (!line.empty()) benanza::op::parse(line);
  }
}

std::vector<std::string> log_samples() {
  using namespace log_text;
  const std::string conv =
      conv_call({1, 64, 56, 56}, {64, 64, 3, 3}, {1, 64, 56, 56}, 1, 1, "IMPLICIT_PRECOMP_GEMM");
  const std::string graph =
      execute(operation("CONVOLUTION_FORWARD", graph_tensor("xDesc", {1, 64, 56, 56}, 10) +
                                                   graph_tensor("wDesc", {64, 64, 1, 1}, 11) +
                                                   graph_tensor("yDesc", {1, 64, 56, 56}, 12) +
                                                   graph_window({0, 0}, {0, 0}, {1, 1})) +
                  pointwise("RELU_FWD", graph_tensor("xDesc", {1, 64, 56, 56}, 12), "",
                            graph_tensor("yDesc", {1, 64, 56, 56}, 13)),
              "41", value("knob", "cudnnBackendKnobType_t", "TILE_SIZE"));
  const std::string legacy =
      cudnn_call("cudnnPoolingForward", tensor("xDesc", {1, 64, 56, 56}) + cudnn_status("x")) +
      cudnn_call("cudnnActivationForward", tensor("xDesc", {1, 64, 56, 56}));
  const std::string blas = cublas_call("cublasSgemm_v2", gemm_sizes(false, true, 1000, 16, 2048));
  const std::string lt = cublaslt_line(
      "cublasLtMatmul", "type=R_16F rows=64 cols=64 ld=64", "type=R_16F rows=64 cols=64 ld=64",
      "type=R_16F rows=64 cols=64 ld=64", "computeType=COMPUTE_32F scaleType=R_32F",
      "algoId=21 tile=MATMUL_TILE_128x128 stages=MATMUL_STAGES_32x5");
  return {conv + cudnn_status("cudnnConvolutionForward"),
          graph,
          legacy,
          blas,
          lt,
          conv + graph + blas + lt};
}

std::string spoil_lines(const std::string& log, fuzz::dice& d) {
  std::vector<std::string> lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line + '\n');
  if (lines.empty() || fuzz::below(d, 3) == 0) return fuzz::spoil(log, {}, d);
  const std::size_t at = fuzz::below(d, lines.size()), other = fuzz::below(d, lines.size());
  switch (fuzz::below(d, 4)) {
  case 0: lines[at].clear(); break;
  case 1: lines[at] += lines[other]; break;
  case 2: std::swap(lines[at], lines[other]); break;
  default: lines[at] = fuzz::spoil(lines[at], {"val=", "type=", ";", "    ", "[1,2"}, d) + '\n';
  }
  std::string out;
  for (const std::string& line : lines)
    out += line;
  return out;
}

const fuzz::registration log_target{{.name = "logs",
                                     .take = take_log,
                                     .samples = log_samples,
                                     .words = {"I! CuDNN (v", "function ", "() called:", "type=",
                                               "val=", "dimA", "i! ", "[cublasLt]"},
                                     .change = spoil_lines}};
} // namespace
