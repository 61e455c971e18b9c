// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include "html/html_format.hpp"
#include "levels/timeline.hpp"
#include "report/csv.hpp"
#include "report/csv_models.hpp"
#include "report/document.hpp"
#include "report/dot.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/model_explorer.hpp"
#include "report/text.hpp"

#include <benanza/core/text.hpp>
#include <range/v3/algorithm/count.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/none_of.hpp>
#include <range/v3/view/transform.hpp>

#include <filesystem>
#include <iostream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace benanza::analyzer {

std::span<const format> formats() {
  static constexpr format all[] = {
      // a line each
      {"text", ".txt", "for a terminal", report::text_report},
      {"md", ".md", "Markdown", report::markdown_report},
      {"json", ".json", "for programs", report::json_report},
      {"html", ".html", "one page for a browser", html_format},
      {"csv", ".csv", "a row a layer and algorithm", report::csv_report},
      {"csv-models", ".models.csv", "a row a model and framework", report::csv_models_report},
      {"latex", ".tex", "tables for a paper", report::latex_report},
      {"dot", ".dot", "the graph, for Graphviz", report::dot_report},
      {"perfetto", ".pftrace", "a timeline, for Perfetto", report::perfetto_report, true},
      {"trace", ".trace.json", "that timeline as Chrome's trace events", report::trace_report},
      {"model-explorer", ".explorer.json", "times by nodes' names", report::model_explorer_report},
      {"junit", ".junit.xml", "which limits are kept, for CI", report::junit_report},
  };
  return all;
}

const format* find_format(std::string_view name) {
  for (const format& f : formats())
    if (f.name == name) return &f;
  return nullptr;
}

std::string names_of_formats() {
  return join(formats() | ranges::views::transform(&format::name), ",");
}

void check_formats(const request& asked) {
  for (const std::string& name : asked.formats) {
    if (find_format(name) == nullptr)
      throw error("there is no format \"" + name + '"', "--format",
                  "there are " + join(formats() | ranges::views::transform(&format::name), ", "));
    if (ranges::count(asked.formats, name) > 1)
      throw error("a format is named twice", "--format " + name, "name it once");
  }
  const auto cut = [](const std::string& f) { return f == "text" || f == "md" || f == "latex"; };
  if (asked.layers.value_or("all") != "all" && !asked.formats.empty() &&
      ranges::none_of(asked.formats, cut))
    throw error("--layers is about tables of text, md and latex, and " + join(asked.formats, ", ") +
                    " has all rows",
                "--layers " + *asked.layers, "leave it out");
  if (asked.formats.size() > 1 && asked.output.empty())
    throw error("several formats are several files", "--format " + join(asked.formats, ","),
                "name a folder for them with -o");
}

void check_no_report(const request& asked) {
  if (!asked.limits.empty())
    throw error("limits are about the report on models", "--limit " + asked.limits.front(),
                "ask for that without other answers");
  for (const std::string& name : asked.formats)
    if (ranges::find(table_formats, name) == std::end(table_formats) || asked.formats.size() > 1)
      throw error("what is no report on models is " + join(table_formats, ", "),
                  "--format " + join(asked.formats, ","), "name one of them");
}

namespace {
/// The file of a format within a folder; refuses one that was read.
std::string file_of(const request& asked, const format& f) {
  const std::filesystem::path out =
      std::filesystem::path(asked.output) / ("report" + std::string(f.suffix));
  for (const std::string& read : asked.files)
    if (std::error_code bad; std::filesystem::equivalent(out, read, bad))
      throw error("this result would be written over", read, "name another folder with -o");
  return out.string();
}

/// Writes one format to standard output or to a file.
void write_one(const answer& to, const format& f, const report::input& in) {
  if (f.binary && to.asked.output.empty() && &to.out == &std::cout && isatty(STDOUT_FILENO) != 0)
    throw error("this format is binary and not for a terminal", "--format " + std::string(f.name),
                "name a file with -o, such as report" + std::string(f.suffix));
  to.write(f.write(in));
}
} // namespace

void write_report(const answer& to, const report::input& in) {
  const request& asked = to.asked;
  if (asked.formats.size() <= 1 && (asked.output.empty() || !is_folder(asked.output)))
    return write_one(to, *find_format(asked.format), in);
  std::vector<std::pair<std::string, std::string>> files; // nothing is written before all are made
  for (const std::string& name :
       asked.formats.empty() ? std::vector<std::string>{"text"} : asked.formats) {
    const format& f = *find_format(name);
    files.emplace_back(file_of(asked, f), f.write(in));
  }
  make_folder(asked.output);
  for (const auto& [path, text] : files)
    write_file(path, text);
}

} // namespace benanza::analyzer
