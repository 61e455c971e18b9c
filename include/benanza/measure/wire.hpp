// SPDX-License-Identifier: Apache-2.0
// How do supervisor and worker talk? Over a socket, a line of JSON a message: the supervisor asks
// for cases of a group, the worker answers with their measurements. Both list the same groups; a
// digest of all case names, sent first, makes sure of it.
//
//   -> {"group": 3, "cases": [0, 2]}      <- {"group": 3, "results": [[{...}], [{...}, {...}]]}
#pragma once

#include "../result/json.hpp"
#include "checksum.hpp"
#include "runner.hpp"

#include <cerrno>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace benanza::measure::wire {

/// Tells one list of cases from another: the checksum of all names, in their order.
inline std::string digest(const std::vector<group>& groups) {
  std::string names;
  for (const group& g : groups) {
    for (const bench_case& c : g.cases)
      names += c.name + '\n';
    names += '\n';
  }
  return fnv1a(names);
}

/// Sends a message; false if nobody is there to take it.
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

/// All passes of the cases `which`, as an answer.
inline nlohmann::json answer(std::size_t group_number, const group& part) {
  nlohmann::json results = nlohmann::json::array();
  for (const bench_case& c : part.cases) {
    nlohmann::json passes = nlohmann::json::array();
    for (const result::measurement& m : c.results)
      passes.emplace_back(result::to_json(m));
    results.push_back(std::move(passes));
  }
  return {{"group", group_number}, {"results", std::move(results)}};
}

/// Puts an answer's measurements into the cases `which` of `g`. Throws where it does not fit.
inline void take_answer(const nlohmann::json& message, std::size_t group_number, group& g,
                        const case_list& which) {
  const auto& results = message.at("results");
  if (message.at("group") != group_number || results.size() != which.size())
    throw error("the worker answered what it was not asked", g.what->title());
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::vector<result::measurement> passes;
    for (const auto& m : results[i])
      passes.push_back(result::measurement_from_json(m, "worker"));
    if (passes.empty()) throw error("the worker left out a case", g.cases[which[i]].name);
    g.cases[which[i]].results = std::move(passes);
  }
}

} // namespace benanza::measure::wire
