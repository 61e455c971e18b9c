// SPDX-License-Identifier: Apache-2.0
// How is an operator written as a small graph of others? Pieces are added one after the other, each
// naming what it reads: operands of the operator by number, results of pieces before it. They are
// nodes of the newest opset that we know, each called by its own operator, and are resolved as the
// body of a function is. The nodes of a graph that an attribute holds can be pieces, too; what it
// reads from around the operator are inputs behind the operands.
//
//   void expand_bias_gelu(pieces& p) { p.give(0, p("Gelu", {p("Add", {p.in(0), p.in(1)})})); }
#pragma once

#include "../core/nothing.hpp"
#include "call.hpp"
#include "order.hpp"

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::onnx {

/// The opset of ONNX's own operators among pieces.
inline constexpr std::int64_t piece_opset = 24;

/// The graph that replaces an operator.
class pieces {
public:
  /// What pieces call a value; empty: none.
  using name = std::string;
  using whole_numbers = std::vector<std::int64_t>;
  using reals = std::vector<double>;
  struct attribute {
    std::string_view name;
    std::variant<std::int64_t, double, std::string_view, whole_numbers, reals, nothing> value;
  };
  using attributes = std::initializer_list<attribute>;

  explicit pieces(const call& c)
      : of(c) {
    detail::free_names inside; // in the order in which a step captures them
    const auto see = [this](const std::string& read) {
      around_.emplace(read, "around" + std::to_string(captured_++));
    };
    for (const auto& a : c.node().attribute()) {
      if (a.has_g()) inside.visit(a.g(), see);
      for (const auto& g : a.graphs())
        inside.visit(g, see);
    }
  }

  const call& of; ///< the operator: its operands' dims, its attributes

  /// An operand of the operator; empty if it is left out.
  name in(int i) const { return of.has(i) ? "in" + std::to_string(i) : name{}; }

  /// Adds a piece and gives its result.
  name operator()(std::string_view op, const std::vector<name>& inputs, attributes a = {}) {
    return several(op, inputs, 1, a).front();
  }
  /// Adds a piece of several results.
  std::vector<name> several(std::string_view op, const std::vector<name>& inputs, int results,
                            attributes a = {}) {
    ::onnx::NodeProto& n = *body_->add_node();
    const std::size_t point = op.rfind('.');
    if (point != std::string_view::npos) n.set_domain(std::string(op.substr(0, point)));
    n.set_op_type(std::string(op.substr(point + 1)));
    const int count = ++uses_[n.op_type()];
    n.set_name(n.op_type() + (count > 1 ? std::to_string(count) : ""));
    for (const name& i : inputs)
      n.add_input(i);
    for (const attribute& x : a)
      add(*n.add_attribute(), x);
    std::vector<name> made;
    for (int i = 0; i < results; ++i)
      made.push_back(*n.add_output() = "v" + std::to_string(values_++));
    return made;
  }

  /// Constants.
  name whole(const whole_numbers& v) { return (*this)("Constant", {}, {{"value_ints", v}}); }
  name scalar(std::int64_t v) { return (*this)("Constant", {}, {{"value_int", v}}); }
  name number(double v) { return (*this)("Constant", {}, {{"value_float", v}}); }
  name numbers(const reals& v) { return (*this)("Constant", {}, {{"value_floats", v}}); }

  /// `x` with other dims.
  name reshaped(const name& x, const shape& dims) {
    return (*this)("Reshape", {x, whole({dims.begin(), dims.end()})}, {{"allowzero", 1}});
  }
  /// The part of `x` from `from` to `to` along an axis.
  name part(const name& x, int axis, std::int64_t from, std::int64_t to) {
    return (*this)("Slice", {x, whole({from}), whole({to}), whole({axis})});
  }
  name transposed(const name& x, const whole_numbers& order) {
    return (*this)("Transpose", {x}, {{"perm", order}});
  }
  /// `x`, plus an operand where that is there.
  name plus(const name& x, const name& y) { return y.empty() ? x : (*this)("Add", {x, y}); }

  /// The nodes of the graph that an attribute holds, reading `inputs`; gives its results. They are
  /// nodes of the model's opset, and then so are all pieces.
  std::vector<name> opened(std::string_view graph, const std::vector<name>& inputs) {
    const auto* a = of.attribute(graph);
    const std::string what = "its " + std::string(graph);
    if (a == nullptr || !a->has_g()) throw error(what + " is no graph");
    const ::onnx::GraphProto& g = a->g();
    if (g.input_size() != static_cast<int>(inputs.size()) || g.output_size() == 0)
      throw error(what + " has " + std::to_string(g.input_size()) + " inputs and " +
                  std::to_string(g.output_size()) + " outputs");
    if (g.sparse_initializer_size() > 0) throw error(what + " holds a sparse constant");
    of_the_model_ = true;
    renaming r{.others = std::string(graph) + '.', .known = around_};
    for (int i = 0; i < g.input_size(); ++i)
      r.known[g.input(i).name()] = inputs[static_cast<std::size_t>(i)];
    for (const auto& t : g.initializer()) {
      ::onnx::NodeProto& n = *body_->add_node();
      n.set_op_type("Constant");
      n.add_output(r.of(t.name()));
      ::onnx::AttributeProto& value = *n.add_attribute();
      value.set_name("value");
      value.set_type(::onnx::AttributeProto::TENSOR);
      *value.mutable_t() = t;
    }
    for (const auto& n : g.node()) {
      ::onnx::NodeProto& to = *body_->add_node();
      to = n;
      to.set_name(r.others + (n.name().empty() && n.output_size() > 0 ? n.output(0) : n.name()));
      r.rename(to);
    }
    std::vector<name> made;
    for (const auto& o : g.output())
      made.push_back(r.of(o.name()));
    return made;
  }

  /// Says which value is result `i` of the operator.
  void give(int i, const name& x) { given_[i] = x; }

  /// The graph as a function. Refuses one that lacks a result that is asked for.
  std::shared_ptr<const ::onnx::FunctionProto> take() && {
    body_->set_name(of.op());
    for (int i = 0; i < of.node().input_size(); ++i)
      body_->add_input("in" + std::to_string(i));
    for (int i = 0; i < captured_; ++i)
      body_->add_input("around" + std::to_string(i));
    for (int i = 0; i < of.outputs(); ++i) {
      const auto found = given_.find(i);
      if (found == given_.end() && !of.node().output(i).empty())
        throw error("what its output " + std::to_string(i) + " holds is not known here");
      body_->add_output(found == given_.end() ? given_.begin()->second : found->second);
    }
    for (const auto& [domain, version] :
         {std::pair("", piece_opset), std::pair("com.microsoft", std::int64_t{1})}) {
      if (of_the_model_ && *domain == '\0') continue;
      auto& opset = *body_->add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    return body_;
  }
  bool empty() const { return given_.empty(); }

private:
  /// What the names of a graph become where it is opened.
  struct renaming {
    std::string others; ///< before names that are not known
    std::map<std::string, name, std::less<>> known;

    name of(const std::string& n) const {
      const auto found = known.find(n);
      return n.empty() ? n : found == known.end() ? others + n : found->second;
    }
    void rename(::onnx::NodeProto& n) const {
      for (std::string& i : *n.mutable_input())
        i = of(i);
      for (std::string& o : *n.mutable_output())
        o = of(o);
      for (auto& a : *n.mutable_attribute()) {
        if (a.has_g()) rename(*a.mutable_g());
        for (auto& g : *a.mutable_graphs())
          rename(g);
      }
    }
    void rename(::onnx::GraphProto& g) const {
      for (auto* values : {g.mutable_input(), g.mutable_output(), g.mutable_value_info()})
        for (auto& v : *values)
          v.set_name(of(v.name()));
      for (auto& t : *g.mutable_initializer())
        t.set_name(of(t.name()));
      for (auto& t : *g.mutable_sparse_initializer())
        t.mutable_values()->set_name(of(t.values().name()));
      for (auto& n : *g.mutable_node())
        rename(n);
    }
  };

  static void add(::onnx::AttributeProto& to, const attribute& a) {
    using type = ::onnx::AttributeProto;
    to.set_name(std::string(a.name));
    if (const auto* v = std::get_if<std::int64_t>(&a.value)) {
      to.set_type(type::INT);
      to.set_i(*v);
    } else if (const auto* r = std::get_if<double>(&a.value)) {
      to.set_type(type::FLOAT);
      to.set_f(static_cast<float>(*r));
    } else if (const auto* t = std::get_if<std::string_view>(&a.value)) {
      to.set_type(type::STRING);
      to.set_s(std::string(*t));
    } else if (const auto* all = std::get_if<reals>(&a.value)) {
      to.set_type(type::FLOATS);
      for (double x : *all)
        to.add_floats(static_cast<float>(x));
    } else {
      to.set_type(type::INTS);
      for (std::int64_t i : std::get<whole_numbers>(a.value))
        to.add_ints(i);
    }
  }

  std::shared_ptr<::onnx::FunctionProto> body_ = std::make_shared<::onnx::FunctionProto>();
  std::map<std::string, int, std::less<>> uses_{};
  std::map<int, name> given_{};
  std::map<std::string, name, std::less<>> around_{}; ///< what graphs in attributes read
  int captured_ = 0;
  int values_ = 0;
  bool of_the_model_ = false; ///< pieces are nodes of the model's opset
};

} // namespace benanza::onnx
