// SPDX-License-Identifier: Apache-2.0
// How is a model of gigabytes read in a millisecond? By copying its protobuf wire format and
// leaving out the weights: of each tensor longer than a limit the payload is dropped and marked as
// stored elsewhere. Dims, types and small constants stay. The pages of a dropped payload are never
// read.
//
//   std::string small = without_payloads(bytes_of_the_file);   model.ParseFromString(small)
#pragma once

#include "../core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::onnx {

namespace detail {
/// Which message of onnx.proto the walk is in.
enum class message { model, graph, node, attribute, tensor, sparse_tensor, function, other };

/// The message that field `field` of a message of kind `kind` holds; `other` is copied as it is.
constexpr message message_in(message kind, std::uint64_t field) {
  switch (kind) {
  case message::model:
    return field == 7 ? message::graph : field == 25 ? message::function : message::other;
  case message::graph:
    return field == 1    ? message::node
           : field == 5  ? message::tensor
           : field == 15 ? message::sparse_tensor
                         : message::other;
  case message::node: return field == 5 ? message::attribute : message::other;
  case message::attribute:
    if (field == 5 || field == 10) return message::tensor;
    if (field == 6 || field == 11) return message::graph;
    return field == 22 || field == 23 ? message::sparse_tensor : message::other;
  case message::sparse_tensor: return field == 1 || field == 2 ? message::tensor : message::other;
  case message::function:
    return field == 7 ? message::node : field == 11 ? message::attribute : message::other;
  default: return message::other;
  }
}

/// True for the fields of a tensor that hold its elements, strings excepted.
constexpr bool is_payload(std::uint64_t field) {
  return field == 4 || field == 5 || field == 7 || (field >= 9 && field <= 11);
}

/// Thrown where the bytes are no protobuf.
struct malformed {};

class wire_filter {
public:
  explicit wire_filter(std::string& out)
      : out_(out) {}

  void copy(std::string_view in, message kind, int depth) {
    if (depth > 90) throw malformed{}; // protobuf's own parser stops at 100
    const std::size_t limit = kind == message::tensor ? longest_payload(in) : 0;
    bool dropped = false;
    for (std::size_t at = 0; at < in.size();) {
      const std::size_t start = at;
      const std::uint64_t tag = number(in, at), field = tag >> 3;
      const std::size_t body = at;
      const std::string_view held = skip(in, at, tag);
      if (field == 0) throw malformed{};
      const bool delimited = (tag & 7) == 2;
      if (kind == message::model && field == 20) continue; // how it was trained
      if (kind == message::tensor && delimited && is_payload(field) && held.size() > limit) {
        dropped = true;
        continue;
      }
      const message inner = delimited ? message_in(kind, field) : message::other;
      if (inner == message::other) {
        out_.append(in.substr(start, at - start));
        continue;
      }
      out_.append(in.substr(start, body - start));
      nested(held, inner, depth);
    }
    if (dropped) out_.append("\x70\x01", 2); // data_location = EXTERNAL
  }

private:
  /// Writes a message whose length is known only once it is written: room for the length is kept.
  void nested(std::string_view held, message kind, int depth) {
    std::string inner;
    wire_filter(inner).copy(held, kind, depth + 1);
    std::uint64_t n = inner.size();
    for (; n >= 128; n >>= 7)
      out_ += static_cast<char>(n | 128);
    out_ += static_cast<char>(n);
    out_ += inner;
  }

  /// Whole numbers may be shapes and are kept up to 32 KiB, other elements up to 1 KiB.
  static std::size_t longest_payload(std::string_view in) {
    for (std::size_t at = 0; at < in.size();) {
      const std::uint64_t tag = number(in, at);
      std::size_t value = at;
      skip(in, at, tag);
      if (tag != 2 << 3) continue;
      const std::uint64_t type = number(in, value);
      return type == 6 || type == 7 || type == 9 ? 32768 : 1024;
    }
    return 1024;
  }

  static std::uint64_t number(std::string_view in, std::size_t& at) {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= in.size()) throw malformed{};
      const auto byte = static_cast<unsigned char>(in[at++]);
      if (shift < 64) v |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return v;
    }
    throw malformed{};
  }

  /// Moves `at` behind the value of a field; returns what a length-delimited one holds.
  static std::string_view skip(std::string_view in, std::size_t& at, std::uint64_t tag) {
    std::uint64_t length = 0;
    switch (tag & 7) {
    case 0: number(in, at); return {};
    case 1: length = 8; break;
    case 2: length = number(in, at); break;
    case 5: length = 4; break;
    default: throw malformed{};
    }
    if (length > in.size() - at) throw malformed{};
    const std::string_view held = in.substr(at, static_cast<std::size_t>(length));
    at += static_cast<std::size_t>(length);
    return held;
  }

  std::string& out_;
};
} // namespace detail

/// The model without the payload of its weights; empty if the bytes are no protobuf message.
inline std::string without_payloads(std::string_view model) {
  std::string out;
  try {
    detail::wire_filter(out).copy(model, detail::message::model, 0);
  } catch (const detail::malformed&) {
    out.clear();
  }
  return out;
}

} // namespace benanza::onnx
