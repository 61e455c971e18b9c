// SPDX-License-Identifier: Apache-2.0
// What do the nodes that compute shapes compute? Whole numbers exactly, and reals in the precision
// of their type, of constants of up to 4096 elements. The handlers have already read the node's
// attributes: their answer says which axes, starts and orders apply.
//
//   std::vector<std::optional<elements_of>> v = evaluate(call, answer);   // one for each output
#pragma once

#include "../op/kinds.hpp"
#include "evaluate_select.hpp"

#include <optional>
#include <vector>

namespace benanza::onnx {

namespace detail {
inline maybe_elements evaluate_concat(const call& c, const op::concat& p) {
  elements_of out;
  std::vector<const elements_of*> parts;
  for (int i = 0; i < c.size(); ++i) {
    parts.push_back(known(c, i));
    if (parts.back() == nullptr || parts.back()->real != parts.front()->real) return std::nullopt;
  }
  out.real = parts.front()->real;
  each_position(p.whole, [&](const shape& at) {
    shape inner = at;
    std::size_t i = 0;
    while (inner[p.axis] >= c.dims(static_cast<int>(i))[p.axis])
      inner[p.axis] -= c.dims(static_cast<int>(i++))[p.axis];
    copy_element(out, *parts[i], index_in(c.dims(static_cast<int>(i)), inner));
  });
  return out;
}

inline maybe_elements evaluate_gather(const call& c, const op::gather& p, const shape& out) {
  const elements_of *x = known(c, 0), *indices = known(c, 1);
  if (x == nullptr || indices == nullptr || indices->real) return std::nullopt;
  for (std::int64_t i : indices->integers)
    if (i < -p.data[p.axis] || i >= p.data[p.axis])
      throw error("it gathers at " + std::to_string(i) + " of " + text(p.data));
  const int taken = p.indices.size;
  return gathered(*x, out, [&](const shape& at) {
    shape from, which;
    for (int i = 0; i < taken; ++i)
      which.push(at[p.axis + i]);
    const std::int64_t i = indices->integers[index_in(p.indices, which)];
    for (int d = 0; d < p.data.size; ++d)
      from.push(d < p.axis ? at[d] : d > p.axis ? at[d + taken - 1] : i < 0 ? i + p.data[d] : i);
    return index_in(p.data, from);
  });
}

inline maybe_elements evaluate_reduce(const call& c, const op::reduce& p) {
  const elements_of* x = known(c, 0);
  if (x == nullptr) return std::nullopt;
  std::vector<std::vector<std::size_t>> groups(
      static_cast<std::size_t>(benanza::elements(p.output())));
  std::size_t i = 0;
  each_position(p.input, [&](const shape& at) {
    shape to = at;
    for (std::int64_t a : p.axes)
      to[static_cast<int>(a)] = 0;
    groups[index_in(p.output(), to)].push_back(i++);
  });
  elements_of out{.real = x->real};
  for (const auto& group : groups) {
    const std::optional<scalar> r = reduced(p.function, *x, group);
    if (!r) return std::nullopt;
    append(out, *r, c.element(0));
  }
  return out;
}

/// True for an operand that can be read at each place of the result. Before opset 7 its dims may
/// be those from another one on, and a Clip's bounds may be of any dims.
inline bool spreads(const call& c, const shape& s, const shape& to) {
  if (s == to || benanza::elements(s) == 1) return true;
  if (c.opset() < 7 || s.size > to.size) return false;
  for (int i = 0; i < s.size; ++i)
    if (s[i] != 1 && s[i] != to[i + to.size - s.size]) return false;
  return true;
}

/// Functions of each element by itself, operands broadcast.
inline maybe_elements evaluate_elementwise(const call& c, const result& r) {
  std::vector<const elements_of*> operands;
  const auto read = static_cast<int>(values_read(c.op(), static_cast<std::size_t>(c.size())));
  for (int i = 0; i < read; ++i) {
    const elements_of* e = known(c, i);
    if (e == nullptr && c.has(i)) return std::nullopt;
    if (e != nullptr && !spreads(c, c.dims(i), *r.dims)) return std::nullopt;
    operands.push_back(e);
  }
  elements_of out{.real = is_floating(r.element)};
  bool fine = true;
  each_position(*r.dims, [&](const shape& at) {
    if (!fine) return;
    std::vector<std::optional<scalar>> values;
    for (std::size_t i = 0; i < operands.size(); ++i)
      values.push_back(operands[i] == nullptr
                           ? std::optional<scalar>{}
                           : element_at(*operands[i], index_in(c.dims(static_cast<int>(i)), at)));
    const std::optional<scalar> v = computed(c, values, r.element);
    fine = v && append(out, *v, r.element);
  });
  return fine ? maybe_elements(std::move(out)) : std::nullopt;
}

inline maybe_elements evaluate_first(const call& c, const answer& a) {
  const result& r = a.outputs.front();
  const elements_of* x = known(c, 0);
  const std::string& op = c.op();
  if (a.layer) {
    if (op == "BitCast") return std::nullopt;
    if (op::is<op::view>(*a.layer) && op != "Dropout") return x ? maybe_elements(*x) : std::nullopt;
    if (const auto* p = op::as<op::concat>(*a.layer)) return evaluate_concat(c, *p);
    if (const auto* p = op::as<op::gather>(*a.layer)) return evaluate_gather(c, *p, *r.dims);
    if (const auto* p = op::as<op::reduce>(*a.layer)) return evaluate_reduce(c, *p);
    if (const auto* p = op::as<op::slice>(*a.layer); p && x)
      return gathered(*x, p->sizes, [&](const shape& at) {
        shape from = at;
        for (int i = 0; i < at.size; ++i)
          from[i] = p->start(i) + at[i] * p->step(i);
        return index_in(p->input, from);
      });
    if (const auto* p = op::as<op::transpose>(*a.layer); p && x)
      return gathered(*x, *r.dims, [&](const shape& at) {
        shape from = at;
        for (int i = 0; i < at.size; ++i)
          from[static_cast<int>(p->order[i])] = at[i];
        return index_in(p->input, from);
      });
    if (const auto* p = op::as<op::expand>(*a.layer); p && x)
      return gathered(*x, *r.dims, [&](const shape& at) {
        shape from = p->input;
        for (int i = 0; i < from.size; ++i)
          from[i] = p->taken(i, at[at.size - from.size + i]);
        return index_in(p->input, from);
      });
    if (op::is<op::unary>(*a.layer) || op::is<op::binary>(*a.layer) || op::is<op::cast>(*a.layer) ||
        op::is<op::where>(*a.layer))
      return evaluate_elementwise(c, r);
  }
  return std::nullopt;
}
} // namespace detail

/// The elements of each output of a node whose operands are constant, where they are known.
inline std::vector<std::optional<elements_of>> evaluate(const call& c, const answer& a) {
  std::vector<std::optional<elements_of>> out(a.outputs.size());
  if (a.elements) {
    out[0] = a.elements;
    return out;
  }
  for (const result& r : a.outputs)
    if (!r.dims || benanza::elements(*r.dims) > most_elements) return out;
  const auto read =
      static_cast<int>(detail::values_read(c.op(), static_cast<std::size_t>(c.size())));
  for (int i = 0; i < read; ++i)
    if (c.has(i) && (!c.operand(i).dims || benanza::elements(*c.operand(i).dims) > most_elements))
      return out;
  if (out.empty()) return out;
  if (auto several = detail::evaluate_select(c, a)) return std::move(*several);
  const auto* split = a.layer ? op::as<op::split>(*a.layer) : nullptr;
  if (split == nullptr) {
    out[0] = detail::evaluate_first(c, a);
    return out;
  }
  const elements_of* x = detail::known(c, 0);
  std::int64_t before = 0;
  for (std::size_t i = 0; x != nullptr && i < out.size(); ++i) {
    out[i] = detail::gathered(*x, *a.outputs[i].dims, [&](const shape& at) {
      shape from = at;
      from[split->axis] += before;
      return detail::index_in(split->whole, from);
    });
    before += (*a.outputs[i].dims)[split->axis];
  }
  return out;
}

} // namespace benanza::onnx
