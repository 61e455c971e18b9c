// SPDX-License-Identifier: Apache-2.0
// What do the reports of OpenVINO's benchmark_app say, and the rows of its Python API? Counters a
// layer, as CSV or JSON; layers that did not run, or were optimised away, are no operators. And the
// report of a whole benchmark, whose times are rounded to 0.01 ms. OpenVINO turns f32 into bf16
// where the processor has it: precisions are reported, with a warning.
//
//   profile p = read_openvino_counters("layerName;execStatus;...", "counters.csv");
//   profile r = read_openvino_report("Command line parameters\n-m;resnet50.onnx\n...",
//   "report.csv");
#pragma once

#include "values.hpp"

#include <map>
#include <unordered_map>

namespace benanza::trace {

namespace detail {

inline constexpr std::string_view record_openvino =
    "run benchmark_app with -pc -report_type detailed_counters -report_folder FOLDER";

/// The precision in which most of the time was spent; without times, most of the operators.
inline std::string main_precision(const std::vector<profiled_operator>& all) {
  std::map<std::string, std::pair<double, int>> spent;
  for (const profiled_operator& o : all) {
    if (o.precision.empty()) continue;
    auto& [ns, count] = spent[o.precision];
    for (const double one : o.ns)
      ns += one;
    ++count;
  }
  const auto most = std::max_element(
      spent.begin(), spent.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == spent.end() ? std::string() : most->first;
}

/// Puts the runs together that are reported layer by layer.
class openvino_runs {
public:
  void begin() {
    ++runs_;
    times_seen_.clear();
  }
  /// A layer of the run that began last. An implementation's name ends with its precision.
  void layer(std::string name, std::string_view status, std::string type, std::string kernel,
             std::optional<double> ns) {
    ++rows_;
    if (!status.ends_with("EXECUTED")) return;
    if (!ns) return void(++broken_);
    const std::size_t time = times_seen_[name]++;
    const auto [found, fresh] = place_.try_emplace({name, time}, operators_.size());
    if (fresh) {
      const std::size_t at = kernel.rfind('_');
      std::string token =
          at == kernel.npos ? std::string() : type_token(std::string_view(kernel).substr(at + 1));
      if (token == "s8") token = "u8"; // "I8" is said of both, and sources are mostly this
      operators_.push_back({.name = std::move(name),
                            .type = std::move(type),
                            .kernel = std::move(kernel),
                            .precision = parse_dtype(token) ? token : std::string()});
    }
    std::vector<double>& all = operators_[found->second].ns;
    all.resize(runs_);
    all[runs_ - 1] += *ns;
  }
  bool any_row() const { return rows_ != 0; }

  profile finish(std::string source, std::string format, bool cut_off) {
    if (operators_.empty())
      throw error(rows_ == 0 ? "no layer is in these counters of OpenVINO"
                             : "no layer of these counters of OpenVINO ran",
                  source, record_openvino);
    profile p{.source = std::move(source),
              .format = std::move(format),
              .framework = "openvino",
              .operators = std::move(operators_)};
    for (profiled_operator& o : p.operators)
      o.ns.resize(runs_);
    if (cut_off) p.warnings.push_back("the counters are cut off: what follows is missing");
    if (broken_ != 0) p.warnings.push_back(counted(broken_, "layer") + " without a time left out");
    p.precision = main_precision(p.operators);
    return p;
  }

private:
  std::size_t runs_ = 0, rows_ = 0, broken_ = 0;
  std::vector<profiled_operator> operators_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> place_;
  std::unordered_map<std::string, std::size_t> times_seen_; ///< in the run that began last
};

/// The rows of a table of counters. Names may hold the separator: further columns are theirs.
class openvino_table {
public:
  explicit openvino_table(openvino_runs& to)
      : to_(&to) {}

  void take(std::string_view line) {
    std::vector<std::string_view> row = split_at(line, ";");
    if (row[0] == "layerName") return head(row);
    ended_ = row[0] == "Total";
    if (columns_.size() < 3 || row.size() < columns_.size() || ended_) return;
    const std::size_t extra = row.size() - columns_.size();
    std::string name(row[0]);
    for (std::size_t i = 1; i <= extra; ++i)
      name.append(";").append(row[i]);
    row.erase(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(extra));
    to_->layer(std::move(name), cell(row, status_), std::string(cell(row, type_)),
               std::string(cell(row, kernel_)), ns_of(number_in_text(cell(row, time_)), unit_));
  }
  bool ended() const { return ended_; }

private:
  void head(const std::vector<std::string_view>& row) {
    columns_.assign(row.begin(), row.end());
    status_ = type_ = kernel_ = time_ = row.size();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] == "execStatus") status_ = i;
      if (row[i] == "layerType") type_ = i;
      if (row[i] == "execType") kernel_ = i;
      if (row[i].starts_with("realTime")) {
        time_ = i;
        unit_ = row[i].find("(us)") != row[i].npos ? ns_of_us : ns_of_ms;
      }
    }
    ended_ = false;
    to_->begin();
  }
  static std::string_view cell(const std::vector<std::string_view>& row, std::size_t i) {
    return i < row.size() ? row[i] : std::string_view();
  }

  openvino_runs* to_;
  std::vector<std::string> columns_;
  std::size_t status_ = 0, type_ = 0, kernel_ = 0, time_ = 0;
  double unit_ = ns_of_ms;
  bool ended_ = false;
};
} // namespace detail

/// benchmark_*_counters_report.csv: a run for each infer request.
inline profile read_openvino_counters(std::string_view text, const std::string& source) {
  detail::openvino_runs runs;
  detail::openvino_table table(runs);
  detail::each_line(text, [&](std::string_view line) {
    if (!line.empty()) table.take(line);
  });
  return runs.finish(source, "OpenVINO's counters", !table.ended());
}

/// benchmark_*_counters_report.json.
inline profile read_openvino_counters_value(const nlohmann::json& value,
                                            const std::string& source) {
  detail::openvino_runs runs;
  const auto take = [&](const nlohmann::json& performance) {
    const nlohmann::json* nodes = detail::member(performance, "nodes");
    if (nodes == nullptr || !nodes->is_array()) return;
    runs.begin();
    for (const nlohmann::json& n : *nodes)
      runs.layer(detail::text_in(n, "name"), detail::text_in(n, "status"),
                 detail::text_in(n, "node_type"), detail::text_in(n, "exec_type"),
                 detail::ns_of(detail::number_in(n, "real_time"), detail::ns_of_ms));
  };
  for (const char* name : {"avg_performance", "detailed_performance"})
    if (const nlohmann::json* j = detail::member(value, name)) {
      take(*j);
      if (j->is_array())
        for (const nlohmann::json& one : *j)
          take(one);
    }
  return runs.finish(source, "OpenVINO's counters", false);
}

/// Rows of the Python API, a list for each run, of which the first is cold:
/// `{"runs": [[{"name","type","exec_type","status","real_us"}, ...], ...], "run_ns": [...]}`.
inline profile read_openvino_profiling(const nlohmann::json& value, const std::string& source) {
  detail::openvino_runs runs;
  const nlohmann::json* all = detail::member(value, "runs");
  const bool several = all != nullptr && all->is_array() && all->size() > 1;
  if (all != nullptr && all->is_array())
    for (std::size_t i = several ? 1 : 0; i < all->size(); ++i) {
      if (!(*all)[i].is_array()) continue;
      runs.begin();
      for (const nlohmann::json& n : (*all)[i])
        runs.layer(detail::text_in(n, "name"), detail::text_in(n, "status"),
                   detail::text_in(n, "type"), detail::text_in(n, "exec_type"),
                   detail::ns_of(detail::number_in(n, "real_us"), detail::ns_of_us));
    }
  profile p = runs.finish(source, "OpenVINO's profiling rows", false);
  p.step_ns = detail::ns_of_us;
  if (!several)
    p.warnings.push_back("one run is in it: the times of operators are those of a first, cold run");
  if (const nlohmann::json* whole = detail::member(value, "run_ns"); whole && whole->is_array())
    for (std::size_t i = 0; i < whole->size(); ++i)
      if (const auto ns = detail::ns_of(detail::number_of((*whole)[i]), 1))
        (i == 0 ? p.first_ns = *ns : p.profiled_ns.emplace_back(*ns));
  return p;
}

namespace detail {
/// What a report says of the whole benchmark, whatever it is written in: "-m", "latency (ms)".
inline profile openvino_report(const std::map<std::string, std::string>& said, std::string source,
                               std::string format) {
  const auto of = [&](const char* key) {
    const auto found = said.find(key);
    return found == said.end() ? std::string() : found->second;
  };
  profile p{.source = std::move(source), .format = std::move(format), .framework = "openvino"};
  p.model = stem_of(of("-m"));
  p.precision = type_token(of("-infer_precision"));
  const std::string device = of("target device");
  p.device = device.starts_with("CPU") ? "cpu" : device.starts_with("GPU") ? "gpu" : "";
  if (const auto n = number_in_text(of("-nthreads")); n && *n > 0 && *n < 1e6)
    p.threads = static_cast<int>(*n);
  if (const auto n = number_in_text(of("batch size")); n && *n > 0 && *n < 1e9)
    p.batch = static_cast<std::int64_t>(*n);
  const auto median = ns_of(number_in_text(of("latency (ms)")), ns_of_ms);
  if (!median)
    throw error("no latency is in this report of OpenVINO", p.source,
                "run benchmark_app with -api sync -report_folder FOLDER");
  const bool counted_too = said.contains("-pc") || of("-report_type").ends_with("_counters");
  (counted_too ? p.profiled_ns : p.latency_ns).push_back(*median);
  p.warnings.push_back("the report tells the median latency alone, rounded to 0.01 ms" +
                       std::string(counted_too ? ", of runs with counters" : ""));
  return p;
}
} // namespace detail

/// benchmark_report.csv.
inline profile read_openvino_report(std::string_view text, const std::string& source) {
  std::map<std::string, std::string> said;
  detail::each_line(text, [&](std::string_view line) {
    if (const std::size_t at = line.find(';'); at != line.npos)
      said.try_emplace(std::string(line.substr(0, at)), line.substr(at + 1));
  });
  return detail::openvino_report(said, source, "OpenVINO's report");
}

/// benchmark_report.json.
inline profile read_openvino_report_value(const nlohmann::json& value, const std::string& source) {
  std::map<std::string, std::string> said;
  for (const char* block : {"cmd_options", "configuration_setup", "execution_results"})
    if (const nlohmann::json* j = detail::member(value, block); j != nullptr && j->is_object())
      for (const auto& [k, v] : j->items())
        said.try_emplace(k, detail::text_of(v));
  return detail::openvino_report(said, source, "OpenVINO's report");
}

} // namespace benanza::trace
