// SPDX-License-Identifier: Apache-2.0
// What does an operator's handler see of its node? The operands as far as they are known, and the
// attributes, checked for their type. What is missing is thrown as a benanza::error whose text is
// the node's problem.
//
//   c.dims(0);  c.integers("strides");  c.integer("group", 1);  c.whole_numbers(1)  // of a
//   constant
#pragma once

#include "../op/kinds.hpp"
#include "check.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::onnx {

/// One value of a model: what is known of it at this batch.
struct value {
  int element = 0;             ///< ONNX element type; 0: not known
  std::optional<shape> dims{}; ///< nothing: not known
  bool constant = false;       ///< follows from the file and from shapes alone, not from inputs
  bool from_shapes = false;    ///< a constant that follows from the shape of an activation
  int stored_as = 0;           ///< of a constant: the element type that the file stores
  /// A constant with as many elements as a tensor of the file has, or as ConstantOfShape says, by
  /// which weights without payload are written: a weight, and no number that was broadcast.
  bool is_weight = false;
  dtype codes = dtype::real; ///< of a constant that was turned back from codes: their storage
  int producer = -1; ///< the graph's node that makes it; -1: none, it is an input or constant
  int output = 0;    ///< which of that node's results it is
  int given = -1;    ///< an input or constant of the file, passed on: its number; -1: none
  int moved = -1;    ///< a constant that has another one's elements, in other places: its number
  std::string unknown_since{}; ///< where dims are not known: the operator at which that began
  std::string lost_since{};    ///< where a constant's elements are not: the operator that lost them

  /// Of a sequence: the numbers of its tensors.
  std::shared_ptr<const std::vector<int>> sequence{};

  /// What it is like is known, what it holds is not: a run of the model decides between several.
  void forget_elements() {
    constant = false;
    given = -1;
    elements_.reset();
    literal_ = nullptr;
  }
  /// A constant's elements, if they are few and whole numbers, truth values or reals.
  const elements_of* elements() const {
    if (!elements_ && literal_ != nullptr) {
      if (std::optional<elements_of> e = decode(*literal_))
        elements_ = std::make_shared<const elements_of>(std::move(*e));
      literal_ = nullptr;
    }
    return elements_.get();
  }
  void set(std::shared_ptr<const elements_of> e) { elements_ = std::move(e); }
  /// Takes dims and type of a tensor of the file, and its elements when they are asked for.
  void set(const ::onnx::TensorProto& t) {
    constant = true;
    element = stored_as = t.data_type();
    is_weight = true;
    shape s;
    for (std::int64_t d : t.dims()) {
      if (s.size == 8) {
        unknown_since = "a tensor of more than 8 dims";
        return;
      }
      if (d < 0 || d > dim_limit) { // next to a dim of 0 any other passes the loader
        unknown_since = "a tensor with a dim over 2^40";
        return;
      }
      s.push(d);
    }
    dims = s;
    literal_ = &t;
  }

private:
  mutable std::shared_ptr<const elements_of> elements_{};
  mutable const ::onnx::TensorProto* literal_ = nullptr;
};

/// What a handler says of one output.
struct result {
  int element = 0;
  std::optional<shape> dims{};
};

/// What a handler says of its node.
struct answer {
  std::vector<result> outputs{};
  std::optional<op::layer> layer{};
  std::string problem{};                 ///< why there is no layer
  std::optional<elements_of> elements{}; ///< those of the first output, if the handler knows them
  std::string repair{};                  ///< what was changed to make the node fit the batch
  /// The nodes that this one consists of, which are resolved in its place. Its inputs and outputs
  /// are the node's, by position; those of the node that are left out are "" inside too.
  std::shared_ptr<const ::onnx::FunctionProto> body{};
};

/// A node and its operands.
class call {
public:
  call(const ::onnx::NodeProto& node, std::int64_t opset, std::span<const value* const> inputs)
      : node_(node)
      , inputs_(inputs)
      , opset_(opset) {
    while (!inputs_.empty() && inputs_.back() == nullptr)
      inputs_ = inputs_.first(inputs_.size() - 1);
  }

  const ::onnx::NodeProto& node() const { return node_; }
  const std::string& op() const { return node_.op_type(); }
  std::int64_t opset() const { return opset_; }
  std::int64_t batch = 1;       ///< that the model is resolved at
  std::int64_t old_batch = 1;   ///< that constants in the file may still say
  bool batch_was_fixed = false; ///< the file was made for `old_batch` alone

  int size() const { return static_cast<int>(inputs_.size()); }
  int outputs() const { return node_.output_size(); }
  /// True where results behind the first are asked for.
  bool gives_more() const {
    for (int i = 1; i < outputs(); ++i)
      if (!node_.output(i).empty()) return true;
    return false;
  }
  bool has(int i) const { return i < size() && inputs_[static_cast<std::size_t>(i)] != nullptr; }

  /// An operand that must be there.
  const value& operand(int i) const {
    if (!has(i)) throw error("its input " + std::to_string(i) + " is missing");
    return *inputs_[static_cast<std::size_t>(i)];
  }
  /// The dims of an operand that must be there and known.
  const shape& dims(int i) const {
    const value& v = operand(i);
    if (!v.dims)
      throw error(v.unknown_since.empty()
                      ? "an input's dims are not known"
                      : "an input's dims are not known since " + v.unknown_since);
    return *v.dims;
  }
  int element(int i) const { return operand(i).element; }
  dtype type(int i) const { return to_dtype(element(i)); }
  bool constant(int i) const { return operand(i).constant; }

  /// The whole numbers that a constant operand holds.
  const std::vector<std::int64_t>& whole_numbers(int i) const {
    const elements_of& e = known(i);
    if (e.real) throw error("its input " + std::to_string(i) + " must hold whole numbers");
    return e.integers;
  }
  /// The numbers that a constant operand holds.
  std::vector<double> numbers(int i) const {
    const elements_of& e = known(i);
    if (e.real) return e.reals;
    return {e.integers.begin(), e.integers.end()};
  }

  const ::onnx::AttributeProto* attribute(std::string_view name) const {
    for (const auto& a : node_.attribute())
      if (a.name() == name) return &a;
    return nullptr;
  }
  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    const auto* a = attribute_as(name, ::onnx::AttributeProto::INT, "a whole number");
    return a ? a->i() : fallback;
  }
  double real(std::string_view name, double fallback) const {
    const auto* a = attribute_as(name, ::onnx::AttributeProto::FLOAT, "a number");
    return a ? static_cast<double>(a->f()) : fallback;
  }
  std::string_view word(std::string_view name, std::string_view fallback) const {
    const auto* a = attribute_as(name, ::onnx::AttributeProto::STRING, "text");
    return a ? std::string_view(a->s()) : fallback;
  }
  std::vector<std::int64_t> integers(std::string_view name) const {
    const auto* a = attribute_as(name, ::onnx::AttributeProto::INTS, "a list of whole numbers");
    if (a == nullptr) return {};
    return {a->ints().begin(), a->ints().end()};
  }
  std::vector<double> reals(std::string_view name) const {
    const auto* a = attribute_as(name, ::onnx::AttributeProto::FLOATS, "a list of numbers");
    if (a == nullptr) return {};
    return {a->floats().begin(), a->floats().end()};
  }

  /// An axis from the end or from the front, as one from the front; `rank` itself may be allowed.
  static int axis(std::int64_t a, int rank, bool end_too = false) {
    const std::int64_t from_front = a < 0 ? a + rank : a;
    if (a < -dim_limit || from_front < 0 || from_front > rank || (from_front == rank && !end_too))
      throw error("axis " + std::to_string(a) + " lies outside its " + std::to_string(rank) +
                  " dims");
    return static_cast<int>(from_front);
  }
  /// Axes from the front, in ascending order; none twice.
  static std::vector<int> axes(std::span<const std::int64_t> given, int rank) {
    std::vector<int> out;
    for (std::int64_t a : given)
      out.push_back(axis(a, rank));
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end())
      throw error("an axis is named twice");
    return out;
  }

private:
  const elements_of& known(int i) const {
    const value& v = operand(i);
    const elements_of* e = v.constant ? v.elements() : nullptr;
    if (e == nullptr)
      throw error(!v.constant
                      ? "its input " + std::to_string(i) + " is computed when the model runs"
                      : "the numbers in its input " + std::to_string(i) +
                            (v.lost_since.empty() ? " are not in the file"
                                                  : " are not known since " + v.lost_since));
    return *e;
  }
  const ::onnx::AttributeProto* attribute_as(std::string_view name,
                                             ::onnx::AttributeProto::AttributeType type,
                                             std::string_view what) const {
    const auto* a = attribute(name);
    // Files older than IR version 2 do not name the type.
    if (a == nullptr || a->type() == type || a->type() == ::onnx::AttributeProto::UNDEFINED)
      return a;
    throw error("its attribute " + std::string(name) + " is not " + std::string(what));
  }

  const ::onnx::NodeProto& node_;
  std::span<const value* const> inputs_;
  std::int64_t opset_;
};

/// A short list from one of any length; refuses one that is too long.
template <class List>
List to_list(std::span<const std::int64_t> values) {
  List out;
  for (std::int64_t v : values)
    out.push(v);
  return out;
}

/// An answer with one output of the first input's element type.
inline answer of_layer(const call& c, op::layer l, const shape& dims) {
  answer a;
  a.outputs.push_back({c.element(0), dims});
  a.layer = std::move(l);
  return a;
}

} // namespace benanza::onnx
