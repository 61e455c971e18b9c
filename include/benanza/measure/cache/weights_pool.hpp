// SPDX-License-Identifier: Apache-2.0
// Where do cold weights come from? From one arena a storage type, larger than the last-level cache,
// through which every execution moves on by one copy: by the time a copy comes round again, the
// cache has lost it. The arena holds random numbers of the type, not the weights themselves: the
// time does not depend on positive values, and so all algorithms share one arena. It does on
// negative ones: where they are variances, some batch normalizations take twice as long for roots
// that do not exist. Weights as large as all of that need no copy: their own end has driven out
// their beginning.
//
//   pool_slots s = pools.slots(dtype::f32, weight_bytes);   prepared.rotate_weights(s.data,
//   s.stride, s.count);
#pragma once

#include "../../backend/concept.hpp"
#include "../../machine/pages.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

namespace benanza::measure {

using pool_slots = backend::weight_slots;

/// The arenas of a run.
class weights_pools {
public:
  /// Read on end, so many bytes leave nothing in the last-level cache.
  explicit weights_pools(std::int64_t outlasting_bytes)
      : together_(outlasting_bytes) {}

  /// Copies of weights of `bytes` each, so much together that they outlast the cache; none for
  /// weights that are as large themselves. They stay where they are while no larger weights are
  /// asked for.
  pool_slots slots(dtype type, std::int64_t bytes) {
    if (outlast_cache(bytes)) return {};
    pool_slots s;
    s.stride = (bytes + 63) / 64 * 64;
    s.count = (together_ + s.stride - 1) / s.stride;
    std::optional<machine::page_memory>& arena = arenas_[type];
    const std::int64_t most = together_ + s.stride; // that copies of no more bytes can take
    if (!arena || std::ssize(*arena) < most) make(arena, type, most);
    s.data = arena->data();
    return s;
  }

  /// True for weights of which nothing is left in the cache once they were read.
  bool outlast_cache(std::int64_t bytes) const { return bytes > 0 && bytes >= together_; }

private:
  static void make(std::optional<machine::page_memory>& arena, dtype type, std::int64_t size) {
    arena.reset();
    machine::check_memory(static_cast<double>(size), "a pool of cold weights",
                          "free memory, or measure with --states hot");
    arena.emplace(static_cast<std::size_t>(size));

    std::byte* const data = arena->data();
    const std::int64_t block = std::min<std::int64_t>(size, 1 << 20);
    fill(data, block, type);
    for (std::int64_t at = block; at < size; at += block)
      std::memcpy(data + at, data, static_cast<std::size_t>(std::min(block, size - at)));
  }

  /// Numbers between 0 and 1, or any for integers; never a denormal, which would be slow.
  static void fill(std::byte* to, std::int64_t bytes, dtype type) {
    std::uint32_t state = 0x2545f491u;
    const auto next = [&state] {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      return state;
    };
    const std::int64_t step = size_bytes(type);
    for (std::int64_t at = 0; at + step <= bytes; at += step) {
      const std::uint32_t r = next();
      const float value = (static_cast<float>(r >> 8) + 0.5f) / 16777216.0f;
      std::uint32_t bits = r;
      if (type == dtype::f32 || type == dtype::bf16) std::memcpy(&bits, &value, sizeof bits);
      if (type == dtype::bf16) bits >>= 16;
      std::memcpy(to + at, &bits, static_cast<std::size_t>(std::min<std::int64_t>(step, 4)));
    }
  }

  std::int64_t together_;
  std::map<dtype, std::optional<machine::page_memory>> arenas_;
};

} // namespace benanza::measure
