// SPDX-License-Identifier: Apache-2.0
// The fake GPU's memory. Its addresses are reserved and cannot be touched: a host that follows one
// of them crashes, as it would with a real GPU. The contents stand elsewhere in the host's memory;
// up to the next multiple of 16 bytes guard bytes follow, and then memory that cannot be touched. A
// block that is set as a whole is only written when it is read.
//
//   memory m;   void* p = m.take(4096);   std::byte* there = m.contents(p, 4096);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <sys/mman.h>

namespace fake {

/// One allocation.
struct block {
  std::uintptr_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t number = 0; ///< its own: addresses come again
  std::byte* contents = nullptr;
  std::optional<int> filled{};  ///< the whole of it holds this byte, which is not written yet
  std::int64_t written_by = 0;  ///< last work of the default stream that writes to it
  std::int64_t executed_at = 0; ///< when the last execution that writes to it ends
};

class memory {
public:
  /// The address of a new block.
  void* take(std::int64_t bytes) {
    void* const address = reserve(padded(bytes), PROT_NONE);
    void* const room = reserve(mapped(bytes), PROT_READ | PROT_WRITE);
    if (address == MAP_FAILED || room == MAP_FAILED) return nullptr;
    std::byte* const end = static_cast<std::byte*>(room) + mapped(bytes) - page;
    mprotect(room, page, PROT_NONE);
    mprotect(end, page, PROT_NONE);
    block b{reinterpret_cast<std::uintptr_t>(address), bytes, ++taken_, end - padded(bytes)};
    std::memset(b.contents + bytes, guard, static_cast<std::size_t>(padded(bytes) - bytes));
    live_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    blocks_.emplace(b.address, b);
    return address;
  }

  /// Gives a block back; false if none begins there.
  bool give_back(const void* p) {
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(p));
    if (found == blocks_.end()) return false;
    const block& b = found->second;
    for (std::int64_t i = b.bytes; i < padded(b.bytes); ++i)
      if (b.contents[i] != std::byte{guard}) {
        ++overruns_;
        break;
      }
    live_bytes_ -= b.bytes;
    munmap(reinterpret_cast<void*>(b.address), static_cast<std::size_t>(padded(b.bytes)));
    munmap(b.contents + padded(b.bytes) + page - mapped(b.bytes),
           static_cast<std::size_t>(mapped(b.bytes)));
    blocks_.erase(found);
    return true;
  }

  /// The block that holds all of these bytes; null if none does.
  block* find(const void* p, std::int64_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    block& b = std::prev(after)->second;
    const auto offset = static_cast<std::int64_t>(address - b.address);
    return offset + bytes <= b.bytes ? &b : nullptr;
  }

  /// Where the bytes at a device's address really stand; null where they are no one's.
  std::byte* contents(const void* p, std::int64_t bytes) {
    block* const b = find(p, bytes);
    if (b == nullptr) return nullptr;
    if (b->filled) std::memset(b->contents, *b->filled, static_cast<std::size_t>(b->bytes));
    b->filled.reset();
    return b->contents + (reinterpret_cast<std::uintptr_t>(p) - b->address);
  }

  std::int64_t live_bytes() const { return live_bytes_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }
  std::int64_t overruns() const { return overruns_; }

private:
  static constexpr int guard = 0xa5;
  static constexpr std::int64_t page = 4096;

  static std::int64_t padded(std::int64_t bytes) { return (bytes + 16) / 16 * 16; }
  /// Whole pages, and one before and behind them.
  static std::int64_t mapped(std::int64_t bytes) {
    return (padded(bytes) + page - 1) / page * page + 2 * page;
  }
  static void* reserve(std::int64_t bytes, int access) {
    return mmap(nullptr, static_cast<std::size_t>(bytes), access,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }

  std::map<std::uintptr_t, block> blocks_{};
  std::int64_t taken_ = 0, live_bytes_ = 0, peak_bytes_ = 0, overruns_ = 0;
};

} // namespace fake
