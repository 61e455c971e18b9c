// SPDX-License-Identifier: Apache-2.0
// Rule: 1x1 convolutions before upsampling. Where a Resize only repeats points, its result is
// joined to another tensor along the channels, and a 1x1 convolution reads both, the part of it
// that is for the repeated points is computed before they are: on a quarter of them, for a factor
// of two.
//   before: Resize 256x20x20 to 40x40, Concat with 128x40x40, Conv 1x1
//   after:  Conv 1x1 on 256x20x20, its Resize; Conv 1x1 on 128x40x40; their sum
// Proof: a 1x1 convolution is a sum over channels at each point by itself. The channels of either
// part are added up by a convolution with their weights, and what it gives at a repeated point is
// what it gives at the point.
#pragma once

#include "../../op/kinds.hpp"
#include "draft.hpp"
#include "rewritten.hpp"
#include "upsampling.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view before_upsampling_rule = "1x1 convolutions before upsampling";

namespace detail {
/// True for a result that one node alone reads.
inline bool of_one_reader(const draft& d, int i) {
  return d.inner(i) && d.readers(i).size() == 1;
}

/// The convolution `c` on `dims`, which are some of its channels.
inline op::conv on_channels(const op::conv& c, const shape& dims, bool bias) {
  op::conv out = c;
  out.input = dims;
  out.bias = bias && c.bias;
  return out.canonical_form();
}
} // namespace detail

/// `g` with one convolution computed before an upsampling, the first one where that saves
/// operations and moves no more bytes; nothing: there is none.
inline std::optional<graph> convolved_before_upsampling(const graph& g) {
  const draft seen(g);
  const auto resize_at = [&seen](const operand& o) -> const op::resize* {
    if (o.node < 0 || !detail::of_one_reader(seen, o.node)) return nullptr;
    const auto* r = op::as<op::resize>(seen.layer(o.node));
    return r != nullptr && !r->upsample && detail::repeats(*r) ? r : nullptr;
  };
  for (int i = 0; i < seen.size(); ++i) {
    const op::layer* l = seen.layer(i);
    const auto* c = l == nullptr ? nullptr : op::as<op::conv>(l);
    const std::vector<operand>& its = seen.at(i).operands;
    if (c == nullptr || c->kernel.size != 2 || !c->kernel.all(1) || !c->pads.all(0) ||
        !c->strides.all(1) || c->groups != 1 || its.size() < 2 || its[0].node < 0 ||
        its[1].node != constant || !detail::of_one_reader(seen, its[0].node))
      continue;
    const auto* joined = op::as<op::concat>(seen.layer(its[0].node));
    if (joined == nullptr || joined->axis != 1 || joined->parts != 2) continue;
    const std::vector<operand> parts = seen.at(its[0].node).operands;
    if (parts.size() != 2 || parts[0] == parts[1]) continue;
    const bool first = resize_at(parts[0]) != nullptr;
    const op::resize* r = resize_at(parts[first ? 0 : 1]);
    if (r == nullptr || resize_at(parts[first ? 1 : 0]) != nullptr) continue;
    shape others = c->input;
    others[1] -= r->input[1];

    draft w(g);
    const int up = parts[first ? 0 : 1].node;
    const std::string& name = seen.at(i).name;
    const auto named = [&name](std::string_view mark) { return name + std::string(mark); };
    const op::conv low = detail::on_channels(*c, r->input, false),
                   rest = detail::on_channels(*c, others, true);
    op::resize widened = *r;
    widened.input = low.output();
    widened.sizes[1] = c->outputs;
    std::vector<operand> of_rest{parts[first ? 1 : 0]};
    of_rest.insert(of_rest.end(), its.begin() + 1, its.end());
    std::vector<operand> of_widened = seen.at(up).operands;
    const int low_at = w.insert_before(i, named(first ? front_mark : back_mark), op::layer(low),
                                       {of_widened.at(0), its[1]});
    of_widened[0] = {low_at};
    const int widened_at =
        w.insert_before(i, named(widened_mark), op::layer(widened.canonical_form()), of_widened);
    const int rest_at =
        w.insert_before(i, named(first ? back_mark : front_mark), op::layer(rest), of_rest);
    const op::binary sum{.function = op::binary_function::add, .a = c->output(), .b = c->output()};
    const int sum_at = w.insert_before(i, named(sum_mark), op::layer(sum.canonical_form()),
                                       {{rest_at}, {widened_at}});
    w.replace(i, {sum_at});
    w.drop(its[0].node);
    w.drop(up);
    graph moved = w.finished(before_upsampling_rule, {low_at});
    if (moved.rewrites.back().flops > 0 && moved.rewrites.back().bytes >= 0) return moved;
  }
  return std::nullopt;
}

} // namespace benanza::model
