// SPDX-License-Identifier: Apache-2.0
// What moves between one GPU and another, in either direction and in both at once, and between two
// processes on one GPU? The other process takes memory and hands out what it is opened by (IPC):
// opening it, with a first access, by the host's clock; copying out of it when it is open.
//
//   add_peers(limits, message_bytes);   absent_peers()
#pragma once

#include "limit_runs.hpp"
#include "other_process.hpp"

namespace benanza::backend::cuda {

/// The GPUs that this process sees.
inline int gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "the GPUs cannot be counted");
  return count;
}

namespace detail {

/// What is made while this lives belongs to another GPU.
struct on_other_device {
  explicit on_other_device(int which) { check(cudaSetDevice(which), "another GPU"); }
  on_other_device(const on_other_device&) = delete;
  on_other_device& operator=(const on_other_device&) = delete;
  ~on_other_device() { cudaSetDevice(0); }
};

/// Messages from the first GPU to another one, from there, or both at once.
enum class direction { there, back, both };

class peer_copy final : public limit_run {
public:
  peer_copy(std::string way, std::int64_t bytes, int other, direction d)
      : limit_run(std::move(way))
      , other_(other)
      , direction_(d)
      , sent_(filled(bytes))
      , received_(filled(bytes)) {
    // Where that is not possible, copies go through the host; where it is so already, it stays.
    cudaDeviceEnablePeerAccess(other_, 0);
    const on_other_device there(other_);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaGetLastError();
    theirs_ = filled(bytes);
    from_them_ = filled(bytes);
    second_.emplace();
    ended_.emplace();
  }
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const bool both = direction_ == direction::both;
    event begun;
    return between_events(stream(), [&] {
      if (both) {
        begun.record(stream());
        begun.hold_back(*second_);
      }
      for (int i = 0; i < executions; ++i) {
        if (direction_ != direction::back) copy(theirs_.data(), other_, sent_.data(), 0, stream());
        if (direction_ != direction::there)
          copy(received_.data(), 0, from_them_.data(), other_, both ? *second_ : stream());
      }
      if (!both) return;
      ended_->record(*second_);
      ended_->hold_back(stream());
    });
  }

private:
  void copy(void* to, int its, const void* from, int of, const cuda::stream& s) const {
    check(cudaMemcpyPeerAsync(to, its, from, of, static_cast<std::size_t>(sent_.bytes()), s.get()),
          "a copy between GPUs");
  }

  int other_;
  direction direction_;
  memory sent_, received_;        ///< of the first GPU
  memory theirs_{}, from_them_{}; ///< of the other one, as the next two
  std::optional<cuda::stream> second_{};
  std::optional<event> ended_{};
};

/// Opens memory that another process has, and reads a word there. That it is closed again is not
/// timed.
class ipc_open final : public limit_run {
public:
  ipc_open(std::string way, std::int64_t bytes)
      : limit_run(std::move(way))
      , bytes_(bytes)
      , handle_(other_.take(bytes)) {}
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    double ns = 0;
    for (int i = 0; i < executions; ++i) {
      const stopwatch took;
      const opened_memory theirs(handle_, bytes_);
      theirs.touch();
      ns += took.ns();
    }
    return ns;
  }

private:
  other_process other_{};
  std::int64_t bytes_;
  cudaIpcMemHandle_t handle_;
};

/// Copies what another process has to memory of this one.
class ipc_copy final : public limit_run {
public:
  ipc_copy(std::string way, std::int64_t bytes)
      : limit_run(std::move(way))
      , own_(filled(bytes))
      , theirs_(other_.take(bytes), bytes) {}
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    return between_events(stream(), [&] {
      for (int i = 0; i < executions; ++i)
        check(cudaMemcpyAsync(own_.data(), theirs_.data(), static_cast<std::size_t>(own_.bytes()),
                              cudaMemcpyDeviceToDevice, stream().get()),
              "a copy between processes");
    });
  }

private:
  other_process other_{};
  memory own_;
  opened_memory theirs_;
};

/// Adds all of these by message.
inline void add_peers(std::vector<device_limit>& out, std::span<const std::int64_t> sizes) {
  const std::string ipc = "ipc";
  for (const std::int64_t n : sizes) {
    for (int other = 1; other < gpus(); ++other) {
      const std::string its = std::to_string(other);
      const auto add = [&](const std::string& kind, const std::string& way, direction d) {
        out.push_back({kind + its, way, n, d == direction::both ? 2 * n : n,
                       maker<peer_copy>(way, n, other, d)});
      };
      add("device_to_device_", "0-" + its, direction::there);
      add("device_from_device_", its + "-0", direction::back);
      add("both_ways_device_", "0-" + its + "-0", direction::both);
    }
    if (!has_ipc()) continue;
    out.push_back({"ipc_open", ipc, n, 0, maker<ipc_open>(ipc, n)});
    out.push_back({"ipc_copy", "memcpy", n, 2 * n, maker<ipc_copy>(std::string("memcpy"), n)});
  }
}

/// What this machine has none of; each followed by "; ".
inline std::string absent_peers() {
  std::string out;
  if (gpus() < 2) out += "copies between GPUs: there is one; ";
  if (!has_ipc()) out += "memory of other processes (IPC): the GPU or its driver has none; ";
  return out;
}

} // namespace detail
} // namespace benanza::backend::cuda
