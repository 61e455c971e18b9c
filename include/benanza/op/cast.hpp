// SPDX-License-Identifier: Apache-2.0
// From one element type to another (ONNX Cast, CastLike): reals are cut off towards zero, whole
// numbers wrap around, what is not zero is true. `real` is the case's type; reals of two storages
// are both named. The type that a tensor has already is no layer but a view.
//
//   cast{.input = {1, 128}, .from = dtype::s64, .to = dtype::real}              key: 1x128-s64-real
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct cast {
  shape input{};
  dtype from = dtype::real;
  dtype to = dtype::real;

  static constexpr std::optional<cast> of(std::string_view family) {
    return family == "Cast" ? std::optional(cast{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Cast"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    // Both types are always written: one alone could be either.
    constexpr auto missing = static_cast<dtype>(0xff);
    a.dims("input", input);
    a.element("from", from, missing);
    a.element("to", to, missing);
  }
  constexpr void validate() const {
    if (from > dtype::boolean || to > dtype::boolean) throw error("a Cast names two types");
    if (from == to) throw error("a Cast has the type that it gives already");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  constexpr result_list results() const { return {{input, to}}; }
  /// Each element: read, converted, written.
  constexpr work cost() const {
    const std::int64_t n = elements(input);
    work w;
    if (from == dtype::real) w.sources = n;
    if (to == dtype::real) w.results = n;
    for (const dtype t : {from, to})
      if (t != dtype::real) w.fixed_bytes += bytes_of(t, n);
    w.other = n;
    return w;
  }
  constexpr cast canonical_form() const { return *this; }
  constexpr bool operator==(const cast&) const = default;
};

} // namespace benanza::op
