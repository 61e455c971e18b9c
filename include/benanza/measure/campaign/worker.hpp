// SPDX-License-Identifier: Apache-2.0
// What does a worker do? It is this program once more, started by the supervisor with the same
// options: it lists the same groups, then measures what it is asked for until the supervisor hangs
// up. It dies with the supervisor, whatever happens, and writes nothing to standard output.
//
//   if (const auto link = worker_link::from_environment()) return serve(*link, groups, runner);
#pragma once

#include "../process/stage.hpp"
#include "wire.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/mman.h>

namespace benanza::measure {

/// What a worker inherits: its end of the socket, and the board it writes its notes on.
struct worker_link {
  static constexpr const char* variable = "BENANZA_WORKER";
  int socket = -1, board = -1;

  /// The link, if this process is a worker; its notes go to the shared board from now on.
  static std::optional<worker_link> from_environment() {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    worker_link l;
    if (std::sscanf(text, "%d,%d", &l.socket, &l.board) != 2)
      throw error("this variable is only for a worker that the program starts itself", variable,
                  "unset it");
    unsetenv(variable);
    void* shared =
        mmap(nullptr, sizeof(stage_board), PROT_READ | PROT_WRITE, MAP_SHARED, l.board, 0);
    if (shared == MAP_FAILED)
      throw error("this variable is only for a worker that the program starts itself", variable,
                  "unset it");
    current_board() = static_cast<stage_board*>(shared);
    return l;
  }
};

/// The group whose cases are asked for by name, without its other cases.
inline group asked_for(const std::vector<group>& groups, const nlohmann::json& question) {
  group part;
  for (const auto& asked : question.at("cases")) {
    const auto name = asked.get<std::string>();
    const bench_case* found = nullptr;
    for (const group& g : groups) {
      if (part.what && g.what != part.what) continue;
      for (const bench_case& c : g.cases)
        if (c.name == name) found = &c;
      if (found == nullptr) continue;
      part.what = g.what;
      break;
    }
    if (found == nullptr) throw error("the worker process does not list this case", name);
    part.cases.push_back(*found);
  }
  return part;
}

/// What a worker does with a group in place of measuring it, by a word that its question has.
using other_answers =
    std::map<std::string,
             std::function<nlohmann::json(const group&, const nlohmann::json& question)>>;

/// Answers until the supervisor hangs up; returns the exit status.
inline int serve(const worker_link& link, const std::vector<group>& groups, runner& r,
                 const other_answers& others = {}) {
  const std::atomic<bool> never{false};
  wire::line_reader in;
  note_stage(stage::waiting, -1);
  bool open = wire::send_line(link.socket, {{"ready", true}});
  while (open) {
    const auto line = in.next();
    if (!line) {
      open = in.fill(link.socket);
      continue;
    }
    nlohmann::json answer;
    try {
      const auto question = nlohmann::json::parse(*line);
      group part = asked_for(groups, question);
      part.ahead = question.value("ahead", true);
      const auto other = std::find_if(others.begin(), others.end(),
                                      [&](const auto& o) { return question.contains(o.first); });
      if (other != others.end()) {
        answer = other->second(part, question);
      } else {
        r.measure(part, all_cases(part), never);
        answer = wire::answer(part, r.seen(part.what->team));
      }
    } catch (const std::exception& e) {
      answer = {{"refused", e.what()}};
    }
    note_stage(stage::waiting, -1);
    open = wire::send_line(link.socket, answer);
  }
  return 0;
}

} // namespace benanza::measure
