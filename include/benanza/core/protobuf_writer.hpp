// SPDX-License-Identifier: Apache-2.0
// How is a message of Protocol Buffers written without the library? Field by field: a few messages
// whose numbers are known need neither its headers nor its compiler.
//
//   protobuf_message m;   m.number(1, 150);   m.bytes() == "\x08\x96\x01"
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace benanza {

/// A message that grows by its fields, in any order. Fields are numbered as its .proto says.
class protobuf_message {
public:
  /// int32, int64, uint32, uint64, bool or an enumeration.
  protobuf_message& number(int field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  protobuf_message& real(int field, double value) {
    tag(field, 1);
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8)
      bytes_ += static_cast<char>(bits & 0xff);
    return *this;
  }
  /// A string, which has to be UTF-8, or bytes.
  protobuf_message& text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  protobuf_message& message(int field, const protobuf_message& value) {
    return text(field, value.bytes_);
  }
  const std::string& bytes() const& { return bytes_; }
  std::string bytes() && { return std::move(bytes_); }

private:
  void tag(int field, unsigned kind) { varint(static_cast<std::uint64_t>(field) << 3 | kind); }
  void varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_{};
};

} // namespace benanza
