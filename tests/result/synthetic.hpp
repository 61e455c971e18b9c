// SPDX-License-Identifier: Apache-2.0
// Results without a benchmark: graphs and measurements, made up from a seed, the same on every
// machine. Tests of result, bound, report and analyzer build theirs here; document.hpp has them as
// result files.
//
//   run r = synthetic::small_run();
#pragma once

#include <benanza/result/run.hpp>
#include <benanza/result/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace synthetic {

using benanza::numeric;
using benanza::model::graph;
using benanza::model::node;
using benanza::result::measurement;
using benanza::result::run;

/// Pseudo-random numbers (a 64-bit linear congruential generator with Knuth's MMIX constants).
struct random {
  std::uint64_t state;

  std::uint64_t operator()() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
  /// One of 0 .. n-1.
  int below(int n) { return static_cast<int>((*this)() % static_cast<std::uint64_t>(n)); }
  /// In (0, 1).
  double unit() { return (static_cast<double>((*this)()) + 0.5) / 2147483648.0; }
};

/// `n` samples that are up to a tenth over `least_ns`, the first of them `least_ns` itself.
inline std::vector<double> samples(double least_ns, int n, std::uint64_t seed = 1) {
  random r{seed * 977 + 3};
  std::vector<double> out{least_ns};
  // Two decimals, as a compact result has them.
  while (static_cast<int>(out.size()) < n)
    out.push_back(std::round(least_ns * (1 + 0.1 * r.unit() * r.unit()) * 100) / 100);
  return out;
}

/// A case that succeeded, with these samples.
inline measurement timed(const std::string& layer, const std::string& algorithm, int index,
                         const std::string& state, std::vector<double> samples_ns,
                         const std::string& type = "f32", int threads = 1) {
  const benanza::op::layer l = benanza::op::parse(layer);
  measurement m;
  m.family = benanza::op::family(l);
  m.key = benanza::op::key(l);
  m.type = m.equivalence = type;
  m.backend = "onednn";
  m.algorithm = algorithm;
  m.algorithm_index = index;
  m.state = state;
  m.threads = threads;
  m.layouts = "any";
  m.samples_ns = std::move(samples_ns);
  m.count = std::ssize(m.samples_ns);
  m.stop_reason = "spread";
  const benanza::op::work work = benanza::op::cost(l);
  m.weight_bytes = work.constant_bytes(benanza::parse_numeric(type).value_or(numeric::f32));
  m.flops = m.algorithm_flops = work.flops();
  m.bytes = work.bytes(numeric::f32);
  benanza::result::recompute(m);
  m.name =
      layer + '/' + type + "/onednn/" + algorithm + '/' + state + "/t" + std::to_string(threads);
  return m;
}

/// A hot and a coldw case of one algorithm, 20 samples each; cold weights take `factor` as long.
inline void add(run& r, const std::string& layer, const std::string& algorithm, int index,
                double least_ns, double factor = 1.1, const std::string& type = "f32",
                int threads = 1) {
  const auto seed = static_cast<std::uint64_t>(index) + layer.size();
  r.measurements.push_back(
      timed(layer, algorithm, index, "hot", samples(least_ns, 20, seed), type, threads));
  if (r.measurements.back().weight_bytes > 0)
    r.measurements.push_back(timed(layer, algorithm, index, "coldw",
                                   samples(least_ns * factor, 20, seed + 1), type, threads));
}

/// The cases of an algorithm that works in those layouts, as add() makes them.
inline void add_laid(run& r, const std::string& layer, const std::string& algorithm, int index,
                     const std::string& operands, const std::string& result, double least_ns,
                     double factor = 1.1) {
  const std::size_t before = r.measurements.size();
  add(r, layer, algorithm, index, least_ns, factor);
  for (std::size_t i = before; i < r.measurements.size(); ++i) {
    r.measurements[i].operand_layouts = operands;
    r.measurements[i].result_layout = result;
  }
}

/// A graph whose nodes name their layers; `inputs[i]` are the nodes that node i reads.
inline graph make_graph(const std::string& name, const std::vector<std::string>& layers,
                        const std::vector<std::vector<int>>& inputs) {
  graph g;
  g.name = name;
  g.model = name.substr(0, name.find('@'));
  std::vector<std::string> unique = layers;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  for (const std::string& l : unique)
    g.layers.push_back(benanza::op::parse(l));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    node n;
    n.name = "node" + std::to_string(i);
    n.op = layers[i].substr(0, layers[i].find('/'));
    n.layer = static_cast<int>(std::find(unique.begin(), unique.end(), layers[i]) - unique.begin());
    n.inputs = inputs[i];
    g.nodes.push_back(std::move(n));
  }
  return g;
}

/// A run with provenance and nothing else.
inline run empty_run() {
  run r;
  r.source = "made up";
  r.provenance["machine"] = {
      {"cpu", "Test CPU 9000"}, {"cores", "2"}, {"l2_bytes", "1048576"}, {"llc_bytes", "1048576"}};
  r.provenance["software"] = {{"benanza", "0.1"}, {"onednn_version", "2.6.3"}};
  r.provenance["measuring"] = {{"date", "2024-01-02"}};
  return r;
}

inline const std::string conv = "Conv/1x64x56x56-64x3x3-s1-p1";
inline const std::string wide = "Conv/1x64x56x56-256x1x1-s1-b";
inline const std::string deep = "Conv/1x512x7x7-2048x1x1-s1-b";
inline const std::string relu = "Relu/1x64x56x56";
inline const std::string softmax = "Softmax/1x1000-a1";
inline const std::string flatten = "Flatten/1x2048x1x1-1x2048";

/// A model of a fork and a join, with a view, measured with several algorithms a layer.
inline run small_run() {
  run r = empty_run();
  r.graphs.push_back(make_graph("tiny@batch=1", {conv, relu, conv, wide, deep, softmax, flatten},
                                {{}, {0}, {1}, {1}, {2, 3}, {4}, {5}}));
  add(r, conv, "brgconv:avx512_core", 0, 800e3);
  add(r, conv, "jit_wino_4x3:avx512_core", 5, 350e3, 1.6);
  r.measurements.back().algorithm_flops /= 4;
  r.measurements[r.measurements.size() - 2].algorithm_flops /= 4;
  add(r, conv, "ref:any", 9, 90e6);
  add(r, wide, "brgconv_1x1:avx512_core", 0, 420e3);
  add(r, deep, "brgconv_1x1:avx512_core", 0, 410e3);
  add(r, deep, "jit_1x1:avx512_core", 1, 405e3);
  add(r, relu, "jit:avx512_core", 0, 9e3);
  add(r, softmax, "plain", 0, 1.5e3);
  for (measurement& m : r.measurements) {
    if (m.family == "Softmax") m.backend = m.fallback = "host";
    if (m.algorithm == "ref:any") m.fallback = "ref";
  }
  return r;
}

inline const std::string narrow = "Conv/1x64x56x56-64x1x1-s1-b";
inline const std::string sum = "Add/1x64x56x56";

/// A residual block, unfused and fused, in three layouts: conv, relu, conv, add, relu, softmax.
/// Blocks are the fastest, and the fused joins are a little slower than their parts.
inline run fused_run() {
  run r = empty_run();
  const std::string last = "Softmax/1x64x56x56-a3";
  r.graphs.reserve(2);
  r.graphs.push_back(make_graph("block@batch=1", {conv, relu, narrow, sum, relu, last},
                                {{}, {0}, {1}, {1, 2}, {3}, {4}}));
  graph& g = r.graphs.back();
  using benanza::model::constant;
  using benanza::model::model_input;
  g.nodes[0].operands = {{model_input}, {constant}};
  g.nodes[1].operands = {{0}};
  g.nodes[2].operands = {{1}, {constant}, {constant}};
  g.nodes[3].operands = {{2}, {1}};
  g.nodes[4].operands = {{3}};
  g.nodes[5].operands = {{4}};
  const std::string conv_relu = "Conv+Relu/1x64x56x56-64x3x3-s1-p1";
  const std::string conv_add_relu = "Conv+Add+Relu/1x64x56x56-64x1x1-s1-b";
  r.graphs.push_back(
      make_graph("block@batch=1,fused", {conv_relu, conv_add_relu, last}, {{}, {0}, {1}}));
  graph& f = r.graphs.back();
  f.unfused = g.name;
  f.nodes[0].operands = g.nodes[0].operands;
  f.nodes[1].operands = {{0}, {constant}, {constant}, {0}};
  f.nodes[2].operands = {{1}};
  f.nodes[0].parts = {0, 1};
  f.nodes[1].parts = {2, 3, 4};
  f.nodes[2].parts = {5};
  const auto times = [&](const std::string& layer, double plain, double last_ns, double blocked,
                         bool joins = false) {
    add_laid(r, layer, "gemm:jit", 2, joins ? "plain,plain" : "plain", "plain", plain);
    add_laid(r, layer, "brgconv:avx512_core", 0,
             joins ? "channels_last,channels_last" : "channels_last", "channels_last", last_ns);
    add_laid(r, layer, "jit:avx512_core", 1, joins ? "blocked16,blocked16" : "blocked16",
             "blocked16", blocked);
  };
  times(conv, 1200e3, 800e3, 700e3);
  times(conv_relu, 1210e3, 805e3, 704e3);
  times(narrow, 180e3, 110e3, 105e3);
  times(conv_add_relu, 210e3, 140e3, 150e3, true);
  add_laid(r, relu, "eltwise", 0, "any", "any", 9e3);
  add_laid(r, sum, "sum", 0, "any", "any", 15e3);
  add_laid(r, last, "plain", 0, "plain", "plain", 400e3);
  for (const char* from : {"plain", "channels_last", "blocked16"})
    for (const char* to : {"plain", "channels_last", "blocked16"})
      if (std::string(from) != to)
        add_laid(r, "reorder/1x64x56x56-" + std::string(from) + "-" + to, "simple:any", 0, from, to,
                 std::string(from) == "plain" || std::string(to) == "plain" ? 60e3 : 20e3);
  return r;
}

/// A graph of `n` nodes, each a layer of its own, with a few edges from earlier nodes. Any number
/// of sources and sinks; `chance` of 8 is that of an edge from one of the eight nodes before.
inline graph random_graph(const std::string& name, int n, std::uint64_t seed, int chance = 2) {
  random r{seed};
  graph g;
  g.name = g.model = name;
  for (int i = 0; i < n; ++i)
    g.layers.push_back(benanza::op::parse("Relu/1x" + std::to_string(1000 + i)));
  for (int i = 0; i < n; ++i) {
    node v;
    v.name = "v" + std::to_string(i);
    v.op = "Relu";
    v.layer = r.below(n);
    for (int from = std::max(0, i - 8); from < i; ++from)
      if (r.below(8) < chance) v.inputs.push_back(from);
    g.nodes.push_back(std::move(v));
  }
  return g;
}

/// `models` models that share `layers` convolutions, with `algorithms` algorithms of two cases of
/// `n` samples each.
inline run large_run(int models, int layers, int algorithms, int n) {
  run r = empty_run();
  random dice{7};
  std::vector<std::string> names;
  for (int i = 0; i < layers; ++i)
    names.push_back("Conv/1x64x" + std::to_string(7 + i) + "x7-64x3x3-s1-p1");
  for (int m = 0; m < models; ++m) {
    graph g = random_graph("model" + std::to_string(m), 1000 / models * 4,
                           17u + static_cast<unsigned>(m));
    std::vector<std::string> own;
    for (int i = m; i < layers; i += models)
      own.push_back(names[static_cast<std::size_t>(i)]);
    std::sort(own.begin(), own.end());
    g.layers.clear();
    for (const std::string& l : own)
      g.layers.push_back(benanza::op::parse(l));
    for (node& v : g.nodes)
      v.layer = dice.below(static_cast<int>(own.size()));
    r.graphs.push_back(std::move(g));
  }
  for (const std::string& l : names)
    for (int a = 0; a < algorithms; ++a)
      for (const char* state : {"hot", "coldw"})
        r.measurements.push_back(timed(l, "algorithm" + std::to_string(a), a, state,
                                       samples(1e5 * (1 + dice.unit()), n, dice())));
  return r;
}

/// A model of one convolution, and its rewritten graph, of another that takes so long; 0: it was
/// not measured.
inline run rewritten_run(double ns) {
  const std::string own = "Conv/1x8x8x8-8x3x3-s1-p1", less = "Conv/1x8x8x8-8x3x3-s2-p1";
  run r = empty_run();
  r.graphs.push_back(make_graph("net@batch=1", {own}, {{}}));
  r.graphs.push_back(make_graph("net@batch=1,rewritten", {less}, {{}}));
  for (benanza::model::graph& g : r.graphs)
    g.nodes[0].operands = {{benanza::model::model_input}, {benanza::model::constant}};
  r.graphs[1].original = r.graphs[0].name;
  r.graphs[1].rewrites = {{.rule = "strides moved back", .nodes = {0}, .flops = 1, .bytes = 0}};
  add_laid(r, own, "plain", 0, "plain", "plain", 100e3);
  if (ns > 0) add_laid(r, less, "plain", 0, "plain", "plain", ns);
  return r;
}

/// The same with all of it measured on a GPU.
inline run on_gpu(run r) {
  for (measurement& m : r.measurements)
    m.device = "gpu";
  return r;
}

} // namespace synthetic
