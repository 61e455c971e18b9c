// SPDX-License-Identifier: Apache-2.0
// Which algorithms shall layers take where a graph is run of which others are known? Those of a
// plan, or those that were fastest in a result: by the median with cold weights, else with weights
// from the last cache, else hot.
//
//   named_choices best = read_choices("run.json", 1);   first_choice choice(libraries, {.named =
//   best});
#pragma once

#include "../../result/fields.hpp"
#include "../../result/input_text.hpp"
#include "../../result/reader.hpp"
#include "first_choice.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace benanza::measure {

/// What a plan runs its layers by; of a layer that it runs in several ways, the first one.
inline named_choices choices_of(const result::plan& p) {
  named_choices out;
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    if (!p.steps[i].backend.empty())
      out.try_emplace({op::name(layer_at(p.graph, static_cast<int>(i))), p.type},
                      named_choice{p.steps[i].backend, p.steps[i].algorithm});
  return out;
}

/// What was fastest in a run on so many threads, of exact algorithms that can be in a chain.
inline named_choices choices_of(const result::run& r, int threads) {
  const auto rank = [](const std::string& state) {
    return state == "coldw" ? 0 : state == "llcw" ? 1 : state == "hot" ? 2 : 3;
  };
  named_choices out;
  std::map<std::pair<std::string, numeric>, std::pair<int, double>> best;
  for (const result::measurement& m : r.measurements) {
    const auto type = parse_numeric(m.type);
    if (!result::of_a_layer(m) || !m.error.empty() || !type || m.threads != threads ||
        m.equivalence != m.type || m.result_layout.empty())
      continue;
    const std::pair its(rank(m.state), m.median_ns);
    const std::pair layer(m.family + '/' + m.key, *type);
    const auto [at, fresh] = best.try_emplace(layer, its);
    if (!fresh && !(its < at->second)) continue;
    at->second = its;
    out[layer] = {m.backend, m.algorithm};
  }
  return out;
}

/// The choices that a file says, a plan or a result.
inline named_choices read_choices(const std::string& file, int threads) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  const std::string text = result::input_text(file, most_bytes, "the file of choices");
  const bool plan = text.substr(0, 100).find("\"benanza_plan\"") != std::string::npos;
  named_choices out = plan ? choices_of(result::read_plan(text, file))
                           : choices_of(result::read(std::string_view(text), file), threads);
  if (out.empty())
    throw error("it says of no layer what runs it on " + std::to_string(threads) + " threads", file,
                "give a result of layers, or a plan");
  return out;
}

} // namespace benanza::measure
