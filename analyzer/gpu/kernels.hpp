// SPDX-License-Identifier: Apache-2.0
// What really ran on a GPU? Whether a model's layers use tensor cores, and who says so; and the
// kernels of those layers that take most time, where a profiler saw them.
//
//   std::string text = tensor_line(model) + kernel_list(model, 10);
#pragma once

#include <benanza/bound/figures.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// One line on tensor cores; empty where no GPU ran a layer of sums of products.
std::string tensor_line(const bound::model_bound& b, std::size_t limit);

/// The kernels that a profiler saw of the layers that take most time; empty: it saw none.
std::string kernel_list(const bound::model_bound& b, std::size_t limit);

} // namespace benanza::report
