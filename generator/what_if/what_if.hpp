// SPDX-License-Identifier: Apache-2.0
// benanza_generate --algorithms --what-if: what is known of models on a GPU that is not here.
// Without cuDNN in the build it is refused, as --algorithms is.
//
//   report::tables::chapter answer = what_if_answer(all, graphs, {.target = "h100", .what_if =
//   true});
#pragma once

#include "chapters.hpp"

namespace benanza::generator {

inline report::tables::chapter what_if_answer(const model::catalogue& all,
                                              std::span<const model::graph> graphs,
                                              const target_arguments& arguments) {
#ifdef BENANZA_WITH_CUDNN
  return what_if_answer(answer(all, graphs, arguments));
#else
  return algorithms_answer(all, graphs, arguments); // which refuses
#endif
}

} // namespace benanza::generator
