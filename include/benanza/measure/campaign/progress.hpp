// SPDX-License-Identifier: Apache-2.0
// How far is the run? One line on stderr: cases done of all, their rate, time left at the pace so
// far, what is being measured, and which algorithm was the fastest of the layer before. On a
// terminal the line is rewritten, as wide as that is; elsewhere a new one comes every few seconds.
// The time left is the estimate of what is to come, scaled by how the estimates held so far.
//
//   progress p(progress_mode::automatic, 400, 90.0);   p.at("Conv/1x64x56x56-64x3x3-s1-p1");
//   p.done(8, 2.1);   p.leads("brgconv 342 us");   // [8/400 cases, 3.8/s, 88 s left] ...
#pragma once

#include "../../core/printable.hpp"
#include "settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace benanza::measure {

/// A time as people say it: "40 s", "12 min", "2 h 05 min".
inline std::string spoken(double seconds) {
  char text[48];
  const long minutes = static_cast<long>(seconds / 60 + 0.5);
  if (seconds < 99.5)
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  else if (minutes < 100)
    std::snprintf(text, sizeof text, "%ld min", minutes);
  else
    std::snprintf(text, sizeof text, "%ld h %02ld min", minutes / 60, minutes % 60);
  return text;
}

/// The columns of a line on stderr: of the terminal, less one, or enough for a log.
inline std::size_t progress_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return 119;
  return size.ws_col > 1 ? size.ws_col - 1U : 79;
}

/// Shows how far a run is.
class progress {
public:
  /// Of `cases`, which are estimated to take that long in all.
  progress(progress_mode mode, std::size_t cases, double estimated_s)
      : terminal_(isatty(STDERR_FILENO) != 0)
      , shown_(mode == progress_mode::always || (mode == progress_mode::automatic && terminal_))
      , cases_(cases)
      , estimated_left_s_(estimated_s) {}
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { finish(); }

  /// So many cases need no measuring.
  void skip(std::size_t cases, double estimated_s) {
    done_ += cases;
    estimated_left_s_ -= estimated_s;
  }

  /// `what` comes next.
  void at(const std::string& what) {
    const auto now = clock::now();
    began_ = now;
    if (!shown_ || (!terminal_ && lines_ > 0 && now - last_ < std::chrono::seconds(5))) return;
    last_ = now;
    ++lines_;
    const std::string line = printable(text(what), progress_columns());
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
    stands_ = terminal_;
  }

  /// The fastest of what was measured last; empty: nothing was.
  void leads(std::string algorithm) { leader_ = std::move(algorithm); }

  /// The line while `what` is measured.
  std::string text(const std::string& what) const {
    std::string line = "[" + std::to_string(done_) + "/" + std::to_string(cases_) + " cases";
    if (const double left = left_s(); left > 0) {
      char rate[32];
      const double r = static_cast<double>(measured_) / spent_s_;
      std::snprintf(rate, sizeof rate, ", %.*f/s, ", r < 10 ? 1 : 0, r);
      line += rate + spoken(left) + " left";
    }
    return line + "] " + what + (leader_.empty() ? "" : "; before: " + leader_);
  }

  /// Takes the line away until the next one, if standard output is on a terminal too: what is
  /// printed there must not be glued to it.
  void make_room() {
    if (!stands_ || isatty(STDOUT_FILENO) == 0) return;
    stands_ = false;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }

  /// So many cases were measured since `at`.
  void done(std::size_t cases, double estimated_s) {
    done(cases, estimated_s, std::chrono::duration<double>(clock::now() - began_).count());
  }
  /// So many cases were measured in `took_s`.
  void done(std::size_t cases, double estimated_s, double took_s) {
    done_ += cases;
    measured_ += cases;
    estimated_left_s_ -= estimated_s;
    estimated_done_s_ += estimated_s;
    spent_s_ += took_s;
  }

  /// Seconds left; 0: not known yet.
  double left_s() const {
    return spent_s_ > 1 && estimated_done_s_ > 0
               ? std::max(0.0, estimated_left_s_) * spent_s_ / estimated_done_s_
               : 0;
  }

  /// Takes the line away; on other outputs says how long all took.
  void finish() {
    if (!shown_ || finished_) return;
    finished_ = true;
    const double took = std::chrono::duration<double>(clock::now() - start_).count();
    if (terminal_)
      std::fputs("\r\033[K", stderr);
    else
      std::fprintf(stderr, "[%zu of %zu cases in %s]\n", done_, cases_, spoken(took).c_str());
  }

private:
  using clock = std::chrono::steady_clock;
  bool terminal_, shown_, finished_ = false;
  bool stands_ = false; ///< a line on the terminal that is not ended
  std::size_t cases_, done_ = 0, measured_ = 0;
  std::string leader_{};
  double estimated_left_s_, estimated_done_s_ = 0, spent_s_ = 0;
  int lines_ = 0;
  clock::time_point start_ = clock::now(), last_ = start_, began_ = start_;
};

} // namespace benanza::measure
