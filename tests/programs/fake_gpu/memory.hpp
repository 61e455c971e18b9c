// SPDX-License-Identifier: Apache-2.0
// The fake GPU's memory. Its addresses are reserved and cannot be touched: a host that follows one
// of them crashes, as it would with a real GPU. The contents are elsewhere in the host's memory; up
// to the next multiple of 16 bytes guard bytes follow, and then memory that cannot be touched. A
// block that is set as a whole is only written when it is read. Other processes can map a block.
//
//   memory m;   void* p = m.take(4096);   std::byte* there = m.contents(p, 4096);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

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
  bool shared = false;          ///< other processes see it
  int file = -1;                ///< by which they do
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
    if (b.file >= 0) close(b.file);
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

  /// Where the bytes at a device's address really are; null where they are no one's.
  std::byte* contents(const void* p, std::int64_t bytes) {
    block* const b = find(p, bytes);
    if (b == nullptr) return nullptr;
    if (b->filled) std::memset(b->contents, *b->filled, static_cast<std::size_t>(b->bytes));
    b->filled.reset();
    return b->contents + (reinterpret_cast<std::uintptr_t>(p) - b->address);
  }

  /// By which file of this process others map the block that begins there.
  int share(const void* p) {
    block& b = *find(p, 0);
    if (b.shared) return b.file;
    const std::byte* const whole = contents(p, b.bytes);
    const std::string before(reinterpret_cast<const char*>(whole),
                             static_cast<std::size_t>(b.bytes));
    b.file = memfd_create("benanza_fake_gpu", MFD_CLOEXEC);
    if (b.file < 0 || ftruncate(b.file, pages_of(b.bytes)) != 0 || !map_file(b, b.file)) return -1;
    std::memcpy(b.contents, before.data(), before.size());
    b.shared = true;
    return b.file;
  }
  /// The address of a block that is another process's; null where it is gone.
  void* open_shared(int process, int file, std::int64_t bytes) {
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
    const int theirs = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (theirs < 0) return nullptr;
    void* const p = take(bytes);
    block* const b = p == nullptr ? nullptr : find(p, 0);
    const bool mapped_now = b != nullptr && map_file(*b, theirs);
    close(theirs);
    if (!mapped_now) return nullptr;
    b->shared = true;
    return p;
  }

  std::int64_t live_bytes() const { return live_bytes_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }
  std::int64_t overruns() const { return overruns_; }

private:
  static constexpr int guard = 0xa5;
  static constexpr std::int64_t page = 4096;

  static std::int64_t padded(std::int64_t bytes) { return (bytes + 16) / 16 * 16; }
  /// Whole pages, and one before and behind them.
  static std::int64_t mapped(std::int64_t bytes) { return pages_of(bytes) + 2 * page; }
  static std::int64_t pages_of(std::int64_t bytes) {
    return (padded(bytes) + page - 1) / page * page;
  }
  /// Puts a file in the place of a block's contents.
  static bool map_file(const block& b, int file) {
    const std::int64_t size = pages_of(b.bytes);
    std::byte* const first = b.contents + padded(b.bytes) - size;
    if (mmap(first, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             file, 0) == MAP_FAILED)
      return false;
    std::memset(b.contents + b.bytes, guard, static_cast<std::size_t>(padded(b.bytes) - b.bytes));
    return true;
  }
  static void* reserve(std::int64_t bytes, int access) {
    return mmap(nullptr, static_cast<std::size_t>(bytes), access,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }

  std::map<std::uintptr_t, block> blocks_{};
  std::int64_t taken_ = 0, live_bytes_ = 0, peak_bytes_ = 0, overruns_ = 0;
};

} // namespace fake
