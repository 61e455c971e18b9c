// SPDX-License-Identifier: Apache-2.0
// Which libraries read the models? For --version.
//
//   for (const named_version& v : onnx::library_versions()) ...
#pragma once

#include "../core/version.hpp"

#include <google/protobuf/stubs/common.h>
#include <onnx/common/version.h>

#include <vector>

namespace benanza::onnx {

/// The libraries that the program was compiled with.
inline std::vector<named_version> library_versions() {
  return {{"onnx", ::ONNX_NAMESPACE::LAST_RELEASE_VERSION},
          {"protobuf", version_of_number(GOOGLE_PROTOBUF_VERSION, 1000)}};
}

} // namespace benanza::onnx
