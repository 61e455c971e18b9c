// SPDX-License-Identifier: Apache-2.0
// What is a model? A directed acyclic graph of layers with every shape resolved, for one batch size
// and one numeric class. It knows no ONNX and holds no weights. Layers are unique: nodes refer to
// them by index. A node whose layer could not be resolved keeps its place and says why.
//
//   graph g;  g.name = "resnet50-v1@batch=1";  g.nodes[5].inputs   // indices of the producing
//   nodes
#pragma once

#include "../op/layer.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::model {

inline constexpr int no_layer = -1;
inline constexpr int model_input = -1; ///< as the producer of an operand: the model's caller
inline constexpr int constant = -2;    ///< as the producer of an operand: trained or fixed
/// As the output of `model_input`: what another part of the model makes, of which this graph is a
/// part too.
inline constexpr int made_elsewhere = 1;

/// Where an operand of a node comes from.
struct operand {
  int node = model_input;    ///< the node that makes it, `model_input` or `constant`
  int output = 0;            ///< which of that node's results
  dtype codes = dtype::real; ///< of a constant that codes were turned back to: their storage
  bool operator==(const operand&) const = default;
};

/// One operator in its place.
struct node {
  std::string name{};
  std::string op{};          ///< ONNX operator, with its domain if that is not ONNX's own
  int layer = no_layer;      ///< index into graph::layers; no_layer: unresolved
  std::vector<int> inputs{}; ///< nodes whose results it reads: ascending, each once, all before it
  std::vector<operand> operands{}; ///< in ONNX order; behind them those that fused steps join
  std::vector<int> parts{}; ///< of a fused graph: the nodes of the unfused one that it stands for
  std::string problem{};    ///< why there is no layer; empty where there is one
  bool given = false; ///< the model's caller gets a result; known where the model was read alone
  /// Of one that quantises or turns back: which scale and zero point; equal ones have equal texts.
  /// Empty: not known, as where the model was not read.
  std::string scale{};
};

/// One change of a graph that leaves its results as they are (model/rewrite/).
struct rewrite {
  std::string rule{};                ///< "strides moved back"
  std::vector<int> nodes{};          ///< that compute less, of the rewritten graph
  std::int64_t flops = 0, bytes = 0; ///< that it saves
  bool operator==(const rewrite&) const = default;
};

/// Inputs that keep keys and values of earlier tokens, each joined with what a run adds.
struct token_cache {
  std::int64_t bytes = 0;     ///< of all of them
  std::int64_t sequences = 0; ///< side by side
  std::int64_t past = 0;      ///< tokens that each sequence has
  std::int64_t added = 0;     ///< by a run, to each; 0: the model has no such inputs
  explicit operator bool() const { return added > 0; }
  /// That a run adds to all sequences together.
  std::int64_t tokens() const { return sequences * added; }
  bool operator==(const token_cache&) const = default;
};

/// One model at one batch size.
struct graph {
  std::string name{};  ///< `resnet50@batch=8`, the name of this variant
  std::string model{}; ///< `resnet50`
  /// The name of the graph that this is the fused form of; empty: this one is not fused.
  std::string unfused{};
  /// The name of the graph that this is a rewritten form of, or the fused form of one; empty: it is
  /// the model's own.
  std::string original{};
  std::vector<rewrite> rewrites{}; ///< of a rewritten graph, and of its fused forms
  std::string structure{}; ///< hash of the file's structure (onnx/structure.hpp); empty: no file's
  std::int64_t batch = 1;
  std::map<std::string, std::int64_t> dims{}; ///< what the command line said of symbolic ones
  numeric type = numeric::f32;                ///< the model's own class
  std::vector<op::layer> layers{};            ///< unique, sorted by name
  std::vector<node> nodes{};                  ///< in an order in which producers come first
  std::int64_t parameters = 0;                ///< elements of the trained weights
  std::int64_t parameter_bytes = 0;           ///< as the model stores them
  /// Of these, those that every run reads whole, each once: no tables of which it reads some rows.
  std::int64_t streamed_weight_bytes = 0;
  token_cache cache{};
  std::int64_t folded = 0;            ///< nodes that depend on constants only, and so are no layers
  std::vector<std::string> repairs{}; ///< what was changed to make the model fit, a line each
  /// What a run of the model decides and was assumed here, a line each: how often a loop runs.
  std::vector<std::string> assumptions{};
};

/// What is behind the name of a model whose graph was rewritten.
inline constexpr std::string_view rewritten_suffix = ",rewritten";

/// What is behind the name of a model of which a step of training is looked at
/// (model/training.hpp).
inline constexpr std::string_view training_suffix = ",training";
inline bool is_training_step(const graph& g) {
  return std::string_view(g.model).ends_with(training_suffix);
}

/// What the name of a model says of it that is another with its weights, or its keys and values, in
/// other types: `llama,weights=q8_0`.
struct variant {
  std::string_view of{}, kind{}, as{};
};
/// Of another name the name alone.
inline variant variant_of(std::string_view model) {
  for (const std::string_view kind : {"weights", "cache"}) {
    const std::string mark = ',' + std::string(kind) + '=';
    const std::size_t at = model.find(mark);
    if (at == model.npos) continue;
    const std::string_view as = model.substr(at + mark.size());
    if (!as.empty() && as.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == as.npos)
      return {.of = model.substr(0, at), .kind = kind, .as = as};
  }
  return {.of = model};
}

/// True for another form of a model than that it is written in: fused, rewritten, or both.
inline bool is_form(const graph& g) {
  return !g.unfused.empty() || !g.original.empty();
}

/// The layer of a node; null: it is unresolved.
inline const op::layer* layer_of(const graph& g, const node& n) {
  return n.layer == no_layer ? nullptr : &g.layers[static_cast<std::size_t>(n.layer)];
}

/// True for a graph that says its codes of 8 bits by pairs of QuantizeLinear and DequantizeLinear:
/// frameworks compute in int8 there.
inline bool holds_codes(const graph& g) {
  return std::any_of(g.layers.begin(), g.layers.end(), op::codes_bytes);
}

/// How many nodes use each layer of `g`.
inline std::vector<std::int64_t> counts(const graph& g) {
  std::vector<std::int64_t> n(g.layers.size());
  for (const node& v : g.nodes)
    if (v.layer != no_layer) ++n[static_cast<std::size_t>(v.layer)];
  return n;
}

/// Unresolved nodes: operator and reason, with how many there are.
inline std::map<std::pair<std::string, std::string>, std::int64_t> unresolved(const graph& g) {
  std::map<std::pair<std::string, std::string>, std::int64_t> out;
  for (const node& v : g.nodes)
    if (v.layer == no_layer) ++out[{v.op, v.problem}];
  return out;
}

} // namespace benanza::model
