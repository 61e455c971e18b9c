// SPDX-License-Identifier: Apache-2.0
// What becomes of nodes that hold graphs? An If whose condition is constant takes its branch; of
// one that decides when the model runs the costlier branch is counted. Bodies of Loop, Scan and
// SequenceMap are in the graph as often as they run, each time with what the time before left.
// Where only a run of the model shows how often, it is once, or what the caller says; each such
// choice is a line of the graph's assumptions.
//
//   control(visitor, {{"decoder", 12}}).open(step, call, scope)   // true: it was one of them
#pragma once

#include "build.hpp"
#include "sequences.hpp"

#include <map>
#include <set>

namespace benanza::onnx::detail {

class control {
public:
  /// `counts`: how often loops run, by name, where the model does not say.
  control(visitor& v, const std::map<std::string, std::int64_t>& counts)
      : visitor_(v)
      , sequences_(v)
      , counts_(counts) {}

  /// Resolves a node in place, if it is one that holds graphs or is on sequences.
  bool open(const step& s, const call& c, const scope& in) {
    if (!domain_of(*s.node).empty()) return false;
    const std::string& op = c.op();
    if (op == "If")
      open_if(s, c, in);
    else if (op == "Loop")
      open_loop(s, c, in);
    else if (op == "Scan")
      open_scan(s, c, in);
    else if (op == "SequenceMap")
      open_map(s, c, in);
    else
      return sequences_.open(s, c, in);
    return true;
  }

  /// Counts that no loop took.
  std::vector<std::string> unused_counts() const {
    std::vector<std::string> out;
    for (const auto& [name, count] : counts_)
      if (!used_.contains(name)) out.push_back(name);
    return out;
  }

private:
  value& at(int number) { return visitor_.at(number); }

  static const ::onnx::GraphProto& graph_in(const call& c, std::string_view attribute) {
    const auto* a = c.attribute(attribute);
    if (a == nullptr || !a->has_g())
      throw error("its attribute " + std::string(attribute) + " is missing");
    return a->g();
  }
  static const std::string& name_of(const step& s) {
    if (s.node->output_size() == 0) throw error("it has no outputs");
    return s.node->name().empty() ? s.node->output(0) : s.node->name();
  }
  void note(const step& s, const scope& in, const std::string& what) {
    visitor_.graph().assumptions.push_back(s.node->op_type() + ' ' +
                                           in_quotes(in.path + name_of(s)) + ": " + what);
  }

  /// Resolves the nodes of a graph with values for its inputs; what its outputs are.
  std::vector<int> open_graph(const ::onnx::GraphProto& g, const step& s, const scope& in,
                              const std::vector<int>& given, const std::string& label) {
    auto found = programs_.find(&g);
    if (found == programs_.end())
      found = programs_.emplace(&g, order(g, "the graph in " + in_quotes(name_of(s)), true)).first;
    const program& steps = found->second;
    visitor_.spend(steps.steps.size() + steps.names.size());
    if (in.depth >= deepest_call)
      throw error("graphs are nested more than " + std::to_string(deepest_call) + " deep");
    if (static_cast<int>(given.size()) != g.input_size())
      throw error("its graph has " + std::to_string(g.input_size()) + " inputs and gets " +
                  std::to_string(given.size()));
    scope body{.steps = &steps,
               .opsets = in.opsets,
               .around = &in,
               .attributes = in.attributes,
               .path = path_in(in, name_of(s) + label),
               .depth = in.depth + 1};
    body.values.assign(steps.names.size(), no_value);
    const auto value_named = [&](std::string_view name) -> int& {
      return body.values[static_cast<std::size_t>(steps.number_of(name))];
    };
    for (int number : steps.around) {
      const auto n = static_cast<std::size_t>(number);
      body.values[n] = in.steps ? in.value_of(in.steps->number_of(steps.names[n])) : -1;
    }
    for (int i = 0; i < g.input_size(); ++i)
      value_named(g.input(i).name()) = given[static_cast<std::size_t>(i)];
    for (const auto& t : g.initializer()) {
      int& v = value_named(t.name());
      if (v >= 0) continue; // an input that is given: this is its default
      v = visitor_.new_value();
      at(v).set(t);
    }
    for (int& v : body.values)
      if (v == no_value) v = visitor_.new_value();
    for (const step& inner : steps.steps)
      visitor_.visit(inner, body);
    std::vector<int> made;
    for (const auto& o : g.output()) {
      made.push_back(body.value_of(steps.number_of(o.name())));
      if (made.back() < 0)
        throw error("nothing in its graph produces its output " + in_quotes(o.name()));
    }
    return made;
  }

  /// Results of the node; those that only a run decides on are no constants.
  void give(const step& s, std::size_t output, int made, bool decided) {
    if (output >= s.outputs.size() || s.outputs[output] < 0) return;
    value v = at(made);
    if (!decided) v.forget_elements();
    at(s.outputs[output]) = std::move(v);
  }

  /// Operations that a processor does while it moves a byte, roughly: enough to compare branches.
  double cost_of_nodes(std::size_t from, std::size_t to) {
    constexpr double flops_a_byte = 8;
    const model::graph& g = visitor_.graph();
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      if (g.nodes[i].layer == model::no_layer) continue;
      const op::layer& l = g.layers[static_cast<std::size_t>(g.nodes[i].layer)];
      if (op::is_view(l)) continue;
      const op::work w = op::cost(l);
      sum += std::max(static_cast<double>(w.flops()),
                      flops_a_byte * static_cast<double>(w.bytes(numeric::f32)));
    }
    return sum;
  }

  void open_if(const step& s, const call& c, const scope& in) {
    const ::onnx::GraphProto& yes = graph_in(c, "then_branch");
    const ::onnx::GraphProto& no = graph_in(c, "else_branch");
    if (s.inputs.size() != 1 || s.inputs[0] < 0) throw error("its condition is missing");
    if (const auto known = number_in(at(s.inputs[0]))) {
      const std::vector<int> made = open_graph(*known != 0 ? yes : no, s, in, {}, "");
      for (std::size_t i = 0; i < made.size(); ++i)
        give(s, i, made[i], true);
      return;
    }
    const auto end = [&] { return visitor_.graph().nodes.size(); };
    const std::size_t start = end();
    const std::vector<int> first = open_graph(yes, s, in, {}, "/then");
    const std::size_t middle = end();
    const std::vector<int> second = open_graph(no, s, in, {}, "/else");
    const bool takes_first = cost_of_nodes(start, middle) >= cost_of_nodes(middle, end());
    const auto drop = [&](std::size_t from, std::size_t to) {
      visitor_.drop_nodes(static_cast<int>(from), static_cast<int>(to));
    };
    takes_first ? drop(middle, end()) : drop(start, middle);
    const std::vector<int>& made = takes_first ? first : second;
    for (std::size_t i = 0; i < made.size(); ++i)
      give(s, i, made[i], false);
    note(s, in,
         std::string("a run of the model decides between then_branch and else_branch; ") +
             (takes_first ? "then_branch" : "else_branch") + " is counted, the costlier one");
  }

  /// What the caller says of a loop, by its name or by the path to it.
  std::optional<std::int64_t> asked_of(const step& s, const scope& in) {
    for (const std::string& name : {in.path + name_of(s), name_of(s)})
      if (const auto found = counts_.find(name); found != counts_.end()) {
        used_.insert(name);
        return found->second;
      }
    return std::nullopt;
  }

  void open_loop(const step& s, const call& c, const scope& in) {
    const ::onnx::GraphProto& body = graph_in(c, "body");
    if (s.inputs.size() < 2) throw error("its count and condition are missing");
    std::vector<int> state(s.inputs.begin() + 2, s.inputs.end());
    const std::size_t carried = state.size();
    if (static_cast<std::size_t>(body.output_size()) < carried + 1)
      throw error("its body has fewer outputs than it carries values");
    const bool ends_by_count = s.inputs[0] >= 0;
    const auto most = ends_by_count ? number_in(at(s.inputs[0])) : std::nullopt;
    auto goes_on = s.inputs[1] >= 0 ? number_in(at(s.inputs[1])) : std::optional<std::int64_t>(1);
    const std::optional<std::int64_t> asked = asked_of(s, in);
    std::vector<std::vector<int>> scanned(static_cast<std::size_t>(body.output_size()) - 1 -
                                          carried);
    bool decided = true;
    std::int64_t done = 0;
    for (;; ++done) {
      if ((most && done >= *most) || (goes_on && *goes_on == 0)) break;
      if ((ends_by_count && !most) || !goes_on) {
        decided = false;
        if (done >= asked.value_or(1)) break;
      }
      std::vector<int> given{new_constant(visitor_, proto::INT64, {}, {.integers = {done}}),
                             new_constant(visitor_, proto::BOOL, {}, {.integers = {1}})};
      given.insert(given.end(), state.begin(), state.end());
      const std::vector<int> made = open_graph(body, s, in, given, '/' + std::to_string(done));
      goes_on = number_in(at(made[0]));
      state.assign(made.begin() + 1, made.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
      for (std::size_t k = 0; k < scanned.size(); ++k)
        scanned[k].push_back(made[1 + carried + k]);
    }
    if (!decided)
      note(s, in,
           "a run of the model decides how often; its body is counted " + std::to_string(done) +
               (done == 1 ? " time" : " times") +
               (asked ? ", as --loop-count says"
                      : " (--loop-count " + printable(name_of(s), longest_name) +
                            "=N counts it N times)"));
    for (std::size_t i = 0; i < carried; ++i)
      if (state[i] >= 0) give(s, i, state[i], decided);
    for (std::size_t k = 0; k < scanned.size(); ++k)
      give_stacked(s, in, carried + k, scanned[k], 0, decided);
  }

  void give_stacked(const step& s, const scope& in, std::size_t output,
                    const std::vector<int>& parts, std::int64_t axis, bool decided) {
    if (output >= s.outputs.size() || s.outputs[output] < 0) return;
    if (parts.empty()) {
      at(s.outputs[output]).unknown_since = operator_name(*s.node) + " (it never runs)";
      return;
    }
    const int rank = at(parts[0]).dims ? at(parts[0]).dims->size : 0;
    const scope inside = inner(s, in);
    give(s, output, stack(visitor_, inside, parts, call::axis(axis, rank + 1)), decided);
  }

  /// A scope for nodes of our own that replace this one.
  scope inner(const step& s, const scope& in) const {
    return {.opsets = in.opsets, .around = &in, .path = path_in(in, name_of(s)), .depth = in.depth};
  }

  void open_scan(const step& s, const call& c, const scope& in) {
    if (c.opset() < 9) return open_batched_scan(s, c, in);
    const ::onnx::GraphProto& body = graph_in(c, "body");
    const std::int64_t cut = c.integer("num_scan_inputs", 0);
    const auto inputs = static_cast<std::int64_t>(s.inputs.size());
    if (cut < 1 || cut > inputs) throw error("its attribute num_scan_inputs is out of range");
    const auto carried = static_cast<std::size_t>(inputs - cut);
    if (static_cast<std::size_t>(body.output_size()) < carried)
      throw error("its body has fewer outputs than it carries values");
    const auto entry = [&](const char* name, std::size_t i) {
      const std::vector<std::int64_t> list = c.integers(name);
      return i < list.size() ? list[i] : 0;
    };
    std::vector<std::vector<int>> parts;
    std::int64_t length = -1;
    const scope inside = inner(s, in);
    for (std::size_t k = 0; k < static_cast<std::size_t>(cut); ++k) {
      const shape dims = c.dims(static_cast<int>(carried + k));
      const int axis = call::axis(entry("scan_input_axes", k), dims.size);
      if (length >= 0 && dims[axis] != length) throw error("its inputs differ in length");
      length = dims[axis];
      visitor_.spend(static_cast<std::size_t>(length));
      parts.push_back(steps_of(inside, s.inputs[carried + k], axis, length,
                               entry("scan_input_directions", k) != 0));
    }
    std::vector<int> state(s.inputs.begin(),
                           s.inputs.begin() + static_cast<std::ptrdiff_t>(carried));
    auto scanned = scan(body, s, in, state, parts, "/");
    for (std::size_t i = 0; i < carried; ++i)
      if (state[i] >= 0) give(s, i, state[i], true);
    for (std::size_t k = 0; k < scanned.size(); ++k) {
      if (entry("scan_output_directions", k) != 0)
        std::reverse(scanned[k].begin(), scanned[k].end());
      give_stacked(s, in, carried + k, scanned[k], entry("scan_output_axes", k), true);
    }
  }

  /// What a scan reads of one input, step by step.
  std::vector<int> steps_of(const scope& inside, int input, int axis, std::int64_t length,
                            bool backwards) {
    std::vector<int> parts;
    if (length > 0) parts = unstack(visitor_, inside, input, axis, length);
    if (backwards) std::reverse(parts.begin(), parts.end());
    return parts;
  }

  /// Opens a scan's body once for each step, with what `parts` hold of it. Leaves the last state;
  /// gives what the steps gave, a list for each further output.
  std::vector<std::vector<int>> scan(const ::onnx::GraphProto& body, const step& s, const scope& in,
                                     std::vector<int>& state,
                                     const std::vector<std::vector<int>>& parts,
                                     const std::string& label) {
    const std::size_t carried = state.size();
    std::vector<std::vector<int>> scanned(static_cast<std::size_t>(body.output_size()) - carried);
    for (std::size_t i = 0; i < parts.at(0).size(); ++i) {
      std::vector<int> given = state;
      for (const auto& p : parts)
        given.push_back(p[i]);
      const std::vector<int> made = open_graph(body, s, in, given, label + std::to_string(i));
      state.assign(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(carried));
      for (std::size_t k = 0; k < scanned.size(); ++k)
        scanned[k].push_back(made[carried + k]);
    }
    return scanned;
  }

  /// Before opset 9 the first input says how long the sequences are, and each item of a batch, the
  /// first axis of all others, is scanned by itself along the second.
  void open_batched_scan(const step& s, const call& c, const scope& in) {
    const ::onnx::GraphProto& body = graph_in(c, "body");
    if (c.has(0)) throw error("its sequences differ in length (sequence_lens)");
    const std::int64_t cut = c.integer("num_scan_inputs", 0);
    const std::int64_t inputs = static_cast<std::int64_t>(s.inputs.size()) - 1;
    if (cut < 1 || cut > inputs) throw error("its attribute num_scan_inputs is out of range");
    const auto carried = static_cast<std::size_t>(inputs - cut);
    if (static_cast<std::size_t>(body.output_size()) < carried)
      throw error("its body has fewer outputs than it carries values");
    const shape last = c.dims(static_cast<int>(inputs));
    if (last.size < 2 || last[0] < 1 || last[1] < 1) throw error("its inputs hold no sequence");
    const scope inside = inner(s, in);
    std::vector<std::vector<int>> items; // of each input, those of the batch
    for (std::size_t i = 1; i < s.inputs.size(); ++i) {
      const shape& dims = c.dims(static_cast<int>(i));
      const bool sequence = i > carried;
      if (dims.size < 1 + sequence || dims[0] != last[0] || (sequence && dims[1] != last[1]))
        throw error("its inputs differ in length");
      items.push_back(unstack(visitor_, inside, s.inputs[i], 0, last[0]));
    }
    const std::vector<std::int64_t> directions = c.integers("directions");
    std::vector<std::vector<int>> states(carried),
        results(static_cast<std::size_t>(body.output_size()) - carried);
    for (std::size_t b = 0; b < static_cast<std::size_t>(last[0]); ++b) {
      std::vector<int> state;
      std::vector<std::vector<int>> parts;
      for (std::size_t i = 0; i < items.size(); ++i)
        if (i < carried)
          state.push_back(items[i][b]);
        else
          parts.push_back(
              steps_of(inside, items[i][b], 0, last[1],
                       i - carried < directions.size() && directions[i - carried] != 0));
      const auto scanned = scan(body, s, in, state, parts, '/' + std::to_string(b) + '/');
      for (std::size_t k = 0; k < carried; ++k)
        states[k].push_back(state[k]);
      for (std::size_t k = 0; k < results.size(); ++k)
        results[k].push_back(stack(visitor_, inside, scanned[k], 0));
    }
    for (std::size_t k = 0; k < carried; ++k)
      give_stacked(s, in, k, states[k], 0, true);
    for (std::size_t k = 0; k < results.size(); ++k)
      give_stacked(s, in, carried + k, results[k], 0, true);
  }

  void open_map(const step& s, const call& c, const scope& in) {
    const ::onnx::GraphProto& body = graph_in(c, "body");
    if (s.inputs.empty() || s.inputs[0] < 0) throw error("its sequence is missing");
    const std::size_t length = sequences_.items(s.inputs[0]).size();
    std::vector<std::vector<int>> made(static_cast<std::size_t>(body.output_size()));
    for (std::size_t i = 0; i < length; ++i) {
      std::vector<int> given;
      for (int number : s.inputs) {
        if (number < 0) throw error("an input is missing");
        const auto& list = at(number).sequence;
        if (list != nullptr && list->size() != length)
          throw error("its sequences differ in length");
        given.push_back(list == nullptr ? number : (*list)[i]);
      }
      const std::vector<int> results = open_graph(body, s, in, given, '/' + std::to_string(i));
      for (std::size_t k = 0; k < made.size(); ++k)
        made[k].push_back(results[k]);
    }
    for (std::size_t k = 0; k < made.size() && k < s.outputs.size(); ++k)
      if (s.outputs[k] >= 0) sequences_.give(s.outputs[k], std::move(made[k]));
  }

  visitor& visitor_;
  sequences sequences_;
  const std::map<std::string, std::int64_t>& counts_;
  std::set<std::string> used_{};
  std::unordered_map<const ::onnx::GraphProto*, program> programs_{};
};

} // namespace benanza::onnx::detail
