// SPDX-License-Identifier: Apache-2.0
// What does cuDNN have for a layer outside its graph API? Single calls, recurrent layers, and its
// legacy API. A list needs no GPU; of what is not `certain` the GPU itself has to be asked.
//
//   all_calls(op::parse("LRN/1x96x55x55-n5"), numeric::f16)[0].what.id
#pragma once

#include "legacy.hpp"
#include "recurrent.hpp"

#include <utility>
#include <vector>

namespace benanza::backend::cudnn {

inline std::vector<call> all_calls(const op::layer& l, numeric t) {
  std::vector<call> out = calls_for(l, t);
  for (auto* more : {recurrent_calls, legacy::calls_for})
    for (call& c : more(l, t))
      out.push_back(std::move(c));
  return out;
}

} // namespace benanza::backend::cudnn
