// SPDX-License-Identifier: Apache-2.0
// Was the run asked to stop? Ctrl-C, SIGTERM and a closed terminal set a flag that everybody asks
// between two steps; a second Ctrl-C ends the program at once. A crash while the libraries are
// asked for their algorithms is told on one line.
//
//   catch_interrupts();   while (!interrupted) ...
#pragma once

#include "../core/error.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace benanza::measure {

/// Set once the run is to stop.
inline std::atomic<bool> interrupted{false};

/// The error of a case that was not measured, because the run was stopped.
inline constexpr const char* interrupted_error = "interrupted";

/// From now on signals that ask for an end set `interrupted`; waiting calls return early.
inline void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN); // a file too large is an error of that write
}

/// While it lives, a crash ends the program with a line that says what it was doing.
class crash_guard {
public:
  crash_guard() {
    stack_t stack{};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = [](int) {
      static constexpr char text[] = "benanza_bench: a library crashed while it was asked for its "
                                     "algorithms; look with --model or --types which layer it is\n";
      [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
      _exit(static_cast<int>(status::refused));
    };
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &action, &before_[i]);
  }
  crash_guard(const crash_guard&) = delete;
  crash_guard& operator=(const crash_guard&) = delete;
  ~crash_guard() {
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &before_[i], nullptr);
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

private:
  static constexpr std::array<int, 5> signals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  std::array<struct sigaction, 5> before_{};
  std::array<char, 64 * 1024> stack_{};
};

} // namespace benanza::measure
