// SPDX-License-Identifier: Apache-2.0
// Which values does a layer compute on? Random ones that depend on the layer alone: the same on
// every machine, never all equal, inside the domain of the function, weights scaled by the
// reduction length so that a chain of layers keeps its magnitude (a result has the variance of its
// source, 1/3). A block of prime length is drawn and repeated, so 400 MB of weights take a fraction
// of a second.
//
//   operands o = make_operands(op::parse("Conv/1x64x56x56-64x3x3-s1-p1"), numeric::u8s8u8);
//   o.inputs[1].type == dtype::s8;   o.output_scale == 0x1p-13
//   describe_operands(layer, type).inputs[0].dims   // the same without values, however large
#pragma once

#include "draw.hpp"

namespace benanza::backend {

/// The operands of a layer for cases of class `t`; equal for equal layers and types.
operands make_operands(const op::layer& l, numeric t);

/// The same operands without their values: takes no memory.
operands describe_operands(const op::layer& l, numeric t);

} // namespace benanza::backend

#ifndef BENANZA_COMPILED
#include "operand_maker.hpp"
#endif
