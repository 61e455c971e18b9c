// SPDX-License-Identifier: Apache-2.0
// Where are the activations of a chain? In rooms that are taken and given back while the chain is
// laid out; a room that is free again is taken by the next result that fits, the one given back
// last first, because its memory is the warmest. Memory is allocated once, when all is laid out.
//
//   activation_storage s;   int room = s.take(4096);   s.release(room);   s.allocate(); s.at(room)
#pragma once

#include "../../backend/concept.hpp"
#include "../../machine/pages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace benanza::measure {

/// Rooms for activations.
class activation_storage {
public:
  /// From now on no room is taken twice: what runs side by side must not share one.
  void keep_apart() { apart_ = true; }

  /// A room of at least `bytes`.
  int take(std::int64_t bytes) {
    // Of the free blocks that are large enough the smallest, the last given back of equal ones;
    // else the largest, which grows.
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (best == free_.size() || better(free_[i], free_[best], bytes)) best = i;
    }
    std::size_t taken = blocks_.size();
    if (best < free_.size()) {
      taken = free_[best];
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
      blocks_[taken].bytes = std::max(blocks_[taken].bytes, bytes);
    } else {
      blocks_.push_back({bytes, {}});
    }
    rooms_.push_back({taken, false, false});
    return static_cast<int>(rooms_.size()) - 1;
  }

  /// A room that is never given back and holds `values` from the start: an input of the model.
  int hold(std::span<const std::byte> values) {
    blocks_.push_back({static_cast<std::int64_t>(values.size()), {values.begin(), values.end()}});
    rooms_.push_back({blocks_.size() - 1, false, true});
    return static_cast<int>(rooms_.size()) - 1;
  }
  /// A room of its own that is never given back, and holds nothing yet.
  int keep(std::int64_t bytes) {
    blocks_.push_back({bytes, {}});
    rooms_.push_back({blocks_.size() - 1, false, true});
    return static_cast<int>(rooms_.size()) - 1;
  }
  bool held(int room) const { return rooms_[static_cast<std::size_t>(room)].held; }

  /// Gives a room back; false if it was given back before, or is held.
  bool release(int room) {
    room_state& r = rooms_[static_cast<std::size_t>(room)];
    if (r.free || r.held) return false;
    r.free = true;
    if (!apart_) free_.push_back(r.block);
    return true;
  }

  /// Makes the memory of all rooms. It is contiguous, on large pages where the system has them: a
  /// model touches more small ones than a processor keeps translations for, and a framework's arena
  /// would too.
  void allocate(backend::device_space* device = nullptr) {
    std::int64_t sum = 0;
    for (block& b : blocks_) {
      b.first = sum;
      sum += (b.bytes + 4095) / 4096 * 4096;
    }
    size_ = sum;
    if (device != nullptr) {
      base_ = device->take(sum);
      for (const block& b : blocks_)
        device->upload(base_ + b.first, b.values);
      return;
    }
    const auto size = static_cast<std::size_t>(sum);
    machine::check_memory(static_cast<double>(size), "the activations of a model");
    memory_.emplace(size);
    base_ = memory_->data();
    std::memset(base_, 0, size);
    for (const block& b : blocks_)
      if (!b.values.empty()) std::memcpy(base_ + b.first, b.values.data(), b.values.size());
  }
  std::byte* at(int room) const {
    return base_ + blocks_[rooms_[static_cast<std::size_t>(room)].block].first;
  }
  /// All rooms, once they are allocated.
  std::span<std::byte> memory() const { return {base_, static_cast<std::size_t>(size_)}; }
  /// Of all rooms together.
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const block& b : blocks_)
      sum += b.bytes;
    return sum;
  }

private:
  struct block {
    std::int64_t bytes;
    std::vector<std::byte> values;
    std::int64_t first = 0; ///< byte of the memory at which it begins
  };
  struct room_state {
    std::size_t block;
    bool free, held;
  };

  bool better(std::size_t a, std::size_t b, std::int64_t bytes) const {
    const std::int64_t x = blocks_[a].bytes, y = blocks_[b].bytes;
    if ((x >= bytes) != (y >= bytes)) return x >= bytes;
    return x >= bytes ? x <= y : x >= y;
  }

  std::optional<machine::page_memory> memory_{};
  std::byte* base_ = nullptr;
  std::int64_t size_ = 0; ///< of all rooms, with the gaps between them
  std::vector<block> blocks_{};
  std::vector<room_state> rooms_{};
  std::vector<std::size_t> free_{};
  bool apart_ = false;
};

} // namespace benanza::measure
