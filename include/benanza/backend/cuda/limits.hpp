// SPDX-License-Identifier: Apache-2.0
// What does the GPU move at most, and what does it cost to start something there? Copies and fills
// of its own memory by working set, replayed from a graph; copies from and to the host, out of
// pinned and of pageable memory, and between GPUs, by message; the host's time for a launch, and
// for a launch that it waits for.
//
//   for (device_limit& l : limits()) { auto run = l.make(); run->time(10); }
#pragma once

#include "timer.hpp"

#include <chrono>
#include <cstring>
#include <new>

namespace benanza::backend::cuda {

/// Working sets of copies within the GPU, up to a sixteenth of its memory; messages of all others.
inline constexpr std::int64_t least_working_set = 1 << 20, most_working_set = std::int64_t{1} << 30;
inline constexpr std::int64_t message_bytes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};

namespace detail {
/// A limit, ready to run.
class limit_run : public prepared, public device_control {
public:
  explicit limit_run(std::string way)
      : gpu_(gpu::of_this_process())
      , way_(std::move(way)) {}

  std::string ran() const override { return way_; }
  device_control* own_device() override { return this; }
  void read(std::vector<double>& out) const override { out.clear(); }

protected:
  cuda::gpu& on() const { return *gpu_; }
  const cuda::stream& stream() const { return gpu_->stream(); }
  const std::shared_ptr<cuda::gpu>& shared() const { return gpu_; }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  std::string way_;
};

/// Moves bytes within the GPU's memory: half a working set to the other half, or fills all of it.
class device_sweep final : public limit_run {
public:
  device_sweep(std::string way, std::int64_t bytes, bool copies)
      : limit_run(std::move(way))
      , timer_(shared())
      , all_(bytes)
      , copies_(copies) {
    check(cudaMemset(all_.data(), 1, size()), "memory to copy");
    wait_for_default_stream();
  }
  double shortest_sample_ns() const override { return 1e6; }
  std::string remark() const override {
    return timer_.why_not_captured().empty() ? "" : "launched one by one, not replayed";
  }
  void run(int executions) override {
    for (int i = 0; i < executions; ++i)
      enqueue();
    stream().wait();
  }
  double time(int executions) override {
    return timer_.time(executions, caches::hot, 1, [this](std::int64_t) { enqueue(); });
  }

private:
  std::size_t size() const { return static_cast<std::size_t>(all_.bytes()); }
  void enqueue() {
    check(copies_ ? cudaMemcpyAsync(all_.data() + size() / 2, all_.data(), size() / 2,
                                    cudaMemcpyDeviceToDevice, stream().get())
                  : cudaMemsetAsync(all_.data(), 1, size(), stream().get()),
          "a sweep over memory");
  }
  timer timer_;
  memory all_;
  bool copies_;
};

/// Memory of the host that a GPU reads or writes.
class host_memory {
public:
  host_memory(std::int64_t bytes, bool pinned)
      : pinned_(pinned) {
    const auto size = static_cast<std::size_t>(bytes);
    if (pinned)
      check(cudaHostAlloc(&data_, size, cudaHostAllocDefault), "pinned memory");
    else
      data_ = ::operator new (size, std::align_val_t{4096});
    std::memset(data_, 1, size);
  }
  host_memory(const host_memory&) = delete;
  host_memory& operator=(const host_memory&) = delete;
  ~host_memory() {
    if (pinned_)
      cudaFreeHost(data_);
    else
      ::operator delete (data_, std::align_val_t{4096});
  }
  void* data() const { return data_; }

private:
  void* data_ = nullptr;
  bool pinned_;
};

/// Copies a message between the host and the GPU, and waits for each.
class host_copy final : public limit_run {
public:
  host_copy(std::string way, std::int64_t bytes, bool pinned, cudaMemcpyKind direction)
      : limit_run(std::move(way))
      , host_(bytes, pinned)
      , device_(bytes)
      , direction_(direction) {
    check(cudaMemset(device_.data(), 1, static_cast<std::size_t>(bytes)), "memory to copy");
    wait_for_default_stream();
  }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const bool there = direction_ == cudaMemcpyHostToDevice;
    double ns = 0;
    for (int i = 0; i < executions; ++i)
      ns += between_events(stream(), [&] {
        check(cudaMemcpyAsync(
                  there ? device_.data() : host_.data(), there ? host_.data() : device_.data(),
                  static_cast<std::size_t>(device_.bytes()), direction_, stream().get()),
              "a copy between host and GPU");
      });
    return ns;
  }

private:
  host_memory host_;
  memory device_;
  cudaMemcpyKind direction_;
};

/// Copies a message from the first GPU to another one.
class peer_copy final : public limit_run {
public:
  peer_copy(std::string way, std::int64_t bytes, int other)
      : limit_run(std::move(way))
      , other_(other)
      , from_(bytes) {
    check(cudaMemset(from_.data(), 1, static_cast<std::size_t>(bytes)), "memory to copy");
    wait_for_default_stream();
    // Where that is not possible, copies go through the host; where it is so already, it stays.
    cudaDeviceEnablePeerAccess(other_, 0);
    cudaGetLastError();
    const on_other_device there(other_);
    to_ = memory(bytes);
  }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    return between_events(stream(), [&] {
      for (int i = 0; i < executions; ++i)
        check(cudaMemcpyPeerAsync(to_.data(), other_, from_.data(), 0,
                                  static_cast<std::size_t>(from_.bytes()), stream().get()),
              "a copy between GPUs");
    });
  }

private:
  struct on_other_device {
    explicit on_other_device(int which) { check(cudaSetDevice(which), "another GPU"); }
    on_other_device(const on_other_device&) = delete;
    on_other_device& operator=(const on_other_device&) = delete;
    ~on_other_device() { cudaSetDevice(0); }
  };
  int other_;
  memory from_, to_{};
};

/// Starts the least that there is, and waits for each, or does not; by the host's clock.
class launch_run final : public limit_run {
public:
  launch_run(std::string way, bool waits)
      : limit_run(std::move(way))
      , word_(4)
      , waits_(waits) {}
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    for (int i = 0; i < executions; ++i) {
      check(cudaMemsetAsync(word_.data(), 1, 4, stream().get()), "a launch");
      if (waits_) stream().wait();
    }
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    stream().wait();
    return took.count();
  }

private:
  memory word_;
  bool waits_;
};

template <class Run, class... Arguments>
std::function<std::unique_ptr<prepared>()> maker(Arguments... a) {
  return [=] { return std::make_unique<Run>(a...); };
}
} // namespace detail

/// The GPUs that this process sees.
inline int gpus() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "the GPUs cannot be counted");
  return count;
}

/// The limits of the first GPU, and of what lies between it and all others.
inline std::vector<device_limit> limits() {
  const auto on = gpu::of_this_process();
  std::vector<device_limit> out;
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0), "the GPU's properties cannot be read");
  const auto most = std::min(most_working_set, static_cast<std::int64_t>(p.totalGlobalMem / 16));
  for (std::int64_t n = least_working_set; n <= most; n *= 2) {
    out.push_back({"copy", "memcpy", n, n, detail::maker<detail::device_sweep>("memcpy", n, true)});
    out.push_back(
        {"write", "memset", n, n, detail::maker<detail::device_sweep>("memset", n, false)});
  }
  for (const std::int64_t n : message_bytes) {
    for (const bool pinned : {true, false}) {
      const std::string memory = pinned ? "_pinned" : "_pageable";
      const auto add = [&](const char* kind, cudaMemcpyKind direction) {
        out.push_back({kind + memory, "memcpy", n, n,
                       detail::maker<detail::host_copy>("memcpy", n, pinned, direction)});
      };
      add("host_to_device", cudaMemcpyHostToDevice);
      add("device_to_host", cudaMemcpyDeviceToHost);
    }
    for (int other = 1; other < gpus(); ++other) {
      const std::string way = "0-" + std::to_string(other);
      out.push_back({"device_to_device_" + std::to_string(other), way, n, n,
                     detail::maker<detail::peer_copy>(way, n, other)});
    }
  }
  out.push_back(
      {"device_launch", "memset", 0, 0, detail::maker<detail::launch_run>("memset", false)});
  out.push_back(
      {"device_round_trip", "memset", 0, 0, detail::maker<detail::launch_run>("memset", true)});
  return out;
}

/// What this machine has none of.
inline std::string absent_limits() {
  return gpus() < 2 ? "copies between GPUs: there is one" : "";
}

} // namespace benanza::backend::cuda
