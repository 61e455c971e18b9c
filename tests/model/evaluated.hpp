// SPDX-License-Identifier: Apache-2.0
// What does a small graph compute? Its nodes one after the other by the reference, in f64, on
// constants that depend on the node's name and the operand's place alone: an equivalent graph finds
// the same.
//
//   evaluated::results(g)   // the values of each node that the caller gets
#pragma once

#include <benanza/backend/reference/reference.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/operands.hpp>
#include <benanza/model/rewrite/rewrite.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace evaluated {
using namespace benanza;
using values = std::vector<double>;

/// Numbers of either sign between 0.5 and 1.5 in size; positive ones where `positive`.
inline values constants(const std::string& seed, const shape& dims, bool positive) {
  values out(static_cast<std::size_t>(elements(dims)));
  const std::uint64_t of = backend::detail::seed_of(seed);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint64_t bits = backend::detail::random_bits(of, i);
    const double size = 0.5 + static_cast<double>(bits % 1000) / 1000;
    out[i] = positive || (bits >> 20) % 2 == 0 ? size : -size;
  }
  return out;
}

/// Of a convolution of upsampled points, whose weights are the constants called `seed`, what those
/// of the transposed convolution `p` are that takes its place.
inline values upsampled_weights(const op::conv_transpose& p, const std::string& seed) {
  shape dims{p.outputs, p.input[1]};
  for (const std::int64_t k : model::taps_before(p))
    dims.push(k);
  const values its = constants(seed, dims, false);
  const std::vector<std::int64_t> sums = model::summed_taps(p);
  values out(static_cast<std::size_t>(elements(p.weights())));
  const std::size_t pairs = static_cast<std::size_t>(dims[0] * dims[1]), taps = its.size() / pairs,
                    places = out.size() / pairs, channels = static_cast<std::size_t>(dims[1]);
  for (std::size_t pair = 0; pair < pairs; ++pair)
    for (std::size_t i = 0; i < taps * places; ++i)
      out[(pair % channels * (pairs / channels) + pair / channels) * places + i % places] +=
          static_cast<double>(sums[i]) * its[pair * taps + i / places];
  return out;
}

/// Of a convolution of some channels of another the weights: those of the other's.
inline values weights_of_part(const model::graph& g, const model::node& n, const op::conv& c) {
  const bool front = n.name.ends_with(model::front_mark);
  const std::string name(model::rewritten_from(n.name));
  std::int64_t all = c.input[1];
  for (const model::node& other : g.nodes)
    if (other.name == name + std::string(front ? model::back_mark : model::front_mark))
      all += op::get<op::conv>(*model::layer_of(g, other)).input[1];
  const values whole = constants(name + "1", {c.outputs, all, 1, 1}, false);
  values out;
  for (std::int64_t m = 0; m < c.outputs; ++m)
    for (std::int64_t k = front ? 0 : all - c.input[1]; k < (front ? c.input[1] : all); ++k)
      out.push_back(whole[static_cast<std::size_t>(m * all + k)]);
  return out;
}

/// The scale and zero point in a text such as `0.25+3`.
inline double number_of_scale(const std::string& scale, std::size_t operand) {
  const std::size_t zero = scale.find_first_of("+-");
  if (operand == 1) return std::stod(scale);
  return zero == scale.npos ? 0 : std::stod(scale.substr(zero));
}

inline values of_node(const model::graph& g, const model::node& n,
                      const std::vector<values>& known) {
  const op::layer& l = *model::layer_of(g, n);
  backend::operands all = backend::describe_operands(l, numeric::f32);
  for (std::size_t k = 0; k < n.operands.size() && k < all.inputs.size(); ++k) {
    backend::tensor& t = all.inputs[k];
    const model::operand& o = n.operands[k];
    // A model's inputs are distinguished by their dims alone. Places are the same in all Gathers,
    // but in one that finds a single place.
    values its;
    if (const auto* gather = op::as<op::gather>(l); gather != nullptr && k == 1)
      its = {std::min<double>(2, static_cast<double>(gather->data[gather->axis] - 1))};
    else if (o.node >= 0)
      its = known[static_cast<std::size_t>(o.node)];
    else if (o.node == model::constant && n.name.ends_with(model::upsampled_mark)) {
      const std::string seed =
          n.name.substr(0, n.name.size() - model::upsampled_mark.size()) + std::to_string(k);
      its = k == 1 ? upsampled_weights(op::get<op::conv_transpose>(l), seed)
                   : constants(seed, t.dims, false);
    } else if (o.node == model::constant &&
               (n.name.ends_with(model::front_mark) || n.name.ends_with(model::back_mark))) {
      const std::string seed(model::rewritten_from(n.name));
      its = k == 1 ? weights_of_part(g, n, op::get<op::conv>(l))
                   : constants(seed + std::to_string(k), t.dims, false);
    } else if (o.node == model::constant && op::is<op::quantize>(l) && k > 0) {
      its = {number_of_scale(n.scale, k)};
    } else if (o.node == model::constant)
      its = constants(n.name + std::to_string(k), t.dims, op::is<op::batch_norm>(l));
    else
      its = constants("input", t.dims, false);
    REQUIRE(std::ssize(its) == t.count());
    t.type = dtype::f64;
    t.bytes.resize(its.size() * sizeof(double));
    std::copy(its.begin(), its.end(), t.as<double>().begin());
  }
  std::vector<std::int64_t> where(static_cast<std::size_t>(elements(op::output(l))));
  std::iota(where.begin(), where.end(), 0);
  values out(where.size());
  backend::reference::evaluate(l, numeric::f32, all, where, out);
  return out;
}

inline std::vector<values> results(const model::graph& g) {
  std::vector<values> known, out;
  for (const model::node& n : g.nodes) {
    known.push_back(of_node(g, n, known));
    if (n.given) out.push_back(known.back());
  }
  return out;
}

inline bool close(const values& a, const values& b) {
  if (a.size() != b.size()) return false;
  double most = 1;
  for (const double v : a)
    most = std::max(most, std::abs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-11 * most)) return false;
  return true;
}
} // namespace evaluated
