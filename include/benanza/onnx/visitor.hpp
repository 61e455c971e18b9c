// SPDX-License-Identifier: Apache-2.0
// What does a node that holds graphs need of the resolver of nodes? The values of the model by
// number, new ones, nodes of its own making, and a budget that ends what would never end. A
// sequence is a value that holds the numbers of its tensors.
//
//   std::vector<int> parts = emit(v, in, "Split", {x}, 4, {{"axis", 1}});
#pragma once

#include "body.hpp"

#include "../model/graph.hpp"

#include <initializer_list>

namespace benanza::onnx::detail {

/// Thrown where the whole model is refused: it would become too large when all of it is written
/// out, or the caller wants it so.
class whole_model_refused : public error {
public:
  using error::error;
};

/// The resolver of nodes.
class visitor {
public:
  virtual ~visitor() = default;
  virtual value& at(int number) = 0;
  virtual int new_value() = 0;
  /// Resolves a step of the scope's program.
  virtual void visit(const step& named, const scope& in) = 0;
  /// Resolves one whose operands are values already.
  virtual void resolve(const step& placed, const scope& in) = 0;
  virtual model::graph& graph() = 0;
  /// Takes the graph's nodes in [from, to) out again; nothing that stays may read them.
  virtual void drop_nodes(int from, int to) = 0;
  /// Refuses the model once all that was spent is too much.
  virtual void spend(std::size_t nodes_and_values) = 0;
};

/// A constant of the resolver's own.
inline int new_constant(visitor& v, int element, const shape& dims, elements_of e) {
  const int number = v.new_value();
  value& made = v.at(number);
  made.constant = true;
  made.element = made.stored_as = element;
  made.dims = dims;
  made.set(std::make_shared<const elements_of>(std::move(e)));
  return number;
}

/// The only element of a constant; nothing where it is none.
inline std::optional<std::int64_t> number_in(const value& v) {
  const elements_of* e = v.constant ? v.elements() : nullptr;
  if (e == nullptr || e->real || e->size() != 1) return std::nullopt;
  return e->integers[0];
}

struct named_integer {
  const char* name;
  std::vector<std::int64_t> values;
  bool list = false;
};

/// Resolves a node of the resolver's own, in opset 11: `count` results.
inline std::vector<int> emit(visitor& v, const scope& in, const char* op,
                             const std::vector<int>& operands, std::size_t count,
                             std::initializer_list<named_integer> attributes) {
  static const opset_table eleven{{"", 11}};
  v.spend(1 + operands.size() + count);
  ::onnx::NodeProto n;
  n.set_op_type(op);
  n.set_name(op);
  step s{.node = &n, .inputs = operands};
  for (std::size_t i = 0; i < operands.size(); ++i)
    n.add_input("x");
  for (std::size_t i = 0; i < count; ++i) {
    n.add_output("y");
    s.outputs.push_back(v.new_value());
  }
  for (const named_integer& a : attributes) {
    auto& made = *n.add_attribute();
    made.set_name(a.name);
    made.set_type(a.list ? ::onnx::AttributeProto::INTS : ::onnx::AttributeProto::INT);
    for (std::int64_t i : a.values)
      a.list ? made.add_ints(i) : made.set_i(i);
  }
  scope own{.opsets = &eleven, .around = &in, .path = in.path, .depth = in.depth};
  v.resolve(s, own);
  return s.outputs;
}

/// Tensors with a new axis in front of which they are put together.
inline int stack(visitor& v, const scope& in, const std::vector<int>& parts, std::int64_t axis) {
  std::vector<int> wide;
  for (int p : parts)
    wide.push_back(emit(v, in, "Unsqueeze", {p}, 1, {{"axes", {axis}, true}})[0]);
  return wide.size() == 1 ? wide[0] : emit(v, in, "Concat", wide, 1, {{"axis", {axis}}})[0];
}

/// A tensor's slices along an axis, without it.
inline std::vector<int> unstack(visitor& v, const scope& in, int whole, std::int64_t axis,
                                std::int64_t count) {
  std::vector<int> parts{whole};
  if (count != 1)
    parts = emit(v, in, "Split", {whole}, static_cast<std::size_t>(count), {{"axis", {axis}}});
  for (int& p : parts)
    p = emit(v, in, "Squeeze", {p}, 1, {{"axes", {axis}, true}})[0];
  return parts;
}

} // namespace benanza::onnx::detail
