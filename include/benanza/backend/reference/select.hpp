// SPDX-License-Identifier: Apache-2.0
// Results of layers that find elements (ONNX ArgMax-13, ArgMin-13, TopK-11, NonZero-13,
// Compress-11, Unique-11): the first result's elements, then the next one's. A NaN is larger than
// all numbers. Behind what was found come zeros.
//
//   value(arg{.input = {8, 1000}, .axis = 1}, operands, 3)
//   lines_of(top_k{.input = {1, 8400}, .axis = 1, .k = 100}, operands).at(100)   // first index
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace benanza::backend::reference {

/// True where `a` is smaller than `b`.
inline bool below(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

inline double value(const op::arg& p, const operands& o, std::int64_t flat) {
  const std::int64_t inner = elements(p.input, p.axis + 1, p.input.size);
  const std::int64_t size = p.input[p.axis];
  const std::int64_t first = flat / inner * size * inner + flat % inner;
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < size; ++k) {
    const double v = element(o, 0, first + k * inner), most = element(o, 0, first + best * inner);
    const bool better = p.smallest ? below(v, most) : below(most, v);
    const bool worse = p.smallest ? below(most, v) : below(v, most);
    if (better || (p.last && !worse)) best = k;
  }
  return static_cast<double>(best);
}

class largest_of_lines {
public:
  largest_of_lines(const op::top_k& p, const operands& o)
      : p_(p)
      , o_(o)
      , inner_(elements(p.input, p.axis + 1, p.input.size))
      , count_(elements(p.output())) {}

  /// The exact output at a flat index over both results.
  double at(std::int64_t flat) {
    const bool place = flat >= count_;
    if (place) flat -= count_;
    const std::int64_t k = flat / inner_ % p_.k;
    const std::int64_t first = flat / inner_ / p_.k * p_.input[p_.axis] * inner_ + flat % inner_;
    if (first != first_) sort(first);
    const std::int64_t found = order_[static_cast<std::size_t>(k)];
    return place ? static_cast<double>(found) : element(o_, 0, first + found * inner_);
  }

private:
  void sort(std::int64_t first) {
    first_ = first;
    order_.resize(static_cast<std::size_t>(p_.input[p_.axis]));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int64_t a, std::int64_t b) {
      const double x = element(o_, 0, first + a * inner_), y = element(o_, 0, first + b * inner_);
      return p_.smallest ? below(x, y) : below(y, x);
    });
  }

  const op::top_k& p_;
  const operands& o_;
  std::int64_t inner_, count_, first_ = -1;
  std::vector<std::int64_t> order_{};
};

inline largest_of_lines lines_of(const op::top_k& p, const operands& o) {
  return {p, o};
}

class found_places {
public:
  found_places(const op::non_zero& p, const operands& o)
      : input_(p.input) {
    for (std::int64_t i = 0; i < elements(p.input); ++i)
      if (element(o, 0, i) != 0) found_.push_back(i);
  }
  /// The exact output at a flat index.
  double at(std::int64_t flat) const {
    const std::int64_t count = elements(input_);
    const auto i = static_cast<std::size_t>(flat % count);
    if (i >= found_.size()) return 0;
    return static_cast<double>(place_of(input_, found_[i])[static_cast<int>(flat / count)]);
  }

private:
  shape input_;
  std::vector<std::int64_t> found_{};
};

inline found_places lines_of(const op::non_zero& p, const operands& o) {
  return {p, o};
}

class kept_slices {
public:
  kept_slices(const op::compress& p, const operands& o)
      : p_(p)
      , o_(o) {
    for (std::int64_t i = 0; i < std::min(p.length, p.size()); ++i)
      if (element(o, 1, i) != 0) kept_.push_back(i);
  }
  /// The exact output at a flat index.
  double at(std::int64_t flat) const {
    shape place = place_of(p_.output(), flat);
    const int axis = std::max(p_.axis, 0);
    const auto k = static_cast<std::size_t>(place[axis]);
    if (k >= kept_.size()) return 0;
    place[axis] = kept_[k];
    return element(o_, 0, p_.axis < 0 ? kept_[k] : index_of(p_.input, place));
  }

private:
  const op::compress& p_;
  const operands& o_;
  std::vector<std::int64_t> kept_{};
};

inline kept_slices lines_of(const op::compress& p, const operands& o) {
  return {p, o};
}

class distinct_slices {
public:
  distinct_slices(const op::unique& p, const operands& o)
      : p_(p)
      , o_(o)
      , inner_(p.axis < 0 ? 1 : elements(p.input, p.axis + 1, p.input.size))
      , outer_(p.axis < 0 ? 1 : elements(p.input, 0, p.axis))
      , inverse_(static_cast<std::size_t>(p.size())) {
    std::vector<std::int64_t> order(inverse_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return compared(a, b) < 0; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || compared(order[i - 1], order[i]) != 0) groups_.push_back({order[i]});
      groups_.back().members.push_back(order[i]);
    }
    if (p.unsorted)
      std::sort(groups_.begin(), groups_.end(),
                [](const group& a, const group& b) { return a.first < b.first; });
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::int64_t i : groups_[g].members)
        inverse_[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(g);
  }

  /// The exact output at a flat index over all results.
  double at(std::int64_t flat) const {
    const std::int64_t count = elements(p_.output()), size = p_.size();
    if (flat < count) {
      const auto k = static_cast<std::size_t>(flat / inner_ % size);
      if (k >= groups_.size()) return 0;
      return slice_element(groups_[k].first, flat / inner_ / size, flat % inner_);
    }
    const std::int64_t which = (flat - count) / size;
    const auto k = static_cast<std::size_t>((flat - count) % size);
    if (which == 1) return static_cast<double>(inverse_[k]);
    if (k >= groups_.size()) return 0;
    return which == 0 ? static_cast<double>(groups_[k].first)
                      : static_cast<double>(groups_[k].members.size());
  }

private:
  struct group {
    std::int64_t first;
    std::vector<std::int64_t> members{};
  };
  double slice_element(std::int64_t slice, std::int64_t outer, std::int64_t inner) const {
    return element(o_, 0, (outer * p_.size() + slice) * inner_ + inner);
  }
  int compared(std::int64_t a, std::int64_t b) const {
    for (std::int64_t i = 0; i < outer_ * inner_; ++i) {
      const double x = slice_element(a, i / inner_, i % inner_);
      const double y = slice_element(b, i / inner_, i % inner_);
      if (below(x, y)) return -1;
      if (below(y, x)) return 1;
    }
    return 0;
  }

  const op::unique& p_;
  const operands& o_;
  std::int64_t inner_, outer_;
  std::vector<group> groups_{};
  std::vector<std::int64_t> inverse_;
};

inline distinct_slices lines_of(const op::unique& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
