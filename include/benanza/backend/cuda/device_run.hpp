// SPDX-License-Identifier: Apache-2.0
// What is common to everything that runs on the GPU: operands in its memory, weights that rotate
// through its arena, times from its events. A library's own class says how one execution is put on
// the stream.
//
//   class execution : public cuda::device_run { void enqueue(std::int64_t copy) override; ... };
#pragma once

#include "timer.hpp"

namespace benanza::backend::cuda {

/// Bytes that one of several weights takes in a copy of them.
constexpr std::int64_t in_pool(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

class device_run : public prepared, public device_control {
public:
  device_run(std::shared_ptr<gpu> on, dtype weights)
      : gpu_(std::move(on))
      , weights_(weights)
      , timer_(gpu_) {}

  std::int64_t weight_bytes() const final { return weight_bytes_; }
  void rotate_weights(std::byte* pool, std::int64_t stride, std::int64_t count) final {
    const weight_slots wanted{weight_bytes_ > 0 ? pool : nullptr, stride, count};
    if (wanted.data == slots_.data && wanted.stride == slots_.stride &&
        wanted.count == slots_.count)
      return;
    slots_ = wanted;
    moved();
  }

  device_control* own_device() final { return this; }
  void wake() final { gpu_->wake(); }
  std::string disturbance() final { return gpu_->watch().disturbance(); }
  double power_w() const final { return gpu_->watch().power_w(); }
  weight_slots own_pool() final { return gpu_->pool(weights_, weight_bytes_); }
  void flush_before_each(bool flushed) final { flushed_ = flushed; }
  /// Events are good to half a microsecond.
  double shortest_sample_ns() const final { return flushed_ ? 1e5 : 1e6; }
  bool host_launches() const final { return !timer_.why_not_captured().empty(); }
  std::string remark() const final {
    return !host_launches() ? ""
                            : "launched one by one, not replayed: " + timer_.why_not_captured();
  }

  void run(int executions) final {
    for (int i = 0; i < executions; ++i)
      enqueue(0);
    gpu_->stream().wait();
  }

  double time(int executions) final {
    const caches state = flushed_                 ? caches::cold
                         : slots_.data != nullptr ? caches::cold_weights
                                                  : caches::hot;
    return timer_.time(
        executions, state, std::max<std::int64_t>(slots_.count, 1),
        [this](std::int64_t copy) { enqueue(copy); }, slots_.data);
  }

protected:
  /// Puts one execution on the stream, with copy `copy` of the weights.
  virtual void enqueue(std::int64_t copy) = 0;
  /// Weights stand elsewhere from now on.
  virtual void moved() {}

  /// Counts a tensor of weights; `weights_at` gives their places in the same order.
  void add_weights(std::int64_t bytes) { weight_bytes_ += in_pool(bytes); }
  /// Where a copy of all weights begins; null: they are at their own places.
  std::byte* weights_at(std::int64_t copy) const {
    return slots_.data == nullptr ? nullptr : slots_.data + copy * slots_.stride;
  }
  const std::shared_ptr<cuda::gpu>& device() const { return gpu_; }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  dtype weights_;
  cuda::timer timer_;
  std::int64_t weight_bytes_ = 0;
  weight_slots slots_{};
  bool flushed_ = false;
};

/// Memory in which a result would be missed: every byte of it is set.
inline memory poisoned(std::int64_t bytes) {
  memory m(bytes);
  if (bytes == 0) return m;
  check(cudaMemset(m.data(), 0xff, static_cast<std::size_t>(bytes)), "the result's memory");
  wait_for_default_stream();
  return m;
}

} // namespace benanza::backend::cuda
