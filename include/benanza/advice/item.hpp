// SPDX-License-Identifier: Apache-2.0
// What is a piece of advice? One change that a user can make: what to do, how much it saves of a
// run of the model, how it is done and who can do that, on which of its nodes, on which rows that
// rests, what it assumes, and the command that checks it. Its id is the same for the same advice on
// the same model, so that a program can act on it.
//
//   item i{.id = "fusion/Conv+Relu", .kind = "fusion", .what = "fuse ...", .saves = {354e3, ...}};
#pragma once

#include "../bound/missing.hpp"
#include "../bound/model.hpp"
#include "baseline.hpp"
#include "how.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
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
  std::vector<std::string> costs{};    ///< what else it takes: memory, measuring
  std::string assumes{};
  std::string check{}; ///< a shell command
  how_to how{};
  /// Whose figures it leads to, where not those of the same model and setting: "2 threads"; and
  /// their lower bound.
  std::string leads_to{};
  double bound_ns = 0;
};

/// What is not worth doing, and why.
struct remark {
  std::string_view kind{};
  std::string what{};
  std::string brief{}; ///< in a few words: "fusion (done already)"
};

/// What could be worth doing, but was not measured.
struct question {
  std::string_view kind{};
  std::string what{};    ///< "2 threads"
  std::string command{}; ///< measures it
};

/// What advice rests on.
struct grounds {
  const bound::source& of;
  const bound::model_bound& model;
  /// The same model in other types and batches, and other models, which do not count.
  std::vector<const bound::model_bound*> others{};
  const comparison* framework = nullptr; ///< null: there is no framework's run
  double latency_limit_ns = 0;           ///< that a batch may take; 0: any
  baseline run{};                        ///< from which changes start
  std::vector<const comparison*> runs{}; ///< of all frameworks, in all settings of the models
};

/// Advice of one kind.
struct advice_of_kind {
  std::vector<item> items{};
  std::vector<remark> not_worth{};
  std::vector<question> not_measured{};
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
/// True for a model of a GGUF file.
inline bool in_blocks(const model::graph& g) {
  return std::any_of(g.layers.begin(), g.layers.end(),
                     [](const op::layer& l) { return op::family(l) == "MatMulGgml"; });
}
/// The command that runs a model in a framework at its dims; in one that has such layers, if none
/// is named.
inline std::string framework_command(const model::graph& g, std::string_view framework = {},
                                     std::string_view model = {}) {
  const std::string who(!framework.empty() ? framework : in_blocks(g) ? "llamacpp" : "onnxruntime");
  return fmt::format("benanza_measure_framework {} {}{}", bound::shell_word(who),
                     bound::shell_file(std::string(model.empty() ? g.model : model) +
                                       (reads_gguf(who) ? ".gguf" : ".onnx")),
                     bound::dims_options(g));
}
/// The command that profiles the model in that framework again, with settings.
inline std::string measure_command(const comparison& c, int threads = 0,
                                   const std::vector<setting>& set = {}) {
  std::string out = fmt::format("{} --threads {}",
                                framework_command(*c.model->graph, c.from->framework,
                                                  c.from->model.empty() ? "MODEL" : c.from->model),
                                threads > 0 ? threads : std::max(1, c.from->threads));
  std::map<std::string, std::string> all = c.from->settings;
  for (const setting& s : set)
    all.insert_or_assign(s.name, s.value);
  for (const auto& [key, value] : all)
    out += " --set " + bound::shell_word(key + '=' + value);
  return out;
}
/// `ONNX Runtime 1.32.0`.
inline std::string framework_of(const comparison& c) {
  const std::string version = c.from->version.substr(0, c.from->version.find('-'));
  return framework_title(c.from->framework) + (version.empty() ? "" : ' ' + version);
}
/// `ONNX Runtime`, or frameworks in general where there is no run of one.
inline std::string who_is_asked(const grounds& g) {
  return g.framework == nullptr ? "a framework" : framework_title(g.framework->from->framework);
}
/// One fact of the run's provenance; empty: it is not there.
inline std::string fact_of(const result::run& r, const char* section, const std::string& key) {
  const auto found = r.provenance.find(section);
  if (found == r.provenance.end()) return {};
  const auto value = found->second.find(key);
  return value == found->second.end() ? std::string() : value->second;
}
/// A way that only makers have, with the text for them: what is asked for, on which rows that
/// rests, and where these were measured.
inline how_to by_makers(const grounds& g, const std::string& wish, const std::string& text,
                        const std::vector<std::string>& rows) {
  constexpr std::size_t most_rows = 3;
  how_to out{.by = doer::makers, .kind = way::letter, .text = text};
  std::string cpu = fact_of(g.of.run, "machine", "gpu");
  if (cpu.empty()) cpu = fact_of(g.of.run, "machine", "cpu");
  out.letter =
      fmt::format("{}: {}. Measured in {} on {} {}{}, layer by layer, each result checked "
                  "against float64:",
                  g.framework == nullptr ? "Wish" : framework_of(*g.framework), wish,
                  name(g.model.type), g.model.threads, g.model.threads == 1 ? "thread" : "threads",
                  cpu.empty() ? "" : " of " + cpu);
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i)
    out.letter += (i == 0 ? " " : "; ") + rows[i];
  out.letter += fmt::format(". Model: {}.", g.model.graph->name);
  return out;
}
/// The command that measures a layer of the model as the rest of the run was.
inline std::string layer_command(const grounds& g, const std::string& layer) {
  const std::string filter = bound::measuring_command(layer);
  return bound::bench_command(g.of.run, g.model) + filter.substr(filter.find(' '));
}
} // namespace detail

} // namespace benanza::advice
