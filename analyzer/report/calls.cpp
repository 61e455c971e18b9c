// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"

#include "units.hpp"
#include "warnings.hpp"

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
    if (text.starts_with(front)) return printable(text.substr(front.size()));
  return printable(text);
}
} // namespace

std::string how_called(const trace::call& c) {
  std::vector<std::string> words{printable(c.function), short_call(c.algorithm),
                                 c.math == "DEFAULT_MATH" ? std::string() : short_call(c.math),
                                 printable(c.layout)};
  if (c.workspace_bytes > 0)
    words.push_back("workspace " + show_bytes(static_cast<double>(c.workspace_bytes)));
  std::erase(words, "");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string what_called(const trace::call& c) {
  return c.layer ? op::name(*c.layer) : printable(c.remark);
}

std::string_view type_called(const trace::call& c) {
  return c.type ? name(*c.type) : "-";
}

std::string show_version(const std::string& text) {
  const bool number =
      !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return printable(text);
  const int v = std::stoi(text), major = v >= 10000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", v / major, v % major / 100, v % 100);
}

std::string log_line(const trace::call_log& l, const trace::iterations& all,
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
  return wrapped("", printable(l.source) + ": " + text);
}

std::string log_remarks(const std::vector<const trace::call_log*>& logs, std::size_t limit) {
  std::map<std::string, std::int64_t> failed;
  std::string out;
  for (const trace::call_log* l : logs)
    for (const trace::failure& f : l->failed) {
      const trace::call& c = l->at(f.at);
      ++failed[fmt::format("{} {}: {}", printable(c.function), what_called(c),
                           short_call(f.status))];
    }
  if (!failed.empty()) out += "Calls that failed:\n";
  for (const auto& [what, n] : first_of(failed, limit))
    out += wrapped(fmt::format("{:>6} x ", n), what);
  out += left_out(limit, failed.size(), "calls");
  if (!out.empty()) out += '\n';
  std::vector<std::string> warnings;
  for (const trace::call_log* l : logs)
    for (const std::string& w : l->warnings)
      warnings.push_back(l->source + ": " + w + '.');
  return out + messages("! ", warnings);
}

std::string calls_page(const std::vector<trace::call_log>& logs, const calls_options& options) {
  std::string out;
  std::vector<const trace::call_log*> all;
  struct row {
    const trace::call* called;
    std::int64_t count;
  };
  std::vector<row> rows;
  for (const trace::call_log& l : logs) {
    out += log_line(l, trace::find_iterations(l), std::nullopt);
    all.push_back(&l);
    std::vector<std::int64_t> count(l.calls.size());
    for (const trace::entry& e : l.entries)
      ++count[static_cast<std::size_t>(e.call)];
    for (const auto& [called, n] : ranges::views::zip(l.calls, count))
      if (n != 0) rows.push_back({&called, n});
  }
  rows |= ranges::actions::stable_sort(ranges::greater{}, &row::count);
  if (options.limit != 0 && !rows.empty())
    out += fmt::format("\n{:>8} {:<6} {}\n", "calls", "type", "layer, and how it was called");
  for (const row& r : first_of(rows, options.limit)) {
    const trace::call& c = *r.called;
    out += wrapped(fmt::format("{:>8} {:<6} ", r.count, type_called(c)), what_called(c));
    out += wrapped(std::string(18, ' '), how_called(c));
  }
  out += left_out(options.limit, rows.size(), "calls");
  const std::string remarks = log_remarks(all, options.limit);
  return remarks.empty() ? out : out + '\n' + remarks;
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
      if (!c.layer || op::is_view(*c.layer) || std::holds_alternative<op::reorder>(*c.layer))
        continue;
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
