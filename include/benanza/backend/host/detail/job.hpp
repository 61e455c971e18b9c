// SPDX-License-Identifier: Apache-2.0
// What does a kernel get, and what does it give? A `job` holds the operands in kernel memory and
// where the result goes; a maker works out loops and tables from it, once, and returns the `task`
// to time.
//
//   task t = make(op::concat{...}, job);   t();
#pragma once

#include "memory.hpp"
#include "share.hpp"

#include <functional>
#include <string>
#include <vector>

namespace benanza::backend::host::detail {

/// One execution of a prepared kernel.
using task = std::function<void()>;

/// Everything a kernel is prepared from.
struct job {
  std::vector<tensor> shapes{}; ///< dims and types of the operands, without their values
  std::vector<const std::byte*> inputs{};
  std::byte* output = nullptr;
  dtype element = dtype::f32; ///< storage of the first operand
  dtype result = dtype::f32;
  std::vector<placed_result> results{}; ///< where in the output each one is
  std::vector<std::int64_t> parts{};    ///< lengths of those of a Split; empty: equal ones
  float scale = 1;                      ///< quantised results are round(scale * exact), saturated
  int threads = 1;
  /// Where the constant operands of this execution are; changes between executions.
  const std::byte* const* weights = nullptr;

  std::int64_t width() const { return size_bytes(element); }
  /// Where result `k` goes; null where a maker only says its way.
  std::byte* result_at(std::size_t k) const {
    return output == nullptr ? nullptr : output + results[k].offset;
  }
};

/// A kernel ready to run, and the name of the way it takes.
struct kernel {
  std::string way;
  task run;
};

} // namespace benanza::backend::host::detail
