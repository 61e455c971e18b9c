// SPDX-License-Identifier: Apache-2.0
// Runs the benchmark program on a machine that seems to have a GPU (programs/fake_gpu.cpp): with
// the layers and the script that a test gives, and reads back what came of it.
//
//   fake_run r({"Conv/1x4x8x8-8x3x3-s1-p1"}, "cost 20us", "--states hot");   r.rows, r.records
#pragma once

#include "program.hpp"

#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace benanza::test {

inline const std::string fake_gpu = BENANZA_FAKE_GPU_LIBRARY;
inline const std::string layers_bench = BENANZA_LAYERS_BENCH_BINARY;
inline const std::string small_conv = "Conv/1x4x8x8-8x3x3-s1-p1";

/// A row of a result.
struct gpu_row {
  std::string name{}, algorithm{}, state{}, error{}, notes{}, stop_reason{};
  std::int64_t engine = -1; ///< its number; -1: not one of the graph API
  double min_ns = 0, median_ns = 0;
};

/// The number of the engine in an algorithm's id: 62 of "nhwc:eng62_k2=4"; -1 where there is none.
inline std::int64_t engine_in(const std::string& id) {
  const std::size_t at = id.find("eng");
  return at == std::string::npos || (at > 0 && id[at - 1] != ':') ? -1
                                                                  : std::stoll(id.substr(at + 3));
}

/// True if two times are equal but for rounding.
inline bool is(double got, double wanted) {
  return std::abs(got - wanted) <= 1e-6 * wanted;
}

/// True where there is a driver: what is said of its absence cannot be tested.
inline bool has_driver() {
  return dlopen("libcuda.so.1", RTLD_LAZY) != nullptr;
}

/// One run of a benchmark program with the fake GPU: in one process, or as users run it.
struct fake_run {
  outcome ended;
  std::vector<gpu_row> rows{};
  std::vector<nlohmann::json> records{}; ///< one a process, as the fake wrote them
  nlohmann::json result{};               ///< the whole document, if it is one

  /// CUPTI is there only where `cupti` is its file.
  fake_run(const std::vector<std::string>& layers, const std::string& script,
           const std::string& options, const std::string& program = layers_bench,
           bool in_one_process = true, const std::string& cupti = "") {
    const scratch_folder s("gpu");
    std::ofstream keys(s / "layers");
    for (const std::string& l : layers)
      keys << l << '\n';
    keys.close();
    std::ofstream(s / "script") << script << '\n';
    // The host's own ceilings are not asked for, unless a filter says so.
    const bool filtered = options.find("--benchmark_filter") != std::string::npos;
    ended = shell("env LD_PRELOAD=" + fake_gpu + " BENANZA_LAYERS=" + (s / "layers") +
                  " BENANZA_FAKE_GPU_SCRIPT=" + (s / "script") +
                  " BENANZA_FAKE_GPU_RECORD=" + (s / "record") + " BENANZA_CUPTI=" + cupti + ' ' +
                  program + " --benchmark_min_time=0.002 " + options +
                  (in_one_process ? " --isolate=false" : "") +
                  (filtered ? "" : " --benchmark_filter=-^machine/"));
    read_rows();
    std::istringstream lines(text_of(s / "record"));
    for (std::string line; std::getline(lines, line);)
      records.push_back(nlohmann::json::parse(line));
  }

  /// True if the only process gave back all that it had, and never misused anything.
  bool tidy() const {
    if (records.size() != 1) return false;
    const nlohmann::json& r = records[0];
    return r["live_bytes"] == 0 && r["overruns"] == 0 && r["misused"] == 0 && r["unordered"] == 0 &&
           r["made"] == r["freed"] && r["error"] == "cudaSuccess";
  }

private:
  void read_rows() {
    if (!nlohmann::json::accept(ended.out)) return;
    result = nlohmann::json::parse(ended.out);
    if (!result.contains("benchmarks")) return;
    for (const auto& b : result.at("benchmarks")) {
      gpu_row r{.name = b.at("name"), .algorithm = b.at("algorithm"), .state = b.at("state")};
      r.error = b.value("error_message", "");
      r.notes = b.value("notes", "");
      r.stop_reason = b.value("stop_reason", "");
      r.engine = engine_in(r.algorithm);
      r.min_ns = b.value("min_ns", 0.0);
      r.median_ns = b.value("median_ns", 0.0);
      rows.push_back(std::move(r));
    }
  }
};

} // namespace benanza::test
