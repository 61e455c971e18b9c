// SPDX-License-Identifier: Apache-2.0
// How fast do bytes come from another node's memory? A thread on a processor of one NUMA node
// copies from that node's memory to another's. Nodes are read from the system; a machine with one
// has no such copies.
//
//   for (const node& n : nodes({0, 1})) n.number, n.processors
#pragma once

#include "../../machine/binding.hpp"
#include "../../machine/processor_kinds.hpp"
#include "machine_subject.hpp"
#include "pages.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace benanza::measure::ceilings {

/// A NUMA node that has memory, and those of its processors that the run may use.
struct node {
  int number = 0;
  std::vector<int> processors{};
};

using machine::numbers;

/// The nodes that have memory and a processor of `allowed`.
inline std::vector<node> nodes(const std::vector<int>& allowed,
                               const std::string& system = "/sys/devices/system/node") {
  const auto line_of = [](const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
  };
  std::vector<node> out;
  for (int n : numbers(line_of(system + "/has_memory"))) {
    node here{n, {}};
    for (int p : numbers(line_of(system + "/node" + std::to_string(n) + "/cpulist")))
      if (std::find(allowed.begin(), allowed.end(), p) != allowed.end())
        here.processors.push_back(p);
    if (!here.processors.empty()) out.push_back(std::move(here));
  }
  return out;
}

/// Copies from the memory of one node to that of another.
class numa_run final : public timed_run {
public:
  numa_run(const sweep& copy, std::int64_t bytes, const node& from, const node& to)
      : timed_run(std::string(copy.way))
      , copy_(copy)
      , bytes_(bytes)
      , from_(bytes)
      , to_(bytes) {
    settle_on(from_, from.number);
    settle_on(to_, to.number);
    auto* values = reinterpret_cast<float*>(from_.data());
    for (std::int64_t i = 0; i < bytes / 4; ++i)
      values[i] = source_value(i);
    std::memset(to_.data(), 0, static_cast<std::size_t>(bytes));
    CPU_ZERO(&before_);
    sched_getaffinity(0, sizeof before_, &before_);
    if (!machine::bind_to(from.processors.front()))
      throw error("a thread could not be bound to its node");
  }
  ~numa_run() override { sched_setaffinity(0, sizeof before_, &before_); }

  bool right() const {
    return std::memcmp(from_.data(), to_.data(), static_cast<std::size_t>(bytes_)) == 0;
  }

private:
  static void settle_on(const pages& p, int number) {
    constexpr int bind_mode = 2; // MPOL_BIND
    std::array<unsigned long, 16> mask{};
    constexpr auto bits = 8 * sizeof(unsigned long);
    const auto n = static_cast<std::size_t>(number);
    if (n / bits >= mask.size()) throw error("there are too many NUMA nodes");
    mask[n / bits] = 1ul << n % bits;
    if (syscall(SYS_mbind, p.data(), static_cast<unsigned long>(p.bytes()), bind_mode, mask.data(),
                mask.size() * bits, 0) != 0)
      throw error("memory of a NUMA node cannot be had: " + std::string(std::strerror(errno)),
                  "node " + std::to_string(number));
  }
  void go(std::int64_t times) override {
    float* const to[] = {reinterpret_cast<float*>(to_.data())};
    const float* const from[] = {reinterpret_cast<const float*>(from_.data()), nullptr};
    copy_.run(to, from, bytes_, times);
  }

  sweep copy_;
  std::int64_t bytes_;
  pages from_, to_;
  cpu_set_t before_{};
};

class numa_subject final : public machine_subject {
public:
  numa_subject(const sweep& copy, std::int64_t copied_bytes, node from, node to)
      : machine_subject({"numa_" + std::to_string(from.number) + "_to_" + std::to_string(to.number),
                         2 * copied_bytes},
                        numeric::f32, 1, 0.3)
      , copy_(copy)
      , copied_bytes_(copied_bytes)
      , from_(std::move(from))
      , to_(std::move(to)) {
    bytes = 2 * copied_bytes;
  }
  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      auto run = std::make_unique<numa_run>(copy_, copied_bytes_, from_, to_);
      run->run(1);
      if (!run->right()) throw error("a copy between nodes is wrong", title());
      run->settle();
      return run;
    });
  }

private:
  sweep copy_;
  std::int64_t copied_bytes_;
  node from_, to_;
};

} // namespace benanza::measure::ceilings
