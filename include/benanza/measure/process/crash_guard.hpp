// SPDX-License-Identifier: Apache-2.0
// What if a library crashes while it is asked which algorithms it has for a layer? The program
// starts itself again and does not ask for that again: the crash costs one library one layer in one
// type. What crashed is handed on in the environment, to worker processes too, so that all list the
// same. Runs without a crash only set a pointer for each question.
//
//   const crash_guard guard(argv, environment);
//   { const asking a("Conv/1x3x8x8-8x3x3-s1/f32/onednn"); library.enumerate(...); }
//   crashed_before()   // {"Conv/1x3x8x8-8x3x3-s1/f32/onednn": SIGFPE}, after the restart
#pragma once

#include "../../machine/environment.hpp"
#include "../../machine/own_program.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace benanza::measure {

namespace detail {
/// A line a crash: the number of its signal, a space, and what was asked for.
inline constexpr const char* crashes_variable = "BENANZA_CRASHED";

inline std::atomic<const char*> asked_for{nullptr};
} // namespace detail

/// While it lives, a crash is blamed on what is asked for.
class asking {
public:
  /// `what` has to live as long.
  explicit asking(const std::string& what) { detail::asked_for = what.c_str(); }
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
  ~asking() { detail::asked_for = nullptr; }
};

/// What crashed before this program started itself again, and by which signal.
inline std::map<std::string, int> crashed_before() {
  std::map<std::string, int> out;
  const char* text = std::getenv(detail::crashes_variable);
  std::istringstream lines(text != nullptr ? text : "");
  int number = 0;
  for (std::string what; lines >> number >> std::ws && std::getline(lines, what);)
    out.emplace(what, number);
  return out;
}

/// While it lives, a crash starts the program again without what crashed, or, if that is not known,
/// ends it with one line.
class crash_guard {
public:
  crash_guard(char** argv, const machine::environment& e)
      : argv_(argv)
      , environment_(e)
      , processors_(machine::detail::processors_text(e)) {
    const std::string name = std::string(detail::crashes_variable) + '=';
    for (char** v = environ; *v != nullptr; ++v)
      if (std::strncmp(*v, name.c_str(), name.size()) != 0) variables_.push_back(*v);
    const char* before = std::getenv(detail::crashes_variable);
    crashes_ = name + (before != nullptr ? before : "");
    used_ = crashes_.size();
    crashes_.resize(used_ + longest_line);
    for (char* v : {processors_.data(), crashes_.data(), static_cast<char*>(nullptr)})
      variables_.push_back(v);

    current_ = this;
    stack_t stack{};
    stack.ss_sp = stack_.data();
    stack.ss_size = stack_.size();
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = [](int number) { current_->crashed(number); };
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
  /// In a signal handler: allocates nothing, and calls only what may be called there.
  [[noreturn]] void crashed(int number) {
    if (note(number)) {
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_UNBLOCK, &all, nullptr);
      machine::widen(environment_);
      execve(program_, argv_, variables_.data());
    }
    static constexpr char text[] = "benanza_bench: a library crashed before anything was measured; "
                                   "leave it out: --backends names those to measure\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(static_cast<int>(status::refused));
  }

  /// Adds a line to what crashed; false if nothing was asked for, or there is no room.
  bool note(int number) {
    const char* what = detail::asked_for;
    if (what == nullptr || std::strlen(what) + 5 > longest_line) return false;
    char* at = crashes_.data() + used_;
    if (number > 9) *at++ = static_cast<char>('0' + number / 10);
    *at++ = static_cast<char>('0' + number % 10);
    *at++ = ' ';
    at = stpcpy(at, what);
    std::memcpy(at, "\n", 2);
    return true;
  }

  static constexpr std::array<int, 5> signals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  static constexpr std::size_t longest_line = 8192;
  static inline crash_guard* current_ = nullptr;

  const char* program_ = machine::own_program();
  char** argv_;
  const machine::environment& environment_;
  std::string processors_, crashes_{};
  std::size_t used_ = 0;
  std::vector<char*> variables_{};
  std::array<struct sigaction, 5> before_{};
  std::array<char, 64 * 1024> stack_{};
};

} // namespace benanza::measure
