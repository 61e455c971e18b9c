// SPDX-License-Identifier: Apache-2.0
// In which order are the axes of a tensor in memory that others see through Transposes, Reshapes
// and Expands? Each dim is a product of parts of axes, the outermost first; going back through a
// node says what the dims in front of it are made of.
//
//   axes a = axes_of({{'b', 1}, {'h', 12}, {'s', 197}, {'d', 64}});
//   a.before(transpose);   a.lies_as("bshd")   // are keys batch x sequence x heads x size?
#pragma once

#include "../op/kinds.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model::detail {

/// Part of an axis: `extent` steps of `stride` along it.
struct axis_part {
  char axis;
  std::int64_t extent, stride;
};

/// What the dims of a tensor are made of.
class axes {
public:
  /// A dim for each axis, outermost first; neighbours of one axis are parts of it.
  explicit axes(const std::vector<std::pair<char, std::int64_t>>& dims) {
    std::int64_t stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      stride = i + 1 < dims.size() && dims[i + 1].first == dims[i].first
                   ? stride * dims[i + 1].second
                   : 1;
      std::vector<axis_part> dim;
      if (dims[i].second != 1) dim.push_back({dims[i].first, dims[i].second, stride});
      dims_.insert(dims_.begin(), std::move(dim));
    }
  }

  /// The dims in front of a node that changes no number; false where that cannot be said.
  bool before(const op::layer& l) {
    if (const auto* t = op::as<op::transpose>(l)) return transposed(*t);
    if (const auto* v = op::as<op::view>(l)) return !v->casts() && cut(v->input);
    return false;
  }
  /// The dims behind it.
  bool behind(const op::layer& l) {
    if (const auto* v = op::as<op::view>(l)) return !v->casts() && cut(v->result);
    const auto* t = op::as<op::transpose>(l);
    if (t == nullptr || static_cast<std::size_t>(t->order.size) != dims_.size()) return false;
    std::vector<std::vector<axis_part>> out;
    for (std::int64_t d : t->order)
      out.push_back(dims_[static_cast<std::size_t>(d)]);
    dims_ = std::move(out);
    return true;
  }
  /// The dims in front of an Expand of a tensor of dims `input`: what is repeated is no part of it.
  bool repeated_from(const shape& input) {
    const auto rank = static_cast<std::size_t>(input.size);
    if (rank > dims_.size()) return false;
    dims_.erase(dims_.begin(), dims_.end() - input.size);
    for (std::size_t i = 0; i < rank; ++i)
      if (input[static_cast<int>(i)] == 1) dims_[i].clear();
    return true;
  }

  /// How many steps of an axis there are, if they are the outer ones of `whole`; else 0.
  std::int64_t steps(char axis, std::int64_t whole) const {
    std::int64_t n = 1, inner = whole;
    for (const auto& dim : dims_)
      for (const axis_part& p : dim)
        if (p.axis == axis) {
          if (p.extent * p.stride != inner) return 0;
          n *= p.extent;
          inner = p.stride;
        }
    return n;
  }
  /// True if the axes are in that order, outermost first.
  bool lies_as(std::string_view order) const {
    std::size_t at = 0;
    std::int64_t stride = 0; // of the last part; 0: none of this axis
    for (const auto& dim : dims_)
      for (const axis_part& p : dim) {
        const std::size_t here = order.find(p.axis);
        if (here == std::string_view::npos || here < at) return false;
        if (here == at && stride != 0 && p.stride >= stride) return false;
        at = here;
        stride = p.stride;
      }
    return true;
  }

private:
  bool transposed(const op::transpose& t) {
    if (static_cast<std::size_t>(t.order.size) != dims_.size()) return false;
    std::vector<std::vector<axis_part>> in(dims_.size());
    for (int i = 0; i < t.order.size; ++i)
      in[static_cast<std::size_t>(t.order[i])] = dims_[static_cast<std::size_t>(i)];
    dims_ = std::move(in);
    return true;
  }
  /// The same elements in order, in other dims.
  bool cut(const shape& into) {
    std::vector<axis_part> parts;
    for (const auto& dim : dims_)
      parts.insert(parts.end(), dim.begin(), dim.end());
    std::vector<std::vector<axis_part>> out(static_cast<std::size_t>(into.size));
    std::size_t next = 0;
    for (int i = 0; i < into.size; ++i)
      for (std::int64_t left = into[i]; left > 1;) {
        if (next == parts.size()) return false;
        axis_part& p = parts[next];
        const std::int64_t taken = p.extent <= left ? p.extent : left;
        if (left % taken != 0 || p.extent % taken != 0) return false;
        const std::int64_t rest = p.extent / taken;
        out[static_cast<std::size_t>(i)].push_back({p.axis, taken, p.stride * rest});
        left /= taken;
        p.extent = rest;
        next += rest == 1;
      }
    if (next != parts.size()) return false;
    dims_ = std::move(out);
    return true;
  }

  std::vector<std::vector<axis_part>> dims_;
};

} // namespace benanza::model::detail
