// SPDX-License-Identifier: Apache-2.0
// Does every algorithm that oneDNN offers for a layer compute what ONNX says? Each is run in each
// type and compared with the reference; its name must be the one that really ran.
//
//   check("Conv/1x16x9x9-32x3x3-s1-p1") == 24   // algorithms of all types together
#pragma once

#include <initializer_list>
#include <string>

namespace onednn_test {

/// Runs and checks every algorithm of the layer in every type; the number of them.
int check(const std::string& layer);

/// Checks layers of which each must have at least one algorithm.
void check_all(std::initializer_list<std::string> layers);

} // namespace onednn_test
