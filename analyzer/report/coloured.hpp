// SPDX-License-Identifier: Apache-2.0
// What of a page is marked on a terminal? Headings and the lower bound, words that warn, verdicts,
// and bars. The text stays as it is: without its escape sequences it is the page of a file.
//
//   coloured("PARTIAL     2 nodes") == "\x1b[1;33mPARTIAL\x1b[0m     2 nodes"
#pragma once

#include <string>
#include <string_view>

namespace benanza::report {

/// A page with its colours, for a terminal.
std::string coloured(std::string_view page);

} // namespace benanza::report
