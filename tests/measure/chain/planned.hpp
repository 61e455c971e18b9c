// SPDX-License-Identifier: Apache-2.0
// Small models as plans over the real backends, and what the reference makes of them.
#pragma once

#include "backend/built.hpp"

#include <benanza/measure/chain/plan_subject.hpp>
#include <benanza/op/kinds.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace benanza::test {

using namespace measure;

inline library_list real_libraries() {
  library_list out;
  out.push_back(built("host"));
  out.push_back(built("onednn"));
  return out;
}

inline model::graph graph_of(const std::vector<std::pair<std::string, std::string>>& rows) {
  model::graph g;
  g.name = "test";
  for (const auto& [layer, operands] : rows) {
    const int number = static_cast<int>(g.nodes.size());
    model::node n;
    n.name = "n" + std::to_string(number);
    n.layer = number;
    g.layers.push_back(op::parse(layer));
    n.op = op::family(g.layers.back());
    n.operands = *model::read_operands(operands, number);
    n.inputs = model::inputs_of(n.operands);
    g.nodes.push_back(n);
  }
  return g;
}

/// What may be in a plan for a layer.
inline std::vector<result::plan_step> offers(const op::layer& l, const library_list& libraries,
                                             numeric type) {
  std::vector<result::plan_step> out;
  for (const auto& library : libraries)
    for (const backend::algorithm& a : library->enumerate(l, type, {.threads = 1}))
      if (!a.result_layout.empty() && a.fallback != "ref" && a.equivalence == name(type)) {
        const bool any = a.result_layout == any_layout_name;
        out.push_back({std::string(library->name()), a.id, any ? "plain" : a.operand_layouts,
                       any ? "plain" : a.result_layout});
      }
  return out;
}

inline bool offers_all(const model::graph& g, const library_list& libraries, numeric type) {
  return std::all_of(g.layers.begin(), g.layers.end(), [&](const op::layer& l) {
    return op::is_view(l) || !offers(l, libraries, type).empty();
  });
}

/// A plan that takes, of each layer's algorithms, number `pick` (counted round).
inline result::plan plan_of(const model::graph& g, const library_list& libraries, std::size_t pick,
                            numeric type = numeric::f32) {
  result::plan p;
  p.graph = g;
  p.type = type;
  for (const model::node& n : g.nodes) {
    const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
    const std::vector<result::plan_step> all = offers(l, libraries, type);
    if (all.empty()) REQUIRE(op::is_view(l));
    p.steps.push_back(all.empty() ? result::plan_step{} : all[pick % all.size()]);
  }
  return p;
}

/// The model's result by the reference alone, layer by layer in f32 storage.
inline std::vector<double> reference_of(const model::graph& g) {
  std::map<std::pair<int, int>, backend::tensor> made;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const model::node& n = g.nodes[static_cast<std::size_t>(i)];
    const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
    backend::operands values;
    if (const auto* v = op::as<op::view>(l)) {
      backend::tensor t = made.at({n.operands[0].node, n.operands[0].output});
      t.dims = v->result;
      made[{i, 0}] = t;
      continue;
    }
    values = backend::make_operands(l, numeric::f32);
    const std::size_t behind = n.operands.size() - values.inputs.size();
    REQUIRE(behind == 0);
    for (std::size_t k = 0; k < n.operands.size(); ++k)
      if (n.operands[k].node >= 0)
        values.inputs[k] = made.at({n.operands[k].node, n.operands[k].output});
    backend::tensor out{.dims = op::output(l)};
    out.bytes.resize(static_cast<std::size_t>(out.count() * 4));
    std::vector<std::int64_t> all(static_cast<std::size_t>(out.count()));
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> exact(all.size());
    backend::reference::evaluate(l, numeric::f32, values, all, exact);
    for (std::size_t k = 0; k < exact.size(); ++k)
      out.as<float>()[k] = static_cast<float>(exact[k]);
    made[{i, 0}] = out;
  }
  const backend::tensor& last = made.at({static_cast<int>(g.nodes.size()) - 1, 0});
  std::vector<double> out;
  for (float v : last.as<float>())
    out.push_back(static_cast<double>(v));
  return out;
}

/// Each node of the chain is right, and the last one's result is `expected`, also when it is
/// computed again: nothing is left from the run before.
inline void check_result(chain& c, const std::vector<double>& expected) {
  c.verify();
  c.run(3);
  std::vector<double> got;
  c.read(got);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-3));
}

inline const std::vector<std::pair<std::string, std::string>> residual{
    {"Conv/1x16x9x9-32x3x3-s1-p1-b", "i c c"},
    {"Relu/1x32x9x9", "0"},
    {"Conv/1x32x9x9-32x1x1-s1", "1 c"},
    {"Conv+Add+Relu/1x32x9x9-32x3x3-s1-p1-b", "2 c c 1"},
    {"Conv+Add/1x32x9x9-32x1x1-s1-b", "3 c c 1"},
    {"MaxPool/1x32x9x9-3x3-s2", "4"},
    {"Concat/1x64x4x4-a1-n2", "5 5"},
    {"GlobalAveragePool/1x64x4x4", "6"},
    {"Flatten/1x64x1x1-1x64", "7"},
    {"Gemm/1x10x64-tb-c1x10-w", "8 c c"},
    {"Softmax/1x10-a1", "9"}};

} // namespace benanza::test
