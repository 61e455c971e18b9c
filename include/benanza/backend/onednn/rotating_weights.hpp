// SPDX-License-Identifier: Apache-2.0
// Which weights does the next execution read? An algorithm's own, or the next of a pool of copies,
// so that none is in a cache when it is read.
//
//   rotating_weights w;   w.add(memory);   w.rotate(pool, stride, 8);
//   w.advance();          // before each execution
#pragma once

#include "engine.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace benanza::backend::onednn {

class rotating_weights {
public:
  /// Weights as the algorithm reads them, behind those that are there.
  void add(const dnnl::memory& m) {
    own_.push_back({m.get(), static_cast<std::byte*>(m.get_data_handle()),
                    static_cast<std::int64_t>(m.get_desc().get_size())});
    bytes_ += own_.back().bytes;
  }
  std::int64_t bytes() const { return bytes_; }
  void copy(std::byte* to) const {
    for (const weights& w : own_) {
      std::memcpy(to, w.data, static_cast<std::size_t>(w.bytes));
      to += w.bytes;
    }
  }
  /// From now on those of the pool, or with `count` 0 the own ones. The pool's bytes are never
  /// touched. The place in the rotation goes on from call to call, so that weights stay cold when
  /// algorithms take turns.
  void rotate(std::byte* pool, std::int64_t stride, std::int64_t count) {
    pool_ = count > 0 && !own_.empty() ? pool : nullptr;
    stride_ = stride;
    count_ = count;
    if (pool_ && place_ >= count_) place_ = 0;
    if (!pool_)
      for (const weights& w : own_)
        dnnl_memory_set_data_handle(w.memory, w.data);
  }
  void advance() {
    if (!pool_) return;
    std::byte* at = pool_ + stride_ * place_;
    for (const weights& w : own_) {
      dnnl_memory_set_data_handle(w.memory, at);
      at += w.bytes;
    }
    if (++place_ >= count_) place_ = 0;
  }

private:
  struct weights {
    dnnl_memory_t memory;
    std::byte* data;
    std::int64_t bytes;
  };
  std::vector<weights> own_{};
  std::int64_t bytes_ = 0;
  std::byte* pool_ = nullptr;
  std::int64_t stride_ = 0, count_ = 0, place_ = 0;
};

} // namespace benanza::backend::onednn
