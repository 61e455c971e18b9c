// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/json.hpp"
#include "../report/units.hpp"

#include <fmt/format.h>
#include <range/v3/action/stable_sort.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <variant>

namespace benanza::report {

namespace {
/// A name of cuDNN or cuBLAS without what all such names begin with.
std::string short_call(std::string_view text) {
  for (std::string_view front :
       {"CUDNN_CONVOLUTION_FWD_ALGO_", "CUDNN_CONVOLUTION_", "CUDNN_", "CUBLAS_GEMM_", "CUBLAS_"})
    if (text.starts_with(front)) return std::string(text.substr(front.size()));
  return std::string(text);
}
} // namespace

std::string how_called(const trace::call& c) {
  std::vector<std::string> words{c.function, short_call(c.algorithm),
                                 c.math == "DEFAULT_MATH" ? std::string() : short_call(c.math),
                                 c.layout};
  if (c.workspace_bytes > 0)
    words.push_back("workspace " + show_bytes(static_cast<double>(c.workspace_bytes)));
  std::erase(words, "");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string what_called(const trace::call& c) {
  return c.layer ? op::name(*c.layer) : c.remark;
}

std::string_view type_called(const trace::call& c) {
  return c.type ? name(*c.type) : "-";
}

std::string show_version(const std::string& text) {
  const bool number =
      !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return text;
  const int v = std::stoi(text), major = v >= 10000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", v / major, v % major / 100, v % 100);
}

std::string log_text(const trace::call_log& l, const trace::iterations& all,
                     std::optional<std::size_t> shown) {
  std::string text = counted(std::ssize(l.entries), "call");
  for (const auto& [library, version] : l.versions)
    text += fmt::format(", {} {}", library, show_version(version));
  if (all.count > 1) {
    text += fmt::format("; {} iterations of {}", all.count, all.length);
    if (shown) text += fmt::format(", number {} is shown", *shown + 1);
    if (all.first != 0) text += fmt::format(", {} before them", all.first);
    if (all.behind != 0) text += fmt::format(", {} behind them", all.behind);
  }
  return l.source + ": " + text;
}

namespace {
constexpr const char* call_keys[] = {"library", "function",  "called_layer",
                                     "remark",  "type",      "math",
                                     "layout",  "algorithm", "workspace_bytes"};
} // namespace

void add_call_columns(tables::table& t) {
  for (const char* key : call_keys)
    t.columns.push_back({key, ""});
}

void add_call(const trace::call* c, std::vector<tables::cell>& row) {
  if (c == nullptr) {
    row.resize(row.size() + std::size(call_keys));
    return;
  }
  const std::vector<tables::cell> its{std::string(name(c->from)),
                                      c->function,
                                      c->layer ? tables::cell(op::name(*c->layer)) : tables::cell(),
                                      c->remark,
                                      c->type ? tables::cell(std::string(name(*c->type)))
                                              : tables::cell(),
                                      c->math,
                                      c->layout,
                                      c->algorithm,
                                      tables::whole(c->workspace_bytes)};
  row.insert(row.end(), its.begin(), its.end());
}

tables::chapter log_chapter(const trace::call_log& l, const trace::iterations& all,
                            std::optional<std::size_t> shown) {
  tables::chapter versions{.key = "versions", .only_one = true};
  for (const auto& [library, version] : l.versions)
    versions.fields.push_back({std::string(library), version});
  tables::table failed{.key = "failed_calls", .columns = tables::keys({"status", "line"})};
  add_call_columns(failed);
  for (const trace::failure& f : l.failed) {
    auto& row = failed.rows.emplace_back();
    row = {f.status, tables::whole(f.at.line)};
    add_call(&l.at(f.at), row);
  }
  tables::chapter out{
      .key = "logs",
      .fields = {{"source", l.source, true},
                 {"lines", tables::whole(l.lines)},
                 {"bytes", tables::whole(l.bytes)},
                 {"calls", tables::whole(l.entries.size())},
                 {"iterations", tables::whole(all.count)},
                 {"calls_each", tables::whole(all.length)},
                 {"calls_before", tables::whole(all.first)},
                 {"calls_behind", tables::whole(all.behind)},
                 {"iteration_shown", shown ? tables::whole(*shown + 1) : tables::cell()},
                 {"warnings", l.warnings}}};
  out.add(std::move(failed));
  out.chapters.push_back(std::move(versions));
  out.say(log_text(l, all, shown));
  return out;
}

tables::chapter log_remarks(const std::vector<const trace::call_log*>& logs, std::size_t limit) {
  std::map<std::string, std::int64_t> failed;
  tables::chapter out;
  for (const trace::call_log* l : logs) {
    for (const trace::failure& f : l->failed) {
      const trace::call& c = l->at(f.at);
      ++failed[fmt::format("{} {}: {}", c.function, what_called(c), short_call(f.status))];
    }
    for (const std::string& w : l->warnings)
      out.warn(l->source + ": " + w + '.');
  }
  tables::table shown{.title = "Calls that failed",
                      .columns = {{"", "times", tables::unit::count}, {"", "call"}},
                      .shown = limit,
                      .all_by = "--layers all"};
  for (const auto& [what, n] : failed)
    shown.rows.push_back({n, what});
  out.parts.emplace(out.parts.begin(), std::move(shown));
  return out;
}
tables::chapter calls_answer(const std::vector<trace::call_log>& logs, bool partial,
                             std::size_t limit) {
  tables::chapter out{.fields = {{"schema", tables::whole(report_schema)},
                                 {"status", partial ? "partial" : "complete"}}};
  struct row {
    const trace::call_log* from;
    const trace::call* called;
    std::int64_t count, first_line;
  };
  std::vector<row> rows;
  std::vector<const trace::call_log*> all;
  for (const trace::call_log& l : logs) {
    out.chapters.push_back(log_chapter(l, trace::find_iterations(l), std::nullopt));
    all.push_back(&l);
    std::vector<std::int64_t> count(l.calls.size()), line(l.calls.size());
    for (const trace::entry& e : l.entries)
      if (const auto at = static_cast<std::size_t>(e.call); count[at]++ == 0) line[at] = e.line;
    for (const auto& [called, n, first_line] : ranges::views::zip(l.calls, count, line))
      if (n != 0) rows.push_back({&l, &called, n, first_line});
  }
  rows |= ranges::actions::stable_sort(ranges::greater{}, &row::count);
  tables::table shown{.key = "calls",
                      .columns = {{"", "calls", tables::unit::count},
                                  {"", "type"},
                                  {"", "layer, and how it was called"},
                                  {"count", ""},
                                  {"source", ""},
                                  {"first_line", ""}},
                      .shown = limit,
                      .all_by = "--layers all"};
  add_call_columns(shown);
  for (const row& r : rows) {
    std::vector<tables::cell>& cells = shown.rows.emplace_back();
    cells = {r.count,
             std::string(type_called(*r.called)),
             what_called(*r.called) + "; " + how_called(*r.called),
             r.count,
             r.from->source,
             r.first_line};
    add_call(r.called, cells);
  }
  out.chapters.emplace_back().add(std::move(shown));
  out.chapters.push_back(log_remarks(all, limit));
  return out;
}

std::string layers_file(const std::vector<trace::call_log>& logs) {
  struct line {
    std::string layer, how;
    std::int64_t count = 0;
  };
  std::vector<line> lines;
  std::map<std::string, std::size_t> place;
  std::set<std::string> types;
  std::string sources;
  for (const trace::call_log& l : logs) {
    sources += "# from " + printable(l.source) + '\n';
    for (const trace::entry& e : l.entries) {
      const trace::call& c = l.at(e);
      // What changes nothing but the layout is no layer of a model.
      if (!c.layer || op::is_view(*c.layer) || op::is_reorder(*c.layer)) continue;
      const auto [found, fresh] = place.try_emplace(op::name(*c.layer), lines.size());
      if (fresh)
        lines.push_back(
            {found->first, fmt::format("{}, {}", printable(c.function), type_called(c))});
      ++lines[found->second].count;
      if (c.type) types.insert(std::string(name(*c.type)));
    }
  }
  if (lines.empty()) return {};
  std::string out = sources;
  if (!types.empty())
    out += fmt::format("# measure with: benanza_bench --types {}\n", fmt::join(types, ","));
  for (const line& l : lines)
    out += fmt::format("{}  # {}: {}\n", l.layer, counted(l.count, "call"), l.how);
  return out;
}

} // namespace benanza::report
