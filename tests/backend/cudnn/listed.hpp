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

/// True where the algorithm's id gives the same configuration again, and the same workspace where
/// that is known without the GPU.
inline bool remade(const benanza::backend::cudnn::offer& o, const std::string& on) {
  namespace cudnn = benanza::backend::cudnn;
  if (!o.what.id.starts_with(o.made_by->before)) return false;
  const auto choice =
      cudnn::parse_engine(std::string_view(o.what.id).substr(o.made_by->before.size()));
  if (!choice || !(*choice == o.how.choice)) return false;
  const cudnn::configuration again = cudnn::configure(o.made_by->graph, *choice, gpu(on));
  if (!(cudnn::detail::read_configuration(again.it).choice == *choice)) return false;
  return o.how.compiled_at_run_time() ||
         cudnn::plan_of(again.it, gpu(on))
                 .one<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) ==
             o.what.workspace_bytes;
}

} // namespace cudnn_test
