// SPDX-License-Identifier: Apache-2.0
// What does cuDNN list for a layer on a GPU that is only described? Descriptions are made once.
//
//   for (const offer& o : listed("Conv/1x3x224x224-64x7x7-s2-p3", numeric::f16, "h200")) o.what.id;
#pragma once

#include <benanza/backend/cudnn/enumerate.hpp>

#include <map>

namespace cudnn_test {

inline const benanza::backend::cudnn::target& gpu(const std::string& name) {
  static std::map<std::string, benanza::backend::cudnn::target> known;
  const auto found = known.find(name);
  return found != known.end()
             ? found->second
             : known.emplace(name, benanza::backend::cudnn::described_target(name)).first->second;
}

inline std::vector<benanza::backend::cudnn::offer>
listed(const std::string& layer, benanza::numeric t, const std::string& on) {
  return benanza::backend::cudnn::offers(benanza::op::parse(layer), t, gpu(on));
}

} // namespace cudnn_test
