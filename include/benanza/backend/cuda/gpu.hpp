// SPDX-License-Identifier: Apache-2.0
// The GPU of this process as backends share it: its facts, one stream, what drives other data out
// of its L2 cache, an arena of random numbers from which cold weights come, its clock, and work
// that brings it to its full clock. The first one that CUDA_VISIBLE_DEVICES leaves is taken.
//
//   auto on = cuda::gpu::of_this_process();   on->flush();   on->pool(dtype::f16, bytes, 100)
#pragma once

#include "../number.hpp"
#include "group_memory.hpp"
#include "l2_flush.hpp"
#include "replay.hpp"
#include "sm_clock.hpp"
#include "watch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace benanza::backend::cuda {

/// Executions at most between two flushes whose weights must differ.
inline constexpr std::int64_t most_copies = 512;
/// Bytes of the arena, unless two copies take more.
inline constexpr std::int64_t pooled_bytes = std::int64_t{256} << 20;

/// A resting GPU works so long between two looks at its clock, and this long at most.
inline constexpr double wake_stretch_ns = 50e6, longest_wake_ns = 2e9;
/// Where its clock is not known it works so long the first time, and before each further group.
inline constexpr double blind_wake_ns = 100e6, blind_wake_again_ns = 10e6;

class gpu {
public:
  /// The first GPU, the same for all backends, from its first use to the end of the process: it
  /// frees what it holds before the CUDA runtime ends, which started before it was complete.
  static const std::shared_ptr<gpu>& of_this_process() {
    static const auto it = std::make_shared<gpu>();
    return it;
  }

  gpu() {
    if (!no_gpu().empty()) throw error(no_gpu());
    check(cudaSetDevice(0), "the GPU cannot be used");
    l2_bytes_ = attribute(cudaDevAttrL2CacheSize);
    stream_ = std::make_unique<cuda::stream>();
    flush_ = std::make_unique<l2_flush>(*stream_, l2_bytes_);
    clock_ = std::make_unique<sm_clock>(*stream_);
    std::array<char, 32> address{};
    if (cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), 0) != cudaSuccess)
      cudaGetLastError();
    watch_ = std::make_unique<cuda::watch>(nvml::usual_library(), address.data());
  }

  /// The stream that all of its libraries put their work on.
  const cuda::stream& stream() const { return lane_ == 0 ? *stream_ : *lanes_[lane_ - 1]; }
  /// From now on that is another one, or again the first: number 0.
  void use_lane(int number) {
    lane_ = static_cast<std::size_t>(number);
    while (lanes_.size() < lane_)
      lanes_.push_back(std::make_unique<cuda::stream>());
  }
  std::int64_t l2_bytes() const { return l2_bytes_; }

  /// Puts on the stream what leaves nothing else in the L2 cache.
  void flush() { flush_->put(*stream_); }

  /// Its clock, power and temperature as NVML reports them; its clock while something was timed.
  cuda::watch& watch() const { return *watch_; }
  const sm_clock& clock() const { return *clock_; }

  /// What a pair of events around a kernel of a graph costs, in ns; 0: not known.
  double event_pair_ns() {
    if (!event_pair_ns_) event_pair_ns_ = measured_event_pair_ns();
    return *event_pair_ns_;
  }
  /// The same, measured now: by a kernel that does nothing, or by the least fill without NVRTC.
  double measured_event_pair_ns() const {
    std::shared_ptr<const loaded_kernel> nothing;
    try {
      nothing = loaded_kernel::of(source::nothing());
    } catch (const device_lost&) {
      throw;
    } catch (const std::exception&) {
      const memory word(sizeof(unsigned));
      return cuda::event_pair_ns(*stream_, [&] {
        check(cudaMemsetAsync(word.data(), 0, sizeof(unsigned), stream_->get()), "a fill");
      });
    }
    return cuda::event_pair_ns(*stream_, [&] { nothing->launch(*stream_, nullptr); });
  }

  /// Brings a resting GPU to its full clock: it works until the clock no longer rises, two seconds
  /// at most; where its clock is not known, for a short fixed time. Returns for how long it worked.
  double wake() {
    if (!watch_->sees_clock())
      return work(std::exchange(awake_, true) ? blind_wake_again_ns : blind_wake_ns);
    if (std::exchange(awake_, true) && !watch_->rests()) return 0;
    const auto start = std::chrono::steady_clock::now();
    const auto passed_ns = [start] {
      return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
          .count();
    };
    double ns = 0;
    do
      ns += work(wake_stretch_ns);
    while (!watch_->settled() && std::max(passed_ns(), ns) < longest_wake_ns);
    return ns;
  }

  /// Copies of weights of `bytes` each, random numbers of the type; two at least.
  weight_slots pool(dtype type, std::int64_t bytes) {
    weight_slots s;
    s.stride = (bytes + 255) / 256 * 256;
    // It grows for weights that are larger than half of it alone: what was handed out before for
    // smaller ones stays where it is.
    const std::int64_t wanted = std::max(2 * s.stride, pooled_bytes);
    memory& arena = pools_[type];
    if (arena.bytes() < wanted) {
      arena = memory();
      arena = memory(wanted);
      fill(arena, type);
    }
    s.count = copies_in(arena.bytes(), s.stride);
    s.data = arena.data();
    return s;
  }
  /// How many copies of `stride` bytes are made in so many.
  static std::int64_t copies_in(std::int64_t bytes, std::int64_t stride) {
    return std::clamp<std::int64_t>(bytes / std::max<std::int64_t>(stride, 1), 2, most_copies);
  }
  /// What algorithms share that run by turns.
  const std::shared_ptr<group_memory>& shared_memory() const { return shared_; }

  /// Puts a copy on the stream.
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    if (bytes > 0)
      check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                            stream_->get()),
            "a copy failed");
  }
  /// Elements of `width` bytes from anywhere in its memory, one after the other.
  std::vector<std::byte> download_each(std::span<const std::byte* const> from,
                                       std::int64_t width) const {
    const auto size = static_cast<std::size_t>(width);
    const pinned_memory to(std::ssize(from) * width);
    for (std::size_t i = 0; i < from.size(); ++i)
      check(cudaMemcpyAsync(to.data() + i * size, from[i], size, cudaMemcpyDeviceToHost,
                            stream_->get()),
            "a copy failed");
    stream_->wait();
    return {to.data(), to.data() + from.size() * size};
  }

  /// For provenance.
  std::map<std::string, std::string> facts() const {
    cudaDeviceProp p{};
    check(cudaGetDeviceProperties(&p, 0), "the GPU's properties cannot be read");
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const auto version = [](int v) {
      return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10);
    };
    const auto mhz = [](cudaDeviceAttr a) { return std::to_string(attribute(a) / 1000); };
    std::map<std::string, std::string> out{
        {"gpu", p.name},
        {"compute_capability", std::to_string(p.major) + '.' + std::to_string(p.minor)},
        {"multiprocessors", std::to_string(p.multiProcessorCount)},
        {"l2_bytes", std::to_string(l2_bytes_)},
        {"memory_bytes", std::to_string(p.totalGlobalMem)},
        {"memory_bus_bits", std::to_string(attribute(cudaDevAttrGlobalMemoryBusWidth))},
        {"clock_mhz", mhz(cudaDevAttrClockRate)},
        {"memory_clock_mhz", mhz(cudaDevAttrMemoryClockRate)},
        {"ecc", attribute(cudaDevAttrEccEnabled) != 0 ? "on" : "off"},
        {"driver", version(driver)},
        {"cuda_runtime", version(runtime)},
        {"uuid", uuid_text(p.uuid)},
        {"condition", watch_->condition()},
        {"l2_flush", flush_proof()}};
    if (!clock_->why_not().empty()) out["sm_clock"] = "not known: " + clock_->why_not();
    if (const char* forced = std::getenv("NVIDIA_TF32_OVERRIDE")) out["tf32_override"] = forced;
    out.merge(watch_->facts());
    return out;
  }

private:
  /// As nvidia-smi shows it: "GPU-5fd4f0a1-...".
  static std::string uuid_text(const cudaUUID_t& id) {
    std::string out = "GPU";
    for (std::size_t i = 0; i < sizeof id.bytes; ++i) {
      if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) out += '-';
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(id.bytes[i]));
      out += digits;
    }
    return out;
  }

  /// Tried once. A lost device is no matter of the cache.
  const std::string& flush_proof() const {
    if (flush_proof_.empty()) try {
        flush_proof_ = flush_->proof(*stream_);
      } catch (const error& e) {
        flush_proof_ = std::string("not tried: ") + e.what();
      }
    return flush_proof_;
  }

  /// Works for `ns` of its own time, or a little longer; returns how long it took.
  double work(double ns) {
    constexpr int writes = 50;
    double done = 0;
    event first, last;
    while (done < ns) {
      first.record(*stream_);
      for (int i = 0; i < writes; ++i)
        flush_->overwrite(*stream_);
      last.record(*stream_);
      stream_->wait();
      done += std::max(last.ns_since(first), 1.0);
    }
    return done;
  }

  /// Numbers between -1 and 1, a block of them over and over.
  static void fill(memory& to, dtype type) {
    const std::int64_t width = size_bytes(type),
                       block = std::min<std::int64_t>(to.bytes(), 1 << 20);
    std::vector<std::byte> host(static_cast<std::size_t>(block));
    std::uint32_t state = 0x2545f491u;
    for (std::int64_t i = 0; (i + 1) * width <= block; ++i) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      const double unit = (static_cast<double>(state >> 8) + 0.5) / 8388608.0 - 1.0;
      store(type, host.data(), i, type == dtype::s8 ? 127 * unit : unit);
    }
    for (std::int64_t at = 0; at < to.bytes(); at += block)
      check(cudaMemcpy(to.data() + at, host.data(),
                       static_cast<std::size_t>(std::min(block, to.bytes() - at)),
                       cudaMemcpyHostToDevice),
            "a copy failed");
    wait_for_default_stream();
  }

  std::int64_t l2_bytes_ = 0;
  std::unique_ptr<cuda::stream> stream_{};
  std::unique_ptr<cuda::watch> watch_{};
  std::vector<std::unique_ptr<cuda::stream>> lanes_{}; ///< further ones
  std::size_t lane_ = 0;
  bool awake_ = false;
  std::unique_ptr<l2_flush> flush_{};
  std::unique_ptr<sm_clock> clock_{};
  mutable std::string flush_proof_{};
  std::optional<double> event_pair_ns_{};
  std::map<dtype, memory> pools_{};
  std::shared_ptr<group_memory> shared_ = std::make_shared<group_memory>();
};

} // namespace benanza::backend::cuda
