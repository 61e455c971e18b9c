// SPDX-License-Identifier: Apache-2.0
// Where does a framework lose its time? First where it is faster than what was measured here, which
// is a fault of ours; then the steps from its run down to the machine's limits; then what its
// operators lose, most first, and what it added.
//
//   std::string text = framework_section(comparison, 10);
#pragma once

#include <benanza/advice/compared.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace benanza::report {

/// The total that is left behind a step; empty: it has no name.
std::string_view total_behind(const advice::comparison& c, const advice::bar& b);

/// That, where it matters for the page; empty: it does not.
std::string blurred_text(const advice::comparison& c);

/// A framework's run against the best kernels, at most `limit` rows a table.
std::string framework_section(const advice::comparison& c, std::size_t limit);

} // namespace benanza::report
