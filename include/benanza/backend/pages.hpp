// SPDX-License-Identifier: Apache-2.0
// Where do operands stand? On pages that others gave back, where there are any. The system clears
// pages before it hands them out, and a virtual machine may have to find them first: with large
// weights that came to a fifth of the time. And on large pages, where the system has them, the
// small operands side by side: small pages lie anywhere in the memory, so that some of them share
// their places in a cache, and a layer that half fills it takes up to a fifth longer in one process
// than in the next.
//
//   page_memory p(151'000'000);   p.data()   // begins with a page; holds anything
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

namespace benanza::backend {

inline constexpr std::size_t page_bytes = 4096, large_page_bytes = std::size_t{2} << 20;

namespace detail {
inline void free_pages(std::byte* data) {
  ::operator delete (data, std::align_val_t{large_page_bytes});
}
struct pages_freer {
  void operator()(std::byte* data) const { free_pages(data); }
};
using pages = std::unique_ptr<std::byte, pages_freer>;

/// Fresh pages for `bytes`, large ones where the system has them.
inline pages fresh_pages(std::size_t bytes) {
  pages out(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{large_page_bytes})));
  madvise(out.get(), bytes, MADV_HUGEPAGE);
  return out;
}

/// Blocks of whole small pages, side by side in chunks of large ones: each at the lowest place that
/// is free. A chunk that holds nothing any more is kept for those to come.
class page_arena {
public:
  static constexpr std::size_t chunk_bytes = 8 * large_page_bytes;

  /// At most a chunk.
  std::byte* take(std::size_t bytes) {
    for (chunk& c : chunks_)
      for (auto gap = c.gaps.begin(); gap != c.gaps.end(); ++gap)
        if (gap->second >= bytes) return take(c, gap, bytes);
    chunks_.push_back({fresh_pages(chunk_bytes), {}, {{0, chunk_bytes}}});
    return take(chunks_.back(), chunks_.back().gaps.begin(), bytes);
  }

  /// False if it was not taken here.
  bool give_back(std::byte* data) {
    for (chunk& c : chunks_) {
      if (data < c.memory.get() || data >= c.memory.get() + chunk_bytes) continue;
      const auto first = static_cast<std::size_t>(data - c.memory.get());
      const auto gap = c.gaps.insert(c.used.extract(first)).position;
      if (const auto next = std::next(gap);
          next != c.gaps.end() && gap->first + gap->second == next->first) {
        gap->second += next->second;
        c.gaps.erase(next);
      }
      if (gap == c.gaps.begin()) return true;
      if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
        before->second += gap->second;
        c.gaps.erase(gap);
      }
      return true;
    }
    return false;
  }

  /// Bytes of the chunks that hold nothing.
  std::size_t kept() const {
    return chunk_bytes *
           static_cast<std::size_t>(std::count_if(chunks_.begin(), chunks_.end(),
                                                  [](auto& c) { return c.used.empty(); }));
  }
  void release() {
    std::erase_if(chunks_, [](const chunk& c) { return c.used.empty(); });
  }

private:
  using spans = std::map<std::size_t, std::size_t>; ///< lengths, by the first byte
  struct chunk {
    pages memory;
    spans used, gaps;
  };

  static std::byte* take(chunk& c, spans::iterator gap, std::size_t bytes) {
    const auto [first, free] = *gap;
    c.used.emplace(first, bytes);
    c.gaps.erase(gap);
    if (free > bytes) c.gaps.emplace(first + bytes, free - bytes);
    return c.memory.get() + first;
  }

  std::vector<chunk> chunks_{};
};
} // namespace detail

/// The pages that were given back. Never are more of large blocks held, used and kept ones
/// together, than were in use at once before: the process needs hardly more memory than it would
/// without.
class page_store {
public:
  /// Blocks smaller than this stand side by side.
  static constexpr std::size_t smallest = std::size_t{4} << 20;
  /// A kept block serves those that need at least this part of it.
  static constexpr std::size_t part = 2;

  page_store() = default;
  ~page_store() { release(); }
  page_store(const page_store&) = delete;
  page_store& operator=(const page_store&) = delete;

  /// The store of this process, which outlives everything that stands in it.
  static page_store& get() {
    static page_store* const store = new page_store;
    return *store;
  }

  /// Memory for `bytes`: of the kept blocks the smallest that fits, or a new one.
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes < smallest) return small_.take(whole(bytes, page_bytes));
    const std::size_t pages = whole(bytes, large_page_bytes);
    kept_.reserve(kept_.size() + used_.size() + 1); // giving back must not fail
    auto best = kept_.end();
    for (auto b = kept_.begin(); b != kept_.end(); ++b)
      if (b->bytes / part <= pages && b->bytes >= pages &&
          (best == kept_.end() || b->bytes < best->bytes))
        best = b;
    block taken{nullptr, pages};
    if (best != kept_.end()) {
      taken = *best;
      kept_.erase(best);
    } else {
      make_room(pages);
      taken.data = detail::fresh_pages(pages).release();
    }
    used_.emplace(taken.data, taken.bytes);
    used_bytes_ += taken.bytes;
    most_bytes_ = std::max(most_bytes_, used_bytes_);
    return taken.data;
  }

  /// Keeps what was taken for those to come.
  void give_back(std::byte* data) {
    const std::lock_guard lock(mutex_);
    if (small_.give_back(data)) return;
    const auto known = used_.find(data);
    kept_.push_back({data, known->second});
    used_bytes_ -= known->second;
    used_.erase(known);
    make_room(0);
  }

  /// Gives everything that is kept back to the system; how many bytes those were.
  std::size_t release() {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = kept();
    for (const block& b : kept_)
      detail::free_pages(b.data);
    kept_.clear();
    small_.release();
    return bytes;
  }

  std::size_t kept_bytes() {
    const std::lock_guard lock(mutex_);
    return kept();
  }

private:
  struct block {
    std::byte* data;
    std::size_t bytes;
  };

  /// Bytes of the pages that hold `bytes`.
  static std::size_t whole(std::size_t bytes, std::size_t page) {
    if (bytes > std::numeric_limits<std::size_t>::max() - page) throw std::bad_alloc();
    return (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  }

  std::size_t kept() const {
    std::size_t bytes = small_.kept();
    for (const block& b : kept_)
      bytes += b.bytes;
    return bytes;
  }

  /// Lets go of what was kept longest until `more` can be taken.
  void make_room(std::size_t more) {
    std::size_t kept_bytes = 0;
    for (const block& b : kept_)
      kept_bytes += b.bytes;
    for (; !kept_.empty() && used_bytes_ + kept_bytes + more > most_bytes_;
         kept_.erase(kept_.begin())) {
      kept_bytes -= kept_.front().bytes;
      detail::free_pages(kept_.front().data);
    }
  }

  std::mutex mutex_{};
  detail::page_arena small_{};
  std::vector<block> kept_{}; ///< the one given back last is the last
  std::unordered_map<std::byte*, std::size_t> used_{};
  std::size_t used_bytes_ = 0, most_bytes_ = 0; ///< now, and at once so far
};

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

} // namespace benanza::backend
