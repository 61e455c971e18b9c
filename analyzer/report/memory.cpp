// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace benanza::report {

namespace {
std::string bytes_text(std::int64_t bytes) {
  return show_bytes(static_cast<double>(bytes));
}

/// `480 MiB of weights and 12 MiB of keys and values`
std::string what_is_read(const bound::memory_floor& m) {
  std::string out = bytes_text(m.weight_bytes) + " of weights";
  if (m.cache_bytes > 0) out += " and " + bytes_text(m.cache_bytes) + " of keys and values";
  return out;
}
double tokens_per_s(const model::token_cache& c, double ns) {
  return 1e9 * static_cast<double>(c.tokens()) / ns;
}
} // namespace

std::vector<std::string> memory_remarks(const bound::model_bound& b) {
  std::vector<std::string> out;
  const bound::model_bound& best = b.best_graph();
  const bound::memory_floor& m = best.memory;
  const double bound_ns = b.best_form().bound.sequential.ns;
  const auto expected = bound::expected(b.fastest_form());
  if (bound_ns <= 0) return out;
  if (b.set_by_memory())
    out.push_back(fmt::format("each run reads {}: {}, if memory is as fast as measured, {:.3g} "
                              "GB/s, and a tenth; the layers alone, with hot caches, take {}",
                              what_is_read(m), show_time(m.ns), m.rate,
                              show_time(b.best_form().layers_ns)));
  const model::token_cache& cache = b.graph->cache;
  if (!cache || !b.sure()) return out;
  const auto rate = [&](double ns) { return show_rate(tokens_per_s(cache, ns)); };
  const std::string beside =
      cache.sequences > 1 ? fmt::format(", {} sequences at once", cache.sequences) : std::string();
  if (cache.past == 0) {
    const auto time = [&](double ns, std::string_view which) {
      return fmt::format("{} {} ({} tokens/s)", show_time(ns), which,
                         show_amount(tokens_per_s(cache, ns)));
    };
    std::string line =
        fmt::format("first token after a prompt of {}{}: {}", counted(cache.added, "token"), beside,
                    time(bound_ns, "at least"));
    if (expected) line += ", " + time(expected->ns, "expected");
    out.push_back(std::move(line));
    return out;
  }
  std::string line = fmt::format("tokens: at most {}/s", rate(bound_ns));
  if (expected) line += fmt::format(", {}/s expected", rate(expected->ns));
  line += fmt::format(", {} tokens deep{}", cache.past, beside);
  if (cache.added > 1) line += fmt::format(", {} new ones in each run", cache.tokens());
  if (const auto bytes = static_cast<double>(m.bytes()); expected && m.rate > 0)
    line += fmt::format("; the expected run reads {} at {:.3g} GB/s, {} of the {:.3g} measured",
                        what_is_read(m), bytes / expected->ns,
                        percent(bytes / expected->ns / m.rate), m.rate);
  out.push_back(std::move(line));
  return out;
}

result::ordered_json memory_json(const bound::model_bound& b) {
  const bound::memory_floor& m = b.memory;
  const auto known = [](double ns) {
    return ns > 0 ? result::ordered_json(ns) : result::ordered_json();
  };
  result::ordered_json out{{"weight_bytes", m.weight_bytes},
                           {"cache_bytes", m.cache_bytes},
                           {"read_gb_per_s", known(m.rate)},
                           {"ns", known(m.ns)},
                           {"all_threads_ns", known(m.all_threads_ns)},
                           {"sets_bound", b.set_by_memory()}};
  if (const model::token_cache& cache = b.graph->cache) {
    const auto expected = bound::expected(b.fastest_form());
    const double bound_ns = b.sure() ? b.best_form().bound.sequential.ns : 0;
    const double expected_ns = b.sure() && expected ? expected->ns : 0;
    out["tokens"] = {
        {"sequences", cache.sequences},
        {"new", cache.added},
        {"past", cache.past},
        {"bound_per_s", known(bound_ns > 0 ? tokens_per_s(cache, bound_ns) : 0)},
        {"expected_per_s", known(expected_ns > 0 ? tokens_per_s(cache, expected_ns) : 0)}};
  }
  return out;
}

} // namespace benanza::report
