// SPDX-License-Identifier: Apache-2.0
// Why did a worker process end? Its wait status in words that a person can act on: the signal by
// name and number, the exit status, or that it was stopped because it hung.
//
//   how_it_ended(status) == "the library crashed: Segmentation fault (signal 11)"
#pragma once

#include <csignal>
#include <cstring>
#include <string>
#include <sys/wait.h>

namespace benanza::measure {

/// What `waitpid` reported of a process that ended without being asked to.
inline std::string how_it_ended(int wait_status) {
  if (WIFEXITED(wait_status))
    return "the library ended the process with exit status " +
           std::to_string(WEXITSTATUS(wait_status));
  if (!WIFSIGNALED(wait_status)) return "the process ended";
  const int number = WTERMSIG(wait_status);
  const std::string signal = " (signal " + std::to_string(number) + ")";
  if (number == SIGKILL)
    return "the process was killed" + signal + ": out of memory, or by somebody";
  const char* name = strsignal(number);
  const std::string what = (name != nullptr ? name : "a signal") + signal;
  for (int crash : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP})
    if (number == crash) return "the library crashed: " + what;
  return "the process was ended: " + what;
}

} // namespace benanza::measure
