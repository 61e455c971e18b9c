// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze coldstart run.json` do? It adds up what a new process does until its
// first answer, with weights of its own and with shared ones.
#pragma once

#include "../commands.hpp"

namespace benanza::analyzer {

status run_coldstart(std::vector<std::string> arguments, const streams& to);

} // namespace benanza::analyzer
