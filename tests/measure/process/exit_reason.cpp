// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/process/exit_reason.hpp>
#include <doctest/doctest.h>

#include <unistd.h>

using benanza::measure::how_it_ended;

namespace {
template <class Do>
std::string after(Do what) {
  const pid_t pid = fork();
  if (pid == 0) {
    what();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return how_it_ended(status);
}
std::string after_signal(int number) {
  return after([number] {
    std::signal(number, SIG_DFL);
    raise(number);
  });
}
} // namespace

TEST_CASE("a process's end in words") {
  CHECK(after([] { _exit(7); }) == "the library ended the process with exit status 7");
  CHECK(after([] {}) == "the library ended the process with exit status 0");
  CHECK(after_signal(SIGSEGV) == "the library crashed: Segmentation fault (signal 11)");
  CHECK(after_signal(SIGILL) == "the library crashed: Illegal instruction (signal 4)");
  CHECK(after_signal(SIGKILL).find("out of memory") != std::string::npos);
  CHECK(after_signal(SIGTERM) == "the process was ended: Terminated (signal 15)");
}
