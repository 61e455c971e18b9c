// SPDX-License-Identifier: Apache-2.0
// What becomes of operators on sequences of tensors? A sequence has no elements of its own: it is a
// list of tensors whose length is known here, so that putting in and taking out cost nothing. What
// cuts a tensor up, or joins some, becomes Split and Concat.
//
//   sequences(visitor).open(step, call, scope)   // true: it was one of them
#pragma once

#include "visitor.hpp"

#include <algorithm>

namespace benanza::onnx::detail {

class sequences {
public:
  explicit sequences(visitor& v)
      : visitor_(v) {}

  /// Resolves a node, if it is one on sequences or optional values.
  bool open(const step& s, const call& c, const scope& in) {
    using way = void (sequences::*)(const step&, const call&, const scope&);
    static const std::unordered_map<std::string_view, way> ways{
        {"SequenceEmpty", &sequences::construct},
        {"SequenceConstruct", &sequences::construct},
        {"SequenceInsert", &sequences::insert},
        {"SequenceErase", &sequences::erase},
        {"SequenceAt", &sequences::take},
        {"SequenceLength", &sequences::count},
        {"SplitToSequence", &sequences::split},
        {"ConcatFromSequence", &sequences::join},
        {"Optional", &sequences::same},
        {"OptionalGetElement", &sequences::same},
        {"OptionalHasElement", &sequences::has_element}};
    const auto found = ways.find(c.op());
    const bool passes_on = c.op() == "Identity" && !s.inputs.empty() && s.inputs[0] >= 0 &&
                           at(s.inputs[0]).sequence != nullptr;
    if (found == ways.end() && !passes_on) return false;
    if (s.outputs.size() != 1 || s.outputs[0] < 0) throw error("it has no outputs");
    for (int i : s.inputs)
      if (i >= 0 && at(i).sequence == nullptr && !at(i).dims && c.op() != "Optional" &&
          c.op() != "OptionalHasElement")
        throw error("an input's dims are not known since " + at(i).unknown_since);
    if (passes_on)
      same(s, c, in);
    else
      (this->*found->second)(s, c, in);
    return true;
  }

  /// The tensors of a sequence.
  const std::vector<int>& items(int number) const {
    const value& v = at(number);
    if (v.sequence == nullptr)
      throw error("the sequence that it reads is not known" +
                  (v.unknown_since.empty() ? std::string{} : " since " + v.unknown_since));
    return *v.sequence;
  }
  void give(int number, std::vector<int> items) {
    visitor_.spend(1 + items.size());
    value v;
    v.sequence = std::make_shared<const std::vector<int>>(std::move(items));
    at(number) = std::move(v);
  }

private:
  value& at(int number) const { return visitor_.at(number); }

  static int operand(const step& s, std::size_t i) {
    if (i >= s.inputs.size() || s.inputs[i] < 0)
      throw error("its input " + std::to_string(i) + " is missing");
    return s.inputs[i];
  }

  void construct(const step& s, const call&, const scope&) {
    std::vector<int> list;
    for (std::size_t i = 0; i < s.inputs.size(); ++i)
      list.push_back(operand(s, i));
    give(s.outputs[0], std::move(list));
  }

  /// A place in a sequence. One that is not known is taken for the first, where all are alike.
  std::size_t place(const step& s, std::size_t input, const std::vector<int>& list,
                    std::size_t end) const {
    const std::optional<std::int64_t> given = number_in(at(operand(s, input)));
    if (!given) {
      for (int i : list)
        if (at(i).dims != at(list[0]).dims)
          throw error("its place in the sequence is computed when the model runs");
      if (list.empty()) throw error("its sequence is empty");
      return 0;
    }
    const auto length = static_cast<std::int64_t>(list.size());
    const std::int64_t from_front = *given < 0 ? *given + length : *given;
    if (*given < -length || from_front < 0 || from_front >= static_cast<std::int64_t>(end))
      throw error("place " + std::to_string(*given) + " lies outside its sequence of " +
                  std::to_string(length));
    return static_cast<std::size_t>(from_front);
  }

  void insert(const step& s, const call&, const scope&) {
    std::vector<int> list = items(operand(s, 0));
    const std::size_t before =
        s.inputs.size() > 2 && s.inputs[2] >= 0 ? place(s, 2, list, list.size() + 1) : list.size();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(before), operand(s, 1));
    give(s.outputs[0], std::move(list));
  }
  void erase(const step& s, const call&, const scope&) {
    std::vector<int> list = items(operand(s, 0));
    if (list.empty()) throw error("its sequence is empty");
    const std::size_t which =
        s.inputs.size() > 1 && s.inputs[1] >= 0 ? place(s, 1, list, list.size()) : list.size() - 1;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(which));
    give(s.outputs[0], std::move(list));
  }
  void take(const step& s, const call&, const scope&) {
    const std::vector<int>& list = items(operand(s, 0));
    const bool known = number_in(at(operand(s, 1))).has_value();
    value v = at(list.at(place(s, 1, list, list.size())));
    if (!known) v.forget_elements();
    at(s.outputs[0]) = std::move(v);
  }
  void count(const step& s, const call&, const scope&) {
    const auto length = static_cast<std::int64_t>(items(operand(s, 0)).size());
    at(s.outputs[0]) = value(at(new_constant(visitor_, proto::INT64, {}, {.integers = {length}})));
  }
  void same(const step& s, const call&, const scope&) {
    at(s.outputs[0]) = value(at(operand(s, 0)));
  }
  void has_element(const step& s, const call&, const scope&) {
    const bool has = !s.inputs.empty() && s.inputs[0] >= 0;
    at(s.outputs[0]) = value(at(new_constant(visitor_, proto::BOOL, {}, {.integers = {has}})));
  }

  void split(const step& s, const call& c, const scope& in) {
    const int x = operand(s, 0);
    if (!at(x).dims) throw error("its input is a sequence, not a tensor");
    const shape dims = *at(x).dims;
    const int axis = call::axis(c.integer("axis", 0), dims.size);
    const bool keep = c.integer("keepdims", 1) != 0 || c.has(1);
    std::vector<std::int64_t> lengths;
    if (c.has(1)) lengths = c.whole_numbers(1);
    if (c.has(1) && c.dims(1).size == 0) {
      const std::int64_t each = lengths.at(0);
      if (each < 1) throw error("its parts have no length");
      visitor_.spend(static_cast<std::size_t>(dims[axis] / each));
      lengths.clear();
      for (std::int64_t from = 0; from < dims[axis]; from += each)
        lengths.push_back(std::min(each, dims[axis] - from));
    } else if (!c.has(1)) {
      visitor_.spend(static_cast<std::size_t>(dims[axis]));
      lengths.assign(static_cast<std::size_t>(dims[axis]), 1);
    }
    std::vector<int> parts{x};
    if (!keep)
      parts = unstack(visitor_, in, x, axis, dims[axis]);
    else if (lengths.size() != 1)
      parts = emit(visitor_, in, "Split", {x}, lengths.size(),
                   {{"axis", {axis}}, {"split", lengths, true}});
    give(s.outputs[0], std::move(parts));
  }

  void join(const step& s, const call& c, const scope& in) {
    const std::vector<int> list = items(operand(s, 0));
    if (list.empty()) throw error("its sequence is empty");
    const std::int64_t axis = c.integer("axis", 0);
    int made = list[0];
    if (c.integer("new_axis", 0) != 0) {
      const int rank = at(list[0]).dims ? at(list[0]).dims->size : 0;
      made = stack(visitor_, in, list, call::axis(axis, rank + 1));
    } else if (list.size() > 1) {
      made = emit(visitor_, in, "Concat", list, 1, {{"axis", {axis}}})[0];
    }
    at(s.outputs[0]) = value(at(made));
  }

  visitor& visitor_;
};

} // namespace benanza::onnx::detail
