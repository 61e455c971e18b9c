// SPDX-License-Identifier: Apache-2.0
// Where do kernels read and write? In buffers that start on a cache line and are written once
// before the first run, so that no page is missing then. Fresh bytes are all ones: NaN where floats
// go.
//
//   buffer out(4096);   out.bytes()[0] == std::byte{0xff}
#pragma once

#include "../../operands.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace benanza::backend::host::detail {

/// Bytes on a cache line's boundary.
class buffer {
public:
  explicit buffer(std::int64_t size) {
    const auto wanted = (static_cast<std::size_t>(size) + 127) / 64 * 64;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, wanted)));
    if (!bytes_) throw std::bad_alloc();
    std::memset(bytes_.get(), 0xff, wanted);
  }
  explicit buffer(const tensor& t)
      : buffer(static_cast<std::int64_t>(t.bytes.size())) {
    if (!t.bytes.empty()) std::memcpy(bytes_.get(), t.bytes.data(), t.bytes.size());
  }
  std::byte* bytes() const { return bytes_.get(); }

private:
  struct release {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, release> bytes_;
};

} // namespace benanza::backend::host::detail
