// SPDX-License-Identifier: Apache-2.0
#include "heading.hpp"

#include "units.hpp"

#include <benanza/advice/how.hpp>
#include <benanza/result/backends.hpp>
#include <benanza/result/merge.hpp>
#include <fmt/format.h>

#include <iterator>

namespace benanza::report {

std::string fact(const result::run& r, const std::string& section, const std::string& key) {
  const auto found = r.provenance.find(section);
  if (found == r.provenance.end()) return {};
  const auto value = found->second.find(key);
  return value == found->second.end() ? std::string() : printable(value->second);
}

std::string where_measured(const result::run& r) {
  const std::string gpu = fact(r, "machine", "gpu"), cpu = fact(r, "machine", "cpu");
  std::string out = !gpu.empty() ? gpu : cpu.empty() ? "unknown processor" : cpu;
  if (const std::string cores = fact(r, "machine", "cores"); gpu.empty() && !cores.empty())
    out += cores == "1" ? ", 1 core" : ", " + cores + " cores";
  constexpr int most_libraries = 12;
  int libraries = 0;
  if (const auto found = r.provenance.find("software"); found != r.provenance.end())
    for (const auto& [key, value] : found->second)
      if (key.ends_with("_version") && libraries++ < most_libraries)
        out += fmt::format(", {} {}", printable(key.substr(0, key.find_first_of("_-"))),
                           printable(value));
  for (const auto& [name, version] : result::frameworks_of(r))
    out += fmt::format(", {} {}", printable(name), printable(version));
  if (const std::string date = fact(r, "measuring", "date"); !date.empty()) out += ", " + date;
  return out;
}

tables::chapter provenance_of(const result::run& r) {
  tables::chapter out{.key = "provenance", .only_one = true};
  for (const auto& [section, facts] : r.provenance) {
    tables::chapter& its = out.chapters.emplace_back();
    its.key = section;
    its.only_one = true;
    for (const auto& [fact, value] : facts)
      its.fields.push_back({fact, value});
  }
  return out;
}

std::string merged_line(const result::run& r) {
  const std::string cases = fact(r, "measuring", result::merged_cases_fact);
  return cases.empty()
             ? cases
             : wrapped("MERGED      ", cases + " cases that several runs measured: bounds "
                                               "take the least time of all, predictions "
                                               "the median of all samples; disturbed ones "
                                               "count where there are no others.") +
                   '\n';
}

bool loose(const bound::model_bound& b) {
  return b.graph->model.empty();
}

std::string_view type_shown(const bound::model_bound& b) {
  return model::holds_codes(*b.graph) ? "int8" : name(b.type);
}

std::string dims_shown(const model::graph& g) {
  std::string out;
  for (const auto& [symbol, n] : g.dims)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", printable(symbol, 40), n);
  return out;
}

std::string sizes_shown(const model::graph& g) {
  const std::string dims = dims_shown(g);
  return fmt::format("batch {}{}{}", g.batch, dims.empty() ? "" : ", ", dims);
}

std::string title(const bound::model_bound& b) {
  const std::string what =
      loose(b) ? counted(std::ssize(b.layers), "layer") + ", no model"
               : fmt::format("{}  {}", printable(b.graph->name), sizes_shown(*b.graph));
  return fmt::format("{}  {}  {}", what, type_shown(b), counted(b.threads, "thread"));
}

std::string framework_name(const trace::profile& p) {
  std::string out = printable(advice::framework_title(p.framework));
  if (!p.version.empty()) out += ' ' + printable(p.version.substr(0, p.version.find('-')), 20);
  return out;
}

} // namespace benanza::report
