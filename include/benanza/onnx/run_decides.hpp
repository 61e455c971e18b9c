// SPDX-License-Identifier: Apache-2.0
// What becomes of sizes and dims that only a run of the model decides? The caller may say them, of
// a node (`--size`) or of a value (`--shape`), the file may, or they are taken as the largest; each
// is told as an assumption.
//
//   run_decides decided(options, "bert.onnx", graph);
//   decided.take_dims(call, 0, "sliced", described, answer);   // by --shape sliced=1x40x64
#pragma once

#include "build.hpp"
#include "inputs.hpp"
#include "largest.hpp"
#include "said_dims.hpp"
#include "visitor.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::onnx::detail {

class run_decides {
public:
  /// `where`: the model's file; `g` is told what was assumed.
  run_decides(const options& o, std::string where, model::graph& g)
      : where_(std::move(where))
      , graph_(g)
      , sizes_(o.sizes)
      , known_sizes_(o.known_sizes)
      , said_(o.shapes) {}

  /// What the caller wants of sizes that depend on values, where there is no other word on them.
  void find_sizes(const step& s, const call& c, const std::string& path, answer& a) {
    for (const result& r : a.outputs)
      if (r.dims) return;
    for (int i = 0; i < c.size(); ++i)
      if (c.has(i) && !c.operand(i).dims) return; // that is another cause
    const std::string name =
        path +
        (s.node->name().empty() && s.node->output_size() > 0 ? s.node->output(0) : s.node->name());
    const std::optional<std::int64_t> known = known_size(name);
    const std::string ways = "--size NODE=N says it, --data-dependent=max takes the largest";
    if (!known && sizes_ == data_dependent::stop) {
      if (stopped_ || !largest_results(c)) return;
      stopped_ = true;
      graph_.repairs.push_back(
          operator_name(*s.node) + ' ' + in_quotes(name) +
          ": what the model reads decides the size, so nothing that needs it is resolved; " + ways);
      return;
    }
    if (!known && sizes_ == data_dependent::refuse)
      throw whole_model_refused("the size of what " + operator_name(*s.node) + ' ' +
                                    in_quotes(name) + " gives depends on what the model reads",
                                where_, ways + ", stop leaves out what follows");
    std::optional<std::vector<result>> most = largest_results(c, known);
    if (!most || s.outputs.empty()) return;
    most->resize(std::min<std::size_t>(most->size(), s.outputs.size()));
    a.outputs = std::move(*most);
    if (std::optional<op::layer> made = largest_layer(c, known)) a.layer = std::move(made);
    if (a.layer) a.problem.clear();
    graph_.assumptions.push_back(operator_name(*s.node) + ' ' + in_quotes(name) +
                                 ": what the model reads decides the size; " +
                                 text(*a.outputs[0].dims) +
                                 (known ? ", as --size says" : " is the largest"));
  }

  /// Dims of result `i`, the model's value `name`, that somebody says, where nothing else does; `a`
  /// becomes what the node is then. `described` is what the file says of it.
  void take_dims(const call& c, std::size_t i, const std::string& name, const value& described,
                 answer& a) {
    const auto caller = said_.find(name);
    const bool asked = caller != said_.end();
    const bool known = i < a.outputs.size() && a.outputs[i].dims;
    if (asked && a.body != nullptr)
      throw whole_model_refused("--shape " + name + ": its operator is opened into layers", where_,
                                "say the dims of what they read");
    if (asked && known && !(caller->second == *a.outputs[i].dims))
      throw whole_model_refused("--shape " + name + '=' + text(caller->second) + ": it is " +
                                    text(*a.outputs[i].dims) +
                                    ", as follows from the model's inputs",
                                where_, "leave it out, or say other inputs");
    const std::optional<shape> dims = asked ? std::optional(caller->second) : described.dims;
    if (known || a.body != nullptr || !dims) return;
    std::optional<answer> made;
    try {
      if (i == 0 && domain_of(c.node()).empty()) made = as_said(c, *dims);
    } catch (const error& e) {
      if (!asked) return;
      throw whole_model_refused("--shape " + name + ": " + e.what(), where_,
                                "say dims that it can have");
    }
    if (asked) {
      used_dims_.insert(name);
      graph_.assumptions.push_back(operator_name(c.node()) + ' ' + in_quotes(name) +
                                   ": a run of the model decides its dims; " + text(*dims) +
                                   ", as --shape says");
    }
    if (made) {
      described_ += asked ? 0 : 1;
      a = std::move(*made);
    } else if (asked) {
      if (a.outputs.size() <= i) a.outputs.resize(i + 1);
      if (a.outputs[i].element == 0)
        a.outputs[i].element = described.element != 0 ? described.element
                               : c.has(0)             ? c.element(0)
                                                      : int{proto::FLOAT};
      a.outputs[i].dims = dims;
    }
  }

  /// Tells what was said and not used; `makes(name)`: the model makes a value of that name.
  template <class Makes>
  void tell_unused(const Makes& makes) {
    for (const auto& [name, size] : known_sizes_)
      if (!used_sizes_.contains(name))
        graph_.repairs.push_back("--size " + name +
                                 ": the model has no such node whose size a run decides");
    for (const auto& [name, dims] : said_)
      if (!used_dims_.contains(name) && makes(name))
        graph_.repairs.push_back("--shape " + name +
                                 ": the model has no such value whose dims a run decides");
    if (described_ > 0)
      graph_.assumptions.push_back(std::to_string(described_) +
                                   (described_ == 1 ? " result has" : " results have") +
                                   " the dims that the file says, where they follow from nothing "
                                   "else");
  }

private:
  /// The size that the caller says of a node, by its name or the begin of it and a star.
  std::optional<std::int64_t> known_size(const std::string& node) {
    auto said = known_sizes_.find(node);
    if (said == known_sizes_.end())
      said = std::find_if(known_sizes_.begin(), known_sizes_.end(), [&](const auto& x) {
        return x.first.ends_with('*') && node.starts_with(x.first.substr(0, x.first.size() - 1));
      });
    if (said == known_sizes_.end()) return std::nullopt;
    used_sizes_.insert(said->first);
    return said->second;
  }

  std::string where_;
  model::graph& graph_;
  data_dependent sizes_;
  std::map<std::string, std::int64_t> known_sizes_;
  std::map<std::string, shape> said_; ///< of values and inputs
  std::set<std::string> used_sizes_{}, used_dims_{};
  std::int64_t described_ = 0; ///< nodes that became layers by the file's word
  bool stopped_ = false;       ///< a size that the model decides was met, and said
};

} // namespace benanza::onnx::detail
