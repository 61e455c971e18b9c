// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/own_program.hpp>

#include <cstdlib>
#include <doctest/doctest.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace benanza::machine;

TEST_CASE("a program that starts itself again is this one, under an emulator too") {
  // This program counts its tests; an emulator has no such option.
  std::string name = "this", option = "--count";
  char* words[] = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
  REQUIRE(posix_spawn(&child, own_program(), &quiet, nullptr, words, environ) == 0);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("names that mean one file to the kernel and to who opens them are no emulator's") {
  CHECK_FALSE(benanza::machine::detail::opens_another("/bin/sh"));
  CHECK_FALSE(benanza::machine::detail::opens_another("/nowhere"));
}
