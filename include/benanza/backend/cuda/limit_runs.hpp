// SPDX-License-Identifier: Apache-2.0
// What have the GPU's limits in common? Each is made ready when its turn comes, runs on the first
// GPU's stream, and says by which way it ran; many of them copy from or to memory of the host.
//
//   struct my_run : limit_run { double time(int executions) override { ... } };
//   device_limit l{"host_to_device_pinned", "memcpy", n, n, maker<host_copy>(...)};
#pragma once

#include "timer.hpp"

#include <cstring>
#include <new>

namespace benanza::backend::cuda::detail {

/// A limit, ready to run.
class limit_run : public prepared, public device_control {
public:
  explicit limit_run(std::string way)
      : gpu_(gpu::of_this_process())
      , way_(std::move(way)) {}

  std::string ran() const override { return way_; }
  device_control* own_device() override { return this; }
  void read(std::vector<double>& out) const override { out.clear(); }
  void begin_account() override { gpu_->watch().begin_stretch(); }
  device_account end_account() override { return gpu_->watch().end_stretch(); }

protected:
  cuda::gpu& on() const { return *gpu_; }
  const cuda::stream& stream() const { return gpu_->stream(); }
  const std::shared_ptr<cuda::gpu>& shared() const { return gpu_; }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  std::string way_;
};

/// Memory of the GPU that holds small numbers.
inline memory filled(std::int64_t bytes) {
  memory out(bytes);
  check(cudaMemset(out.data(), 1, static_cast<std::size_t>(bytes)), "memory to copy");
  wait_for_default_stream();
  return out;
}

/// A sample of copies from or to elsewhere takes so long at least.
inline constexpr double many_copies_ns = 2e5;

/// Memory of the host that a GPU can reach; what can be paged out; and what the host writes past
/// its caches, and hardly reads.
enum class host_kind { pageable, pinned, combined };

/// Memory of the host that a GPU reads or writes.
class host_memory {
public:
  host_memory(std::int64_t bytes, host_kind kind) {
    if (kind != host_kind::pageable)
      pinned_.emplace(bytes, kind == host_kind::combined ? cudaHostAllocWriteCombined
                                                         : cudaHostAllocDefault);
    else
      pageable_.emplace(static_cast<std::size_t>(bytes));
    std::memset(data(), 1, static_cast<std::size_t>(bytes));
  }
  host_memory(std::int64_t bytes, bool pinned)
      : host_memory(bytes, pinned ? host_kind::pinned : host_kind::pageable) {}
  void* data() const { return pinned_ ? pinned_->data() : pageable_->data(); }

private:
  std::optional<pinned_memory> pinned_{};
  std::optional<machine::page_memory> pageable_{};
};

/// Copies a message between the host and the GPU, again and again.
class host_copy final : public limit_run {
public:
  host_copy(std::string way, std::int64_t bytes, host_kind kind, cudaMemcpyKind direction)
      : limit_run(std::move(way))
      , host_(bytes, kind)
      , device_(filled(bytes))
      , direction_(direction) {}
  /// The events around all of them cost as much as a small one.
  double shortest_sample_ns() const override { return many_copies_ns; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const bool there = direction_ == cudaMemcpyHostToDevice;
    return between_events(stream(), [&] {
      for (int i = 0; i < executions; ++i)
        check(cudaMemcpyAsync(
                  there ? device_.data() : host_.data(), there ? host_.data() : device_.data(),
                  static_cast<std::size_t>(device_.bytes()), direction_, stream().get()),
              "a copy between host and GPU");
    });
  }

private:
  host_memory host_;
  memory device_;
  cudaMemcpyKind direction_;
};

template <class Run, class... Arguments>
std::function<std::unique_ptr<prepared>()> maker(Arguments... a) {
  return [=] { return std::make_unique<Run>(a...); };
}
} // namespace benanza::backend::cuda::detail
