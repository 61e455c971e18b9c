// SPDX-License-Identifier: Apache-2.0
#include "versions.hpp"

#include <CLI/Version.hpp>
#include <benanza/result/store/version.hpp>
#include <nlohmann/json.hpp>

#include <vector>

namespace benanza::analyzer {

std::string versions() {
  std::vector<named_version> libraries = result::store::sqlite_version();
  libraries.emplace_back("nlohmann-json", nlohmann::json::meta()["version"]["string"]);
  libraries.emplace_back("fmt", version_of_number(FMT_VERSION, 100));
  libraries.emplace_back("CLI11", CLI11_VERSION);
  return version_text("benanza_analyze", libraries);
}

} // namespace benanza::analyzer
