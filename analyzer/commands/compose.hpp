// SPDX-License-Identifier: Apache-2.0
// benanza_analyze compose: models put together from what their sequences of layers took.
#pragma once

#include "../commands.hpp"

#include <string>
#include <vector>

namespace benanza::analyzer {

inline constexpr const char* about_compose =
    "put models together from what their sequences of layers took";

status compose(std::vector<std::string> arguments, const streams& to);

} // namespace benanza::analyzer
