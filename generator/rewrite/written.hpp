// SPDX-License-Identifier: Apache-2.0
// How does a rewritten graph become an ONNX model again? The model is resolved with a number as
// each node's name, and nodes of our own behind its inputs and outputs; what the rules change in
// that graph is then done in the model: strides, what nodes read, new nodes. All else stays as it
// is, weights too, whether they are there or not.
//
//   written_model w = rewrite_model(whole, source, options);   w.model   w.graph.rewrites
#pragma once

#include "nodes.hpp"

#include <benanza/model/operands.hpp>
#include <benanza/model/rewrite/rewrite.hpp>
#include <benanza/onnx/load.hpp>
#include <benanza/onnx/resolve.hpp>
#include <benanza/op/kinds.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::generator {

/// A rewritten model, and its graph with what was rewritten.
struct written_model {
  ::onnx::ModelProto model;
  model::graph graph;
};

namespace detail {
/// Does in a model what was done from one of its graphs to the other.
class onnx_rewriter {
public:
  onnx_rewriter(::onnx::ModelProto& m, const model::graph& from, const model::graph& to)
      : graph_(*m.mutable_graph())
      , nodes_(graph_.node_size())
      , from_(from)
      , to_(to) {
    for (const auto& n : graph_.node()) {
      names_.insert(n.input().begin(), n.input().end());
      names_.insert(n.output().begin(), n.output().end());
    }
  }

  void follow() {
    learn();
    for (const model::node& n : to_.nodes) {
      known_.push_back(number_of(n));
      change(n, known_.back());
    }
    place();
    rename_outputs();
    for (int i = 0; i < graph_.value_info_size(); ++i)
      if (changed_.contains(graph_.value_info(i).name()))
        graph_.mutable_value_info()->DeleteSubrange(i--, 1);
  }

private:
  [[noreturn]] void refuse() const {
    throw error("what could be rewritten lies in a function, a branch or a composite operator",
                from_.name, "write these out in the model first");
  }
  static bool numbered(const std::string& name) {
    return number_in(node_mark, name) || number_in(input_mark, name) ||
           number_in(output_mark, name);
  }

  /// What each node of the model was. Refuses changes of nodes that are none of the model's own.
  void learn() {
    std::map<std::string, int> uses;
    for (const model::node& n : from_.nodes)
      ++uses[n.name];
    for (const model::node& n : from_.nodes)
      if (uses.at(n.name) == 1 && numbered(n.name)) was_.emplace(n.name, &n);
    const auto hidden = [this](const model::graph& g) {
      std::multiset<std::string> out;
      for (const model::node& n : g.nodes)
        if (!was_.contains(n.name) && !(&g == &to_ && made_here(n.name)))
          out.insert(n.name + ' ' + (n.layer < 0 ? n.op : op::name(*model::layer_of(g, n))));
      return out;
    };
    if (hidden(from_) != hidden(to_)) refuse();
    std::set<std::string> left;
    for (const model::node& n : to_.nodes)
      left.insert(n.name);
    for (const auto& [name, n] : was_)
      if (const auto number = number_in(node_mark, name); number && !left.contains(name))
        dropped_.insert(*number);
  }

  static std::string source_of(const model::graph& g, const model::operand& o) {
    if (o.node < 0) return std::to_string(o.node);
    return g.nodes[static_cast<std::size_t>(o.node)].name + '/' + std::to_string(o.output);
  }

  static bool made_here(const std::string& name) {
    for (const std::string_view mark :
         {picked_mark, model::taken_mark, model::upsampled_mark, model::front_mark,
          model::back_mark, model::widened_mark, model::sum_mark})
      if (name.ends_with(mark)) return true;
    return false;
  }

  /// The number of the model's node that `n` is, a new one if it has to be made; -1: it is none.
  int number_of(const model::node& n) {
    if (was_.contains(n.name)) return number_in(node_mark, n.name).value_or(-1);
    if (!made_here(n.name)) return -1;
    return n.name.ends_with(picked_mark)             ? add_pool(n)
           : n.name.ends_with(model::taken_mark)     ? add_gather(n)
           : n.name.ends_with(model::upsampled_mark) ? add_transposed(n)
           : n.name.ends_with(model::widened_mark)   ? add_widened(n)
           : n.name.ends_with(model::sum_mark)       ? add_sum(n)
                                                     : add_part(n);
  }

  /// A node of the model that is new: one result, called `name`.
  int add_node(const char* op, const std::string& name, std::vector<std::string> inputs) {
    ::onnx::NodeProto& n = *graph_.add_node();
    n.set_op_type(op);
    n.set_name(fresh(name));
    n.add_output(n.name());
    for (std::string& s : inputs)
      n.add_input(std::move(s));
    return graph_.node_size() - 1;
  }
  /// A constant of dims `dims`, whose values are to be added to what comes back as second.
  std::pair<int, ::onnx::TensorProto*> add_constant(const std::string& name, std::int32_t type,
                                                    const shape& dims) {
    const int made = add_node("Constant", name, {});
    ::onnx::AttributeProto& a = add_attribute(made, "value", ::onnx::AttributeProto::TENSOR);
    a.mutable_t()->set_data_type(type);
    for (const std::int64_t d : dims)
      a.mutable_t()->add_dims(d);
    return {made, a.mutable_t()};
  }
  int add_numbers(const std::string& name, const std::vector<std::int64_t>& values,
                  const shape& dims) {
    const auto [made, t] = add_constant(name, ::onnx::TensorProto::INT64, dims);
    for (const std::int64_t v : values)
      t->add_int64_data(v);
    return made;
  }
  int add_numbers(const std::string& name, const std::vector<std::int64_t>& values) {
    return add_numbers(name, values, {std::ssize(values)});
  }
  ::onnx::AttributeProto& add_attribute(int node, const char* name,
                                        ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& a = *graph_.mutable_node(node)->add_attribute();
    a.set_name(name);
    a.set_type(type);
    return a;
  }
  /// A node behind `before`, which it reads first, and behind the new ones in `others`.
  int add_behind(const char* op, const std::string& name, int before, const std::string& from,
                 const std::vector<int>& others) {
    std::vector<std::string> inputs{from};
    for (const int i : others)
      inputs.push_back(result_of(i));
    const int made = add_node(op, name, std::move(inputs));
    reads_[made] = others;
    if (before >= 0) reads_[made].push_back(before);
    return made;
  }
  const std::string& result_of(int node) const { return graph_.node(node).output(0); }

  int add_gather(const model::node& n) {
    const auto whose = number_in(node_mark, unmarked(n.name, model::taken_mark));
    if (!whose || graph_.node(*whose).input_size() != 2) refuse();
    auto place = places_.find(*whose);
    if (place == places_.end()) {
      const std::string index = graph_.node(*whose).input(1);
      const int one = add_numbers(index + "/dims", {1});
      const int made = add_node("Reshape", index + "/row", {index, result_of(one)});
      reads_[made].push_back(one);
      if (const int before = maker_of(index); before >= 0) reads_[made].push_back(before);
      place = places_.emplace(*whose, made).first;
    }
    const std::string from = tensor_of(n.operands.at(0));
    const int made =
        add_node("Gather", from + std::string(model::taken_mark), {from, result_of(place->second)});
    reads_[made].push_back(place->second);
    add_attribute(made, "axis", ::onnx::AttributeProto::INT)
        .set_i(op::get<op::gather>(*model::layer_of(to_, n)).axis);
    return made;
  }

  int add_pool(const model::node& n) {
    const auto& p = op::get<op::pool>(*model::layer_of(to_, n));
    const std::string from = tensor_of(n.operands.at(0));
    const int made = add_node("MaxPool", from + std::string(picked_mark), {from});
    set_list(*graph_.mutable_node(made), "kernel_shape", {p.kernel.begin(), p.kernel.end()});
    set_list(*graph_.mutable_node(made), "strides", {p.strides.begin(), p.strides.end()});
    return made;
  }

  /// The number of the node that makes `tensor`; -1: no node of the main graph.
  int maker_of(const std::string& tensor) const {
    for (int i = 0; i < nodes_; ++i)
      for (const std::string& s : graph_.node(i).output())
        if (s == tensor) return i;
    return -1;
  }

  /// A transposed convolution in place of one behind a Resize. Its weights are a product of the
  /// convolution's with zeros and ones, which frameworks compute once, when they load the model.
  int add_transposed(const model::node& n) {
    const auto whose = number_in(node_mark, unmarked(n.name, model::upsampled_mark));
    if (!whose || graph_.node(*whose).input_size() < 2) refuse();
    const ::onnx::NodeProto was = graph_.node(*whose);
    const auto& p = op::get<op::conv_transpose>(*model::layer_of(to_, n));
    const std::string name = was.output(0) + std::string(model::upsampled_mark),
                      weights = was.input(1);
    const std::vector<std::int64_t> sums = model::summed_taps(p);
    std::vector<std::int64_t> dims{p.outputs, p.input[1]}, order{1, 0};
    std::int64_t places = 1;
    for (int i = 0; i < p.kernel.size; ++i) {
      dims.push_back(p.kernel[i]);
      order.push_back(i + 2);
      places *= p.kernel[i];
    }
    const std::int64_t taps = std::ssize(sums) / places;

    const auto [ones, t] = add_constant(name + "/sums", ::onnx::TensorProto::FLOAT, {taps, places});
    for (const std::int64_t s : sums)
      t->add_float_data(static_cast<float>(s));
    int factor = ones;
    for (const auto& its : graph_.initializer())
      if (its.name() == weights && its.data_type() != ::onnx::TensorProto::FLOAT) {
        factor = add_behind("Cast", name + "/ones", -1, result_of(ones), {});
        reads_[factor].push_back(ones);
        add_attribute(factor, "to", ::onnx::AttributeProto::INT).set_i(its.data_type());
      }
    const auto reshaped = [&](const char* what, int before, const std::string& from,
                              const std::vector<std::int64_t>& to) {
      return add_behind("Reshape", name + what, before, from,
                        {add_numbers(name + what + "/dims", to)});
    };
    const int flat = reshaped("/taps", maker_of(weights), weights, {p.outputs, p.input[1], taps}),
              summed = add_behind("MatMul", name + "/summed", flat, result_of(flat), {factor}),
              shaped = reshaped("/kernel", summed, result_of(summed), dims),
              turned = add_behind("Transpose", name + "/weights", shaped, result_of(shaped), {});
    set_list(*graph_.mutable_node(turned), "perm", order);
    const int made = add_behind("ConvTranspose", name, -1, tensor_of(n.operands.at(0)), {turned});
    ::onnx::NodeProto& its = *graph_.mutable_node(made);
    if (p.bias) {
      its.add_input(was.input(2));
      if (const int before = maker_of(was.input(2)); before >= 0) reads_[made].push_back(before);
    }
    set_list(its, "kernel_shape", {p.kernel.begin(), p.kernel.end()});
    set_list(its, "strides", {p.strides.begin(), p.strides.end()});
    if (!p.pads.empty()) set_list(its, "pads", {p.pads.begin(), p.pads.end()});
    return made;
  }

  /// The node of the model that a new one with a mark is made of.
  const ::onnx::NodeProto& origin(const model::node& n, std::string_view mark) const {
    const auto whose = number_in(node_mark, unmarked(n.name, mark));
    if (!whose) refuse();
    return graph_.node(*whose);
  }

  /// A convolution of the first or last channels of another.
  int add_part(const model::node& n) {
    const bool front = n.name.ends_with(model::front_mark);
    const std::string_view mark = front ? model::front_mark : model::back_mark;
    const ::onnx::NodeProto was = origin(n, mark);
    const auto& p = op::get<op::conv>(*model::layer_of(to_, n));
    const std::string name = was.output(0) + std::string(mark), weights = was.input(1);
    constexpr std::int64_t to_end = std::int64_t{1} << 40;
    const int part = add_behind("Slice", name + "/weights", maker_of(weights), weights,
                                {add_numbers(name + "/from", {front ? 0 : -p.input[1]}),
                                 add_numbers(name + "/to", {front ? p.input[1] : to_end}),
                                 add_numbers(name + "/axis", {1})});
    const int made = add_behind("Conv", name, -1, tensor_of(n.operands.at(0)), {part});
    ::onnx::NodeProto& its = *graph_.mutable_node(made);
    if (p.bias) {
      its.add_input(was.input(2));
      if (const int before = maker_of(was.input(2)); before >= 0) reads_[made].push_back(before);
    }
    set_list(its, "kernel_shape", {p.kernel.begin(), p.kernel.end()});
    return made;
  }

  /// The Resize of a part, of other channels than the one that was there.
  int add_widened(const model::node& n) {
    const ::onnx::NodeProto conv = origin(n, model::widened_mark);
    int resize = -1; // one that is dropped, through the Concat that the convolution read
    if (const int joined = maker_of(conv.input(0)); joined >= 0)
      for (const std::string& s : graph_.node(joined).input())
        if (const int at = maker_of(s); dropped_.contains(at)) resize = at;
    if (resize < 0) refuse();
    const ::onnx::NodeProto was = graph_.node(resize);
    const auto& p = op::get<op::resize>(*model::layer_of(to_, n));
    const std::string name = conv.output(0) + std::string(model::widened_mark);
    const int made = add_node("Resize", name, {tensor_of(n.operands.at(0))});
    const auto read = [&](const std::string& tensor) {
      graph_.mutable_node(made)->add_input(tensor);
      if (const int before = maker_of(tensor); before >= 0) reads_[made].push_back(before);
    };
    for (int k = 1; k < was.input_size() && k < 3; ++k)
      read(was.input(k));
    graph_.mutable_node(made)->mutable_attribute()->CopyFrom(was.attribute());
    if (was.input_size() < 4 || was.input(3).empty()) return made;
    // Sizes name channels and a batch, factors fit any.
    const auto [factors, t] =
        add_constant(name + "/scales", ::onnx::TensorProto::FLOAT, {p.input.size});
    for (int i = 0; i < p.input.size; ++i)
      t->add_float_data(static_cast<float>(p.sizes[i] / p.input[i]));
    ::onnx::NodeProto& its = *graph_.mutable_node(made);
    its.set_input(2, result_of(factors));
    reads_[made].push_back(factors);
    for (int i = its.attribute_size(); i-- > 0;)
      if (its.attribute(i).name() == "axes" ||
          its.attribute(i).name() == "keep_aspect_ratio_policy")
        its.mutable_attribute()->DeleteSubrange(i, 1);
    return made;
  }

  int add_sum(const model::node& n) {
    return add_node("Add", origin(n, model::sum_mark).output(0) + std::string(model::sum_mark),
                    {tensor_of(n.operands.at(0)), tensor_of(n.operands.at(1))});
  }

  std::string fresh(std::string name) {
    while (!names_.insert(name).second)
      name += '_';
    return name;
  }

  /// The name in the model of what an operand of the rewritten graph reads.
  std::string tensor_of(const model::operand& o) const {
    if (o.node < 0) refuse();
    const std::string& name = to_.nodes[static_cast<std::size_t>(o.node)].name;
    if (const auto input = number_in(input_mark, name)) return graph_.input(*input).name();
    const int node = known_[static_cast<std::size_t>(o.node)];
    if (node < 0 || o.output >= graph_.node(node).output_size()) refuse();
    return graph_.node(node).output(o.output);
  }

  void change(const model::node& n, int number) {
    const auto was = was_.find(n.name);
    if (was == was_.end()) return;
    const std::vector<model::operand> old = model::known_operands(*was->second);
    if (const auto output = number_in(output_mark, n.name)) {
      const model::operand& o = n.operands.at(0);
      if (source_of(to_, o) != source_of(from_, old.at(0))) outputs_[*output] = tensor_of(o);
      return;
    }
    if (number < 0) return;
    ::onnx::NodeProto& its = *graph_.mutable_node(number);
    if (const op::layer* before = model::layer_of(from_, *was->second),
        *now = model::layer_of(to_, n);
        before != nullptr && now != nullptr) {
      if (!(op::output(*before) == op::output(*now)))
        changed_.insert(its.output().begin(), its.output().end());
      set_window<op::conv>(its, *before, *now);
      set_window<op::pool>(its, *before, *now);
      const auto *all = op::as<op::gather>(before), *one = op::as<op::gather>(now);
      if (all != nullptr && one != nullptr && one->data[one->axis] < all->data[all->axis]) {
        const int zero = add_numbers(its.input(1) + "/first", {0}, one->indices);
        graph_.mutable_node(number)->set_input(1, result_of(zero));
        reads_[number].push_back(zero);
      }
    }
    for (std::size_t k = 0; k < n.operands.size() && k < old.size(); ++k) {
      if (source_of(to_, n.operands[k]) == source_of(from_, old[k])) continue;
      if (k >= static_cast<std::size_t>(its.input_size())) refuse();
      its.set_input(static_cast<int>(k), tensor_of(n.operands[k]));
    }
  }

  /// Each node behind those that it reads, the others in their order; without those that are
  /// dropped.
  void place() {
    std::map<int, std::vector<int>> reads = reads_;
    for (std::size_t i = 0; i < to_.nodes.size(); ++i)
      for (const model::operand& o : to_.nodes[i].operands)
        if (o.node >= 0 && known_[static_cast<std::size_t>(o.node)] >= 0)
          reads[known_[i]].push_back(known_[static_cast<std::size_t>(o.node)]);
    ::onnx::GraphProto sorted;
    std::set<int> done = dropped_;
    const auto add = [&](const auto& self, int i) -> void {
      if (!done.insert(i).second) return;
      for (const int first : reads[i])
        self(self, first);
      sorted.add_node()->Swap(graph_.mutable_node(i));
    };
    for (int i = 0; i < nodes_; ++i)
      add(add, i);
    graph_.mutable_node()->Swap(sorted.mutable_node());
  }

  /// What takes the place of one of the model's outputs gets its name.
  void rename_outputs() {
    for (const auto& [output, tensor] : outputs_) {
      const std::string name = graph_.output(output).name(), other = fresh(name + "/before");
      changed_.insert({name, tensor});
      for (auto& n : *graph_.mutable_node()) {
        for (const auto& a : n.attribute())
          if (a.has_g()) refuse(); // it may read either by name
        for (auto* list : {n.mutable_input(), n.mutable_output()})
          for (std::string& s : *list)
            s = s == name ? other : s == tensor ? name : s;
      }
    }
  }

  ::onnx::GraphProto& graph_;
  int nodes_;
  const model::graph &from_, &to_;
  std::map<std::string, const model::node*> was_{};
  std::vector<int> known_{}; ///< of each node of the rewritten graph its number in the model
  std::map<int, std::string> outputs_{};
  std::set<std::string> names_{}, changed_{};
  std::set<int> dropped_{};
  std::map<int, std::vector<int>> reads_{}; ///< new nodes that have to come before a node
  std::map<int, int> places_{};             ///< of a Gather what makes its place a row
};
} // namespace detail

/// `whole`, whose checked form without weights is `source`, rewritten wherever a rule fits; refuses
/// a model in which none does.
inline written_model rewrite_model(::onnx::ModelProto whole, const onnx::source& source,
                                   const onnx::options& o) {
  const model::graph from = onnx::resolve(
      onnx::source(detail::with_numbers(source.model()), source.where(), source.name()), o);
  auto to = model::rewritten_form(from);
  if (!to)
    throw error("no rule fits: nothing is to be rewritten", source.where(),
                "benanza_generate rewrite --help says what is looked for");
  detail::onnx_rewriter(whole, from, *to).follow();
  for (model::node& n : to->nodes)
    if (const auto number = detail::number_in(detail::node_mark, model::rewritten_from(n.name))) {
      const auto& its = source.model().graph().node(*number);
      n.name = its.name().empty() && its.output_size() > 0 ? its.output(0) : its.name();
    }
  return {std::move(whole), std::move(*to)};
}

} // namespace benanza::generator
