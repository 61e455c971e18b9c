// SPDX-License-Identifier: Apache-2.0
// What does `benanza_generate --version` print? Its version and revision, and the libraries that it
// was built with.
//
//   std::cout << versions();
#pragma once

#include <benanza/onnx/version.hpp>
#include <benanza/result/store/version.hpp>

#ifdef BENANZA_WITH_CUDNN
#include <benanza/backend/cudnn/enumerate.hpp>
#endif

#include <CLI/Version.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace benanza::generator {

/// The text of --version.
inline std::string versions() {
  std::vector<named_version> libraries = onnx::library_versions();
  libraries.emplace_back("nlohmann-json", nlohmann::json::meta()["version"]["string"]);
  libraries.emplace_back("fmt", version_of_number(FMT_VERSION, 100));
  libraries.emplace_back("CLI11", CLI11_VERSION);
  for (const named_version& v : result::store::sqlite_version())
    libraries.push_back(v);
#ifdef BENANZA_WITH_CUDNN
  libraries.emplace_back("cuDNN", backend::cudnn::library_version());
#endif
  return version_text("benanza_generate", libraries);
}

} // namespace benanza::generator
