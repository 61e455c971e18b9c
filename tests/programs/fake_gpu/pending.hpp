// SPDX-License-Identifier: Apache-2.0
// Which arithmetic of the fake GPU is still to be done? An execution is computed when what
// it writes is read, or before what it reads is changed. One whose results are written
// anew before is never computed: of hundreds of executions of an algorithm that is the last one.
//
//   pending_work left(memory, record);   left.add(execution);   left.settle_for_reading(extent);
#pragma once

#include "memory.hpp"
#include "record.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fake {

/// Bytes that an execution reads or writes.
struct extent {
  const void* address = nullptr;
  std::int64_t bytes = 0;

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(address); }
  std::uintptr_t end() const { return begin() + static_cast<std::uintptr_t>(bytes); }
  bool overlaps(const extent& other) const {
    return begin() < other.end() && other.begin() < end();
  }
  bool contains(const extent& other) const {
    return begin() <= other.begin() && other.end() <= end();
  }
};

/// One call of a library: what it is, what it touches, and its arithmetic.
struct execution {
  std::string name{}, id{}; ///< "engine 4" and the whole configuration, for the script
  std::vector<extent> reads{};
  extent writes{};
  std::vector<extent> writes_too{};
  bool is_copy = false; ///< of a run of bytes, which may be a part of a tensor
  bool turned = false;  ///< a product of cuBLAS that takes the transpose of its first matrix
  std::function<void(memory&)> compute{};
  /// Computes one element of what is written first, which has so many bytes, where that is worth
  /// it.
  std::function<void(memory&, const void*)> compute_element{};
  std::int64_t element_bytes = 0;

  bool any_read(const extent& x) const {
    return std::any_of(reads.begin(), reads.end(), [&x](const extent& r) { return r.overlaps(x); });
  }
  std::vector<extent> all_written() const {
    std::vector<extent> out{writes};
    out.insert(out.end(), writes_too.begin(), writes_too.end());
    return out;
  }
};

/// None of what is pending depends on another one.
class pending_work {
public:
  pending_work(memory& space, record& log)
      : space_(space)
      , log_(log) {}

  void add(std::shared_ptr<const execution> e) {
    const std::vector<extent> written = e->all_written();
    settle([&](entry& p) {
      if (any(p.wanted, [&e](const extent& w) { return e->any_read(w); })) return what::compute;
      for (const extent& w : written)
        p.lose([&](const extent& old) { // of kernels only the beginning of a tensor is known
          return e->is_copy ? w.contains(old) : w.address == old.address;
        });
      return after_writing(p, written);
    });
    left_.push_back({std::move(e), written, {}});
  }
  /// These bytes are read.
  void settle_for_reading(const extent& x) {
    settle([&](const entry& p) {
      if (!any(p.wanted, [&x](const extent& w) { return w.overlaps(x); })) return what::keep;
      const execution& e = *p.of;
      if (!e.compute_element || x.bytes != e.element_bytes || !e.writes.contains(x))
        return what::compute;
      e.compute_element(space_, x.address);
      return what::keep;
    });
  }
  /// All of these bytes are written.
  void settle_for_writing(const extent& x) {
    settle([&x](entry& p) {
      p.lose([&x](const extent& w) { return x.contains(w); });
      return after_writing(p, {x});
    });
  }
  /// These bytes are about to be gone: nothing that is left may touch them.
  void settle_for_freeing(const extent& x) {
    settle([&x](entry& p) {
      p.lose([&x](const extent& w) { return x.contains(w); });
      const auto inside = [&x](const extent& w) { return w.overlaps(x); };
      if (any(p.lost, inside) && !p.wanted.empty()) return what::compute;
      return after_writing(p, {x});
    });
  }
  void settle_all() {
    settle([](const entry&) { return what::compute; });
  }

private:
  enum class what { keep, compute, drop };
  /// What of an execution's results may still be read, and what others wrote since.
  struct entry {
    std::shared_ptr<const execution> of{};
    std::vector<extent> wanted{}, lost{};

    template <class F>
    void lose(F&& is_written) {
      for (const extent& w : wanted)
        if (is_written(w)) lost.push_back(w);
      std::erase_if(wanted, is_written);
    }
  };

  template <class F>
  static bool any(const std::vector<extent>& of, F&& f) {
    return std::any_of(of.begin(), of.end(), f);
  }
  /// What is to be done with `p` before these are written. What it lost is not among its results.
  static what after_writing(const entry& p, const std::vector<extent>& written) {
    if (p.wanted.empty()) return what::drop;
    const bool mixes = any(written, [&p](const extent& w) {
      return p.of->any_read(w) || any(p.wanted, [&w](const extent& o) { return o.overlaps(w); });
    });
    return mixes ? what::compute : what::keep;
  }
  /// Does the arithmetic, but for what others wrote since.
  void compute(const entry& p) {
    ++log_.computed[p.of->name];
    std::vector<std::pair<extent, std::vector<std::byte>>> since;
    for (const extent& x : p.lost)
      if (const std::byte* const at = space_.contents(x.address, x.bytes))
        since.emplace_back(x, std::vector<std::byte>(at, at + x.bytes));
    p.of->compute(space_);
    for (const auto& [x, bytes] : since)
      std::copy(bytes.begin(), bytes.end(), space_.contents(x.address, x.bytes));
  }
  template <class F>
  void settle(F&& decide) {
    std::erase_if(left_, [&](entry& p) {
      const what d = decide(p);
      if (d == what::compute) compute(p);
      return d != what::keep;
    });
  }

  std::vector<entry> left_{};
  memory& space_;
  record& log_;
};

} // namespace fake
