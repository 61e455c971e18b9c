// SPDX-License-Identifier: Apache-2.0
// Descriptions of GPUs, which cuDNN reads.
#include "mutate.hpp"

#ifdef BENANZA_WITH_CUDNN
#include <benanza/backend/cudnn/device_table.hpp>
#include <benanza/backend/cudnn/target.hpp>

namespace {
void take_gpu(std::string_view bytes) {
  benanza::backend::cudnn::described_by(std::string(bytes), "gpu.json");
}

std::vector<std::string> gpu_samples() {
  std::vector<std::string> out;
  for (const char* name : {"h200", "t4", "b200"})
    out.push_back(
        benanza::backend::cudnn::device_json(*benanza::backend::cudnn::find_device(name)));
  return out;
}

const fuzz::registration gpu_target{{.name = "gpus",
                                     .take = take_gpu,
                                     .samples = gpu_samples,
                                     .words = {"{\"", "[", "\":"},
                                     .change = fuzz::spoil_json}};
} // namespace
#endif
