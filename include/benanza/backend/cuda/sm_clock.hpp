// SPDX-License-Identifier: Apache-2.0
// At which clock did the GPU run while something was timed? A small kernel before it and one after
// it, outside of what is timed, note the time and the cycles that a multiprocessor has counted: the
// cycles over the time are its clock. Only stamps of one multiprocessor are compared, as each
// counts for itself. The clock is not known where there is no NVRTC, where too little time has
// passed for a timer that moves in steps of a microsecond, or where the stamps have no
// multiprocessor in common.
//
//   sm_clock c(stream);   c.begin(stream);  ...  c.end(stream);   c.thousand_cycles_ns() == 505
#pragma once

#include "loaded_kernel.hpp"
#include "source/probes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace benanza::backend::cuda {

/// What 1000 cycles took between two sets of stamps, by the median of the multiprocessors that are
/// in both; 0: not known.
inline double thousand_cycles_ns(std::span<const source::stamp> first,
                                 std::span<const source::stamp> last) {
  // The timer's step, at both ends, is then half a percent each at most.
  constexpr unsigned long long shortest_ns = 200'000;
  constexpr double least_ns = 100, most_ns = 20'000; // 10 GHz and 50 MHz: else it is no clock
  std::vector<double> all;
  for (const source::stamp& a : first)
    for (const source::stamp& b : last) {
      if (a.sm != b.sm || b.ns < a.ns + shortest_ns || b.cycles <= a.cycles) continue;
      const double ns =
          1000 * static_cast<double>(b.ns - a.ns) / static_cast<double>(b.cycles - a.cycles);
      if (ns >= least_ns && ns <= most_ns) all.push_back(ns);
    }
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

class sm_clock {
public:
  /// Runs once: what is loaded when it first runs cannot be captured.
  explicit sm_clock(const stream& s) {
    try {
      kernel_ = loaded_kernel::of(source::sm_stamp());
      stamps_ = std::make_unique<pinned_memory>(std::int64_t{sizeof(source::stamp)} * 2 *
                                                source::stamping_blocks);
      std::memset(stamps_->data(), 0, static_cast<std::size_t>(stamps_->bytes()));
      begin(s);
      s.wait();
    } catch (const device_lost&) {
      throw;
    } catch (const std::exception& e) {
      kernel_.reset();
      why_not_ = e.what();
    }
  }

  /// Why the clock is not known; empty: it is.
  const std::string& why_not() const { return why_not_; }

  /// Put on the stream, or into a graph, before and after what is timed.
  void begin(const stream& s) const { put(s, 0); }
  void end(const stream& s) const { put(s, source::stamping_blocks); }

  /// What 1000 cycles took between the two that ran last; 0: not known. The stream was waited for.
  double thousand_cycles_ns() const {
    if (!kernel_) return 0;
    const std::span<const source::stamp> all(stamps(), 2 * source::stamping_blocks);
    return cuda::thousand_cycles_ns(all.first(source::stamping_blocks),
                                    all.last(source::stamping_blocks));
  }

private:
  void put(const stream& s, std::size_t from) const {
    if (!kernel_) return;
    source::stamp* at = stamps() + from;
    void* arguments[] = {&at};
    kernel_->launch(s, arguments);
  }

  source::stamp* stamps() const { return reinterpret_cast<source::stamp*>(stamps_->data()); }

  std::string why_not_{};
  std::shared_ptr<const loaded_kernel> kernel_{};
  std::unique_ptr<pinned_memory> stamps_{}; ///< the GPU writes there, and they are there at once
};

} // namespace benanza::backend::cuda
