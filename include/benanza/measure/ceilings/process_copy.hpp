// SPDX-License-Identifier: Apache-2.0
// What does it cost to give data to another process? One process copies a message into shared
// memory, the other, which spins on a processor of its own, copies it out and says so: the time is
// from the first byte in until the word that the last is out. Both copies read and write: a message
// of n bytes moves 4 n.
//
//   process_subject s(65536, {0, 1});   s.ready(a_case).run->time(1);
#pragma once

#include "../../machine/binding.hpp"
#include "../../machine/cache_lines.hpp"
#include "../../machine/team.hpp"
#include "machine_subject.hpp"
#include "pages.hpp"

#include <atomic>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace benanza::measure::ceilings {

/// A process that copies out of shared memory whatever comes.
class process_run final : public timed_run {
public:
  process_run(std::int64_t bytes, int others_processor)
      : timed_run("two_copies")
      , bytes_(static_cast<std::size_t>(bytes))
      , message_(bytes)
      , shared_(bytes, page_size::small, true)
      , received_(bytes, page_size::small, true)
      , words_(small_page_bytes, page_size::small, true)
      , state_(new (words_.data()) state) {
    auto* values = reinterpret_cast<float*>(message_.data());
    for (std::size_t i = 0; i < bytes_ / 4; ++i)
      values[i] = source_value(static_cast<std::int64_t>(i));
    const pid_t parent = getpid();
    other_ = fork();
    if (other_ < 0) throw error("no second process: " + std::string(std::strerror(errno)));
    if (other_ == 0) receive(others_processor, parent);
  }
  ~process_run() override {
    kill(other_, SIGKILL);
    waitpid(other_, nullptr, 0);
  }

  /// True if the other process has what was sent.
  bool right() const { return std::memcmp(message_.data(), received_.data(), bytes_) == 0; }

private:
  struct state {
    alignas(64) std::atomic<std::uint64_t> sent{0};
    alignas(64) std::atomic<std::uint64_t> taken{0};
  };

  /// The other process. After a fork of a program with threads it may do nothing but this.
  [[noreturn]] void receive(int processor, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !machine::bind_to(processor)) _exit(1);
    for (std::uint64_t next = 1;; ++next) {
      while (state_->sent.load(std::memory_order_acquire) != next)
        machine::spin();
      std::memcpy(received_.data(), shared_.data(), bytes_);
      state_->taken.store(next, std::memory_order_release);
    }
  }

  void go(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      std::memcpy(shared_.data(), message_.data(), bytes_);
      state_->sent.store(++number_, std::memory_order_release);
      for (std::int64_t waited = 1; state_->taken.load(std::memory_order_acquire) != number_;
           ++waited) {
        if (waited % (1 << 20) == 0 && waitpid(other_, nullptr, WNOHANG) != 0)
          throw error("the other process ended");
        machine::spin();
      }
    }
  }

  std::size_t bytes_;
  pages message_, shared_, received_, words_;
  state* state_;
  pid_t other_ = -1;
  std::uint64_t number_ = 0;
};

class process_subject final : public machine_subject {
public:
  process_subject(std::int64_t message_bytes, std::vector<int> processors)
      : machine_subject({"process", message_bytes}, numeric::f32, 2, 0.3)
      , message_bytes_(message_bytes)
      , processors_(std::move(processors)) {
    bytes = 4 * message_bytes;
  }
  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      machine::dismiss_teams();
      const int other = machine::other_processor(processors_);
      if (other < 0) throw error("there is no second processor", title());
      auto run = std::make_unique<process_run>(message_bytes_, other);
      run->run(2);
      if (!run->right()) throw error("the other process received something else", title());
      run->settle();
      return run;
    });
  }

private:
  std::int64_t message_bytes_;
  std::vector<int> processors_;
};

} // namespace benanza::measure::ceilings
