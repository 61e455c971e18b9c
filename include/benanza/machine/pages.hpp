// SPDX-License-Identifier: Apache-2.0
// Where are operands stored? On pages that others gave back, where there are any. The system clears
// pages before it hands them out, and a virtual machine may have to find them first: with large
// weights that came to a fifth of the time. Given pages go wherever they are needed, as many as
// there are: the addresses change, the memory behind them stays. And on large pages, where the
// system has them, the small operands side by side: small pages are anywhere in the memory, so that
// some of them share their places in a cache, and a layer that half fills it takes up to a fifth
// longer in one process than in the next.
//
// What is not there is refused before it is taken.
//
//   page_memory p(151'000'000);   p.data()   // begins with a page; holds anything
//   check_memory(4.4e12);   // refuses: "needs 4.4 TB of memory, 22.1 GB are available"
#pragma once

#include "../core/error.hpp"
#include "available_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::machine {

inline constexpr std::size_t page_bytes = 4096, large_page_bytes = std::size_t{2} << 20;

namespace detail {

/// Kernels of libraries read a little past the end of what they are given.
inline constexpr std::size_t read_too_far_bytes = std::size_t{64} << 10;

/// So much is taken without asking whether it is there.
inline constexpr std::int64_t unasked_bytes = std::int64_t{16} << 20;

/// Addresses from a large page on, without memory yet; and behind them what may be read.
class address_range {
public:
  explicit address_range(std::size_t bytes)
      : bytes_(bytes + read_too_far_bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
    void* const got = mmap(nullptr, bytes_ + large_page_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<std::byte*>(got);
    const std::size_t before =
        (large_page_bytes - reinterpret_cast<std::uintptr_t>(first) % large_page_bytes) %
        large_page_bytes;
    data_ = first + before;
    if (before > 0) munmap(first, before);
    munmap(data_ + bytes_, large_page_bytes - before);
    mprotect(data_ + bytes, read_too_far_bytes, PROT_READ);
  }
  ~address_range() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  address_range(const address_range&) = delete;
  address_range& operator=(const address_range&) = delete;

  std::byte* data() const { return data_; }
  std::byte* release() { return std::exchange(data_, nullptr); }

  /// Pages of the system's, large ones where it has them.
  void take_fresh(std::size_t first, std::size_t bytes) {
    if (mprotect(data_ + first, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    madvise(data_ + first, bytes, MADV_HUGEPAGE);
  }
  /// Pages from elsewhere, and what they hold. Where the system does not move them, they are given
  /// back to it for others.
  void take(std::size_t first, std::byte* from, std::size_t bytes) {
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, data_ + first) != MAP_FAILED)
      return;
    munmap(from, bytes);
    take_fresh(first, bytes);
  }

private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// Blocks of whole large pages. Pages that were given back serve the next request, whatever its
/// size. So there are never more pages, used and kept ones together, than were in use at once
/// before: the process needs no more memory than it would without.
class page_stock {
public:
  page_stock() = default;
  ~page_stock() { release(); }
  page_stock(const page_stock&) = delete;
  page_stock& operator=(const page_stock&) = delete;

  /// `bytes`: a multiple of those of a large page.
  std::byte* take(std::size_t bytes) {
    const auto fresh = static_cast<std::int64_t>(bytes - std::min(bytes, kept_bytes_));
    if (fresh > unasked_bytes && fresh > available_memory()) throw std::bad_alloc();
    address_range range = addresses(bytes);
    std::vector<piece> pieces;
    pieces.reserve(kept_.size() + 1);
    kept_.reserve(kept_.size() + used_pieces_ + 2); // giving back must not fail
    const auto [block, is_new] = used_.try_emplace(range.data());
    try {
      std::size_t at = 0;
      for (; at < bytes && !kept_.empty(); at += pieces.back().bytes) {
        piece& last = kept_.back(); // the one given back last is the warmest
        const piece part{last.data, std::min(last.bytes, bytes - at)}; // what is written first
        last = {last.data + part.bytes, last.bytes - part.bytes};
        if (last.bytes == 0) kept_.pop_back();
        kept_bytes_ -= part.bytes;
        pieces.push_back({range.data() + at, part.bytes});
        range.take(at, part.data, part.bytes);
      }
      if (at < bytes) {
        range.take_fresh(at, bytes - at);
        pieces.push_back({range.data() + at, bytes - at});
      }
    } catch (...) {
      used_.erase(block);
      throw;
    }
    used_pieces_ += pieces.size();
    block->second = std::move(pieces);
    return range.release();
  }

  void give_back(std::byte* data) {
    const auto block = used_.find(data);
    for (const piece& p : block->second) {
      kept_.push_back(p);
      kept_bytes_ += p.bytes;
    }
    munmap(kept_.back().data + kept_.back().bytes, read_too_far_bytes);
    used_pieces_ -= block->second.size();
    used_.erase(block);
  }

  std::size_t kept_bytes() const { return kept_bytes_; }

  /// Gives what is kept back to the system; how many bytes those were.
  std::size_t release() {
    for (const piece& p : kept_)
      munmap(p.data, p.bytes);
    kept_.clear();
    return std::exchange(kept_bytes_, 0);
  }

private:
  /// Pages that came together: the system moves no more than those at once.
  struct piece {
    std::byte* data;
    std::size_t bytes;
  };

  address_range addresses(std::size_t bytes) {
    if (!kept_.empty()) try {
        return address_range(bytes);
      } catch (const std::bad_alloc&) { // a process may be allowed so many addresses
        release();
      }
    return address_range(bytes);
  }

  std::unordered_map<std::byte*, std::vector<piece>> used_{};
  std::size_t used_pieces_ = 0;
  std::vector<piece> kept_{};
  std::size_t kept_bytes_ = 0;
};

/// Blocks of whole small pages, side by side in chunks of large ones: each at the lowest place that
/// is free.
class page_arena {
public:
  static constexpr std::size_t chunk_bytes = 8 * large_page_bytes;

  explicit page_arena(page_stock& stock)
      : stock_(stock) {}

  /// At most a chunk.
  std::byte* take(std::size_t bytes) {
    for (chunk& c : chunks_)
      for (auto gap = c.gaps.begin(); gap != c.gaps.end(); ++gap)
        if (gap->second >= bytes) return take(c, gap, bytes);
    chunks_.reserve(chunks_.size() + 1);
    spans all{{0, chunk_bytes}};
    chunks_.push_back({stock_.take(chunk_bytes), {}, std::move(all)});
    return take(chunks_.back(), chunks_.back().gaps.begin(), bytes);
  }

  /// False if it was not taken here. A chunk that then holds nothing goes back to the stock.
  bool give_back(std::byte* data) {
    const auto c = std::find_if(chunks_.begin(), chunks_.end(), [data](const chunk& x) {
      return data >= x.memory && data < x.memory + chunk_bytes;
    });
    if (c == chunks_.end()) return false;
    if (c->used.size() == 1) {
      stock_.give_back(c->memory);
      chunks_.erase(c);
      return true;
    }
    const auto gap =
        c->gaps.insert(c->used.extract(static_cast<std::size_t>(data - c->memory))).position;
    if (const auto next = std::next(gap);
        next != c->gaps.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      c->gaps.erase(next);
    }
    if (gap == c->gaps.begin()) return true;
    if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
      before->second += gap->second;
      c->gaps.erase(gap);
    }
    return true;
  }

private:
  using spans = std::map<std::size_t, std::size_t>; ///< lengths, by the first byte
  struct chunk {
    std::byte* memory;
    spans used, gaps;
  };

  static std::byte* take(chunk& c, spans::iterator gap, std::size_t bytes) {
    const auto [first, free] = *gap;
    c.used.emplace(first, bytes);
    c.gaps.erase(gap);
    if (free > bytes) c.gaps.emplace(first + bytes, free - bytes);
    return c.memory + first;
  }

  page_stock& stock_;
  std::vector<chunk> chunks_{};
};
} // namespace detail

/// The pages of a process that hold operands.
class page_store {
public:
  /// Blocks smaller than this are side by side.
  static constexpr std::size_t smallest = std::size_t{4} << 20;

  page_store() = default;
  page_store(const page_store&) = delete;
  page_store& operator=(const page_store&) = delete;

  /// The store of this process, which outlives everything in it.
  static page_store& get() {
    static page_store* const store = new page_store;
    return *store;
  }

  /// Memory for `bytes`: pages that were given back, as far as there are any.
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return bytes < smallest ? small_.take(whole(bytes, page_bytes))
                            : stock_.take(whole(bytes, large_page_bytes));
  }

  /// Keeps what was taken for those to come.
  void give_back(std::byte* data) {
    const std::lock_guard lock(mutex_);
    if (!small_.give_back(data)) stock_.give_back(data);
  }

  /// Gives everything that is kept back to the system; how many bytes those were.
  std::size_t release() {
    const std::lock_guard lock(mutex_);
    return stock_.release();
  }

  std::size_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return stock_.kept_bytes();
  }

private:
  /// Bytes of the pages that hold `bytes`.
  static std::size_t whole(std::size_t bytes, std::size_t page) {
    if (bytes > std::numeric_limits<std::size_t>::max() - page) throw std::bad_alloc();
    return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  }

  std::mutex mutex_{};
  detail::page_stock stock_{};
  detail::page_arena small_{stock_};
};

/// Refuses what is to be on pages and needs more of them than there are.
inline void check_memory(double bytes, std::string_view where = {}, std::string_view remedy = {}) {
  if (bytes <= static_cast<double>(detail::unasked_bytes)) return;
  const double there =
      static_cast<double>(available_memory()) + static_cast<double>(page_store::get().kept_bytes());
  if (bytes > there)
    throw error("needs " + bytes_text(bytes) + " of memory, " + bytes_text(there) +
                    " are available",
                where, remedy);
}

/// Makes room for what is not on pages, or refuses it.
inline void make_room(double bytes, std::string_view where = {}, std::string_view remedy = {}) {
  if (bytes > static_cast<double>(detail::unasked_bytes) &&
      bytes > static_cast<double>(available_memory()))
    page_store::get().release();
  check_memory(bytes, where, remedy);
}

/// Memory that begins with a page and holds anything.
class page_memory {
public:
  explicit page_memory(std::size_t bytes)
      : data_(page_store::get().take(bytes))
      , size_(bytes) {}

  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

private:
  struct giver {
    void operator()(std::byte* data) const { page_store::get().give_back(data); }
  };

  std::unique_ptr<std::byte, giver> data_;
  std::size_t size_;
};

/// For containers: what is large is on such pages too.
template <class T>
struct page_allocator {
  using value_type = T;

  page_allocator() = default;
  template <class U>
  page_allocator(const page_allocator<U>&) {}

  T* allocate(std::size_t count) {
    if (!large(count)) return std::allocator<T>().allocate(count);
    return reinterpret_cast<T*>(page_store::get().take(count * sizeof(T)));
  }
  void deallocate(T* data, std::size_t count) {
    if (!large(count)) return std::allocator<T>().deallocate(data, count);
    page_store::get().give_back(reinterpret_cast<std::byte*>(data));
  }
  bool operator==(const page_allocator&) const { return true; }

private:
  static bool large(std::size_t count) {
    return count < std::numeric_limits<std::size_t>::max() / sizeof(T) &&
           count * sizeof(T) >= page_store::smallest;
  }
};

} // namespace benanza::machine
