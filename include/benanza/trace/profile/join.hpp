// SPDX-License-Identifier: Apache-2.0
// How do several files about the same runs become one profile? TensorRT writes times, operators and
// latencies apart, OpenVINO its counters, its graph and a report. The operators are those of the
// file that times them most often; from the others comes what they say of those of the same name.
//
//   profile p = detail::join_profiles({read_tensorrt_profile(...), read_tensorrt_layers(...)});
#pragma once

#include "values.hpp"

#include <map>
#include <tuple>
#include <type_traits>

namespace benanza::trace::detail {

template <class Value>
void fill_empty(Value& to, const Value& from) {
  if (to == Value{}) to = from;
}

/// Which file decides which nodes an operator represents: the one that names more of them, or the
/// one that fills, if it names any.
enum class stands_for_of { longer, filler };

/// What `from` says and `to` does not.
inline void fill_operator(profiled_operator& to, const profiled_operator& from,
                          stands_for_of whose) {
  fill_empty(to.type, from.type);
  fill_empty(to.kernel, from.kernel);
  fill_empty(to.precision, from.precision);
  const bool better = whose == stands_for_of::filler
                          ? !from.stands_for.empty()
                          : from.stands_for.size() > to.stands_for.size();
  if (better) to.stands_for = from.stands_for;
  fill_empty(to.makes, from.makes);
  fill_empty(to.operands, from.operands);
  fill_empty(to.results, from.results);
  fill_empty(to.ns, from.ns);
}

/// Fills operators from those of the same name; of several of a name the first goes to the first.
/// How many of them found one.
inline std::size_t fill_by_name(std::vector<profiled_operator>& to,
                                const std::vector<profiled_operator>& from,
                                stands_for_of whose = stands_for_of::longer) {
  std::map<std::string_view, std::vector<const profiled_operator*>> of_name;
  for (const profiled_operator& o : from)
    of_name[o.name].push_back(&o);
  std::map<std::string_view, std::size_t> used;
  std::size_t found = 0;
  for (profiled_operator& o : to) {
    const auto there = of_name.find(o.name);
    if (there == of_name.end()) continue;
    const std::size_t place = used[there->first]++;
    if (place >= there->second.size()) continue;
    fill_operator(o, *there->second[place], whose);
    ++found;
  }
  return found;
}

/// A format that says what operators are rather than how long they take.
inline constexpr std::string_view graph_of_openvino = "OpenVINO's graph";

inline std::size_t runs_of(const profile& p) {
  std::size_t most = 0;
  for (const profiled_operator& o : p.operators)
    most = std::max(most, o.ns.size());
  return most;
}

/// Codes of 8 bits, signed ones for weights and others for what layers read: int8.
inline bool of_bytes(std::string_view precision) {
  return precision == "s8" || precision == "u8";
}

/// One fact that two files may say differently.
template <class Value>
void agree(Value& to, const Value& from, std::string_view what, profile& into,
           const profile& other) {
  if (from == Value{}) return;
  if (to == Value{}) {
    to = from;
  } else if (to != from) {
    std::string line("the files tell different ");
    line.append(what).append(": ");
    if constexpr (std::is_arithmetic_v<Value>)
      line.append(std::to_string(to)).append(", and ").append(std::to_string(from));
    else
      line.append(to).append(", and ").append(from);
    into.warnings.push_back(line.append(" in ").append(other.source));
  }
}

/// One profile of what several files say about the same runs. Refuses files of different
/// frameworks, and two of the same kind.
inline profile join_profiles(std::vector<profile> files) {
  if (files.empty()) throw error("no profile is given", "", "give the file of a profiler");
  std::size_t first = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!files[i].framework.empty() && !files[k].framework.empty() &&
          files[i].framework != files[k].framework)
        throw error("the profiles are of different frameworks, " + files[k].framework + " and " +
                        files[i].framework,
                    files[k].source + ", " + files[i].source, "give those of one at a time");
      if (files[i].format == files[k].format)
        throw error("there are two files of " + files[i].format,
                    files[k].source + ", " + files[i].source, "give one of them");
    }
    const auto rank = [](const profile& p) { // a graph also has what ran once, when it was made
      return std::tuple(runs_of(p), p.format != graph_of_openvino, p.operators.size());
    };
    if (files[first].operators.empty() ||
        (!files[i].operators.empty() && rank(files[i]) > rank(files[first])))
      first = i;
  }
  profile out = std::move(files[first]);
  files.erase(files.begin() + static_cast<std::ptrdiff_t>(first));
  for (profile& f : files) {
    agree(out.framework, f.framework, "frameworks", out, f);
    agree(out.version, f.version, "versions", out, f);
    agree(out.device, f.device, "devices", out, f);
    agree(out.model, f.model, "models", out, f);
    agree(out.structure, f.structure, "structures", out, f);
    if (!(of_bytes(out.precision) && of_bytes(f.precision)))
      agree(out.precision, f.precision, "precisions", out, f);
    agree(out.processor, f.processor, "processors", out, f);
    agree(out.processors, f.processors, "numbers of processors", out, f);
    agree(out.threads, f.threads, "numbers of threads", out, f);
    agree(out.batch, f.batch, "batches", out, f);
    if (!f.operators.empty()) {
      const std::size_t all = out.operators.size();
      const std::size_t found = fill_by_name(out.operators, f.operators);
      if (found < all)
        out.warnings.push_back(std::to_string(found) + " of " + counted(all, "operator") +
                               " are in " + f.source + " too, by their names");
    }
    fill_empty(out.settings, f.settings);
    fill_empty(out.dims, f.dims);
    fill_empty(out.latency_ns, f.latency_ns);
    if (out.profiled_ns.empty() && out.first_ns <= 0) {
      out.profiled_ns = std::move(f.profiled_ns);
      out.first_ns = f.first_ns;
    }
    if (!out.empty_operator) out.empty_operator = f.empty_operator;
    out.step_ns = std::max(out.step_ns, f.step_ns);
    if (f.overlapping) out.overlapping = *f.overlapping || out.overlapping == true;
    out.source.append(", ").append(f.source);
    out.format.append(", ").append(f.format);
    out.warnings.insert(out.warnings.end(), f.warnings.begin(), f.warnings.end());
  }
  return out;
}

} // namespace benanza::trace::detail
