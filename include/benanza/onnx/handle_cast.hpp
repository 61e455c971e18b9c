// SPDX-License-Identifier: Apache-2.0
// What changes types or chooses: ONNX Cast-1..28, CastLike-15..28, BitCast-26 and Where-9..16. A
// Cast to the type that its input has is a view. Types that no memory of ours holds (6 bits,
// complex numbers, text) have dims, but no layer.
//
//   handle_cast(call)   // Cast/1x128-s64-real
#pragma once

#include "handle_eltwise.hpp"

namespace benanza::onnx {

namespace detail {
/// The storage of elements as a Cast reads or writes them; nothing where there is none.
inline std::optional<dtype> cast_storage(int element) {
  const element_type* t = find_element_type(element);
  if (t == nullptr || t->storage == dtype::real) return std::nullopt;
  return t->storage;
}

/// The element type that a Cast gives.
inline int cast_target(const call& c) {
  std::int64_t wanted = c.op() == "CastLike" ? c.element(1) : 0;
  if (const auto* name = c.attribute("to");
      name != nullptr && name->type() == ::onnx::AttributeProto::STRING) // before opset 6
    wanted = element_type_called(name->s());
  else if (name != nullptr)
    wanted = c.integer("to", 0);
  const int to = wanted > 0 && wanted < 1000 ? static_cast<int>(wanted) : 0;
  if (find_element_type(to) == nullptr) throw error("its type is not one that ONNX knows");
  return to;
}
} // namespace detail

inline answer handle_cast(const call& c) {
  answer a;
  const int to = detail::cast_target(c);
  const shape& dims = c.dims(0);
  a.outputs.push_back({to, dims});
  if (to == c.element(0)) {
    a.layer = op::view{.function = op::view_function::identity,
                       .input = dims,
                       .result = dims,
                       .element = c.type(0)};
    return a;
  }
  const auto read = detail::cast_storage(c.element(0)), written = detail::cast_storage(to);
  if (!read || !written) {
    a.problem = "no memory holds its elements, " + type_name(read ? to : c.element(0));
    return a;
  }
  // Cast to each other, reals keep their types; cast from or to others, they are the case's.
  const bool reals = is_floating(c.element(0)) && is_floating(to);
  a.layer = op::cast{.input = dims,
                     .from = reals ? *read : to_dtype(c.element(0)),
                     .to = reals ? *written : to_dtype(to)};
  return a;
}

/// A BitCast looks at memory as elements of another type; what is real there is of a type of its
/// own.
inline answer handle_bit_cast(const call& c) {
  answer a;
  const int to = detail::cast_target(c);
  a.outputs.push_back({to, c.dims(0)});
  const auto read = detail::cast_storage(c.element(0)), written = detail::cast_storage(to);
  if (!read || !written) {
    a.problem = "no memory holds its elements, " + type_name(read ? to : c.element(0));
    return a;
  }
  if (size_bits(*read) != size_bits(*written))
    throw error("it looks at " + type_name(c.element(0)) + " as " + type_name(to) +
                ", which is of another width");
  a.layer = op::view{.function = op::view_function::bit_cast,
                     .input = c.dims(0),
                     .result = c.dims(0),
                     .element = *read,
                     .to = *written};
  return a;
}

inline answer handle_where(const call& c) {
  op::where p{.condition = c.dims(0), .x = c.dims(1), .y = c.dims(2)};
  answer a;
  const shape values = detail::broadcast_of(p.x, p.y);
  a.outputs.push_back({c.element(1), detail::broadcast_of(p.condition, values)});
  try {
    p.element = c.type(1);
    a.layer = p;
  } catch (const error& e) {
    a.problem = e.what();
  }
  return a;
}

} // namespace benanza::onnx
