// SPDX-License-Identifier: Apache-2.0
// What did a run of several parts spend its time on? Its parts, and the calls of libraries within
// them, in their order.
//
//   timed_part{.name = "onednn/jit:avx512_core conv1", .ns = 12500}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace benanza {

/// One part of an execution, and how long it took.
struct timed_part {
  std::string name{};
  double ns = 0;
  std::string layer{}; ///< what it is, as op::name writes it; empty: no layer, or not known
  std::vector<std::int64_t> counted{}; ///< what the processor counted in it; empty: it did not

  bool operator==(const timed_part&) const = default;
};

/// A call of a library.
struct timed_call {
  std::int64_t part = -1; ///< the number of the part that it is within; -1: not known
  std::string text{};     ///< what the library says of it
  double ns = 0;          ///< by the library's own clock

  bool operator==(const timed_call&) const = default;
};

} // namespace benanza
