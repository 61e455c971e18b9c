// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze --version` print? Its version and revision, and the libraries that it
// was built with.
//
//   std::cout << versions();
#pragma once

#include <CLI/Version.hpp>
#include <benanza/result/store/version.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace benanza::analyzer {

/// The text of --version.
inline std::string versions() {
  std::vector<named_version> libraries = result::store::sqlite_version();
  libraries.emplace_back("nlohmann-json", nlohmann::json::meta()["version"]["string"]);
  libraries.emplace_back("fmt", version_of_number(FMT_VERSION, 100));
  libraries.emplace_back("CLI11", CLI11_VERSION);
  return version_text("benanza_analyze", libraries);
}

} // namespace benanza::analyzer
