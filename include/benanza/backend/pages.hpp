// SPDX-License-Identifier: Apache-2.0
// Where do large operands stand? On pages that others gave back, where there are any. The system
// clears pages before it hands them out, and a virtual machine may have to find them first: with
// large weights that came to a fifth of the time.
//
//   page_memory p(151'000'000);   p.data()   // begins with a page; holds anything
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace benanza::backend {

inline constexpr std::size_t page_bytes = 4096;

/// The pages that were given back. Never are more held, used and kept ones together, than were in
/// use at once before: the process needs hardly more memory than it would without.
class page_store {
public:
  /// Blocks smaller than this are the system's.
  static constexpr std::size_t smallest = std::size_t{1} << 20;
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
    const std::size_t pages = whole(bytes);
    if (pages < smallest) return fresh(pages);
    const std::lock_guard lock(mutex_);
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
      taken.data = fresh(pages);
    }
    used_.emplace(taken.data, taken.bytes);
    used_bytes_ += taken.bytes;
    most_bytes_ = std::max(most_bytes_, used_bytes_);
    return taken.data;
  }

  /// Keeps what was taken for those to come.
  void give_back(std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto known = used_.find(data);
    if (known == used_.end()) return free(data);
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
      free(b.data);
    kept_.clear();
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
  static std::size_t whole(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::size_t>::max() - page_bytes) throw std::bad_alloc();
    return (std::max<std::size_t>(bytes, 1) + page_bytes - 1) / page_bytes * page_bytes;
  }
  static std::byte* fresh(std::size_t bytes) {
    return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{page_bytes}));
  }
  static void free(std::byte* data) { ::operator delete (data, std::align_val_t{page_bytes}); }

  std::size_t kept() const {
    std::size_t bytes = 0;
    for (const block& b : kept_)
      bytes += b.bytes;
    return bytes;
  }

  /// Lets go of what was kept longest until `more` can be taken.
  void make_room(std::size_t more) {
    while (!kept_.empty() && used_bytes_ + kept() + more > most_bytes_) {
      free(kept_.front().data);
      kept_.erase(kept_.begin());
    }
  }

  std::mutex mutex_{};
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
