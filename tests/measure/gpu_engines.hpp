// SPDX-License-Identifier: Apache-2.0
// Which engines of cuDNN does a layer have on the fake GPU, and how are they scripted and selected?
//
//   const auto engines = engines_of(small_conv);   engine(engines[0], "cost 4us")   only(engines)
#pragma once

#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace benanza::test {
inline const std::string cudnn_json = "--backends cudnn --benchmark_format=json ";

/// The engines of a layer, as the program lists them.
inline std::vector<std::int64_t> engines_of(const std::string& layer,
                                            const std::string& options = "") {
  const fake_run r({layer}, "", "--backends cudnn --benchmark_list_tests " + options);
  REQUIRE(r.ended.status == 0);
  std::set<std::int64_t> out;
  std::istringstream lines(r.ended.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("/cudnn/");
    if (at == std::string::npos) continue;
    const std::string rest = line.substr(at + 7);
    if (const auto e = engine_in(rest.substr(0, rest.find('/'))); e >= 0) out.insert(e);
  }
  return {out.begin(), out.end()};
}

/// The first configuration with knobs of a layer's engines in ONNX's order.
inline std::string configuration_of(const std::string& layer) {
  const fake_run r({layer}, "", "--backends cudnn --benchmark_list_tests");
  std::istringstream lines(r.ended.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("/cudnn/eng");
    if (at == std::string::npos) continue;
    const std::string id = line.substr(at + 7, line.find('/', at + 7) - at - 7);
    if (holds(id, "_k")) return id;
  }
  FAIL("no engine of " << layer << " has a knob");
  return {};
}

inline std::string engine(std::int64_t number, const std::string& what) {
  return "engine " + std::to_string(number) + ' ' + what + '\n';
}
/// A filter for the cases of these engines.
inline std::string only(const std::vector<std::int64_t>& engines) {
  std::string all;
  for (const std::int64_t e : engines)
    all += (all.empty() ? "" : "|") + std::to_string(e);
  return " --benchmark_filter='^[A-Z].*eng(" + all + ")[_/]'";
}
} // namespace benanza::test
