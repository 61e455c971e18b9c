// SPDX-License-Identifier: Apache-2.0
// What do the caches hold when a case runs? `hot`: what its own last execution left there.
// `coldw`: what the other layers of a network leave. The activations that it reads were written by
// the layer before; the memory of its result and of its scratch was used a few layers ago, for
// another one, and half of it has left all caches; code has left a core's own caches; weights were
// not used since the network's last run, and come from memory. `llcw`: the same in a network that
// fits the last-level cache, where weights come from that, and memory of results and of scratch
// stays there.
// `cold`: nothing of its own. What a case is not to find is driven out before each execution, and
// what it is to find is brought back, outside of its time.
//
//   cache_sweeper s(l2_bytes);   s.displace(4096, 1);   rewrite(prepared.operand_memory(), 1);
#pragma once

#include "../../machine/cache_lines.hpp"
#include "../../machine/pages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace benanza::measure {

inline constexpr std::array<std::string_view, 4> cache_states{"hot", "llcw", "coldw", "cold"};

inline constexpr std::int64_t line_bytes = 64;

using machine::flush;

/// Fills the last-level cache of the host, and those before it, with what no layer needs.
class cache_sweeper {
public:
  explicit cache_sweeper(std::int64_t cache_bytes)
      : words_(std::max<std::int64_t>(2 * cache_bytes, 2 * line_bytes) / 8) {}

  /// Each of the threads reads `bytes`, and no more than the cache holds.
  void displace(std::int64_t bytes, int threads) { read(std::min(bytes / 8, words_ / 2), threads); }
  /// Each of the threads reads as much as the cache holds.
  void displace(int threads) { read(words_ / 2, threads); }
  /// Each of the threads reads twice as much as the cache holds: nothing else stays.
  void sweep(int threads) { read(words_, threads); }

  /// Takes the memory that sweeps read, if it has not yet; throws std::bad_alloc if there is none.
  void make() {
    if (!memory_) memory_.emplace(static_cast<std::size_t>(bytes()));
  }

  /// Bytes that a thread's sweep reads.
  std::int64_t bytes() const { return words_ * 8; }

private:
  void read(std::int64_t words, int threads) {
    make();
    // Pages that were never written are all the same page.
    if (words > written_)
      std::memset(at() + written_, 1, static_cast<std::size_t>(words - written_) * 8);
    written_ = std::max(written_, words);
#ifdef _OPENMP
    if (threads > 1) {
      std::uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
      sum += read_at(words);
      keep_ = sum;
      return;
    }
#endif
    (void)threads;
    keep_ = read_at(words);
  }

  /// In several places at once: one thread then waits half as long for the memory.
  std::uint64_t read_at(std::int64_t words) const {
    constexpr std::int64_t line = line_bytes / 8, places = 4;
    const std::uint64_t* const data = at();
    const std::int64_t apart = words / (places * line) * line;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < apart; i += line)
      for (std::int64_t k = 0; k < places; ++k)
        sum += data[i + k * apart];
    for (std::int64_t i = places * apart; i < words; i += line)
      sum += data[i];
    return sum;
  }

  std::uint64_t* at() const {
    return reinterpret_cast<std::uint64_t*>(memory_->data());
  }

  std::int64_t words_, written_ = 0;
  std::optional<machine::page_memory> memory_{};
  volatile std::uint64_t keep_ = 0; ///< so that the reads are not left out
};

/// Overwrites every cache line of `memory` with its own value: the lines are then where a layer
/// that has just run leaves its result. Of several threads each writes the part that it will read
/// if the next layer splits its work alike. Some do, some do not: so half of the lines are shared
/// out so, and the other half is dealt round.
inline void rewrite(const std::vector<std::span<std::byte>>& memory, int threads) {
  constexpr std::int64_t dealt = 4; // lines
  for (const std::span<std::byte> all : memory) {
    volatile std::byte* const data = all.data();
    const auto lines = (static_cast<std::int64_t>(all.size()) + line_bytes - 1) / line_bytes;
    const std::int64_t deals = (lines + dealt - 1) / dealt;
    const auto write = [=](int thread) {
      for (std::int64_t d = 0; d < deals; ++d) {
        const std::int64_t writer = d % 2 == 0 ? d * threads / deals : d / 2 % threads;
        if (writer != thread) continue;
        for (std::int64_t i = d * dealt; i < std::min(lines, (d + 1) * dealt); ++i) {
          volatile std::byte& first = data[i * line_bytes];
          first = static_cast<std::byte>(first);
        }
      }
    };
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
    for (int t = 0; t < threads; ++t)
      write(t);
  }
}

/// Drives every second page of `memory` out of all caches, if that is more than `own_bytes`, which
/// the caches of a core hold that are its own: less was used there a layer or two ago. A last
/// cache that others use too, or that takes in hardly anything at its first visit, has lost between
/// none and all of what was written a few layers ago: in chains on such caches what only moves data
/// took as long as with about half of its result's memory there, whether that was used half a
/// millisecond ago or ten; and where results are small, as long as with all of it. The same goes
/// for scratch memory of Winograd convolutions, which all of them share.
inline void flush_half(std::span<const std::byte> memory, std::int64_t own_bytes) {
  if (std::ssize(memory) <= own_bytes) return;
  constexpr std::size_t page = 4096;
  for (std::size_t i = page; i < memory.size(); i += 2 * page)
    flush(memory.subspan(i, std::min(page, memory.size() - i)));
}

} // namespace benanza::measure
