// SPDX-License-Identifier: Apache-2.0
// Texts as profilers write them, of a model of a few layers.
#pragma once

#include <benanza/core/error.hpp>
#include <benanza/trace/profile/read_profile.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace profile_text {

using benanza::trace::join;
using benanza::trace::profile;
using benanza::trace::profiled_operator;
using benanza::trace::read_profile;

/// The operator of that name; refuses a profile without it.
inline const profiled_operator& of_name(const profile& p, std::string_view name) {
  const auto found = std::find_if(p.operators.begin(), p.operators.end(),
                                  [&](const profiled_operator& o) { return o.name == name; });
  if (found == p.operators.end()) throw benanza::error("no operator " + std::string(name));
  return *found;
}

inline bool warns(const profile& p, std::string_view of) {
  return std::any_of(p.warnings.begin(), p.warnings.end(),
                     [&](const std::string& w) { return w.find(of) != w.npos; });
}

/// What the refusal of a text says; empty: it was taken.
inline std::string refusal(std::string_view text) {
  try {
    read_profile(text, "file");
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

inline std::vector<std::string> names(const profile& p) {
  std::vector<std::string> out;
  for (const profiled_operator& o : p.operators)
    out.push_back(o.name);
  return out;
}

/// An event of ONNX Runtime.
struct ort_event {
  std::string name;
  int ts = 0, dur = 0;
  std::string type{}; ///< empty: an event of the session
  int index = 0;
  int tid = 1;
  std::string arguments{}; ///< further ones
};

inline std::string ort_line(const ort_event& e) {
  std::string out = "{\"cat\" : \"" + std::string(e.type.empty() ? "Session" : "Node") +
                    "\",\"pid\" :7,\"tid\" :" + std::to_string(e.tid) +
                    ",\"dur\" :" + std::to_string(e.dur) + ",\"ts\" :" + std::to_string(e.ts) +
                    ",\"ph\" : \"X\",\"name\" :\"" + e.name + "\",\"args\" : {";
  if (!e.type.empty())
    out += "\"op_name\" : \"" + e.type + "\",\"provider\" : \"CPUExecutionProvider\"," +
           "\"node_index\" : \"" + std::to_string(e.index) + "\"" +
           (e.arguments.empty() ? "" : "," + e.arguments);
  return out + "}}";
}

inline std::string ort(std::initializer_list<ort_event> events) {
  std::string out = "[\n";
  for (const ort_event& e : events)
    out += (out.size() > 2 ? ",\n" : "") + ort_line(e);
  return out + "\n]\n";
}

/// Two runs of two nodes, as ONNX Runtime 1.23 writes them.
inline std::string two_runs() {
  const std::string shapes =
      R"("input_type_shape" : [{"float":[2,3,32,32]},{"float":[16,3,3,3]}],"output_type_shape" : [{"float":[2,16,32,32]}],"thread_scheduling_stats" : "")";
  return ort({{"session_initialization", 10, 80},
              {"r1_nchwc_kernel_time", 105, 78, "Conv", 11, 1, shapes},
              {"sm_kernel_time", 190, 8, "Softmax", 9},
              {"SequentialExecutor::Execute", 103, 100},
              {"model_run", 100, 110},
              {"r1_nchwc_kernel_time", 305, 14, "Conv", 11, 1, shapes},
              {"sm_kernel_time", 320, 2, "Softmax", 9},
              {"model_run", 300, 30}});
}

} // namespace profile_text
