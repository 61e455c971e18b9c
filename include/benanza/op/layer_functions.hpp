// SPDX-License-Identifier: Apache-2.0
// What is asked of a layer of any kind, answered by its kind: the functions that layer.hpp names.
// Where BENANZA_COMPILED is defined, one file of the program includes this for all.
#pragma once

#include "kinds.hpp"

namespace benanza::op {

BENANZA_INLINE layer::layer() {
  static const layer empty{conv{}};
  *this = empty;
}

BENANZA_INLINE bool operator==(const layer& a, const layer& b) {
  return &a.kind() == &b.kind() ||
         (a.kind().index == b.kind().index &&
          op::visit([&b](const auto& kind) { return kind == get<std::decay_t<decltype(kind)>>(b); },
                    a));
}

BENANZA_INLINE std::string_view family(const layer& l) {
  return op::visit([](const auto& p) -> std::string_view { return p.family(); }, l);
}

BENANZA_INLINE std::string key(const layer& l) {
  return op::visit([](const auto& p) { return std::string(write_key(p).view()); }, l);
}

BENANZA_INLINE std::string name(const layer& l) {
  return std::string(family(l)) + '/' + key(l);
}

BENANZA_INLINE shape output(const layer& l) {
  return op::visit([](const auto& p) { return p.output(); }, l);
}

BENANZA_INLINE result_list results(const layer& l) {
  return op::visit(
      [](const auto& p) -> result_list {
        if constexpr (requires { p.results(); })
          return p.results();
        else if constexpr (requires { p.element; })
          return {{p.output(), p.element}};
        else
          return {{p.output()}};
      },
      l);
}

BENANZA_INLINE std::optional<shape> result_dims(const layer& l, int number) {
  if (const auto* s = as<split>(l))
    return number < s->parts ? std::optional(part_of(s->whole, s->axis, s->parts, number))
                             : std::nullopt;
  const result_list all = results(l);
  return number < all.size ? std::optional(all[number].dims) : std::nullopt;
}

BENANZA_INLINE dtype result_element(const layer& l, int number) {
  const result_list all = results(l);
  return all[is<split>(l) || number >= all.size ? 0 : number].element;
}

namespace detail {
template <class Parameters>
std::optional<shape> operand_dims(const Parameters& p, std::size_t place) {
  if constexpr (is_residual<Parameters>) {
    if (place < 2) return p.addend();
  } else if constexpr (requires { p.base; }) {
    return operand_dims(p.base, place);
  } else if constexpr (requires { p.condition; }) {
    return place == 0 ? p.condition : place == 1 ? p.x : p.y;
  } else if constexpr (requires { p.a, p.b; }) {
    return place == 0 ? p.a : p.b;
  } else if constexpr (requires { p.input.size; }) {
    if (place == 0) return p.input;
  }
  return std::nullopt;
}
} // namespace detail

BENANZA_INLINE std::optional<shape> operand_dims(const layer& l, std::size_t place) {
  return op::visit([place](const auto& p) { return detail::operand_dims(p, place); }, l);
}

BENANZA_INLINE bool is_view(const layer& l) {
  return is<view>(l);
}

BENANZA_INLINE layer reorder_of(const shape& dims, dtype element, layout from, layout to) {
  return reorder{.input = dims, .from = from, .to = to, .element = element};
}

BENANZA_INLINE bool is_reorder(const layer& l) {
  return is<reorder>(l);
}

BENANZA_INLINE bool codes_bytes(const layer& l) {
  const auto* q = as<quantize>(l);
  return q != nullptr && (q->code == dtype::u8 || q->code == dtype::s8);
}

BENANZA_INLINE bool shows_sum(const layer& l) {
  return op::visit(
      [](const auto& p) {
        if constexpr (requires { p.sum; }) return p.sum;
        return false;
      },
      l);
}

BENANZA_INLINE work cost(const layer& l) {
  return op::visit([](const auto& p) { return p.cost(); }, l);
}

BENANZA_INLINE std::int64_t least_bytes(const layer& l, numeric t) {
  const std::int64_t unread = op::visit(
      [](const auto& p) -> std::int64_t {
        using kind = std::decay_t<decltype(p)>;
        if constexpr (requires { p.unread(); })
          return p.unread();
        else if constexpr (std::is_same_v<kind, fused<conv>>)
          return p.base.unread();
        else
          return 0;
      },
      l);
  return cost(l).bytes(t) - unread * size_bytes(source_of(t));
}

BENANZA_INLINE numeric computes_in(const layer& l, numeric t) {
  return op::visit(
      [t](const auto& p) {
        if constexpr (requires { p.computes_in(); })
          return p.computes_in();
        else
          return t;
      },
      l);
}

BENANZA_INLINE numeric may_round_to(const layer& l, numeric t) {
  return op::visit(
      [t](const auto& p) {
        if constexpr (requires { p.may_round_to(); })
          return p.may_round_to();
        else
          return t;
      },
      l);
}

BENANZA_INLINE std::int64_t direct_flops(const layer& l) {
  return op::visit(
      [](const auto& p) {
        if constexpr (requires { p.direct_flops(); })
          return p.direct_flops();
        else
          return p.cost().flops();
      },
      l);
}

BENANZA_INLINE void validate(const layer& l) {
  op::visit([](const auto& p) { p.validate(); }, l);
}

BENANZA_INLINE layer canonical_form(const layer& l) {
  return op::visit([](const auto& p) -> layer { return p.canonical_form(); }, l);
}

namespace detail {
/// Nothing where the family is of another kind.
template <class Kind>
std::optional<layer> parse_as(std::string_view family, std::string_view key) {
  const auto blank = Kind::of(family);
  if (!blank) return std::nullopt;
  const Kind p = read_key(*blank, key);
  try {
    p.validate();
  } catch (const error& e) {
    throw error(e.what(), std::string(family).append("/").append(key),
                "correct the layer's numbers");
  }
  return p.canonical_form();
}
} // namespace detail

BENANZA_INLINE layer parse(std::string_view family, std::string_view key) {
  for (std::size_t i = 0; i < kinds::size; ++i)
    if (auto l = kinds::visit(i, [&]<class Kind>() { return detail::parse_as<Kind>(family, key); }))
      return *l;
  throw error(std::string("no layer kind is called \"").append(family).append("\""), key,
              "write layers as benanza_generate stats prints them");
}

BENANZA_INLINE layer parse(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos)
    throw error("a layer is written Family/key", name,
                "write layers as benanza_generate stats prints them");
  const std::string_view rest = name.substr(slash + 1);
  return parse(name.substr(0, slash), rest.substr(0, rest.find('/')));
}

} // namespace benanza::op
