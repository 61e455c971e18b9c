// SPDX-License-Identifier: Apache-2.0
// How are a model's layers found? Nodes are visited one at a time, producers first; those that hold
// graphs, or are functions, are opened. Where BENANZA_COMPILED_ONNX is defined, one file of the
// program includes this for all.
#pragma once

#include "body.hpp"
#include "build.hpp"
#include "composites.hpp"
#include "control.hpp"
#include "evaluate.hpp"
#include "infer.hpp"
#include "inputs.hpp"
#include "load.hpp"
#include "resolve.hpp"
#include "run_decides.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::onnx {

namespace detail {
class resolver final : visitor {
public:
  resolver(const source& s, const options& o)
      : source_(s)
      , most_opened_(o.most_opened)
      , program_(s.steps())
      , inputs_(dims_of_inputs(s.model(), o, s.where()))
      , values_(program_.names.size())
      , builder_(values_)
      , decided_(o, std::string(s.where()), builder_.graph)
      , functions_(s.model(), opsets_)
      , root_{.steps = &program_, .opsets = &opsets_}
      , control_(*this, o.loops) {
    model::graph& graph = builder_.graph;
    graph.model = o.name.empty() ? s.name() : o.name;
    graph.batch = inputs_.batch;
    graph.dims = o.dims;
    graph.structure = s.structure();
    graph.name = graph.model + "@batch=" + std::to_string(graph.batch);
    graph.repairs = inputs_.changed;
    graph.assumptions = inputs_.assumptions;
    read_opsets(s.model().opset_import(), opsets_);
    root_.values.resize(program_.names.size());
    std::iota(root_.values.begin(), root_.values.end(), 0);
    for (const auto& i : s.model().graph().value_info())
      described_.emplace(i.name(), &i);
    for (const auto& i : s.model().graph().output())
      described_.emplace(i.name(), &i);
    if (!inputs_.has_batch && o.batch.value_or(1) != 1)
      graph.repairs.push_back("the model has no batch dim, it is the same at every batch");
    for (std::string& unused : unused_options(s.model(), inputs_, o))
      graph.repairs.push_back(std::move(unused));
  }

  void visit_all() {
    define_given();
    for (const step& s : program_.steps)
      visit(s, root_);
    for (const std::string& name : control_.unused_counts())
      builder_.graph.repairs.push_back("--loop-count " + name +
                                       ": the model has no such loop that a run decides on");
    decided_.tell_unused([this](const std::string& name) {
      return program_.number_of(name) >= 0 && !inputs_.shapes.contains(name);
    });
  }
  model::graph run() {
    visit_all();
    for (const auto& [op, nodes] : drawn_)
      builder_.graph.assumptions.push_back(
          op + " x" + std::to_string(nodes) +
          ": its numbers are taken as given; what drawing them takes is in no figure");
    for (const auto& o : source_.model().graph().output())
      if (const int v = program_.number_of(o.name()); v >= 0 && at(v).producer >= 0)
        builder_.graph.nodes[static_cast<std::size_t>(at(v).producer)].given = true;
    return builder_.finish(source_.model().graph());
  }
  /// The same; `see` is called for each node as it is resolved: with its values' numbers, what is
  /// known of it, and its place in the graph, or -1 where it was folded.
  using observer = std::function<void(const step&, const call&, const answer&, int)>;
  model::graph run(observer see) {
    see_ = std::move(see);
    return run();
  }
  /// The name of a value of the model itself; empty: it is in a function.
  std::string_view name_of(int number) const {
    const auto n = static_cast<std::size_t>(number);
    return n < program_.names.size() ? program_.names[n] : std::string_view{};
  }
  /// What is known of a value of the model in the end; nullptr: it has none of that name.
  const value* named(std::string_view name) const {
    const int number = program_.number_of(name);
    return number < 0 ? nullptr : &values_[static_cast<std::size_t>(number)];
  }
  std::map<std::string, shape> run_for_dims() {
    visit_all();
    std::map<std::string, shape> out;
    for (std::size_t i = 0; i < program_.names.size(); ++i)
      if (values_[i].dims) out.emplace(program_.names[i], *values_[i].dims);
    return out;
  }

private:
  value& at(int number) override { return values_[static_cast<std::size_t>(number)]; }
  int new_value() override {
    values_.emplace_back();
    return static_cast<int>(values_.size()) - 1;
  }
  model::graph& graph() override { return builder_.graph; }
  void drop_nodes(int from, int to) override { builder_.drop(from, to); }
  void spend(std::size_t nodes_and_values) override {
    opened_ += nodes_and_values;
    if (opened_ > most_opened_)
      throw whole_model_refused(
          "its functions and loops hold more than " + std::to_string(most_opened_) +
              " nodes and values where each is written out as often as it runs",
          source_.where(), "give a part of the model, or smaller inputs");
  }

  void define_given() {
    const ::onnx::GraphProto& g = source_.model().graph();
    for (const auto& i : g.input()) {
      value& v = at(program_.number_of(i.name()));
      v.given = program_.number_of(i.name());
      v.element = i.type().tensor_type().elem_type();
      if (const auto found = inputs_.shapes.find(i.name()); found != inputs_.shapes.end())
        v.dims = found->second;
      else
        v.unknown_since = "the input " + in_quotes(i.name());
    }
    for (const auto& t : g.initializer()) {
      value& v = at(program_.number_of(t.name()));
      v = {};
      v.given = program_.number_of(t.name());
      v.set(t);
    }
    for (const auto& s : g.sparse_initializer()) {
      value& v = at(program_.number_of(s.values().name()));
      v = {};
      v.constant = true;
      v.element = v.stored_as = s.values().data_type();
      shape dims;
      for (std::int64_t d : s.dims())
        if (dims.size < 8) dims.push(d);
      if (s.dims_size() == dims.size && possible(dims)) v.dims = dims;
    }
  }

  static std::int64_t opset_of(const ::onnx::NodeProto& n, const scope& in) {
    const auto found = in.opsets->find(domain_of(n));
    return found == in.opsets->end() ? 0 : found->second;
  }

  static bool random(std::string_view op) {
    return op.starts_with("Random") || op == "Multinomial" || op == "Bernoulli";
  }

  /// True for what keeps all elements of a constant: a weight that is read through it is no other.
  static bool only_moves(std::string_view op) {
    static constexpr std::string_view all[] = {"Transpose", "Identity",  "Reshape", "Flatten",
                                               "Squeeze",   "Unsqueeze", "Cast"};
    return std::find(std::begin(all), std::end(all), op) != std::end(all);
  }

  /// True for a node whose results are the same at every run of the model at this batch.
  bool foldable(const step& s) {
    const std::string& op = s.node->op_type();
    if (random(op) || !s.captured.empty()) return false;
    if (domain_of(*s.node).empty() && (op == "Shape" || op == "Size" || op == "EyeLike"))
      return true;
    const std::size_t read = values_read(op, s.inputs.size());
    return std::all_of(s.inputs.begin(), s.inputs.begin() + static_cast<std::ptrdiff_t>(read),
                       [&](int i) { return i < 0 || at(i).constant; });
  }

  /// True for a node that draws numbers by chance: these are taken as an input of the model is.
  bool takes_as_given(const step& s, const call& c, const answer& a) {
    const bool known = std::all_of(s.outputs.begin(), s.outputs.end(),
                                   [&](int o) { return o < 0 || at(o).dims.has_value(); });
    if (!random(c.op()) || !a.problem.empty() || !known) return false;
    ++drawn_[operator_name(c.node())];
    return true;
  }

  /// A step with its names as values of the model.
  static step placed(const step& named, const scope& in) {
    step s = named;
    for (std::vector<int>* list : {&s.inputs, &s.outputs, &s.captured})
      for (int& number : *list)
        number = in.value_of(number);
    return s;
  }

  void visit(const step& named, const scope& in) override {
    step s = placed(named, in);
    std::optional<::onnx::NodeProto> given = with_attributes_of(in, *s.node);
    if (given) s.node = &with_attributes_.emplace_back(std::move(*given));
    resolve(s, in);
  }

  void resolve(const step& s, const scope& in) override {
    std::vector<const value*> operands;
    for (int i : s.inputs)
      operands.push_back(i < 0 ? nullptr : &at(i));
    call c(*s.node, opset_of(*s.node, in), operands);
    c.batch = inputs_.batch;
    c.old_batch = inputs_.old_batch;
    c.batch_was_fixed = inputs_.fixed_dim_changed;
    answer a;
    if (opens(s, c, in, a)) return;
    const bool refused = c.op() == "EyeLike" && !a.problem.empty();
    const bool folded = foldable(s) && !refused;
    std::vector<std::optional<elements_of>> elements;
    if (folded && !a.outputs.empty()) {
      try {
        elements = evaluate(c, a);
      } catch (const error& e) {
        a.problem = e.what();
      }
    }
    settle(s, c, a);
    if (takes_as_given(s, c, a)) return;
    const bool broken = s.inputs.empty() && !a.problem.empty(); // follows from nothing
    if (folded && !broken)
      fold(s, c, elements, a.problem);
    else
      builder_.place(s, c, a, in.path);
    if (see_)
      see_(s, c, a, folded && !broken ? -1 : static_cast<int>(builder_.graph.nodes.size()) - 1);
  }

  /// True for a node that others replace, which are resolved then. Else `a` is what is said of the
  /// node itself.
  bool opens(const step& s, const call& c, const scope& in, answer& a) {
    try {
      const function* f = functions_.of(*s.node);
      if (f == nullptr) {
        if (control_.open(s, c, in)) return true;
        a = answer_to(s, c);
        if (domain_of(*s.node).empty() && sized_by_values(c.op()))
          decided_.find_sizes(s, c, in.path, a);
        take_said(s, c, a);
        if (a.body == nullptr || !a.problem.empty()) return false;
        written_out_.push_back(a.body);
        f = &functions_.read(*a.body);
      }
      scope body = scope_of_call(*s.node, *f, in);
      open(s, body, a.body != nullptr);
      return true;
    } catch (const whole_model_refused&) {
      throw;
    } catch (const error& e) {
      a = {};
      a.problem = e.what();
    }
    return false;
  }

  /// Dims that somebody says of the model's own values.
  void take_said(const step& s, const call& c, answer& a) {
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      const std::string name(s.outputs[i] < 0 ? std::string_view{} : name_of(s.outputs[i]));
      if (name.empty()) continue;
      value described;
      read_described(described, s.outputs[i]);
      decided_.take_dims(c, i, name, described, a);
    }
  }

  /// Visits the nodes of a function for one call of it. What an operator's graphs read from around
  /// it follows its operands where nodes of ours replace it.
  void open(const step& s, scope& body, bool ours) {
    const program& steps = *body.steps;
    spend(steps.steps.size() + steps.names.size());
    body.path = path_in(*body.around, s.node->name().empty() ? s.node->output(0) : s.node->name());
    body.values.assign(steps.names.size(), no_value);
    std::vector<int> given = s.inputs;
    if (ours) given.insert(given.end(), s.captured.begin(), s.captured.end());
    given.resize(static_cast<std::size_t>(body.text->input_size()), -1);
    for (int i = 0; i < body.text->input_size(); ++i)
      body.values[static_cast<std::size_t>(steps.number_of(body.text->input(i)))] =
          given[static_cast<std::size_t>(i)];
    for (int& v : body.values)
      if (v == no_value) v = new_value();
    for (const step& inner : steps.steps)
      visit(inner, body);
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      if (s.outputs[i] < 0) continue;
      const int made = body.value_of(steps.number_of(body.text->output(static_cast<int>(i))));
      if (made >= 0)
        at(s.outputs[i]) = value(at(made));
      else
        at(s.outputs[i]).unknown_since = operator_name(*s.node);
    }
  }

  /// Handler, then libonnx; what they refuse is a problem of this node alone.
  answer answer_to(const step& s, const call& c) {
    const ::onnx::NodeProto& n = *s.node;
    answer a;
    std::string problem; // of opening it
    try {
      if (c.opset() == 0)
        throw error("its domain " + in_quotes(n.domain()) + " is not imported by the model");
      if (n.output_size() == 0) throw error("it has no outputs");
      if (const composite* known = find_composite(domain_of(n), n.op_type())) {
        a.body = body_of_composite(*known, c, problem);
        if (a.body != nullptr) return a;
      }
      if (const handler* h = find_handler(domain_of(n), n.op_type())) {
        if (c.size() < h->least || (h->most != any_number && c.size() > h->most))
          throw error("it has " + std::to_string(c.size()) +
                      " inputs, which its operator does not");
        for (int i = 0; i < h->least; ++i)
          (void)c.operand(i);
        a = h->make(c);
      } else {
        a.outputs = infer(c);
      }
    } catch (const error& e) {
      a = {};
      a.problem = e.what();
    }
    if (n.domain() == "ai.onnx.ml" && c.opset() != 0)
      problem = "it is of trees and the like (ai.onnx.ml), no layer of a neural network";
    if (!problem.empty()) {
      a.problem = problem;
      a.layer.reset();
    }
    for (result& r : a.outputs) {
      try {
        if (r.dims) (void)(check_dims(*r.dims), benanza::elements(*r.dims));
      } catch (const error& e) {
        r.dims.reset();
        a.problem = e.what();
        a.layer.reset();
      }
    }
    return a;
  }

  /// Writes what is known of the node's outputs, with the file's own word where nothing else is.
  void settle(const step& s, const call& c, const answer& a) {
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      if (s.outputs[i] < 0) continue;
      value& v = at(s.outputs[i]);
      if (i < a.outputs.size()) {
        v.element = a.outputs[i].element;
        v.dims = a.outputs[i].dims;
      }
      if (!v.dims) read_described(v, s.outputs[i]);
      if (!v.dims) v.unknown_since = cause_of(c);
    }
  }

  /// True for dims that a tensor can have.
  static bool possible(const shape& s) {
    try {
      check_dims(s);
      (void)benanza::elements(s);
    } catch (const error&) {
      return false;
    }
    return true;
  }

  void read_described(value& v, int number) {
    if (number >= static_cast<int>(program_.names.size())) return; // it is in a function
    const auto found = described_.find(program_.names[static_cast<std::size_t>(number)]);
    if (found == described_.end() || !found->second->type().has_tensor_type()) return;
    const auto& t = found->second->type().tensor_type();
    if (v.element == 0) v.element = t.elem_type();
    if (inputs_.fixed_dim_changed || !t.has_shape() || t.shape().dim_size() > 8) return;
    shape dims;
    for (const auto& d : t.shape().dim()) {
      const std::int64_t n = d.has_dim_value()   ? d.dim_value()
                             : d.has_dim_param() ? value_of(d.dim_param(), inputs_.symbols)
                                                 : -1;
      if (n < 1 || n > dim_limit) return;
      dims.push(n);
    }
    if (possible(dims)) v.dims = dims;
  }

  static std::string cause_of(const call& c) {
    for (int i = 0; i < c.size(); ++i)
      if (c.has(i) && !c.operand(i).dims && c.operand(i).sequence == nullptr)
        return c.operand(i).unknown_since;
    return operator_name(c.node());
  }
  /// A folded node is not shown: what is wrong with it is reported where it matters.
  static std::string lost_since(const call& c, const std::string& problem) {
    for (int i = 0; i < c.size(); ++i)
      if (c.has(i) && !c.operand(i).lost_since.empty()) return c.operand(i).lost_since;
    return operator_name(c.node()) + (problem.empty() ? "" : " (" + problem + ')');
  }

  void fold(const step& s, const call& c, std::vector<std::optional<elements_of>>& elements,
            const std::string& problem) {
    ++builder_.graph.folded;
    bool from_shapes = c.op() == "Shape" || c.op() == "Size";
    for (int i = 0; i < c.size(); ++i)
      from_shapes = from_shapes || (c.has(i) && c.operand(i).from_shapes);
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      if (s.outputs[i] < 0) continue;
      value& v = at(s.outputs[i]);
      v.constant = true;
      v.from_shapes = from_shapes;
      v.stored_as = v.element;
      const bool keeps = c.has(0) && c.operand(0).dims && v.dims &&
                         benanza::elements(*c.operand(0).dims) == benanza::elements(*v.dims);
      if (keeps && only_moves(c.op()))
        v.moved = c.operand(0).moved >= 0 ? c.operand(0).moved : s.inputs[0];
      v.is_weight = keeps ? c.operand(0).is_weight : c.op() == "ConstantOfShape" && !from_shapes;
      if (keeps && c.operand(0).stored_as != 0) v.stored_as = c.operand(0).stored_as;
      if (keeps && c.op() == "DequantizeLinear")
        v.codes = to_dtype(c.element(0));
      else if (keeps)
        v.codes = c.operand(0).codes;
      if (i < elements.size() && elements[i])
        v.set(std::make_shared<const elements_of>(std::move(*elements[i])));
      else
        v.lost_since = lost_since(c, problem);
      if (!v.dims && !problem.empty() && cause_of(c) == operator_name(*s.node))
        v.unknown_since += " (" + problem + ')';
    }
  }

  const source& source_;
  std::size_t most_opened_;
  const program& program_;
  input_dims inputs_;
  std::deque<value> values_;
  graph_builder builder_;
  run_decides decided_;
  std::map<std::string, int> drawn_{}; ///< nodes whose numbers are taken as given, by operator
  opset_table opsets_{};
  functions functions_;
  scope root_;
  std::size_t opened_ = 0;
  std::vector<std::shared_ptr<const ::onnx::FunctionProto>> written_out_{}; ///< by handlers
  std::unordered_map<std::string_view, const ::onnx::ValueInfoProto*> described_{};
  control control_;
  std::deque<::onnx::NodeProto> with_attributes_{}; ///< nodes with those of their callers
  observer see_{};
};
} // namespace detail

BENANZA_INLINE model::graph resolve(const source& s, const options& o) {
  return detail::resolver(s, o).run();
}

BENANZA_INLINE std::map<std::string, shape> known_dims(const source& s, const options& o) {
  return detail::resolver(s, o).run_for_dims();
}

} // namespace benanza::onnx
