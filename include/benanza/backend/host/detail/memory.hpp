// SPDX-License-Identifier: Apache-2.0
// Where do kernels read and write? In buffers that begin with a page and are written once before
// the first run, so that none is missing then. Fresh bytes are all ones: NaN where floats
// go.
//
//   buffer out(4096);   out.bytes()[0] == std::byte{0xff}
#pragma once

#include "../../../machine/pages.hpp"
#include "../../operands.hpp"

#include <cstring>

namespace benanza::backend::host::detail {

/// Bytes that begin with a page.
class buffer {
public:
  explicit buffer(std::int64_t size)
      : memory_(static_cast<std::size_t>(size)) {
    std::memset(memory_.data(), 0xff, memory_.size());
  }
  explicit buffer(const tensor& t)
      : memory_(t.bytes.size()) {
    if (!t.bytes.empty()) std::memcpy(memory_.data(), t.bytes.data(), t.bytes.size());
  }
  std::byte* bytes() const { return memory_.data(); }

private:
  machine::page_memory memory_;
};

} // namespace benanza::backend::host::detail
