// SPDX-License-Identifier: Apache-2.0
// What does a node of a chain read? Which of its layer's operands others make, and whether a tensor
// may be read under other dims than it was made with: it is its elements in order, and some layers
// are written down with fewer dims than their tensors have (Softmax as a matrix of rows, MatMul
// with a vector, reductions that keep no dim). Parts of a Concat that no layer makes get what is
// left.
//
//   may_read(made_by, op::parse("Softmax/1x1000-a1"), {1, 1000, 1, 1}, {1, 1000})   // true
#pragma once

#include "../../backend/make_operands.hpp"
#include "../../model/operands.hpp"
#include "../../op/kinds.hpp"
#include "plan_words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::measure {

/// True if `coarse` are the dims `fine` with neighbours multiplied together, ones left out.
constexpr bool merges_into(const shape& fine, const shape& coarse) {
  int at = 0;
  for (const std::int64_t d : coarse) {
    std::int64_t product = 1;
    while (product < d && at < fine.size && fine[at] > 0)
      product *= fine[at++];
    if (product != d) return false;
  }
  for (; at < fine.size; ++at)
    if (fine[at] != 1) return false;
  return true;
}

namespace detail {
/// Layers that see their operands, or show their result, with other dims than ONNX's tensors have.
struct has_own_dims {
  bool reading;
  bool operator()(const op::softmax&) const { return true; }
  bool operator()(const op::matmul&) const { return true; }
  bool operator()(const op::reduce&) const { return !reading; }
  bool operator()(const op::arg&) const { return !reading; }
  bool operator()(const op::gemm&) const { return reading; }
  bool operator()(const op::binary&) const { return reading; }
  bool operator()(const op::where&) const { return reading; }
  bool operator()(const op::attention&) const { return true; }
  bool operator()(const op::rotary&) const { return true; }
  bool operator()(const op::fused<op::matmul>&) const { return true; }
  bool operator()(const op::fused<op::gemm>&) const { return true; }
  template <class Base>
  bool operator()(const op::on_codes<Base>& p) const {
    return (*this)(p.base);
  }
  template <class Base>
  bool operator()(const op::fused<Base>&) const {
    return reading; // joined operands
  }
  bool operator()(const auto&) const { return false; }
};
} // namespace detail

/// True if a layer that has an operand of dims `as` may read what `made_by` (null: no layer) has
/// written as `from`: the same elements in the same order, and one of the two has dims of its own,
/// or there is but one element.
inline bool may_read(const op::layer* made_by, const op::layer& reader, const shape& from,
                     const shape& as) {
  if (from == as) return true;
  const bool own = elements(as) == 1 ||
                   (made_by != nullptr && op::visit(detail::has_own_dims{false}, *made_by)) ||
                   op::visit(detail::has_own_dims{true}, reader);
  return own && elements(from) == elements(as) && (merges_into(from, as) || merges_into(as, from));
}

/// The operand among `made` ones of the layer that operand `k` of a node's list is; nothing if it
/// is none of them. Joined ones come last in both.
inline std::optional<std::size_t> operand_index(const op::layer& l, std::size_t k,
                                                std::size_t listed, std::size_t made) {
  if (const auto* a = op::as<op::attention>(l)) { // a mask is third, lengths are sixth
    const std::size_t masks = a->mask.empty() ? 0 : 1;
    if (k == 6 && a->lengths) return 3 + masks;
    return k < 3 + masks ? std::optional(k) : std::nullopt;
  }
  const std::size_t joined = op::visit(
      [](const auto& p) -> std::size_t {
        std::size_t n = 0;
        if constexpr (op::is_fused<std::decay_t<decltype(p)>>)
          for (const op::step& s : p.steps)
            n += s.joins;
        if constexpr (op::is_residual<std::decay_t<decltype(p)>>) n = 1;
        return n;
      },
      l);
  if (k + joined >= listed) return made - (listed - k);
  return k < made - joined ? std::optional(k) : std::nullopt;
}

/// The operands of a Concat whose parts are so long along its axis; those of length 0 are not known
/// and share what is left. Nothing if they do not add up to the whole.
inline std::optional<backend::operands> concat_operands(const op::concat& c, numeric t,
                                                        const std::vector<std::int64_t>& lengths) {
  std::int64_t left = c.whole[c.axis], unknown = 0, next = 0;
  for (const std::int64_t length : lengths) {
    left -= length;
    unknown += length == 0;
  }
  if (left < unknown || (unknown == 0 && left != 0)) return std::nullopt;
  backend::operands out;
  for (const std::int64_t length : lengths) {
    op::concat part{.whole = c.whole, .axis = c.axis, .parts = 1, .element = c.element};
    part.whole[c.axis] = left;
    if (length == 0) part.whole = op::part_of(part.whole, c.axis, unknown, next++);
    if (length > 0) part.whole[c.axis] = length;
    out.inputs.push_back(std::move(backend::make_operands(part, t).inputs[0]));
  }
  return out;
}

/// How long the parts of a Split are, as the layers that read them say; the others share what is
/// left. Empty, which is as equal as they can be, where that does not add up.
inline std::vector<std::int64_t> split_lengths(const model::graph& g, int node, numeric t) {
  const auto& s = op::get<op::split>(layer_at(g, node));
  const std::int64_t side = elements(s.whole) / std::max<std::int64_t>(1, s.whole[s.axis]);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(s.parts), 0);
  for (int i = node + 1; i < static_cast<int>(g.nodes.size()); ++i) {
    const std::vector<model::operand> listed =
        model::known_operands(g.nodes[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < listed.size(); ++k) {
      if (listed[k].node != node || listed[k].output >= s.parts) continue;
      const op::layer& reader = layer_at(g, i);
      if (op::is<op::concat>(reader)) continue; // takes what there is
      const backend::operands its = backend::describe_operands(reader, t);
      if (const auto at = operand_index(reader, k, listed.size(), its.inputs.size()))
        lengths[static_cast<std::size_t>(listed[k].output)] =
            elements(its.inputs[*at].dims) / std::max<std::int64_t>(1, side);
    }
  }
  std::int64_t left = s.whole[s.axis], unknown = 0, next = 0;
  for (const std::int64_t length : lengths) {
    left -= length;
    unknown += length == 0;
  }
  if (left < unknown || (unknown == 0 && left != 0)) return {}; // no reader fits
  for (std::int64_t& length : lengths)
    if (length == 0) length = left / unknown + (next++ < left % unknown ? 1 : 0);
  return lengths;
}

namespace detail {
/// Layers that hand on numbers of operand `k` as they are.
struct hands_on {
  std::size_t k;
  bool operator()(const op::view& v) const { return !v.casts(); }
  bool operator()(const op::transpose&) const { return true; }
  bool operator()(const op::slice&) const { return true; }
  bool operator()(const op::split&) const { return true; }
  bool operator()(const op::concat&) const { return true; }
  bool operator()(const op::expand&) const { return true; }
  bool operator()(const op::reverse_sequence&) const { return k == 0; }
  bool operator()(const op::gather&) const { return k == 0; }
  bool operator()(const op::cast& c) const { return c.from != dtype::real && c.to != dtype::real; }
  bool operator()(const auto&) const { return false; }
};

/// The smallest of what a layer's indices may not reach; 0: it reads none.
inline std::int64_t index_bound(const op::layer& l) {
  return op::visit(
      [](const auto& p) -> std::int64_t {
        if constexpr (requires { p.index_bounds(); }) {
          const shape all = p.index_bounds();
          return all.empty() ? 0 : *std::min_element(all.begin(), all.end());
        } else {
          return 0;
        }
      },
      l);
}
} // namespace detail

/// Of each node: what its results may not reach, because they are read as indices, right away or
/// after they were moved; 0: they are not.
inline std::vector<std::int64_t> index_limits(const model::graph& g, numeric t) {
  std::vector<std::int64_t> limits(g.nodes.size(), 0);
  for (std::size_t j = g.nodes.size(); j-- > 0;) {
    const model::node& n = g.nodes[j];
    if (n.layer == model::no_layer) continue;
    const op::layer& l = layer_at(g, static_cast<int>(j));
    const std::int64_t own = detail::index_bound(l);
    if (own == 0 && limits[j] == 0) continue;
    const std::vector<model::operand> listed = model::known_operands(n);
    const backend::operands its = own == 0 ? backend::operands{} : backend::describe_operands(l, t);
    for (std::size_t k = 0; k < listed.size(); ++k) {
      if (listed[k].node < 0) continue;
      const auto at = operand_index(l, k, listed.size(), its.inputs.size());
      const bool index = own > 0 && at && its.inputs[*at].part == backend::role::index;
      const bool moved = limits[j] > 0 && op::visit(detail::hands_on{k}, l);
      if (!index && !moved) continue;
      std::int64_t& least = limits[static_cast<std::size_t>(listed[k].node)];
      const std::int64_t bound = index ? own : limits[j];
      least = least == 0 ? bound : std::min(least, bound);
    }
  }
  return limits;
}

/// Brings whole numbers that are read as indices inside what they index.
inline void bring_inside(backend::tensor& t, std::int64_t limit) {
  const auto bring = [&]<class Whole>(std::span<Whole> all) {
    for (Whole& v : all)
      v = static_cast<Whole>(((v % limit) + limit) % limit);
  };
  if (limit == 0 || t.part == backend::role::index) return;
  if (t.type == dtype::s64) bring(t.as<std::int64_t>());
  if (t.type == dtype::s32) bring(t.as<std::int32_t>());
}

/// A model's constants are not known here. Single numbers that decide whether results are numbers
/// at all are taken as models have them: a power is a square, what is added to a variance positive.
inline void choose_constant(const op::layer& l, backend::tensor& operand) {
  if (operand.type != dtype::f32 || operand.count() != 1) return;
  const bool power = op::visit(
      [](const auto& p) {
        if constexpr (requires { p.base.comparison(); })
          return p.base.function == op::binary_function::pow;
        else if constexpr (requires { p.comparison(); })
          return p.function == op::binary_function::pow;
        else
          return false;
      },
      l);
  float& value = operand.as<float>()[0];
  value = power ? 2 : std::abs(value);
}

} // namespace benanza::measure
