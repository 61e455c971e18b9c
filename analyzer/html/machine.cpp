// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "../report/heading.hpp"
#include "numbers.hpp"

#include <benanza/bound/ceilings/caches.hpp>
#include <benanza/bound/ceilings/ceilings.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report::html {

namespace {
/// The fastest bandwidth in each level of the caches, for the lines of a roofline plot.
result::ordered_json levels_json(const bound::ceilings& c, int threads) {
  result::ordered_json out = result::ordered_json::array();
  const bound::cache_levels levels = c.levels(threads);
  const std::vector<bound::rate_at> curve = c.best_curve(threads);
  for (std::size_t i = 0; i <= levels.caches().size(); ++i) {
    double best = 0;
    for (const bound::rate_at& at : curve)
      if (levels.level_of(at.bytes) == i) best = std::max(best, at.bytes_per_ns);
    if (best > 0) out.push_back({{"name", levels.name(i)}, {"gb_per_s", number(best)}});
  }
  return out;
}
} // namespace

result::ordered_json machine_json(const result::run& r) {
  result::ordered_json facts = result::ordered_json::object();
  for (const auto& [section, all] : r.provenance) {
    result::ordered_json& of = facts[printable(section)] = result::ordered_json::array();
    for (const auto& [key, value] : all)
      of.push_back({printable(key), printable(value)});
  }
  const bound::ceilings c(r);
  result::ordered_json peaks = result::ordered_json::array(),
                       curves = result::ordered_json::array();
  for (const auto& [where, all] : c.peaks())
    peaks.push_back({{"type", name(where.first)},
                     {"threads", where.second},
                     {"gflops", number(all.front().flops_per_ns)},
                     {"by", printable(all.front().backend + ' ' + all.front().algorithm)}});
  for (int threads : c.threads()) {
    result::ordered_json levels = levels_json(c, threads);
    if (!levels.empty()) curves.push_back({{"threads", threads}, {"levels", std::move(levels)}});
  }
  const std::string gpu = report::fact(r, "machine", "gpu"),
                    cpu = report::fact(r, "machine", "cpu"),
                    cores = report::fact(r, "machine", "cores");
  std::string title = !gpu.empty() ? gpu : cpu.empty() ? "unknown processor" : cpu;
  if (gpu.empty() && !cores.empty()) title += cores == "1" ? ", 1 core" : ", " + cores + " cores";
  return {{"title", title},
          {"line", report::where_measured(r)},
          {"source", printable(r.source)},
          {"merged", report::merged_line(r)},
          {"facts", std::move(facts)},
          {"peaks", std::move(peaks)},
          {"bandwidth", std::move(curves)}};
}

} // namespace benanza::report::html
