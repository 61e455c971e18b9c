// SPDX-License-Identifier: Apache-2.0
// What does it take to try a layer in a framework? Its ONNX model, the numbers that it computes on,
// and the right results with how far each may be off: those of the cases of benanza_bench. A folder
// a layer, with layer.json:
//
//   {"family": "Conv", "key": "1x64x56x56-64x3x3-s1-p1", "type": "f32", "flops": 231211008, ...,
//    "inputs": [{"name": "x0", "dims": [1, 64, 56, 56], "type": 1}], "weights": [{"name": "x1"
//    ...}], "positions": [0, 55, ...], "expected": [0.25, ...], "limits": [1e-4, ...]}
//
// next to model.onnx and the numbers of each operand, x0.bin ... (`type` is ONNX's number).
//
//   write_layer_files(op::parse("Conv/1x64x56x56-64x3x3-s1-p1"), "layers/0");
#pragma once

#include <benanza/core/error.hpp>
#include <benanza/op/layer.hpp>

#include <filesystem>

namespace benanza::generator {

/// Why no ONNX model is written for a layer.
class not_written : public error {
public:
  using error::error;
};

/// Writes the files of a layer into a folder, which is made where there is none; throws not_written
/// for layers that no ONNX model of single precision is written for.
void write_layer_files(const op::layer& l, const std::filesystem::path& folder);

} // namespace benanza::generator
