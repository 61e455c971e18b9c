// SPDX-License-Identifier: Apache-2.0
// How is a piece of advice followed, and who can do that? By a setting of a framework, by its own
// name and value; by a change of the model's file, which a command makes; by how a program calls
// the model; by another framework. What only the makers of a framework can do comes with a text for
// them. Settings are one table.
//
//   how_to h = by_settings(lever::threads, "onnxruntime", "2");   h.text  // intra_op_num_threads=2
//   how_to r{.by = doer::you, .kind = way::rewrite, .text = "...", .command = "benanza_generate"};
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

/// Who can do what is advised.
enum class doer : std::uint8_t { you, makers, nobody };

inline std::string_view name(doer d) {
  return d == doer::you ? "you" : d == doer::makers ? "makers" : "nobody";
}

/// In which way.
enum class way : std::uint8_t {
  setting,   ///< of the framework: `settings`
  rewrite,   ///< of the model's file: `command`
  call,      ///< of the model by a program: its batch
  framework, ///< another one, or another version
  letter,    ///< to the makers: `letter`
  nothing    ///< no way is known today
};

inline std::string_view name(way w) {
  constexpr std::array<std::string_view, 6> names{"setting",   "rewrite", "call",
                                                  "framework", "letter",  "nothing"};
  return names[static_cast<std::size_t>(w)];
}

/// A framework's own name of a setting, and the value that is advised.
struct setting {
  std::string framework{}; ///< "onnxruntime"
  std::string name{}, value{};
  std::string written{}; ///< as a program has it: `intra_op_num_threads=2`
};

/// The way to follow a piece of advice.
struct how_to {
  doer by = doer::nobody;
  way kind = way::nothing;
  std::string text{};              ///< in a few words, for a line of a page
  std::vector<setting> settings{}; ///< those of one framework belong together
  std::string command{};           ///< a shell command that does it; empty: there is none
  std::string letter{};            ///< what the makers need to know
};

/// What a setting changes.
enum class lever : std::uint8_t { threads, precision, optimization, branches, cache };

namespace detail {
struct known_setting {
  lever of = lever::threads;
  std::string_view framework{}, name{};
  std::string_view value{};   ///< that it takes; `*` is what is wanted, by `values` of precisions
  std::string_view written{}; ///< `*` is the value
  bool of_any_model = true;   ///< so that it is named where no framework ran
};

/// The settings that frameworks have for what is advised, by their own names.
inline constexpr std::array known_settings{
    known_setting{lever::threads, "onnxruntime", "intra_op_num_threads", "*",
                  "intra_op_num_threads=*"},
    known_setting{lever::threads, "openvino", "INFERENCE_NUM_THREADS", "*",
                  "INFERENCE_NUM_THREADS=*"},
    known_setting{lever::threads, "pytorch", "torch.set_num_threads", "*",
                  "torch.set_num_threads(*)"},
    known_setting{lever::threads, "llamacpp", "n_threads", "*", "--threads *", false},
    known_setting{lever::threads, "onnxruntime-genai", "intra_op_num_threads", "*",
                  "intra_op_num_threads=*", false},
    known_setting{lever::threads, "openvino-genai", "INFERENCE_NUM_THREADS", "*",
                  "INFERENCE_NUM_THREADS=*", false},
    known_setting{lever::precision, "openvino", "INFERENCE_PRECISION_HINT", "*",
                  "INFERENCE_PRECISION_HINT=*"},
    known_setting{lever::precision, "pytorch", "torch.autocast", "*",
                  "torch.autocast(\"cpu\", dtype=*)"},
    known_setting{lever::optimization, "onnxruntime", "graph_optimization_level", "ORT_ENABLE_ALL",
                  "graph_optimization_level=*"},
    known_setting{lever::branches, "onnxruntime", "execution_mode", "ORT_PARALLEL",
                  "execution_mode=*"},
    known_setting{lever::branches, "onnxruntime", "inter_op_num_threads", "*",
                  "inter_op_num_threads=*"},
    known_setting{lever::cache, "llamacpp", "cache_type", "*", "-ctk * -ctv *", false},
};

/// What a framework calls a type of numbers; empty: it has none of a setting.
inline std::string type_value(std::string_view framework, std::string_view type) {
  if (type != "f32" && type != "bf16" && type != "f16") return {};
  if (framework != "pytorch") return std::string(type);
  return type == "bf16" ? "torch.bfloat16" : type == "f16" ? "torch.float16" : "torch.float32";
}
} // namespace detail

/// `ONNX Runtime` of "onnxruntime"; others as they are.
inline std::string framework_title(std::string_view framework) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> known{
      {{"onnxruntime", "ONNX Runtime"},
       {"onnxruntime-genai", "ONNX Runtime GenAI"},
       {"openvino", "OpenVINO"},
       {"openvino-genai", "OpenVINO GenAI"},
       {"pytorch", "PyTorch"},
       {"llamacpp", "llama.cpp"},
       {"tensorrt", "TensorRT"}}};
  for (const auto& [token, title] : known)
    if (framework == token) return std::string(title);
  return framework.empty() ? "the framework" : std::string(framework);
}

/// True for one that reads GGUF files, and no ONNX files.
inline bool reads_gguf(std::string_view framework) {
  return framework == "llamacpp" || framework == "openvino-genai";
}

/// False for one that is measured whole alone, as it tells no times of operators.
inline bool tells_operators(std::string_view framework) {
  return framework != "onnxruntime-genai" && framework != "openvino-genai";
}

/// The settings for `what` with that value in a framework; of all frameworks where it is empty.
inline std::vector<setting> settings_for(lever what, std::string_view framework,
                                         std::string_view value) {
  std::vector<setting> out;
  for (const detail::known_setting& k : detail::known_settings) {
    if (k.of != what || (framework.empty() ? !k.of_any_model : framework != k.framework)) continue;
    std::string its(k.value);
    if (its == "*")
      its = what == lever::precision ? detail::type_value(k.framework, value) : std::string(value);
    if (its.empty()) continue;
    std::string written(k.written);
    for (std::size_t at = 0; (at = written.find('*', at)) != std::string::npos; at += its.size())
      written.replace(at, 1, its);
    out.push_back({std::string(k.framework), std::string(k.name), its, std::move(written)});
  }
  return out;
}

/// A way by settings; where a framework has none for it, no way is known.
inline how_to by_settings(lever what, std::string_view framework, std::string_view value) {
  how_to out{.settings = settings_for(what, framework, value)};
  if (out.settings.empty()) {
    out.text = framework.empty() ? "no framework is known to have a setting for it"
                                 : framework_title(framework) + " has no setting for it";
    return out;
  }
  out.by = doer::you;
  out.kind = way::setting;
  std::string last;
  for (const setting& s : out.settings) {
    if (!out.text.empty()) out.text += s.framework == last ? " " : "; ";
    if (framework.empty() && s.framework != last) out.text += framework_title(s.framework) + ": ";
    out.text += s.written;
    last = s.framework;
  }
  return out;
}

} // namespace benanza::advice
