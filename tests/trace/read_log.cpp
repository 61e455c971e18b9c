// SPDX-License-Identifier: Apache-2.0
// Is a log read to its end, whatever is in it? Mixed and foreign lines, failed calls, threads, logs
// that are cut off at any byte, and files that are no logs.
#include "log_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace test_of_read_log {
using namespace log_text;
using benanza::trace::call_log;

const dims image{1, 64, 56, 56};

std::string conv() {
  return conv_call(image, {64, 64, 3, 3}, image, 1, 1, "WINOGRAD");
}
std::string gemm() {
  return cublas_call("cublasSgemm_v2", gemm_sizes(true, false, 1000, 1, 2048));
}
std::string product() {
  return cublaslt_line("cublasLtMatmul", "type=R_16F rows=8 cols=4 ld=8",
                       "type=R_16F rows=4 cols=2 ld=4", "type=R_16F rows=8 cols=2 ld=8",
                       "computeType=COMPUTE_32F", "algoId=1");
}

std::string refused(const std::string& text) {
  try {
    (void)read(text);
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("logs of all libraries in one file, among other output") {
  const std::string noise = "epoch 1: loss 0.3\n\n[INFO] x\ni! not mine\nI! neither\n";
  const call_log l = read(noise + conv() + noise + gemm() + product() + noise + conv());
  REQUIRE(l.entries.size() == 4);
  CHECK(l.calls.size() == 3);
  CHECK(l.entries[0].call == l.entries[3].call);
  CHECK(l.at(l.entries[1]).function == "cublasSgemm");
  CHECK(l.at(l.entries[2]).function == "cublasLtMatmul");
  CHECK(l.entries[0].line == 6);
  CHECK(l.entries[0].time == "2026-01-02T03:04:05.678901");
  CHECK(l.entries[1].time == "2026-01-02T03:04:05");
  CHECK(l.entries[2].time == "2026-01-02 03:04:05");
  CHECK(l.versions.at("cudnn") == "91900");
  CHECK(l.versions.at("cublas") == "13.1.0");
  CHECK(l.warnings.empty());
  CHECK(l.source == "a.log");
}

TEST_CASE("lines may end as on Windows") {
  std::string text;
  for (char c : conv() + gemm() + product())
    text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const call_log l = read(text);
  CHECK(l.entries.size() == 3);
  CHECK(l.warnings.empty());
  CHECK(layer_of(l.at(l.entries[0])) == "Conv/1x64x56x56-64x3x3-s1-p1");
  CHECK(layer_of(l.at(l.entries[2])) == "Gemm/2x8x4");
}

TEST_CASE("the status that follows a call decides whether it counts") {
  const std::string plan = execute(
      pointwise("TANH_FWD", graph_tensor("xDesc", image, 1), "", graph_tensor("yDesc", image, 2)));
  const call_log l = read(plan + cudnn_status("cudnnBackendExecute") + plan +
                          cudnn_status("cudnnBackendExecute", "EXECUTION_FAILED") + conv());
  CHECK(l.entries.size() == 2);
  REQUIRE(l.failed.size() == 1);
  CHECK(l.failed[0].status == "CUDNN_STATUS_EXECUTION_FAILED");
  CHECK(layer_of(l.at(l.failed[0].at)) == "Tanh/1x64x56x56");
}

TEST_CASE("an error or a warning behind a call says that it failed; others do not") {
  const auto message = [](const std::string& function, char severity, const std::string& text) {
    return cudnn_call(function, "Info: Traceback contains 1 message(s)\n    " + text + "\n",
                      "91900 56", severity);
  };
  const auto failures = [&](const std::string& more) { return read(conv() + more).failed.size(); };
  const std::string f = "cudnnConvolutionForward";
  CHECK(failures(message(f, 'E', "Error: CUDNN_STATUS_BAD_PARAM; Reason: !handle")) == 1);
  CHECK(failures(message(f, 'W', "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: xData == yData")) ==
        1);
  CHECK(failures(message(f, 'E',
                         "Warning: CUDNN_STATUS_SUCCESS; Reason: mode\n    Error: "
                         "CUDNN_STATUS_BAD_PARAM; Reason: x")) == 1);
  CHECK(failures(message(f, 'W', "Warning: CUDNN_STATUS_SUCCESS; Reason: chosen")) == 0);
  CHECK(failures(message("cudnnBackendFinalize", 'W',
                         "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: x")) == 0);
  CHECK(failures(message("cudnnAddTensor", 'E', "Error: CUDNN_STATUS_BAD_PARAM; Reason: x")) == 0);
  const call_log l =
      read(conv() + message(f, 'E', "Error: CUDNN_STATUS_BAD_PARAM; Reason: x") + conv());
  CHECK(l.entries.size() == 1);
  CHECK(l.failed[0].status == "CUDNN_STATUS_BAD_PARAM");
  CHECK(l.failed[0].at.line == 1);
}

TEST_CASE("a warning of a call that then says that it succeeded is but a warning") {
  const std::string plan = execute(
      pointwise("TANH_FWD", graph_tensor("xDesc", image, 1), "", graph_tensor("yDesc", image, 2)));
  const std::string warned = cudnn_call(
      "cudnnBackendExecute", "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: x\n", "91900 56", 'W');
  CHECK(read(plan + warned).failed.size() == 1);
  const call_log l = read(plan + warned + cudnn_status("cudnnBackendExecute"));
  CHECK(l.failed.empty());
  CHECK(l.entries.size() == 1);
}

TEST_CASE("a status belongs to the call of its own thread") {
  const std::string other =
      cudnn_call("cudnnAddTensor", tensor("biasDesc", image) + tensor("srcDestDesc", image),
                 "91900 56", 'I', 8);
  const std::string failed = cudnn_call(
      "cudnnConvolutionForward", value("status", "cudnnStatus_t", "CUDNN_STATUS_BAD_PARAM (2000)"));
  const call_log l = read(conv() + other + failed);
  REQUIRE(l.failed.size() == 1);
  CHECK(l.at(l.failed[0].at).function == "cudnnConvolutionForward");
}

TEST_CASE("cut off at any byte: no crash, whole calls only, and a warning") {
  const std::string whole = conv() + gemm() + product() + conv();
  const std::size_t all = read(whole).entries.size();
  for (std::size_t n = whole.size() - 1; n > 60; n -= n % 7 + 1) {
    CAPTURE(n);
    try {
      const call_log l = read(whole.substr(0, n));
      CHECK(l.entries.size() <= all);
      for (const benanza::trace::entry& e : l.entries)
        CHECK(l.at(e).layer);
      // What is missing is said, but for empty lines at the end.
      if (l.entries.size() < all && whole[n - 1] != '\n') CHECK_FALSE(l.warnings.empty());
    } catch (const benanza::error& e) {
      CHECK(holds(e.what(), "CUDNN_LOGLEVEL_DBG"));
    }
  }
  const call_log l = read(conv() + conv().substr(0, 700));
  CHECK(l.entries.size() == 1);
  REQUIRE(l.warnings.size() == 1);
  CHECK(l.warnings[0] == "the log is cut off");
  // A block that another one interrupts is lost, and counted.
  const call_log broken = read(conv().substr(0, conv().find("i! Time")) + conv());
  CHECK(broken.entries.size() == 1);
  REQUIRE(broken.warnings.size() == 1);
  CHECK(broken.warnings[0] == "1 call is not whole, and left out");
}

TEST_CASE("what is no such log is refused in one line that says how to record one") {
  CHECK(holds(refused(""), "the log is empty (a.log); record it with CUDNN_LOGLEVEL_DBG=3"));
  CHECK(holds(refused("{\"context\": {}}\n"), "no call of cuDNN"));
  CHECK(holds(refused(std::string(3'000'000, '\0')), "no call of cuDNN"));
  CHECK(holds(refused(std::string(3'000'000, 'I')), "no call of cuDNN"));
  std::string binary;
  for (unsigned i = 0; i < 100'000; ++i)
    binary += static_cast<char>(i * 2654435761u >> 24);
  CHECK(holds(refused(binary), "no call of cuDNN"));
  CHECK(holds(refused(cudnn_call("cudnnCreate", "Error: x\n", "91900 56", 'E')), "and no calls"));
  CHECK_THROWS_AS(benanza::trace::read_log_file("/no/such/log"), benanza::error);
  CHECK_THROWS_AS(benanza::trace::read_log_file("/"), benanza::error);
}

TEST_CASE("random bytes in a log never crash it") {
  const std::string whole = conv() + gemm() + product();
  unsigned state = 12345;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int round = 0; round < 300; ++round) {
    std::string text = whole;
    for (int i = 0; i < 8; ++i)
      text[next() % text.size()] = static_cast<char>(next() >> 24);
    try {
      (void)read(text);
    } catch (const benanza::error&) { // a refusal is an answer
    }
  }
}

TEST_CASE("lines longer than the buffer are read by their beginning") {
  const std::string huge = "x: " + std::string(2'500'000, 'y') + '\n';
  const call_log l = read(huge + conv() + huge + gemm() + huge);
  CHECK(l.entries.size() == 2);
  const std::string calls = conv() + gemm();
  CHECK(l.lines == 3 + std::count(calls.begin(), calls.end(), '\n'));
  CHECK(l.warnings.empty());
}

} // namespace test_of_read_log
