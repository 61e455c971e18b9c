// SPDX-License-Identifier: Apache-2.0
// How fast is the memory just now? Others on the host use the last cache and the memory too, and no
// counter in a virtual machine shows it. So between slices a few pieces of a buffer larger than the
// caches are read, each time the next ones, and timed. One probe says little: the median of those
// in a window is compared with the best windows so far.
//
//   memory_probe p(llc_bytes);   p.probe(); ...   double slower_by = p.end_window();   // 0.8: busy
#pragma once

#include "../../core/stopwatch.hpp"
#include "../../result/statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace benanza::measure {

/// Reads cold memory and compares the time with its best.
class memory_probe {
public:
  static constexpr std::int64_t piece_bytes = 64 << 10;
  static constexpr int pieces = 3; ///< a probe
  static constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
  static constexpr int fewest_probes = 3; ///< of a window that can be judged

  /// Of 0 bytes: no memory is read, and it is never slow.
  explicit memory_probe(std::int64_t last_level_cache_bytes = 0)
      : bytes_(std::min(2 * last_level_cache_bytes, most_bytes) / (pieces * piece_bytes) * pieces *
               piece_bytes) {}

  /// One probe, of about 10 us.
  void probe() {
    if (bytes_ <= 0) return;
    if (!buffer_) {
      buffer_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
      std::memset(buffer_.get(), 1, static_cast<std::size_t>(bytes_)); // else all is one page
    }
    std::array<double, pieces> ns{};
    for (double& one : ns)
      one = read_next();
    std::sort(ns.begin(), ns.end());
    note(ns[pieces / 2]);
  }

  /// A probe that took `ns`.
  void note(double ns) { probes_.push_back(ns); }

  /// By how much memory was slower than at its best, as a share, since the window began; 0 after
  /// too few probes to know. One window in ten may have been faster. The next window begins.
  double end_window() {
    if (static_cast<int>(probes_.size()) < fewest_probes) return 0;
    const double now_ns = result::median(probes_);
    probes_.clear();
    windows_.insert(std::upper_bound(windows_.begin(), windows_.end(), now_ns), now_ns);
    return std::max(0.0, now_ns / windows_[windows_.size() / 10] - 1);
  }

private:
  double read_next() {
    const std::byte* const from = buffer_.get() + at_;
    at_ = (at_ + piece_bytes) % bytes_;
    const stopwatch timer;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < piece_bytes; i += 64)
      sum += std::to_integer<std::uint64_t>(from[i]);
    keep_ = sum;
    return timer.ns();
  }

  std::int64_t bytes_, at_ = 0;
  std::unique_ptr<std::byte[]> buffer_{};
  std::vector<double> probes_{};    ///< of this window
  std::vector<double> windows_{};   ///< their medians, ascending; some thousands an hour
  volatile std::uint64_t keep_ = 0; ///< so that the reads are not left out
};

} // namespace benanza::measure
