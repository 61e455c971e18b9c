// SPDX-License-Identifier: Apache-2.0
// Was the run asked to stop? Ctrl-C, SIGTERM and a closed terminal set a flag that is read between
// any two steps; a second Ctrl-C ends the program at once.
//
//   catch_interrupts();   while (!interrupted) ...
#pragma once

#include <atomic>
#include <csignal>

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

} // namespace benanza::measure
