// SPDX-License-Identifier: Apache-2.0
// What is a piece of advice? One change that a user can make: what to do, how much it saves of a
// run of the model, on which of its nodes, on which rows that rests, what it assumes, and the
// command that checks it. Its id is the same for the same advice on the same model, so that a
// program can act on it.
//
//   item i{.id = "fusion/Conv+Relu", .kind = "fusion", .what = "fuse ...", .saves = {354e3, ...}};
#pragma once

#include "../bound/missing.hpp"
#include "../bound/model.hpp"
#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::advice {

/// One change.
struct item {
  std::string id{};
  std::string_view kind{}; ///< algorithm, library, fusion, precision, layout, parallel, batch ...
  std::string what{};
  bound::figure saves{};
  std::vector<int> nodes{};            ///< of the unfused graph, ascending
  std::vector<std::string> evidence{}; ///< a row each
  std::string assumes{};
  std::string check{}; ///< a shell command
};

/// What is not worth doing, and why.
struct remark {
  std::string_view kind{};
  std::string what{};
};

/// What advice rests on.
struct grounds {
  const bound::source& of;
  const bound::model_bound& model;
  /// The same model in other types and batches, and other models, which do not count.
  std::vector<const bound::model_bound*> others{};
  const comparison* framework = nullptr; ///< null: there is no framework's run
  double latency_limit_ns = 0;           ///< that a batch may take; 0: any
};

/// The time of a run that changes are about: the framework's, or what a run should take.
inline double run_ns(const bound::model_bound& b, const comparison* framework) {
  if (framework != nullptr && framework->latency.ns > 0) return framework->latency.ns;
  const auto expected = bound::expected(b.fastest_form());
  return expected ? expected->ns : b.fastest_form().prediction.sequential.ns;
}

/// Advice of one kind.
struct advice_of_kind {
  std::vector<item> items{};
  std::vector<remark> not_worth{};
};

/// Of a run's time what is less than this share is not worth a change.
inline constexpr double least_share = 0.005;
/// The most rows of evidence that one item has.
inline constexpr std::size_t most_evidence = 8;

namespace detail {
/// `Conv` of `Conv/1x64x56x56-64x3x3`.
inline std::string_view family_of(std::string_view layer) {
  return layer.substr(0, layer.find('/'));
}
/// `jit_wino_4x3` of `jit_wino_4x3:avx512_core`.
inline std::string_view plain_algorithm(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(':'));
}
/// A time as evidence shows it.
inline std::string time_text(double ns) {
  const double us = ns / 1000;
  return us < 1000 ? fmt::format("{:.{}f} us", us, us < 99.95 ? 1 : 0)
                   : fmt::format("{:.{}f} ms", us / 1000, us < 99'950 ? 2 : 0);
}
/// The command that profiles the model in that framework again.
inline std::string measure_command(const comparison& c) {
  return fmt::format(
      "scripts/measure_framework {} {} --threads {}",
      bound::shell_word(c.from->framework.empty() ? "onnxruntime" : c.from->framework),
      bound::shell_word((c.from->model.empty() ? "MODEL" : c.from->model) + ".onnx"),
      std::max(1, c.from->threads));
}
/// The command that measures a layer of the model as the rest of the run was.
inline std::string layer_command(const grounds& g, const std::string& layer) {
  const std::string filter = bound::measuring_command(layer);
  return bound::bench_command(g.of.run, g.model) + filter.substr(filter.find(' '));
}
} // namespace detail

} // namespace benanza::advice
