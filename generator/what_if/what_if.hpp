// SPDX-License-Identifier: Apache-2.0
// benanza_generate --algorithms --what-if: prints what is known of models on a GPU that is not
// here. Without cuDNN in the build it is refused, as --algorithms is.
//
//   print_what_if(all, graphs, {.wanted = true, .target = "h100", .what_if = true});
#pragma once

#include "json.hpp"
#include "text.hpp"

namespace benanza::generator {

inline void print_what_if(const model::catalogue& all, std::span<const model::graph> graphs,
                          const target_arguments& arguments) {
#ifdef BENANZA_WITH_CUDNN
  const answers a = answer(all, graphs, arguments);
  if (arguments.format == "json")
    say(json_of(a).dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
  else
    say(text_of(a));
#else
  print_algorithms(all, graphs, arguments); // which refuses
#endif
}

} // namespace benanza::generator
