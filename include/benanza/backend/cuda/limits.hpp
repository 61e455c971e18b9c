// SPDX-License-Identifier: Apache-2.0
// What does the GPU move at most, and what does it cost to start something there? Copies and fills
// of its own memory by working set, by the runtime and by kernels that read, write, copy and add
// up, all replayed from a graph; copies from and to the host, out of pinned and of pageable memory,
// by message, between GPUs and processes (peers.hpp), and other transfers (transfers.hpp); what is
// between two kernels of a graph, and what a pair of events around one costs there; the host's time
// for a launch, and for one that it waits for.
//
//   for (device_limit& l : limits()) { auto run = l.make(); run->time(10); }
#pragma once

#include "peers.hpp"
#include "transfers.hpp"

#include <limits>

namespace benanza::backend::cuda {

/// Working sets of copies within the GPU, up to a sixteenth of its memory; messages of all others.
inline constexpr std::int64_t least_working_set = 1 << 20, most_working_set = std::int64_t{1} << 30;
inline constexpr std::int64_t message_bytes[] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};

namespace detail {
/// Something that is replayed from a graph.
class graph_run : public limit_run {
public:
  explicit graph_run(std::string way)
      : limit_run(std::move(way))
      , timer_(shared()) {}
  double shortest_sample_ns() const override { return 1e6; }
  double clock_ns() const override { return timer_.clock_ns(); }
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

protected:
  virtual void enqueue() = 0;

private:
  timer timer_;
};

/// Moves bytes within the GPU's memory: half a working set to the other half, or fills all of it.
class device_sweep final : public graph_run {
public:
  device_sweep(std::string way, std::int64_t bytes, bool copies)
      : graph_run(std::move(way))
      , all_(filled(bytes))
      , copies_(copies) {}

private:
  std::size_t size() const { return static_cast<std::size_t>(all_.bytes()); }
  void enqueue() override {
    check(copies_ ? cudaMemcpyAsync(all_.data() + size() / 2, all_.data(), size() / 2,
                                    cudaMemcpyDeviceToDevice, stream().get())
                  : cudaMemsetAsync(all_.data(), 1, size(), stream().get()),
          "a sweep over memory");
  }
  memory all_;
  bool copies_;
};

/// A kernel that sweeps over arrays of equal size, the last of which it writes, if any; one that
/// reads alone has a word besides that it may write to.
class kernel_sweep final : public graph_run {
public:
  kernel_sweep(std::string way, const source::kernel& k, int arrays, bool writes,
               std::int64_t array_bytes)
      : graph_run(std::move(way))
      , kernel_(loaded_kernel::of(k))
      , blocks_(source::sweep_blocks(array_bytes, attribute(cudaDevAttrMultiProcessorCount)))
      , count_(static_cast<unsigned long long>(array_bytes / source::pack_bytes)) {
    for (int i = 0; i < arrays; ++i)
      arrays_.push_back(filled(array_bytes));
    if (!writes) arrays_.push_back(filled(sizeof(unsigned)));
    for (const memory& m : arrays_)
      addresses_.push_back(m.data());
    for (std::size_t i = 0; i + 1 < addresses_.size(); ++i)
      arguments_.push_back(&addresses_[i]);
    arguments_.push_back(&count_);
    if (!writes) arguments_.push_back(&never_);
    arguments_.push_back(&addresses_.back());
  }

private:
  void enqueue() override { kernel_->launch(stream(), arguments_.data(), blocks_); }
  std::shared_ptr<const loaded_kernel> kernel_;
  std::int64_t blocks_;
  unsigned long long count_;
  unsigned never_ = 0x9e3779b9; ///< what no sum of ones comes to
  std::vector<memory> arrays_{};
  std::vector<std::byte*> addresses_{};
  std::vector<void*> arguments_{};
};

/// Kernels in a row, each of which computes for some microseconds: the time between the last
/// instruction of one and the first of the next. The time to compute is subtracted: how much longer
/// twice as much takes.
class gap_run final : public graph_run {
public:
  static constexpr unsigned steps = 2000; ///< of some four cycles

  explicit gap_run(std::string way)
      : graph_run(std::move(way))
      , twice_(shared()) {}
  double time(int executions) override {
    const double once = graph_run::time(executions),
                 twice = twice_.time(executions, caches::hot, 1,
                                     [this](std::int64_t) { compute(&twice_steps_); });
    least_once_ns_ = std::min(least_once_ns_, once / executions);
    least_twice_ns_ = std::min(least_twice_ns_, twice / executions);
    return std::max(0.0, once - executions * (least_twice_ns_ - least_once_ns_));
  }

private:
  void enqueue() override { compute(&steps_); }
  void compute(unsigned* how_many) {
    float* to = nullptr; // nothing is written
    void* arguments[] = {how_many, &to};
    kernel_->launch(stream(), arguments);
  }
  std::shared_ptr<const loaded_kernel> kernel_ = loaded_kernel::of(source::busy());
  timer twice_;
  unsigned steps_ = steps, twice_steps_ = 2 * steps;
  double least_once_ns_ = std::numeric_limits<double>::infinity(),
         least_twice_ns_ = least_once_ns_; ///< a kernel
};

/// What a pair of events around a kernel costs: what is taken off cold times.
class pair_run final : public limit_run {
public:
  using limit_run::limit_run;
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override { return executions * on().measured_event_pair_ns(); }
};

/// Starts the least that there is of a memset or of a kernel, and waits for each, or does not; by
/// the host's clock.
class launch_run final : public limit_run {
public:
  launch_run(std::string way, bool kernel, bool waits)
      : limit_run(std::move(way))
      , word_(4)
      , kernel_(kernel ? loaded_kernel::of(source::nothing()) : nullptr)
      , waits_(waits) {}
  double shortest_sample_ns() const override { return 1e5; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    const stopwatch took;
    for (int i = 0; i < executions; ++i) {
      if (kernel_)
        kernel_->launch(stream(), nullptr);
      else
        check(cudaMemsetAsync(word_.data(), 1, 4, stream().get()), "a launch");
      if (waits_) stream().wait();
    }
    const double ns = took.ns();
    stream().wait();
    return ns;
  }

private:
  memory word_;
  std::shared_ptr<const loaded_kernel> kernel_;
  bool waits_;
};

} // namespace detail

namespace detail {
/// What kernels reach in a working set; none in a build without NVRTC.
inline void add_kernels(std::vector<device_limit>& out, std::int64_t bytes) {
  if (!compiles) return;
  const auto add = [&](const char* kind, source::kernel (*text)(), int arrays, bool writes) {
    const source::kernel k = text();
    const std::string way = "kernel:" + k.name;
    const std::int64_t each = bytes / arrays / source::pack_bytes * source::pack_bytes;
    out.push_back(
        {kind, way, bytes, arrays * each, maker<kernel_sweep>(way, k, arrays, writes, each)});
  };
  add("read", source::read_all, 1, false);
  add("write", source::write_all, 1, true);
  add("copy", source::copy_all, 2, true);
  add("triad", source::triad, 3, true);
}

/// What it costs to start something.
inline void add_starts(std::vector<device_limit>& out) {
  const auto add = [&out](const char* kind, const char* way, auto make) {
    out.push_back({kind, way, 0, 0, std::move(make)});
  };
  add("device_launch", "memset", maker<launch_run>("memset", false, false));
  add("device_round_trip", "memset", maker<launch_run>("memset", false, true));
  add("event_pair", "graph", maker<pair_run>(std::string("graph")));
  if (!compiles) return;
  const std::string nothing = "kernel:" + source::nothing().name,
                    busy = "kernel:" + source::busy().name;
  add("kernel_launch", nothing.c_str(), maker<launch_run>(nothing, true, false));
  add("graph_gap", busy.c_str(), maker<gap_run>(busy));
}
} // namespace detail

/// The limits of the first GPU, and of what is between it and all others.
inline std::vector<device_limit> limits() {
  std::vector<device_limit> out;
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0), "the GPU's properties cannot be read");
  const auto most = std::min(most_working_set, static_cast<std::int64_t>(p.totalGlobalMem / 16));
  for (std::int64_t n = least_working_set; n <= most; n *= 2) {
    out.push_back({"copy", "memcpy", n, n, detail::maker<detail::device_sweep>("memcpy", n, true)});
    out.push_back(
        {"write", "memset", n, n, detail::maker<detail::device_sweep>("memset", n, false)});
    detail::add_kernels(out, n);
  }
  for (const std::int64_t n : message_bytes) {
    for (const bool pinned : {true, false}) {
      const std::string memory = pinned ? "_pinned" : "_pageable";
      const auto add = [&](const char* kind, cudaMemcpyKind direction) {
        out.push_back({kind + memory, "memcpy", n, n,
                       detail::maker<detail::host_copy>("memcpy", n,
                                                        pinned ? detail::host_kind::pinned
                                                               : detail::host_kind::pageable,
                                                        direction)});
      };
      add("host_to_device", cudaMemcpyHostToDevice);
      add("device_to_host", cudaMemcpyDeviceToHost);
    }
  }
  detail::add_peers(out, message_bytes);
  detail::add_transfers(out, message_bytes);
  detail::add_starts(out);
  return out;
}

/// What this machine has none of.
inline std::string absent_limits() {
  const std::string all = detail::absent_peers() + detail::absent_transfers();
  return all.ends_with("; ") ? all.substr(0, all.size() - 2) : all;
}

} // namespace benanza::backend::cuda
