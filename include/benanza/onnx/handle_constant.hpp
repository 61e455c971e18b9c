// SPDX-License-Identifier: Apache-2.0
// Nodes that make values rather than layers: Constant, ConstantOfShape, Shape, Size, Range,
// EyeLike, NonZero. Shape, Size and EyeLike are constants here: at a given batch nothing else
// decides them.
//
//   handle_shape(call)   // output: int64 of 4 dims, elements {1, 64, 56, 56}
#pragma once

#include "handle_eltwise.hpp"

#include <cmath>
#include <utility>

namespace benanza::onnx {

namespace detail {
inline answer of_elements(int element, const shape& dims, elements_of e) {
  answer a;
  a.outputs.push_back({element, dims});
  a.elements = std::move(e);
  return a;
}
inline elements_of whole_elements(std::vector<std::int64_t> values) {
  return {.integers = std::move(values)};
}
} // namespace detail

inline answer handle_constant(const call& c) {
  using attribute = ::onnx::AttributeProto;
  if (c.node().attribute_size() < 1) throw error("it has no value");
  const attribute& a = c.node().attribute(0);
  const auto flat = [](auto count) { return shape{static_cast<std::int64_t>(count)}; };
  answer out;
  if (a.name() == "value" && a.has_t()) {
    value v;
    v.set(a.t());
    out.outputs.push_back({v.element, v.dims});
    if (const elements_of* e = v.elements()) out.elements = *e;
  } else if (a.name() == "sparse_value" && a.has_sparse_tensor()) {
    shape dims;
    for (std::int64_t d : a.sparse_tensor().dims())
      dims.push(d);
    out.outputs.push_back({a.sparse_tensor().values().data_type(), dims});
  } else if (a.name() == "value_int") {
    out = detail::of_elements(proto::INT64, {}, detail::whole_elements({a.i()}));
  } else if (a.name() == "value_float") {
    out = detail::of_elements(proto::FLOAT, {}, {.real = true, .reals = {a.f()}});
  } else if (a.name() == "value_string") {
    out.outputs.push_back({proto::STRING, shape{}});
  } else if (a.name() == "value_strings") {
    out.outputs.push_back({proto::STRING, flat(a.strings_size())});
  } else if (a.name() == "value_ints") {
    out = detail::of_elements(proto::INT64, flat(a.ints_size()),
                              detail::whole_elements({a.ints().begin(), a.ints().end()}));
  } else if (a.name() == "value_floats") {
    out = detail::of_elements(proto::FLOAT, flat(a.floats_size()),
                              {.real = true, .reals = {a.floats().begin(), a.floats().end()}});
  } else {
    throw error("it has no value");
  }
  return out;
}

inline answer handle_constant_of_shape(const call& c) {
  const std::vector<std::int64_t>& dims = c.whole_numbers(0);
  shape out;
  for (std::int64_t d : dims)
    out.push(d);
  check_dims(out);
  answer a;
  const auto* value = c.attribute("value");
  a.outputs.push_back({value ? value->t().data_type() : int{proto::FLOAT}, out});
  const std::int64_t count = benanza::elements(out);
  if (count > most_elements) return a;
  elements_of one{.real = true, .reals = {0}};
  if (value != nullptr) {
    const std::optional<elements_of> given = decode(value->t());
    if (!given || given->size() != 1) return a;
    one = *given;
  }
  const auto n = static_cast<std::size_t>(count);
  a.elements = one.real ? elements_of{.real = true, .reals = std::vector(n, one.reals[0])}
                        : detail::whole_elements(std::vector(n, one.integers[0]));
  return a;
}

inline answer handle_shape(const call& c) {
  const shape& x = c.dims(0);
  const auto clamp = [&](std::int64_t i) {
    return static_cast<int>(std::clamp<std::int64_t>(i < 0 ? i + x.size : i, 0, x.size));
  };
  const int from = clamp(std::max<std::int64_t>(c.integer("start", 0), -64));
  const int to = clamp(std::max<std::int64_t>(c.integer("end", x.size), -64));
  std::vector<std::int64_t> dims;
  for (int i = from; i < to; ++i)
    dims.push_back(x[i]);
  const shape out{static_cast<std::int64_t>(dims.size())};
  return detail::of_elements(proto::INT64, out, detail::whole_elements(std::move(dims)));
}

inline answer handle_size(const call& c) {
  return detail::of_elements(proto::INT64, {},
                             detail::whole_elements({benanza::elements(c.dims(0))}));
}

inline answer handle_range(const call& c) {
  if (is_floating(c.element(0))) {
    const std::vector<double> start = c.numbers(0), end = c.numbers(1), step = c.numbers(2);
    if (start.size() != 1 || end.size() != 1 || step.size() != 1 || !(step[0] != 0))
      throw error("its operands are not three numbers");
    const double n = std::ceil((end[0] - start[0]) / step[0]);
    if (!(n < static_cast<double>(dim_limit))) throw error("it has more than 2^40 elements");
    answer a;
    const std::int64_t count = n > 0 ? static_cast<std::int64_t>(n) : 0;
    a.outputs.push_back({c.element(0), shape{count}});
    if (count > most_elements) return a;
    a.elements = elements_of{.real = true};
    for (std::int64_t i = 0; i < count; ++i) {
      const double v = start[0] + static_cast<double>(i) * step[0];
      const bool wide = c.element(0) == proto::DOUBLE;
      a.elements->reals.push_back(wide ? v : static_cast<double>(static_cast<float>(v)));
    }
    return a;
  }
  const auto only = [&](int i) {
    if (c.whole_numbers(i).size() != 1) throw error("its operands are not three numbers");
    const std::int64_t v = c.whole_numbers(i)[0];
    if (v > dim_limit || v < -dim_limit) throw error("its operands pass 2^40");
    return v;
  };
  const std::int64_t start = only(0), end = only(1), step = only(2);
  if (step == 0) throw error("its step is 0");
  const std::int64_t room = step > 0 ? end - start : start - end, stride = std::abs(step);
  const std::int64_t n = room > 0 ? (room + stride - 1) / stride : 0;
  answer a;
  a.outputs.push_back({c.element(0), shape{n}});
  if (n > most_elements) return a;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(start + i * step);
  a.elements = detail::whole_elements(std::move(values));
  return a;
}

/// Ones on a diagonal: only the dims of its operand matter.
inline answer handle_eye_like(const call& c) {
  const shape& x = c.dims(0);
  if (x.size != 2) throw error("its input " + text(x) + " is not a matrix");
  const std::int64_t type = c.integer("dtype", c.element(0)), k = c.integer("k", 0);
  const int element = type > 0 && type < 1000 ? static_cast<int>(type) : 0;
  if (find_element_type(element) == nullptr) throw error("its type is not one that ONNX knows");
  answer a;
  a.outputs.push_back({element, x});
  const std::int64_t count = benanza::elements(x);
  if (count > most_elements || k > dim_limit || k < -dim_limit) return a;
  elements_of ones{.real = is_floating(element)};
  for (std::int64_t i = 0; i < count; ++i) {
    const bool one = i % x[1] == i / x[1] + k;
    if (ones.real)
      ones.reals.push_back(one);
    else
      ones.integers.push_back(one);
  }
  a.elements = std::move(ones);
  return a;
}

/// Known only where the elements are: the number of results depends on them.
inline answer handle_non_zero(const call& c) {
  const shape& x = c.dims(0);
  const std::vector<double> values = c.numbers(0);
  std::vector<std::vector<std::int64_t>> found(static_cast<std::size_t>(x.size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (int d = x.size; d-- > 0;) {
      found[static_cast<std::size_t>(d)].push_back(rest % x[d]);
      rest /= x[d];
    }
  }
  std::vector<std::int64_t> all;
  for (const auto& f : found)
    all.insert(all.end(), f.begin(), f.end());
  const std::int64_t count = found.empty() ? 0 : static_cast<std::int64_t>(found[0].size());
  return detail::of_elements(proto::INT64, {x.size, count}, detail::whole_elements(std::move(all)));
}

} // namespace benanza::onnx
