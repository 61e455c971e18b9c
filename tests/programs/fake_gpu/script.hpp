// SPDX-License-Identifier: Apache-2.0
// What shall the fake GPU do? A script of one rule a line, times in ns (or with us, ms behind
// them):
//   cost 10us                  an execution takes so long, unless another line says otherwise
//   cold 3us                   and so much more for each operand that the L2 cache does not hold
//   engine 4 cost 7us          also: cold; "legacy 1" for the algorithms of a legacy convolution
//                              ("legacy-data 1", "legacy-filter 1": of its gradients),
//                              "call softmax" (lrn, transform, reduce, memcpy) for calls of their
//                              own, "kernel v4" for kernels compiled at run time
//                              "blas gemm" (gemv, grouped) for cuBLAS, "lt 21" for cublasLt's own
//   turned gemm cost 2us       (gemv, 21) of those that take the transpose of their first matrix:
//                              with weights n x k
//   id eng4_k2=1 cost 5us      one configuration of an engine; it can fail like a whole engine
//   offers lt:algo21_tile20_.. what cublasLt proposes, one a line (default: three; cublaslt.hpp)
//   engine 7 unsupported       no plan can be made          engine 8 refuses-to-run
//   engine 7 refuses-handle     its plan is made for a description of the device alone
//   engine 9 off 0.003         all outputs are, by that share of their root mean square
//   engine 9 winograd          it says that it is one, of tiles of 6 x 6; "legacy 7": it is there
//   builds 50ms                on the wall clock, a plan that is compiled when it is built
//   engine 9 wrong             one output is off            engine 11 launch-failure   (sticky)
//   workspace 4096             bytes of plans that only the fake makes
//   malloc-limit 1000000       bytes that can be had        device-lost-after 30       executions
//   no-capture                 nothing can be captured  engine 12 no-capture       this one cannot
//   gpus 2                     so many can be seen; what they have is the first one's
//   clock 1400                 MHz of the multiprocessors, which kernels may read (default 1980)
//   moves-about                no kernel runs on a multiprocessor on which another one ran
//   event 1us, gap 1us         an event takes so long; so long passes before each node of a graph
//   event-after-kernel 500ns   so long passes between a kernel of a graph and an event behind it
//   architectures 80 90        that the fake NVRTC compiles for (default: 75 80 90 100)
//   engine 4 runs NAME NAME    the kernels that CUPTI sees, in their order (default: "engine 4")
//   engine 4 counts 62.5 9000 80  per cent of the tensor pipes, bytes read from and written to DRAM
//   cupti refuses              or: cut-off (the last record), drops (records), old (its version),
//                              loses-device, ends-process, counters-refused,
//                              counters-lose-device, counters-end-process
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fake {

/// Nanoseconds of the virtual clock.
using ns = std::int64_t;

class script {
public:
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

  /// The script that the environment names; the default one if it names none.
  static script from_environment() {
    script s;
    const char* file = std::getenv("BENANZA_FAKE_GPU_SCRIPT");
    if (file == nullptr) return s;
    std::ifstream in(file);
    if (!in) throw std::runtime_error(std::string("fake GPU: no script ") + file);
    for (std::string line; std::getline(in, line);)
      s.read(line);
    return s;
  }

  /// `name` is "engine 4" or "legacy 1", `id` the configuration's.
  ns cost(const std::string& name, const std::string& id, bool turned = false) const {
    const auto own = costs_.find("turned " + name.substr(name.find(' ') + 1));
    return turned && own != costs_.end() ? own->second : chosen(costs_, name, id);
  }
  ns cold(const std::string& name, const std::string& id) const { return chosen(colds_, name, id); }
  bool fails(const std::string& name, const std::string& how, const std::string& id = {}) const {
    return faults_.contains(name + ' ' + how) || faults_.contains("id " + id + ' ' + how);
  }
  /// By which share of their root mean square all results of an execution are off.
  double off(const std::string& name, const std::string& id = {}) const {
    for (const std::string& key : {"id " + id, name})
      if (const auto found = offs_.find(key); found != offs_.end()) return found->second;
    return 0;
  }
  /// Names of an execution's kernels; none: the script gives it none.
  std::vector<std::string> kernels(const std::string& name, const std::string& id) const {
    for (const std::string& key : {"id " + id, name})
      if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
    return {};
  }

  /// What the device counts of an execution.
  struct counts {
    double tensor_pipe_percent = 0, read = 0, written = 0;
  };
  counts counters(const std::string& name, const std::string& id) const {
    for (const std::string& key : {"id " + id, name})
      if (const auto found = counts_.find(key); found != counts_.end()) return found->second;
    return {};
  }

  std::int64_t malloc_limit = unlimited;
  std::int64_t executions_until_lost = unlimited;
  std::int64_t workspace_bytes = 4096;
  bool no_capture = false;
  int gpus = 1, clock_mhz = 1980;
  bool moves_about = false;
  ns event_ns = 0, event_after_kernel_ns = 0, gap_ns = 0, build_ns = 0;
  std::vector<int> architectures{75, 80, 90, 100};
  std::string cupti{};                ///< what is wrong with it
  std::vector<std::string> offered{}; ///< ids of cublasLt's algorithms

private:
  using by_name = std::map<std::string, ns>;

  static ns chosen(const by_name& all, const std::string& name, const std::string& id) {
    for (const std::string& key : {"id " + id, name})
      if (const auto found = all.find(key); found != all.end()) return found->second;
    return all.at("");
  }

  static ns time(const std::string& text) {
    std::size_t end = 0;
    const long long value = std::stoll(text, &end);
    const std::string unit = text.substr(end);
    return value * (unit == "ms" ? 1'000'000 : unit == "us" ? 1000 : 1);
  }

  void read(const std::string& line) {
    std::istringstream words(line);
    std::string word, value, name;
    if (!(words >> word) || word[0] == '#') return;
    static const std::set<std::string> named{"engine", "legacy", "legacy-data", "legacy-filter",
                                             "call",   "kernel", "blas",        "lt",
                                             "id",     "turned"};
    if (named.contains(word)) {
      words >> value;
      name = word + ' ' + value;
      words >> word;
    }
    const bool valued = static_cast<bool>(words >> value);
    if (word == "cost" && valued) {
      costs_[name] = time(value);
    } else if (word == "cold" && valued) {
      colds_[name] = time(value);
    } else if (word == "off" && valued && !name.empty()) {
      offs_[name] = std::stod(value);
    } else if (faults.contains(word) && !name.empty()) {
      faults_.insert(name + ' ' + word);
    } else if (word == "workspace" && valued) {
      workspace_bytes = std::stoll(value);
    } else if (word == "malloc-limit" && valued) {
      malloc_limit = std::stoll(value);
    } else if (word == "device-lost-after" && valued) {
      executions_until_lost = std::stoll(value);
    } else if (word == "clock" && valued) {
      clock_mhz = std::stoi(value);
    } else if (word == "moves-about") {
      moves_about = true;
    } else if (word == "event" && valued) {
      event_ns = time(value);
    } else if (word == "event-after-kernel" && valued) {
      event_after_kernel_ns = time(value);
    } else if (word == "builds" && valued) {
      build_ns = time(value);
    } else if (word == "gap" && valued) {
      gap_ns = time(value);
    } else if (word == "architectures" && valued) {
      architectures = {std::stoi(value)};
      for (int one = 0; words >> one;)
        architectures.push_back(one);
    } else if (word == "runs" && valued && !name.empty()) {
      do
        kernels_[name].push_back(value);
      while (words >> value);
    } else if (word == "counts" && valued && !name.empty()) {
      counts& c = counts_[name];
      c.tensor_pipe_percent = std::stod(value);
      words >> c.read >> c.written;
    } else if (word == "cupti" && valued) {
      cupti = value;
    } else if (word == "gpus" && valued) {
      gpus = std::stoi(value);
    } else if (word == "offers" && valued) {
      offered.push_back(value);
    } else if (word == "no-capture") {
      no_capture = true;
    } else {
      throw std::runtime_error("fake GPU: a script says \"" + line + '"');
    }
  }

  inline static const std::set<std::string> faults{
      "unsupported", "refuses-to-run", "wrong",   "launch-failure",
      "no-capture",  "refuses-handle", "winograd"};
  by_name costs_{{"", 10'000}, {"kernel nothing", 0}, {"kernel busy", 0}, {"kernel chase", 51'200}};
  by_name colds_{{"", 0}, {"kernel chase", 51'200}};
  std::set<std::string> faults_{};
  std::map<std::string, double> offs_{};
  std::map<std::string, std::vector<std::string>> kernels_{};
  std::map<std::string, counts> counts_{};
};

} // namespace fake
