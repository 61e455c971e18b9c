// SPDX-License-Identifier: Apache-2.0
// Which node is "r1_nchwc"? ONNX Runtime gives a convolution or a pooling that it puts into a
// blocked layout the name of a tensor, with an ending.
//
//   blocked_tensor("r1_nchwc_token_4") == "r1"      blocked_tensor("conv1") == ""
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace benanza::trace {

/// The tensor in the name that a blocked layout gives a node: that which the node's first operator
/// makes in the ONNX file, not always the last one that is fused into it. Empty: there is none.
inline std::string blocked_tensor(std::string_view node) {
  const std::size_t at = node.rfind("_nchwc");
  if (at == std::string_view::npos) return {};
  const std::string_view behind = node.substr(at + 6);
  if (!behind.empty() && !behind.starts_with("_token_")) return {};
  return std::string(node.substr(0, at));
}

} // namespace benanza::trace
