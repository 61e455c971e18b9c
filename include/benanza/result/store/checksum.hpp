// SPDX-License-Identifier: Apache-2.0
// Is what a row says what was written? A checksum in 64 bits over texts and numbers, eight bytes at
// a time: whichever one of them is changed, it comes out different. Nothing against malice.
//
//   checksum().add("Relu").add(17).value()
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace benanza::result::store {

/// A checksum in the making.
class checksum {
public:
  checksum& add(std::int64_t number) { return take(static_cast<std::uint64_t>(number)); }
  checksum& add(std::string_view text) { return take(text.data(), text.size()); }
  checksum& add(std::span<const unsigned char> bytes) { return take(bytes.data(), bytes.size()); }

  std::int64_t value() const { return std::bit_cast<std::int64_t>(sum_); }

private:
  checksum& take(std::uint64_t word) {
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15u; // odd: no two words come to the same
    sum_ ^= sum_ >> 32;
    return *this;
  }
  checksum& take(const void* from, std::size_t size) {
    take(size);
    const char* at = static_cast<const char*>(from);
    while (size != 0) {
      const std::size_t n = size < 8 ? size : 8;
      std::uint64_t word = 0;
      std::memcpy(&word, at, n);
      if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
      take(word);
      at += n;
      size -= n;
    }
    return *this;
  }

  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

} // namespace benanza::result::store
