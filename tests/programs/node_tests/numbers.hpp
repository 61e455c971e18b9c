// SPDX-License-Identifier: Apache-2.0
// What does a tensor of ONNX's node tests hold? Doubles, whatever its type is, and how that type
// rounds them.
//
//   numbers n = read_tensor("tensor_x.pb");   as_stored(n.values[0], onnx::proto::FLOAT16)
#pragma once

#include <benanza/backend/number.hpp>
#include <benanza/backend/operands.hpp>
#include <benanza/onnx/call.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::node_tests {
namespace fs = std::filesystem;

/// A tensor of a test, or one that was computed.
struct numbers {
  shape dims{};
  std::vector<double> values{};
};
using named_numbers = std::map<std::string, numbers, std::less<>>;

inline numbers read_tensor(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  ::onnx::TensorProto t;
  if (!in || !t.ParseFromIstream(&in)) throw error("a tensor cannot be read", path.string());
  numbers out;
  for (std::int64_t d : t.dims())
    out.dims.push(d);
  out.values.resize(t.raw_data().size() / sizeof(double));
  if (!out.values.empty()) std::memcpy(out.values.data(), t.raw_data().data(), t.raw_data().size());
  return out;
}

/// A number as its type holds it.
inline double as_stored(double v, int element) {
  const onnx::element_type* type = onnx::find_element_type(element);
  if (type == nullptr || type->storage == dtype::real) return v;
  std::byte room[8]{};
  backend::store(type->storage, room, 0, v);
  return backend::load(type->storage, room, 0);
}

/// Half a place of a narrow type's numbers, relative to them.
inline double half_a_place(int element) {
  return element == onnx::proto::FLOAT16 ? 0x1p-11 : element == onnx::proto::BFLOAT16 ? 0x1p-8 : 0;
}

inline void fill(backend::tensor& t, const numbers& from, dtype type) {
  t.type = type;
  t.bytes.assign(
      static_cast<std::size_t>(bytes_of(type, static_cast<std::int64_t>(from.values.size()))),
      std::byte{});
  for (std::size_t i = 0; i < from.values.size(); ++i)
    backend::store(type, t.bytes.data(), static_cast<std::int64_t>(i), from.values[i]);
}

using operand_numbers = std::vector<std::optional<numbers>>;

} // namespace benanza::node_tests
