// SPDX-License-Identifier: Apache-2.0
// What does a comparison say in every format but those of its own (text.hpp, junit.hpp)? Rows of
// models, kernels, layers and algorithms, what is on one side only, and what differs besides.
//
//   deliver(out, output, "md", comparison_answer(c, 10));
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/compare/rows.hpp>

#include <cstddef>

namespace benanza::report {

/// For people at most `most` rows a table, and none that is the same.
tables::chapter comparison_answer(const compare::comparison& c, std::size_t most);

} // namespace benanza::report
