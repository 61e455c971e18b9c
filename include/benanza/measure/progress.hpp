// SPDX-License-Identifier: Apache-2.0
// How far is the run? One line on stderr: cases done of all, time left at the pace so far, what is
// being measured. On a terminal the line is rewritten; elsewhere a new one comes every few seconds.
//
//   progress p(progress_mode::automatic, 400);   p.at(37, "Conv/1x64x56x56-64x3x3-s1-p1");
#pragma once

#include "options.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace benanza::measure {

/// Shows how far a run is.
class progress {
public:
  progress(progress_mode mode, std::size_t cases)
      : terminal_(isatty(STDERR_FILENO) != 0)
      , shown_(mode == progress_mode::always || (mode == progress_mode::automatic && terminal_))
      , cases_(cases) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { finish(); }

  /// `done` cases are done, and `what` comes next.
  void at(std::size_t done, const std::string& what) {
    if (!shown_) return;
    const auto now = clock::now();
    if (!terminal_ && done != 0 && now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    const double spent = std::chrono::duration<double>(now - start_).count();
    char left[32] = "";
    if (done > 0 && spent > 1)
      std::snprintf(left, sizeof left, ", %.0f s left",
                    spent / static_cast<double>(done) * static_cast<double>(cases_ - done));
    std::string line =
        "[" + std::to_string(done) + "/" + std::to_string(cases_) + " cases" + left + "] " + what;
    if (line.size() > 79) line.resize(79);
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
  }

  /// Takes the line away; on other outputs says that all is done.
  void finish() {
    if (!shown_ || finished_) return;
    finished_ = true;
    const double spent = std::chrono::duration<double>(clock::now() - start_).count();
    if (terminal_)
      std::fputs("\r\033[K", stderr);
    else
      std::fprintf(stderr, "[%zu cases in %.0f s]\n", cases_, spent);
  }

private:
  using clock = std::chrono::steady_clock;
  bool terminal_, shown_, finished_ = false;
  std::size_t cases_;
  clock::time_point start_ = clock::now(), last_ = start_;
};

} // namespace benanza::measure
