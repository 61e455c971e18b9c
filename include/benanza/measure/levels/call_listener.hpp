// SPDX-License-Identifier: Apache-2.0
// Which calls of a library did each step of a chain make? The library's own stream of them is
// switched on for one execution and caught: a line a call, with what it was and how long it took
// by the library's own clock. What was printed during a step is that step's: nothing is guessed
// from times. Libraries without a stream (ours, plain kernels) leave no lines.
//
//   call_listener l(libraries);   run_step(0);   l.step_ends();   ...   auto calls = l.end();
//   calls[0]   // {0, "exec,cpu,convolution,jit:avx512_core,forward_inference,...", 81054}
#pragma once

#include "../../backend/concept.hpp"
#include "../../machine/caught_output.hpp"
#include "../subjects/layer_subject.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::measure {

/// A call, the step that it belongs to, and what it took.
struct heard_call {
  std::size_t step = 0;
  std::string what{};
  double ns = 0;
};

/// The call that a line reports; nothing: it reports something else. oneDNN's lines, of every
/// version, begin with its name and end with milliseconds.
inline std::optional<heard_call> call_of_line(std::size_t step, std::string_view line) {
  if (!line.starts_with("onednn_verbose,") && !line.starts_with("dnnl_verbose,"))
    return std::nullopt;
  const std::size_t begin = line.find(",exec,"), last = line.rfind(',');
  if (begin == line.npos || last <= begin + 5) return std::nullopt;
  const std::string ms(line.substr(last + 1));
  char* end = nullptr;
  const double took_ms = std::strtod(ms.c_str(), &end);
  if (end == ms.c_str() || *end != 0 || !(took_ms >= 0) || !(took_ms < 1e9)) return std::nullopt;
  return heard_call{step, std::string(line.substr(begin + 1, last - begin - 1)), took_ms * 1e6};
}

/// Listens from its making until `end`. What else is printed meanwhile is lost.
class call_listener {
public:
  explicit call_listener(const library_list& libraries)
      : libraries_(libraries)
      , heard_(std::in_place) {
    for (const auto& l : libraries_)
      l->log_calls(true);
  }
  call_listener(const call_listener&) = delete;
  call_listener& operator=(const call_listener&) = delete;
  ~call_listener() { silence(); }

  /// What was printed since the last step ended was printed by this one.
  void step_ends() { ends_.push_back(heard_->bytes()); }

  std::vector<heard_call> end() {
    silence();
    const std::string text = heard_->text();
    std::vector<heard_call> out;
    std::size_t at = 0;
    for (std::size_t step = 0; step < ends_.size(); ++step)
      while (at < std::min(ends_[step], text.size())) {
        const std::size_t line_end = std::min(text.find('\n', at), text.size());
        if (auto call = call_of_line(step, std::string_view(text).substr(at, line_end - at)))
          out.push_back(std::move(*call));
        at = line_end + 1;
      }
    return out;
  }

private:
  void silence() {
    for (const auto& l : libraries_)
      l->log_calls(false);
  }

  const library_list& libraries_;
  std::optional<machine::caught_output> heard_;
  std::vector<std::size_t> ends_{}; ///< bytes printed until the end of each step
};

} // namespace benanza::measure
