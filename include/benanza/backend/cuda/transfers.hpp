// SPDX-License-Identifier: Apache-2.0
// What else moves between the host's memory and the GPU's than one copy? Copies both ways at once;
// out of memory that the host writes past its caches; rows with gaps between them; kernels that
// read and write the host's memory in place (zero copy); managed memory, whose pages come when a
// kernel or the host asks for them, or before. And what it costs to start a graph, and to hand out
// memory to other processes.
//
//   add_transfers(limits, message_bytes);   absent_transfers()
#pragma once

#include "limit_runs.hpp"

#include <array>

namespace benanza::backend::cuda::detail {

/// Copies to the GPU and back at once, on a stream each: from the first to begin until the last to
/// end.
class both_ways final : public limit_run {
public:
  both_ways(std::string way, std::int64_t bytes, bool pinned)
      : limit_run(std::move(way))
      , sent_(bytes, pinned)
      , received_(bytes, pinned)
      , to_(filled(bytes))
      , from_(filled(bytes)) {}
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    event begun, ended;
    return between_events(stream(), [&] {
      begun.record(stream());
      begun.hold_back(second_);
      for (int i = 0; i < executions; ++i) {
        copy(to_.data(), sent_.data(), cudaMemcpyHostToDevice, stream());
        copy(received_.data(), from_.data(), cudaMemcpyDeviceToHost, second_);
      }
      ended.record(second_);
      ended.hold_back(stream());
    });
  }

private:
  void copy(void* to, const void* from, cudaMemcpyKind kind, const cuda::stream& s) const {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(to_.bytes()), kind, s.get()),
          "copies both ways");
  }
  host_memory sent_, received_;
  memory to_, from_;
  cuda::stream second_{};
};

/// Copies rows with gaps between them in pinned memory to contiguous ones on the GPU, or back.
class rows_copy final : public limit_run {
public:
  static constexpr std::int64_t pitch_of_rows = 4; ///< times their length

  rows_copy(std::string way, std::int64_t bytes, std::int64_t row_bytes, bool there)
      : limit_run(std::move(way))
      , row_(static_cast<std::size_t>(row_bytes))
      , host_(bytes * pitch_of_rows, true)
      , device_(filled(bytes))
      , there_(there) {}
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const std::size_t apart = row_ * pitch_of_rows,
                      rows = static_cast<std::size_t>(device_.bytes()) / row_;
    return between_events(stream(), [&] {
      for (int i = 0; i < executions; ++i)
        check(there_ ? cudaMemcpy2DAsync(device_.data(), row_, host_.data(), apart, row_, rows,
                                         cudaMemcpyHostToDevice, stream().get())
                     : cudaMemcpy2DAsync(host_.data(), apart, device_.data(), row_, row_, rows,
                                         cudaMemcpyDeviceToHost, stream().get()),
              "a copy of rows");
    });
  }

private:
  std::size_t row_;
  host_memory host_;
  memory device_;
  bool there_;
};

/// A kernel that reads `from`, or writes what it reads there to `to`.
class sweep_over {
public:
  sweep_over(void* from, void* to, std::int64_t bytes)
      : from_(from)
      , to_(to)
      , copies_(to != nullptr)
      , kernel_(loaded_kernel::of(copies_ ? source::copy_all() : source::read_all()))
      , blocks_(source::sweep_blocks(bytes, attribute(cudaDevAttrMultiProcessorCount)))
      , count_(static_cast<unsigned long long>(bytes / source::pack_bytes)) {
    if (copies_) return;
    word_ = filled(sizeof(unsigned));
    to_ = word_.data();
  }
  void enqueue(const cuda::stream& s) {
    std::vector<void*> arguments{&from_, &count_};
    if (!copies_) arguments.push_back(&never_);
    arguments.push_back(&to_);
    kernel_->launch(s, arguments.data(), blocks_);
  }

private:
  void *from_, *to_;
  bool copies_;
  std::shared_ptr<const loaded_kernel> kernel_;
  std::int64_t blocks_;
  unsigned long long count_;
  unsigned never_ = 0x9e3779b9; ///< what no sum of ones comes to
  memory word_{};
};

/// A kernel reads pinned memory of the host, or writes to it.
class zero_copy final : public limit_run {
public:
  zero_copy(std::string way, std::int64_t bytes, bool reads)
      : limit_run(std::move(way))
      , host_(bytes, true)
      , device_(filled(reads ? 4 : bytes))
      , sweep_(reads ? host_.data() : device_.data(), reads ? nullptr : host_.data(), bytes) {}
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    return between_events(stream(), [&] {
      for (int i = 0; i < executions; ++i)
        sweep_.enqueue(stream());
    });
  }

private:
  host_memory host_;
  memory device_;
  sweep_over sweep_;
};

/// Memory whose pages go to the host or to the GPU, whichever asks for them.
class managed_memory {
public:
  explicit managed_memory(std::int64_t bytes)
      : bytes_(bytes) {
    check(cudaMallocManaged(&data_, static_cast<std::size_t>(bytes), cudaMemAttachGlobal),
          "managed memory");
    std::memset(data_, 1, static_cast<std::size_t>(bytes));
  }
  managed_memory(const managed_memory&) = delete;
  managed_memory& operator=(const managed_memory&) = delete;
  ~managed_memory() { cudaFree(data_); }
  void* data() const { return data_; }

  /// Puts it on the stream that all pages go to the first GPU, or to the host.
  void prefetch(bool to_device, const cuda::stream& s) const {
    const auto size = static_cast<std::size_t>(bytes_);
#if CUDART_VERSION >= 13000
    cudaMemLocation place{};
    place.type = to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    check(cudaMemPrefetchAsync(data_, size, place, 0, s.get()), "pages of managed memory");
#else
    check(cudaMemPrefetchAsync(data_, size, to_device ? 0 : cudaCpuDeviceId, s.get()),
          "pages of managed memory");
#endif
  }
  /// The host reads a byte of each page.
  void touch() const {
    unsigned sum = 0;
    for (std::int64_t i = 0; i < bytes_; i += 4096)
      sum += static_cast<const volatile unsigned char*>(data_)[i];
    asm volatile("" : : "r"(sum));
  }

private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

/// Pages of managed memory go to the GPU or to the host: on demand, or all at once. That they go
/// back first is not timed.
class managed_run final : public limit_run {
public:
  managed_run(std::string way, std::int64_t bytes, bool to_device, bool on_demand)
      : limit_run(std::move(way))
      , memory_(bytes)
      , to_device_(to_device)
      , on_demand_(on_demand) {
    if (on_demand && to_device) reads_.emplace(memory_.data(), nullptr, bytes);
  }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    double ns = 0;
    for (int i = 0; i < executions; ++i) {
      memory_.prefetch(!to_device_, stream());
      stream().wait();
      ns += once();
    }
    return ns;
  }

private:
  double once() {
    if (on_demand_ && !to_device_) {
      const stopwatch timer;
      memory_.touch();
      return timer.ns();
    }
    return between_events(stream(), [&] {
      if (on_demand_)
        reads_->enqueue(stream());
      else
        memory_.prefetch(to_device_, stream());
    });
  }
  managed_memory memory_;
  bool to_device_, on_demand_;
  std::optional<sweep_over> reads_{};
};

/// Starts a graph of one small fill, and waits for it or does not; by the host's clock.
class graph_launch final : public limit_run {
public:
  graph_launch(std::string way, bool waits)
      : limit_run(std::move(way))
      , word_(4)
      , waits_(waits) {
    std::string problem;
    graph_ = capture(
        stream(), [this] { check(cudaMemsetAsync(word_.data(), 1, 4, stream().get()), "a fill"); },
        problem);
    if (!graph_) throw error("a graph cannot be captured: " + problem);
  }
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const stopwatch took;
    for (int i = 0; i < executions; ++i) {
      graph_->launch(stream());
      if (waits_) stream().wait();
    }
    const double ns = took.ns();
    stream().wait();
    return ns;
  }

private:
  memory word_;
  bool waits_;
  std::optional<replayed_graph> graph_{};
};

/// Makes a handle by which another process can open memory; by the host's clock.
class ipc_export final : public limit_run {
public:
  explicit ipc_export(std::string way)
      : limit_run(std::move(way))
      , shared_(filled(1 << 20)) {}
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    cudaIpcMemHandle_t handle{};
    const stopwatch took;
    for (int i = 0; i < executions; ++i)
      check(cudaIpcGetMemHandle(&handle, shared_.data()), "a handle for other processes");
    return took.ns();
  }

private:
  memory shared_;
};

/// True where the GPU and the host may ask for pages at any time.
inline bool has_managed_memory() {
  return attribute(cudaDevAttrManagedMemory) != 0 &&
         attribute(cudaDevAttrConcurrentManagedAccess) != 0;
}

/// Adds all of these by message.
inline void add_transfers(std::vector<device_limit>& out, std::span<const std::int64_t> sizes) {
  const auto add = [&out](const std::string& kind, const std::string& way, std::int64_t bytes,
                          std::int64_t moved, auto make) {
    out.push_back({kind, way, bytes, moved, std::move(make)});
  };
  const std::string copy = "memcpy", pages = "managed";
  for (const std::int64_t n : sizes) {
    for (const bool pinned : {true, false})
      add(pinned ? "both_ways_pinned" : "both_ways_pageable", copy, n, 2 * n,
          maker<both_ways>(copy, n, pinned));
    add("host_to_device_combined", copy, n, n,
        maker<host_copy>(copy, n, host_kind::combined, cudaMemcpyHostToDevice));
    for (const std::int64_t row : {64, 1024})
      for (const bool there : {true, false})
        add((there ? "rows_to_device_" : "rows_to_host_") + std::to_string(row), "memcpy2D", n, n,
            maker<rows_copy>(std::string("memcpy2D"), n, row, there));
    if (compiles) {
      add("zero_copy_read", "kernel:read_all", n, n,
          maker<zero_copy>(std::string("kernel:read_all"), n, true));
      add("zero_copy_write", "kernel:copy_all", n, n,
          maker<zero_copy>(std::string("kernel:copy_all"), n, false));
    }
    if (!has_managed_memory()) continue;
    for (const bool there : {true, false}) {
      const std::string to = there ? "to_device" : "to_host";
      add("prefetch_" + to, pages, n, n, maker<managed_run>(pages, n, there, false));
      if (compiles || !there)
        add("demand_" + to, pages, n, n, maker<managed_run>(pages, n, there, true));
    }
  }
  add("graph_launch", "graph", 0, 0, maker<graph_launch>(std::string("graph"), false));
  add("graph_round_trip", "graph", 0, 0, maker<graph_launch>(std::string("graph"), true));
  add("ipc_export", "ipc", 0, 0, maker<ipc_export>(std::string("ipc")));
}

/// What this machine or build has none of; each followed by "; ".
inline std::string absent_transfers() {
  std::string out;
  if (!has_managed_memory())
    out += "managed memory: the GPU does not share its page faults with the host; ";
  if (!compiles) out += "zero copy, pages on a kernel's demand: built without NVRTC; ";
  return out;
}

} // namespace benanza::backend::cuda::detail
