// SPDX-License-Identifier: Apache-2.0
// How long does the next layer wait for the result of a case? Some algorithms write it past the
// caches, straight to memory, and whatever reads it next pays for that: a pooling of 1 MiB took
// four times as long behind such a convolution as behind another. So it counts as time of the
// algorithm that does it: after each execution its result is read back once, as its reader does,
// and what that takes longer than reading what was just written the usual way is added to the
// sample. Most read in tiles. A layer that goes through it line by line, as a ReLU does, waits a
// third as long, because the hardware fetches ahead.
//
//   read_back back(chain->result_memory(), 1, reading::in_tiles);   back.write();
//   sample + back.longer_ns()
#pragma once

#include "../../core/stopwatch.hpp"
#include "../../result/statistics.hpp"
#include "../sampling/parameters.hpp"
#include "states.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace benanza::measure {

/// Reads lines `first` to `end` of `memory`, some of several rows in turn: a linear read would be
/// hidden by the hardware prefetcher (three quarters of the latency). Convolutions and poolings of
/// 256 KiB to 1 MiB waited as long for results in memory as this does.
inline std::int64_t read_tiles(std::span<const std::byte> memory, std::int64_t first,
                               std::int64_t end) {
  constexpr std::int64_t rows = 6, row = 32, width = 4; // lines
  std::int64_t sum = 0;
  const auto read = [&](std::int64_t line) {
    sum += std::to_integer<std::int64_t>(memory[static_cast<std::size_t>(line * line_bytes)]);
  };
  for (; first + rows * row <= end; first += rows * row)
    for (std::int64_t x = 0; x < row; x += width)
      for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t i = 0; i < width; ++i)
          read(first + y * row + x + i);
  for (; first < end; ++first)
    read(first);
  return sum;
}

/// Reads lines `first` to `end` of `memory` one after the other.
inline std::int64_t read_straight(std::span<const std::byte> memory, std::int64_t first,
                                  std::int64_t end) {
  std::int64_t sum = 0;
  for (; first < end; ++first)
    sum += std::to_integer<std::int64_t>(memory[static_cast<std::size_t>(first * line_bytes)]);
  return sum;
}

/// How the reader of a result goes through it.
enum class reading { in_tiles, in_order };

/// Reads every cache line of `memory`, the lines shared out among threads; nanoseconds that the
/// slowest of them read. Waking them may take far longer, and is not included.
inline double read_lines_ns(std::span<const std::byte> memory, int threads,
                            reading how = reading::in_tiles) {
  static volatile std::int64_t keep;
  const auto lines = (static_cast<std::int64_t>(memory.size()) + line_bytes - 1) / line_bytes;
  std::int64_t sum = 0;
  double slowest_ns = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : sum) \
    reduction(max : slowest_ns) if (threads > 1)
  for (int t = 0; t < threads; ++t) {
    const stopwatch timer;
    const std::int64_t first = lines * t / threads, end = lines * (t + 1) / threads;
    sum += how == reading::in_order ? read_straight(memory, first, end)
                                    : read_tiles(memory, first, end);
    slowest_ns = std::max(slowest_ns, timer.ns());
  }
  keep = sum;
  (void)keep;
  return slowest_ns;
}

/// Reads a result back after each execution.
class read_back {
public:
  read_back(std::span<std::byte> result, int threads, reading how = reading::in_tiles,
            const parameters& p = usual_parameters)
      : result_(result)
      , threads_(threads)
      , how_(how)
      , parameters_(p) {}

  /// Overwrites the result with its own values, and times reading it then: the usual way.
  void write() {
    if (result_.empty()) return;
    rewrite({result_}, threads_);
    note(near_ns_, read_lines_ns(result_, threads_, how_));
  }
  /// Directly after an execution: how much longer reading takes now, by the medians of the last
  /// times.
  double longer_ns() {
    if (result_.empty()) return 0;
    note(far_ns_, read_lines_ns(result_, threads_, how_));
    return beyond_noise_ns(result::median(near_ns_), result::median(far_ns_), parameters_);
  }

  /// The difference of two readings, if it is one.
  static double beyond_noise_ns(double near_ns, double far_ns,
                                const parameters& p = usual_parameters) {
    return std::max(0.0, far_ns - p.read_back_noise * near_ns);
  }

private:
  void note(std::vector<double>& times, double ns) const {
    if (std::ssize(times) >= parameters_.read_backs_kept) times.erase(times.begin());
    times.push_back(ns);
  }

  std::span<std::byte> result_;
  int threads_;
  reading how_;
  parameters parameters_;
  std::vector<double> near_ns_{}, far_ns_{};
};

} // namespace benanza::measure
