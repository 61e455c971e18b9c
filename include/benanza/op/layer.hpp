// SPDX-License-Identifier: Apache-2.0
// A layer of any kind: an ONNX operator with every shape and attribute resolved. What it is can be
// asked here without knowing the kinds; kinds.hpp tells them apart. Two layers are equal exactly if
// their families and keys are; `parse` turns the two texts back into the layer.
//
//   op::layer l = op::parse("Conv", "1x64x56x56-64x3x3-s1-p1");
//   op::name(l) == "Conv/1x64x56x56-64x3x3-s1-p1";   op::cost(l).macs == 115605504
#pragma once

#include "../core/layout.hpp"
#include "results.hpp"
#include "work.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// Functions of a layer of any kind take the compiler long: a program may compile them once, in
// place of in each of its files. Then BENANZA_COMPILED is defined in all of them, and the one has
// BENANZA_INLINE as nothing.
#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::op {

/// What a layer may be (kinds.hpp).
struct any_kind;

/// One layer of any kind; its parameters never change, so copies share them.
class layer {
public:
  /// A convolution without dims.
  layer();

  /// Of a kind of layer; include kinds.hpp.
  template <class Kind>
  requires requires(const Kind& k) { k.cost(), k.canonical_form(); }
  layer(const Kind& k);

  /// Never moved from: a layer always has a kind.
  layer(const layer&) = default;
  layer& operator=(const layer&) = default;

  const any_kind& kind() const { return *kind_; }

private:
  std::shared_ptr<const any_kind> kind_;
};

bool operator==(const layer& a, const layer& b);

/// The ONNX operator that the layer is.
std::string_view family(const layer& l);

/// The canonical text of the layer's parameters; holds no '/'.
std::string key(const layer& l);

/// Family and key together: the layer's whole name.
std::string name(const layer& l);

/// Dims of the (first) output; of a Split those of all its parts together.
shape output(const layer& l);

/// All results in ONNX's order; the parts of a Split count as one.
result_list results(const layer& l);

/// Arithmetic and traffic of one execution.
work cost(const layer& l);

/// Bytes that have to move at least: those of `cost()` without the points of a source that a window
/// steps over. Where channels are contiguous these are never read; where rows are, whole cache
/// lines come, which is more.
std::int64_t least_bytes(const layer& l, numeric t);

/// The class of the arithmetic that the layer needs in a case of class `t`.
numeric computes_in(const layer& l, numeric t);

/// The class to which frameworks are known to round its operands, though the model does not ask for
/// it: activations to 8 bits where weights are codes. Of other layers `t`.
numeric may_round_to(const layer& l, numeric t);

/// Floating-point operations that an algorithm needs which takes no short cut but leaving out what
/// is multiplied by padding. Winograd needs fewer.
std::int64_t direct_flops(const layer& l);

/// Refuses parameters that do not fit together.
void validate(const layer& l);

/// The form that its name is parsed into: what makes no difference is left out.
layer canonical_form(const layer& l);

/// The layer of that family and key; refuses what is not one.
layer parse(std::string_view family, std::string_view key);

/// The layer of a name such as `Conv/1x64x56x56-64x3x3-s1-p1`; what follows a second '/' is
/// ignored, so that a case name may be given too.
layer parse(std::string_view name);

/// Dims of a result, the parts of a Split apart; nothing: the layer has none of that number.
std::optional<shape> result_dims(const layer& l, int number);

/// Storage of a result; of one that the layer does not have, of its first.
dtype result_element(const layer& l, int number);

/// Dims of the operand in that place among a layer's activations; nothing where its parameters do
/// not say.
std::optional<shape> operand_dims(const layer& l, std::size_t place);

/// True for layers that move nothing and cost nothing.
bool is_view(const layer& l);

/// A change of a tensor's layout, and true for one.
layer reorder_of(const shape& dims, dtype element, layout from, layout to);
bool is_reorder(const layer& l);

/// True for a change from or to codes of 8 bits.
bool codes_bytes(const layer& l);

/// True for a row's norm whose second result is the sum that it reads.
bool shows_sum(const layer& l);

} // namespace benanza::op

#ifndef BENANZA_COMPILED
#include "kinds.hpp" // and the functions, behind the kinds
#endif
