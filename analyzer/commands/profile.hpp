// SPDX-License-Identifier: Apache-2.0
// `benanza_analyze profile`: where a model's time goes at every level of its stack.
#pragma once

#include "../commands.hpp"

namespace benanza::analyzer {

status answer_profile(std::vector<std::string> arguments, const streams& to);

} // namespace benanza::analyzer
