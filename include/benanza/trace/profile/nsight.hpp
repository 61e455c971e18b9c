// SPDX-License-Identifier: Apache-2.0
// What does an SQLite export of Nsight Systems say? The kernels of a GPU, each with the call that
// launched it, and the ranges that the program marked with NVTX: a kernel belongs to the innermost
// range in which its launch was begun. Without ranges the kernels themselves are the operators.
// Tables are there only where something was recorded; runs are the sequence that repeats.
//
//   profile p = read_nsight("report.sqlite");   // nsys export --type sqlite report.nsys-rep
#pragma once

#include "executions.hpp"

#ifdef BENANZA_WITH_STORE
#include "../../result/store/database.hpp"
#endif

#include <limits>
#include <set>

namespace benanza::trace {

#ifdef BENANZA_WITH_STORE
namespace detail {
inline constexpr std::string_view record_nsight =
    "record it with nsys profile --trace cuda,nvtx --cuda-graph-trace node, and export it with "
    "nsys "
    "export --type sqlite";

/// Reads one export.
class nsight_reader {
  using database = result::store::database;
  using statement = result::store::statement;

public:
  explicit nsight_reader(const std::string& path)
      : path_(path)
      , file_(path, SQLITE_OPEN_READONLY, path, 1000) {
    file_.run("PRAGMA trusted_schema = OFF");
  }

  profile read() {
    if (!has(kernels_table))
      throw error(has("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
                      ? "CUDA graphs were recorded as wholes, without their kernels"
                      : "no kernel of a GPU is in this export of Nsight Systems",
                  path_, record_nsight);
    profile p{.source = path_, .format = "Nsight Systems' export", .device = "gpu"};
    read_kernels();
    if (kernels_.empty())
      throw error("no kernel of a GPU is in this export of Nsight Systems", path_, record_nsight);
    std::size_t found = 0;
    if (has("CUPTI_ACTIVITY_KIND_RUNTIME") && has("NVTX_EVENTS")) {
      read_launches();
      read_ranges();
      found = place_kernels();
    }
    std::vector<lane_interval> busy;
    for (const kernel& k : kernels_)
      busy.push_back({k.begin, k.end, k.lane});
    p.overlapping = lanes_overlap(std::move(busy));
    if (p.overlapping == true)
      p.warnings.push_back(
          "kernels ran at the same time in several streams: their times do not add "
          "up to that of the model");
    if (found < kernels_.size())
      p.warnings.push_back(std::to_string(found) + " of " + counted(kernels_.size(), "kernel") +
                           " lie in a range of NVTX; the others stand by their own names");
    add_executions(p, executions());
    return p;
  }

private:
  static constexpr const char* kernels_table = "CUPTI_ACTIVITY_KIND_KERNEL";

  struct kernel {
    std::string name;
    double begin = 0, end = 0;
    std::int64_t lane = 0, process = 0, correlation = 0;
    int range = -1;
  };
  struct launch {
    double begin = 0;
    std::int64_t thread = 0;
  };
  struct range {
    double begin = 0, end = 0;
    std::int64_t thread = 0;
    std::string text;
  };

  static std::int64_t process_of(std::int64_t global) { return (global >> 24) & 0xffffff; }

  const std::set<std::string>& columns(const std::string& table) {
    const auto [at, fresh] = columns_.try_emplace(table);
    if (fresh) // a view is none, which could compute for ever
      statement(file_, "SELECT c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
                       "WHERE m.type = 'table' AND m.name = ?")
          .with(std::string_view(table))
          .each([&, to = &at->second](const statement& row) { to->emplace(row.text(0)); });
    return at->second;
  }
  bool has(const std::string& table) { return !columns(table).empty(); }
  /// A column, or what replaces it where the table lacks it.
  std::string column(const std::string& table, const std::string& name,
                     const std::string& otherwise = "NULL") {
    return columns(table).contains(name) ? "t." + name : otherwise;
  }

  void read_kernels() {
    const std::string table = kernels_table;
    const bool texts = has("StringIds");
    const std::string name =
        texts ? "(SELECT value FROM StringIds WHERE id = " +
                    column(table, "shortName", column(table, "demangledName")) + ")"
              : std::string("NULL");
    statement q(file_, "SELECT t.start, t.end, " + column(table, "deviceId", "0") + ", " +
                           column(table, "streamId", "0") + ", " + column(table, "globalPid", "0") +
                           ", " + column(table, "correlationId", "0") + ", " + name + " FROM " +
                           table + " t WHERE t.end >= t.start ORDER BY t.start");
    q.each([&](const statement& row) {
      kernel& k = kernels_.emplace_back();
      k.begin = static_cast<double>(row.integer(0));
      k.end = static_cast<double>(row.integer(1));
      k.lane = ((row.integer(2) & 0xffff) << 32) | (row.integer(3) & 0xffffffff);
      k.process = process_of(row.integer(4));
      k.correlation = row.integer(5);
      k.name = row.null(6) ? "kernel" : std::string(row.text(6));
    });
  }

  /// Numbers of launches repeat in other processes.
  void read_launches() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    statement q(file_, "SELECT t.start, " + column(table, "globalTid", "0") + ", " +
                           column(table, "correlationId", "0") + " FROM " + table + " t");
    q.each([&](const statement& row) {
      launches_[{process_of(row.integer(1)), row.integer(2)}] = {
          static_cast<double>(row.integer(0)), row.integer(1)};
    });
  }

  /// Ranges that were pushed and popped (59), or begun and ended (60).
  void read_ranges() {
    const std::string table = "NVTX_EVENTS";
    const std::string id = column(table, "textId");
    const std::string looked_up =
        has("StringIds") ? "(SELECT value FROM StringIds WHERE id = " + id + ")" : "NULL";
    statement q(file_, "SELECT t.start, t.end, " + column(table, "globalTid", "0") + ", coalesce(" +
                           column(table, "text") + ", " + looked_up + ") FROM " + table +
                           " t WHERE t.end IS NOT NULL AND t.end >= t.start AND " +
                           column(table, "eventType", "59") +
                           " IN (59, 60) ORDER BY t.start, "
                           "t.end DESC");
    q.each([&](const statement& row) {
      if (row.null(3)) return;
      ranges_.push_back({static_cast<double>(row.integer(0)), static_cast<double>(row.integer(1)),
                         row.integer(2), std::string(row.text(3))});
    });
  }

  /// Finds the innermost range of each kernel's launch; how many have one.
  std::size_t place_kernels() {
    struct question {
      double at;
      std::int64_t thread;
      kernel* of;
    };
    std::vector<question> all;
    for (kernel& k : kernels_)
      if (const auto l = launches_.find({k.process, k.correlation}); l != launches_.end())
        all.push_back({l->second.begin, l->second.thread, &k});
    std::stable_sort(all.begin(), all.end(),
                     [](const question& a, const question& b) { return a.at < b.at; });
    std::unordered_map<std::int64_t, std::vector<int>> open; // of a thread
    std::size_t next = 0, found = 0;
    for (const question& q : all) {
      for (; next < ranges_.size() && ranges_[next].begin <= q.at; ++next)
        open[ranges_[next].thread].push_back(static_cast<int>(next));
      std::vector<int>& here = open[q.thread];
      std::erase_if(here, [&](int i) { return ranges_[static_cast<std::size_t>(i)].end < q.at; });
      if (here.empty()) continue;
      q.of->range = here.back();
      ++found;
    }
    return found;
  }

  /// Kernels of one range are one execution.
  std::vector<execution> executions() const {
    std::vector<execution> out;
    std::unordered_map<int, std::size_t> place; // of a range in `out`
    for (const kernel& k : kernels_) {
      const double ns = k.end - k.begin;
      if (!ns_of(ns, 1)) continue;
      if (k.range < 0) {
        out.push_back({{.name = k.name, .type = k.name, .kernel = k.name}, k.name, ns});
        continue;
      }
      const auto [there, fresh] = place.try_emplace(k.range, out.size());
      const std::string& text = ranges_[static_cast<std::size_t>(k.range)].text;
      if (fresh) out.push_back({{.name = text}, "range " + text, 0});
      execution& e = out[there->second];
      e.ns += ns;
      if (e.told.kernel.size() < 1000) // a list of them is for people
        e.told.kernel.append(e.told.kernel.empty() ? "" : " + ").append(k.name);
    }
    return out;
  }

  std::string path_;
  database file_;
  std::map<std::string, std::set<std::string>> columns_;
  std::vector<kernel> kernels_;
  std::map<std::pair<std::int64_t, std::int64_t>, launch> launches_; ///< by process and correlation
  std::vector<range> ranges_;                                        ///< by their beginning
};
} // namespace detail

inline profile read_nsight(const std::string& path) {
  try {
    return detail::nsight_reader(path).read();
  } catch (const error& e) {
    const std::string said = e.what();
    if (!said.starts_with("the store")) throw;
    throw error("this SQLite file is damaged, or no export of Nsight Systems", path,
                detail::record_nsight);
  }
}
#else
inline profile read_nsight(const std::string& path) {
  throw error("this is an SQLite file, and this program was built without SQLite", path,
              "install libsqlite3-dev and build it again");
}
#endif

} // namespace benanza::trace
