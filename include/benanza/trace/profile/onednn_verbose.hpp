// SPDX-License-Identifier: Apache-2.0
// What does a log with ONEDNN_VERBOSE (1 or 2; oneDNN 2.6 to 3.14) say? Each execution of a
// primitive: what it was, its implementation, tensors and time in ms. What the library made or
// refused to make is left out. The line that names the columns is believed where there is one;
// since then the prefix, and what is between the parts of a descriptor, has changed:
//
//   onednn_verbose,exec,cpu,convolution,...,src_f32::blocked:acdb:f0 ...               2.6 to 3.1
//   onednn_verbose,primitive,exec,cpu,convolution,...,src_f32:a:blocked:acdb::f0 ...   3.3 to 3.5
//   onednn_verbose,v1,primitive,exec,cpu,convolution,...,src:f32:a:blocked:acdb::f0    since 3.6
#pragma once

#include "executions.hpp"

namespace benanza::trace {

namespace detail {
inline constexpr std::string_view record_onednn =
    "run the program with ONEDNN_VERBOSE=1, and keep its standard output";

/// The number behind a word of a problem such as mb1_ic64oc64_ih28oh28kh3sh1; nothing: it has none.
inline std::optional<std::int64_t> problem_number(std::string_view problem, std::string_view word) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; (at = problem.find(word, at)) != problem.npos; ++at) {
    if (at > 0 && letter(problem[at - 1])) continue;
    std::size_t end = at + word.size();
    while (end < problem.size() && digit(problem[end]))
      ++end;
    if (end == at + word.size()) continue;
    const json number = std::string(problem.substr(at + word.size(), end - at - word.size()));
    return count_of(number);
  }
  return std::nullopt;
}

/// Dims such as 2x3x32x32.
inline std::optional<shape> problem_dims(std::string_view text) {
  json dims = json::array();
  for (const std::string_view one : split_at(text, "x"))
    dims.push_back(std::string(one));
  return dims_of(dims);
}

/// Dims of source, weights and result of a problem of a window.
struct problem_shapes {
  std::optional<shape> source, weights, result;
};
inline problem_shapes window_shapes(std::string_view problem, bool whole) {
  const auto n = [&](const std::string& word) { return problem_number(problem, word); };
  problem_shapes out;
  const auto batch = n("mb"), in = n("ic"), result = n("oc") ? n("oc") : in;
  if (!in) return out;
  shape s{batch.value_or(1), *in}, r{batch.value_or(1), *result}, w;
  const std::int64_t groups = std::max<std::int64_t>(n("g").value_or(1), 1);
  if (groups > 1) w.push(groups);
  w.push(*result / groups);
  w.push(*in / groups);
  for (const char* axis : {"d", "h", "w"}) {
    const auto i = n(std::string("i") + axis);
    if (!i) continue;
    s.push(*i);
    r.push(n(std::string("o") + axis).value_or(*i));
    w.push(n(std::string("k") + axis).value_or(whole ? *i : 1));
  }
  out.source = s;
  out.result = r;
  out.weights = w;
  return out;
}

/// The shapes of a descriptor's arguments, as the problem says them.
inline problem_shapes shapes_of(std::string_view primitive, std::string_view problem) {
  if (problem.find("ic") != problem.npos) {
    const bool inner = primitive == "inner_product"; // its window is the whole source
    problem_shapes out = window_shapes(problem, inner);
    if (inner && out.result) out.result->size = 2;
    return out;
  }
  problem_shapes out;
  const std::vector<std::string_view> parts = split_at(problem, ":");
  out.source = problem_dims(parts[0]);
  if (parts.size() > 1) out.weights = problem_dims(parts[1]);
  if (primitive != "matmul") {
    out.result = out.source;
  } else if (out.source && out.weights && out.source->size == out.weights->size &&
             out.source->size >= 2) {
    shape r = *out.source;
    for (int i = 0; i + 2 < r.size; ++i)
      r[i] = std::max(r[i], (*out.weights)[i]);
    r[r.size - 1] = out.weights->back();
    out.result = r;
  }
  return out;
}

/// Puts the executions of a log together, line by line.
class onednn_reader {
public:
  void take(std::string_view line) {
    for (const std::string_view prefix : {"onednn_verbose,", "dnnl_verbose,"})
      if (line.starts_with(prefix)) return take_fields(split_at(line.substr(prefix.size()), ","));
  }

  profile finish(const std::string& source, bool cut_off) {
    profile p{.source = source, .format = "oneDNN's verbose log"};
    if (all_.empty()) throw error("no primitive ran in this log of oneDNN", source, record_onednn);
    if (cut_off) p.warnings.push_back("the log is cut off");
    if (broken_ != 0) p.warnings.push_back(counted(broken_, "line") + " not whole, and left out");
    p.device = gpu_ ? "gpu" : "cpu";
    p.threads = threads_;
    add_executions(p, std::move(all_));
    return p;
  }

private:
  using fields = std::vector<std::string_view>;

  void take_fields(fields f) {
    std::size_t at = 0;
    const auto is = [&](std::string_view word) { return at < f.size() && f[at] == word; };
    if (is("v0") || is("v1")) ++at;
    if (at < f.size() && number_in_text(f[at])) ++at; // when it was
    if (is("graph") || is("ukernel")) return;
    if (is("primitive")) ++at;
    if (is("info"))
      return take_info(fields(f.begin() + static_cast<std::ptrdiff_t>(at) + 1, f.end()));
    if (!is("exec")) return;
    take_execution(fields(f.begin() + static_cast<std::ptrdiff_t>(at), f.end()));
  }

  void take_info(const fields& f) {
    for (const std::string_view one : f) {
      if (one.starts_with("nthr:"))
        if (const auto n = number_in_text(one.substr(5)); n && *n > 0 && *n < 1e6)
          threads_ = static_cast<int>(*n);
    }
    if (f.empty()) return;
    std::string_view first = f[0];
    if (first.starts_with("prim_template:"))
      first.remove_prefix(14);
    else if (first.starts_with("template:"))
      first.remove_prefix(9);
    else
      return;
    columns_.assign(1, std::string(first));
    columns_.insert(columns_.end(), f.begin() + 1, f.end());
    if (columns_[0] == "timestamp") columns_.erase(columns_.begin());
  }

  /// The field of that name; those behind the attributes are counted from the end, since these may
  /// hold commas.
  std::string_view field(const fields& f, std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) return {};
    const auto place = static_cast<std::size_t>(found - columns_.begin());
    const auto attributes = static_cast<std::size_t>(
        std::find(columns_.begin(), columns_.end(), "attributes") - columns_.begin());
    return place <= attributes ? f[place] : f[f.size() - (columns_.size() - place)];
  }

  /// Of `src:f32:a:blocked:acdb::f0`, and of `src_f32:a:blocked:acdb::f0`.
  static std::pair<std::string_view, std::string> name_and_type(std::string_view descriptor) {
    const std::vector<std::string_view> parts = split_at(descriptor, ":");
    if (parts.size() < 2) return {};
    if (const std::string type = type_token(parts[1]); parse_dtype(type) || type == "undef")
      return {parts[0], type};
    const std::size_t sign = parts[0].rfind('_');
    if (sign == parts[0].npos) return {};
    return {parts[0].substr(0, sign), type_token(parts[0].substr(sign + 1))};
  }

  void take_execution(const fields& f) {
    if (f.size() < columns_.size()) return void(++broken_);
    const auto ns = ns_of(number_in_text(field(f, "exec_time")), ns_of_ms);
    if (!ns) return void(++broken_);
    execution e{.ns = *ns};
    profiled_operator& o = e.told;
    o.type = field(f, "primitive");
    o.kernel = field(f, "implementation");
    const std::string_view problem = field(f, "problem_desc");
    o.name = o.type + " " + std::string(problem);
    gpu_ |= field(f, "engine").starts_with("gpu");
    const problem_shapes shapes = shapes_of(o.type, problem);
    std::string types;
    for (const std::string_view one : split_at(field(f, "memory_descriptors"), " ")) {
      const auto [name, type] = name_and_type(one);
      if (type.empty()) continue;
      types.append(name).append(":").append(type).append(" ");
      if (type == "undef") continue;
      const bool result = name.starts_with("dst");
      profiled_tensor t{.type = type};
      t.dims = result ? shapes.result
               : name.starts_with("wei") || name == "src1" || name.starts_with("src_1")
                   ? shapes.weights
               : name.starts_with("src") || name.starts_with("data") ? shapes.source
                                                                     : std::optional<shape>{};
      if (o.precision.empty()) o.precision = type;
      (result ? o.results : o.operands).push_back(std::move(t));
    }
    e.kind = o.name + "\n" + types + "\n" + std::string(stripped(field(f, "attributes"))) + "\n" +
             std::string(field(f, "auxiliary"));
    all_.push_back(std::move(e));
  }

  std::vector<std::string> columns_{
      "operation",          "engine",     "primitive", "implementation", "prop_kind",
      "memory_descriptors", "attributes", "auxiliary", "problem_desc",   "exec_time"};
  std::vector<execution> all_;
  std::size_t broken_ = 0;
  int threads_ = 0;
  bool gpu_ = false;
};
} // namespace detail

inline profile read_onednn_verbose(std::string_view text, const std::string& source) {
  detail::onednn_reader reader;
  detail::each_line(text, [&](std::string_view line) { reader.take(line); });
  return reader.finish(source, !text.ends_with('\n'));
}

} // namespace benanza::trace
