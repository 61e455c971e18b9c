// SPDX-License-Identifier: Apache-2.0
// Benanza but for what needs a library of its own: that has a header for each folder, too (onnx.hpp
// with libonnx), or is included by name (backend/, measure/, bench/, result/store/, report/ with
// fmt).
//
//   op::cost(op::parse("Conv/1x64x56x56-64x3x3-s1-p1")).macs   // 115605504
//   bound::analyse(bound::source(run), run.graphs[0], {numeric::f32, 1})
#pragma once

#include "core.hpp"
#include "model.hpp"
#include "op.hpp"
#include "trace.hpp"

#if __has_include(<nlohmann/json.hpp>)
#include "bound.hpp"
#include "result.hpp"
#endif
