// SPDX-License-Identifier: Apache-2.0
// What do nodes compute from constants that pick, place, order or count elements? GatherElements,
// GatherND, ScatterElements, ScatterND, CumSum, ArgMax, TopK, Trilu, ReverseSequence, OneHot,
// Compress and Unique, as shapes are computed with them.
//
//   evaluate_select(call, answer)   // one for each output; nothing: it is none of these
#pragma once

#include "../op/kinds.hpp"
#include "evaluate_parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace benanza::onnx::detail {

using several_elements = std::vector<maybe_elements>;

inline bool smaller(const scalar& a, const scalar& b) {
  return a.real || b.real ? a.as_real() < b.as_real() : a.integer < b.integer;
}

inline void set_element(elements_of& to, std::size_t i, const scalar& v) {
  if (to.real)
    to.reals[i] = v.as_real();
  else
    to.integers[i] = v.integer;
}

/// Where in the data the elements are that a node takes or writes.
inline std::vector<std::size_t> places_of(const op::indexing& p, const elements_of& indices) {
  const auto named = [&](std::size_t i, std::int64_t size) {
    const std::int64_t at = indices.integers[i];
    if (at < -size || at >= size)
      throw error("it indexes " + std::to_string(at) + " of " + text(p.data));
    return at < 0 ? at + size : at;
  };
  std::vector<std::size_t> out;
  if (p.of_elements()) {
    std::size_t i = 0;
    each_position(p.indices, [&](shape at) {
      at[p.axis] = named(i++, p.data[p.axis]);
      out.push_back(index_in(p.data, at));
    });
    return out;
  }
  const std::int64_t run = p.run(), n = p.named();
  const std::int64_t rows = benanza::elements(p.indices) / n;
  const std::int64_t batch = benanza::elements(p.indices, p.batch_dims, p.indices.size - 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t at = r / batch;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t size = p.data[p.batch_dims + static_cast<int>(k)];
      at = at * size + named(static_cast<std::size_t>(r * n + k), size);
    }
    for (std::int64_t i = 0; i < run; ++i)
      out.push_back(static_cast<std::size_t>(at * run + i));
  }
  return out;
}

inline maybe_elements evaluate_indexing(const call& c, const op::indexing& p) {
  const elements_of *x = known(c, 0), *indices = known(c, 1);
  if (x == nullptr || indices == nullptr || indices->real) return std::nullopt;
  const std::vector<std::size_t> places = places_of(p, *indices);
  if (!p.scatters()) {
    elements_of out{.real = x->real};
    for (std::size_t at : places)
      copy_element(out, *x, at);
    return out;
  }
  const elements_of* updates = known(c, 2);
  if (updates == nullptr || updates->real != x->real || updates->size() != places.size())
    return std::nullopt;
  using enum op::binary_function;
  constexpr op::binary_function functions[] = {add, add, mul, max, min};
  elements_of out = *x;
  for (std::size_t i = 0; i < places.size(); ++i) {
    maybe_scalar v = element_at(*updates, i);
    if (p.reduction != op::scatter_reduction::none)
      v = result_of_two(functions[static_cast<std::size_t>(p.reduction)],
                        element_at(out, places[i]), *v);
    if (!v) return std::nullopt;
    set_element(out, places[i], *v);
  }
  return out;
}

/// Calls `see(first, step, line)` for each line of a tensor along an axis.
template <class See>
void each_line(const shape& s, int axis, const See& see) {
  const std::int64_t inner = benanza::elements(s, axis + 1, s.size), size = s[axis];
  const std::int64_t lines = size == 0 ? 0 : benanza::elements(s) / size;
  for (std::int64_t line = 0; line < lines; ++line)
    see(line / inner * size * inner + line % inner, inner, line);
}

inline maybe_elements evaluate_cumulate(const call& c, const op::cumulate& p) {
  const elements_of* x = known(c, 0);
  if (x == nullptr) return std::nullopt;
  elements_of out = *x;
  bool fine = true;
  const std::int64_t size = p.input[p.axis];
  each_line(p.input, p.axis, [&](std::int64_t first, std::int64_t step, std::int64_t) {
    maybe_scalar sum = scalar::of(std::int64_t{p.product});
    for (std::int64_t k = 0; k < size && fine; ++k) {
      const auto at = static_cast<std::size_t>(first + (p.reverse ? size - 1 - k : k) * step);
      const scalar before = *sum;
      sum = result_of_two(p.product ? op::binary_function::mul : op::binary_function::add, *sum,
                          element_at(*x, at));
      fine = sum.has_value();
      if (fine) set_element(out, at, p.exclusive ? before : *sum);
    }
  });
  return fine ? maybe_elements(std::move(out)) : std::nullopt;
}

/// The places of a line in the order of its elements, equal ones in their own order.
inline std::vector<std::int64_t> sorted_line(const elements_of& x, std::int64_t first,
                                             std::int64_t step, std::int64_t size, bool rising) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](std::int64_t k) {
    return element_at(x, static_cast<std::size_t>(first + k * step));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return rising ? smaller(at(a), at(b)) : smaller(at(b), at(a));
  });
  return order;
}

inline bool has_nan(const elements_of& x) {
  return std::any_of(x.reals.begin(), x.reals.end(), [](double v) { return std::isnan(v); });
}

inline maybe_elements evaluate_arg(const call& c, const op::arg& p) {
  const elements_of* x = known(c, 0);
  if (x == nullptr || has_nan(*x)) return std::nullopt;
  elements_of out;
  each_line(p.input, p.axis, [&](std::int64_t first, std::int64_t step, std::int64_t) {
    const auto at = [&](std::int64_t k) {
      return element_at(*x, static_cast<std::size_t>(first + k * step));
    };
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < p.input[p.axis]; ++k) {
      const bool wins = p.smallest ? smaller(at(k), at(best)) : smaller(at(best), at(k));
      const bool loses = p.smallest ? smaller(at(best), at(k)) : smaller(at(k), at(best));
      if (wins || (p.last && !loses)) best = k;
    }
    out.integers.push_back(best);
  });
  return out;
}

inline several_elements evaluate_top_k(const call& c, const op::top_k& p, std::size_t outputs) {
  several_elements out(outputs);
  const elements_of* x = known(c, 0);
  if (x == nullptr || has_nan(*x)) return out;
  const auto n = static_cast<std::size_t>(benanza::elements(p.output()));
  elements_of values{.real = x->real}, places;
  (x->real ? values.reals.resize(n) : values.integers.resize(n));
  places.integers.resize(n);
  const std::int64_t size = p.input[p.axis];
  each_line(p.input, p.axis, [&](std::int64_t first, std::int64_t step, std::int64_t line) {
    const std::vector<std::int64_t> order = sorted_line(*x, first, step, size, p.smallest);
    for (std::int64_t k = 0; k < p.k; ++k) {
      const auto to = static_cast<std::size_t>((line / step * p.k + k) * step + line % step);
      const std::int64_t from = order[static_cast<std::size_t>(k)];
      set_element(values, to, element_at(*x, static_cast<std::size_t>(first + from * step)));
      places.integers[to] = from;
    }
  });
  if (outputs > 0) out[0] = std::move(values);
  if (outputs > 1) out[1] = std::move(places);
  return out;
}

inline maybe_elements evaluate_one_hot(const call& c, const op::one_hot& p) {
  const elements_of *x = known(c, 0), *values = known(c, 2);
  if (x == nullptr || values == nullptr) return std::nullopt;
  return gathered(*values, p.output(), [&](const shape& at) {
    shape from;
    for (int i = 0; i < at.size; ++i)
      if (i != p.axis) from.push(at[i]);
    double named = std::trunc(x->number(index_in(p.indices, from)));
    if (named < 0) named += static_cast<double>(p.depth);
    return std::size_t{named == static_cast<double>(at[p.axis])};
  });
}

inline maybe_elements evaluate_trilu(const call& c, const op::trilu& p) {
  const elements_of* x = known(c, 0);
  if (x == nullptr || p.input.size < 2) return std::nullopt;
  elements_of out = *x;
  std::size_t i = 0;
  each_position(p.input, [&](const shape& at) {
    const std::int64_t right = at[at.size - 1] - at[at.size - 2];
    if (p.lower ? right > p.k : right < p.k) set_element(out, i, scalar::of(std::int64_t{0}));
    ++i;
  });
  return out;
}

inline maybe_elements evaluate_reverse(const call& c, const op::reverse_sequence& p) {
  const elements_of *x = known(c, 0), *lengths = known(c, 1);
  if (x == nullptr || lengths == nullptr || lengths->real) return std::nullopt;
  const int batch = p.batch_first ? 0 : 1, time = 1 - batch;
  for (std::int64_t n : lengths->integers)
    if (n < 0 || n > p.steps()) throw error("its lengths are longer than its input");
  return gathered(*x, p.input, [&](shape at) {
    const std::int64_t n = lengths->integers[static_cast<std::size_t>(at[batch])];
    if (at[time] < n) at[time] = n - 1 - at[time];
    return index_in(p.input, at);
  });
}

inline maybe_elements evaluate_compress(const call& c, const op::compress& p) {
  const elements_of *x = known(c, 0), *holds = known(c, 1);
  if (x == nullptr || holds == nullptr) return std::nullopt;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < holds->size(); ++i)
    if (holds->number(i) != 0) kept.push_back(static_cast<std::int64_t>(i));
  // Where the largest size was taken, it may hold less often, or behind the end.
  if (std::ssize(kept) != p.kept || (!kept.empty() && kept.back() >= p.size())) return std::nullopt;
  const int axis = std::max(p.axis, 0);
  return gathered(*x, p.output(), [&](shape at) {
    at[axis] = kept[static_cast<std::size_t>(at[axis])];
    return p.axis < 0 ? static_cast<std::size_t>(at[0]) : index_in(p.input, at);
  });
}

/// The results of a Unique whose input is known: values, first places, inverse, counts.
struct distinct {
  shape values{}; ///< dims
  std::vector<std::int64_t> first{}, inverse{}, counts{};
};

inline distinct distinct_of(const elements_of& x, const op::unique& p) {
  const std::int64_t size = p.size();
  const std::int64_t inner = p.axis < 0 ? 1 : benanza::elements(p.input, p.axis + 1, p.input.size);
  const std::int64_t outer = p.axis < 0 ? 1 : benanza::elements(p.input, 0, p.axis);
  const auto compared = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < outer * inner; ++i) {
      const auto at = [&](std::int64_t slice) {
        return element_at(x,
                          static_cast<std::size_t>((i / inner * size + slice) * inner + i % inner));
      };
      if (smaller(at(a), at(b))) return -1;
      if (smaller(at(b), at(a))) return 1;
    }
    return 0;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return compared(a, b) < 0; });
  std::vector<std::vector<std::int64_t>> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compared(order[i - 1], order[i]) != 0) groups.emplace_back();
    groups.back().push_back(order[i]);
  }
  if (p.unsorted)
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });
  distinct out;
  out.inverse.resize(order.size());
  for (const auto& g : groups) {
    for (std::int64_t i : g)
      out.inverse[static_cast<std::size_t>(i)] = std::ssize(out.first);
    out.first.push_back(g.front());
    out.counts.push_back(std::ssize(g));
  }
  out.values = p.axis < 0 ? shape{0} : p.input;
  out.values[std::max(p.axis, 0)] = std::ssize(out.first);
  return out;
}

inline several_elements evaluate_unique(const call& c, const op::unique& p, std::size_t outputs) {
  several_elements out(outputs);
  const elements_of* x = known(c, 0);
  if (x == nullptr || has_nan(*x)) return out;
  distinct d = distinct_of(*x, p);
  out[0] = gathered(*x, d.values, [&](shape at) {
    const int axis = std::max(p.axis, 0);
    at[axis] = d.first[static_cast<std::size_t>(at[axis])];
    return p.axis < 0 ? static_cast<std::size_t>(at[0]) : index_in(p.input, at);
  });
  std::vector<std::int64_t>* further[] = {&d.first, &d.inverse, &d.counts};
  for (std::size_t i = 1; i < std::min<std::size_t>(outputs, 4); ++i)
    out[i] = elements_of{.integers = std::move(*further[i - 1])};
  return out;
}

/// The elements of each output; nothing where the layer is none of these.
inline std::optional<several_elements> evaluate_select(const call& c, const answer& a) {
  if (!a.layer) return std::nullopt;
  const std::size_t outputs = a.outputs.size();
  if (const auto* p = op::as<op::top_k>(*a.layer)) return evaluate_top_k(c, *p, outputs);
  if (const auto* p = op::as<op::unique>(*a.layer)) return evaluate_unique(c, *p, outputs);
  const auto alone = [&](maybe_elements e) {
    several_elements out(outputs);
    out[0] = std::move(e);
    return out;
  };
  if (const auto* p = op::as<op::indexing>(*a.layer)) return alone(evaluate_indexing(c, *p));
  if (const auto* p = op::as<op::cumulate>(*a.layer)) return alone(evaluate_cumulate(c, *p));
  if (const auto* p = op::as<op::arg>(*a.layer)) return alone(evaluate_arg(c, *p));
  if (const auto* p = op::as<op::one_hot>(*a.layer)) return alone(evaluate_one_hot(c, *p));
  if (const auto* p = op::as<op::trilu>(*a.layer)) return alone(evaluate_trilu(c, *p));
  if (const auto* p = op::as<op::reverse_sequence>(*a.layer)) return alone(evaluate_reverse(c, *p));
  if (const auto* p = op::as<op::compress>(*a.layer)) return alone(evaluate_compress(c, *p));
  return std::nullopt;
}

} // namespace benanza::onnx::detail
