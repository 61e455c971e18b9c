// SPDX-License-Identifier: Apache-2.0
// How is a model of gigabytes read in a millisecond? By copying its protobuf wire format and
// leaving out the weights: of each tensor longer than a limit the payload is dropped and marked as
// stored elsewhere. Dims, types and small constants stay. Remarks, and fields that onnx.proto does
// not have, are dropped too. The pages of what is dropped are never read, and what would still be
// too much is refused before it is copied.
//
//   std::string small = without_payloads(bytes_of_the_file);   model.ParseFromString(small)
#pragma once

#include "../core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace benanza::onnx {

/// Bytes of a model that are read at most, besides its weights. Models of 100,000 nodes have 10 MB.
inline constexpr std::size_t most_kept = std::size_t{256} << 20;

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

/// The fields of each message that are read here, a bit each; not among them are doc_string,
/// metadata and training.
constexpr bool is_read(message kind, std::uint64_t field) {
  const auto fields = [](auto... f) { return ((std::uint64_t{1} << f) | ...); };
  std::uint64_t read = ~std::uint64_t{0};
  switch (kind) {
  case message::model: read = fields(1, 2, 3, 4, 5, 7, 8, 25); break;
  case message::graph: read = fields(1, 2, 5, 11, 12, 13, 15); break;
  case message::node: read = fields(1, 2, 3, 4, 5, 7, 8); break;
  case message::attribute:
    read = fields(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 20, 21, 22, 23);
    break;
  case message::tensor: read = fields(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14); break;
  case message::sparse_tensor: read = fields(1, 2, 3); break;
  case message::function: read = fields(1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13); break;
  case message::other: break;
  }
  return field < 64 && (read >> field & 1) != 0;
}

/// Thrown where the bytes are no protobuf.
struct malformed {};
/// Thrown where more is left than any model has besides its weights.
struct too_much {};

class wire_filter {
public:
  /// Appends to `out`; `taken` counts what all filters of a model have copied.
  wire_filter(std::string& out, std::size_t& taken)
      : out_(out)
      , taken_(taken) {}

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
      if (!is_read(kind, field)) continue;
      const bool delimited = (tag & 7) == 2;
      if (kind == message::tensor && delimited && is_payload(field) && held.size() > limit) {
        dropped = true;
        continue;
      }
      const message inner = delimited ? message_in(kind, field) : message::other;
      take(least_cost + (inner == message::other ? at - start : 0));
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
  static constexpr std::size_t least_cost = 32; ///< of a field in memory, even if it is empty

  void take(std::size_t bytes) {
    if (bytes > most_kept - taken_) throw too_much{};
    taken_ += bytes;
  }

  /// Writes a message whose length is known only once it is written: room for the length is kept.
  void nested(std::string_view held, message kind, int depth) {
    std::string inner;
    wire_filter(inner, taken_).copy(held, kind, depth + 1);
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
  std::size_t& taken_;
};
} // namespace detail

/// The model without the payload of its weights; empty if the bytes are no protobuf message.
/// Refuses a model that has too much besides; `where` names it.
inline std::string without_payloads(std::string_view model, std::string_view where = {}) {
  std::string out;
  std::size_t taken = 0;
  try {
    detail::wire_filter(out, taken).copy(model, detail::message::model, 0);
  } catch (const detail::malformed&) {
    return {};
  } catch (const detail::too_much&) {
    throw error("the model has more than " + std::to_string(most_kept >> 20) +
                    " MiB besides its weights",
                where, "is it a model at all?");
  }
  return out;
}

} // namespace benanza::onnx
