// SPDX-License-Identifier: Apache-2.0
// Parts of a test that need a process of their own: several writers, a limit, other rights, a kill.
// And what a part is refused with.
//
//   CHECK(in_child([] { return everything_is_fine() ? 0 : 1; }) == 0);
#pragma once

#include <benanza/core/error.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace benanza::test {

/// A process that runs `what` and ends with what it returns; 99 if it throws.
template <class What>
pid_t start_child(What&& what) {
  std::cout.flush();
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = what();
  } catch (const std::exception& e) {
    std::cerr << "child: " << e.what() << '\n';
  }
  _exit(status);
}

/// How a process ended: its exit status, or 128 and its signal.
inline int end_of(pid_t child) {
  int ended = 0;
  waitpid(child, &ended, 0);
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

template <class What>
int in_child(What&& what) {
  return end_of(start_child(what));
}

/// Why `action` is refused; empty if it is not.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

/// Gives up the rights of the superuser, who may write anywhere.
inline bool become_nobody() {
  return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

} // namespace benanza::test
