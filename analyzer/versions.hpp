// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze --version` print? Its version and revision, and the libraries that it
// was built with.
//
//   std::cout << versions();
#pragma once

#include <CLI/Version.hpp>

#include <string>

namespace benanza::analyzer {

/// The text of --version.
std::string versions();

} // namespace benanza::analyzer
