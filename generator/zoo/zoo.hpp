// SPDX-License-Identifier: Apache-2.0
// Which models can be had without a download? The 30 of the Benanza paper (IPDPS 2020, Table I),
// built here as ONNX files with the topology of the ONNX model zoo of 2019 and without weight
// payloads: a weight is a ConstantOfShape node, so that a file is small and still runs in any
// framework. Opset 12, one input with a symbolic batch "N". Newer ones are in modern.hpp.
//
//   ::onnx::ModelProto model = benanza::generator::zoo::build("resnet50-v1");
#pragma once

#include <onnx/onnx_pb.h>

#include <span>
#include <string_view>

namespace benanza::generator::zoo {

/// One model of the zoo: its name here, the paper's title and figures, and where ours differ.
struct entry {
  std::string_view name;
  std::string_view title;
  int year; ///< of its first publication
  std::string_view task;
  double paper_macs;
  int paper_layers;
  /// Why our multiply-accumulates or nodes differ from the paper's; empty where they agree.
  std::string_view note;
};

/// All of the paper's models, in the order of the paper's table.
std::span<const entry> list();

/// The year in which the model of that name was first published, of the paper's or of the newer
/// ones; 0: it is none of these.
int year_of(std::string_view name);

/// The model of that name, of the paper's or of the newer ones. An unknown name is refused with a
/// `benanza::error`.
::onnx::ModelProto build(std::string_view name);

} // namespace benanza::generator::zoo
