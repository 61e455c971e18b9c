// SPDX-License-Identifier: Apache-2.0
// How do supervisor and worker talk? Over a socket, a line of JSON a message: the worker says that
// it is ready, the supervisor asks for cases of one group, by name, and the worker answers with
// their measurements, in the same order.
//
//   <- {"ready": true}
//   -> {"cases": ["Relu/1x4/f32/onednn/jit/hot/t1"]}
//   (with "kernels": true a worker looks at kernels, with "counters" at these too, instead:
//   kernel_look.hpp; with "ahead": false it prepares one case after the other)
//   <- {"results": [{"case": "Relu/1x4/f32/onednn/jit/hot/t1", "passes": [{...}, {...}]}],
//       "seen": [9800.0, 0.26, 0.25]}
#pragma once

#include "../../result/json.hpp"
#include "runner.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace benanza::measure::wire {

/// Sends a message; false if the other end is gone.
inline bool send_line(int socket, const nlohmann::json& message) {
  const std::string line =
      message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

/// Puts what arrives together to lines.
class line_reader {
public:
  /// The next whole line that has arrived already.
  std::optional<std::string> next() {
    const std::size_t end = text_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }
  /// Waits until more arrives; false at the end of the stream.
  bool fill(int socket) {
    char part[1 << 16];
    const ssize_t n = read(socket, part, sizeof part);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    text_.append(part, static_cast<std::size_t>(n));
    return true;
  }

private:
  std::string text_;
};

/// The names of the cases `which`, as a question.
inline nlohmann::json question(const group& g, const case_list& which) {
  nlohmann::json names = nlohmann::json::array();
  for (std::size_t i : which)
    names.push_back(g.cases[i].name);
  return {{"cases", std::move(names)}};
}

/// All passes of all cases of a group, and what its team has seen of the machine, as an answer.
inline nlohmann::json answer(const group& g, const machine_seen& s) {
  nlohmann::json results = nlohmann::json::array();
  for (const bench_case& c : g.cases) {
    nlohmann::json passes = nlohmann::json::array();
    for (const result::measurement& m : c.results)
      passes.emplace_back(result::to_json(m));
    results.push_back({{"case", c.name}, {"passes", std::move(passes)}});
  }
  nlohmann::json seen = nlohmann::json::array();
  for (const double one : {s.clock_ns, s.calibrated_nop_ratio, s.best_nop_ratio})
    seen.push_back(std::isfinite(one) ? nlohmann::json(one) : nlohmann::json());
  return {{"results", std::move(results)}, {"seen", std::move(seen)}};
}

/// What the worker's team has seen of the machine.
inline machine_seen seen(const nlohmann::json& message) {
  const auto& all = message.at("seen");
  const auto one = [&](std::size_t i) {
    return all.at(i).is_null() ? machine_seen::unknown : all.at(i).get<double>();
  };
  return {one(0), one(1), one(2)};
}

/// Puts an answer's measurements into the cases `which` of `g`. Throws where it does not fit.
inline void take_answer(const nlohmann::json& message, group& g, const case_list& which) {
  const auto& results = message.at("results");
  if (results.size() != which.size())
    throw error("the worker answered what it was not asked", g.what->title());
  for (std::size_t i = 0; i < which.size(); ++i) {
    bench_case& c = g.cases[which[i]];
    std::vector<result::measurement> passes;
    for (const auto& m : results[i].at("passes"))
      passes.push_back(result::measurement_from_json(m, "worker"));
    if (passes.empty() || results[i].at("case") != c.name)
      throw error("the worker answered what it was not asked", c.name);
    c.results = std::move(passes);
  }
}

} // namespace benanza::measure::wire
