// SPDX-License-Identifier: Apache-2.0
// One engine configuration of one layer, ready to run on the GPU: plan built, operands in its
// layouts in the GPU's memory, workspace allocated. Timed by events around replayed graphs.
//
//   execution e(context, std::move(built_plan), type, operands);   e.run(1);   e.time(100)
#pragma once

#include "../cuda/device_run.hpp"
#include "built_plan.hpp"
#include "placement.hpp"

#include <cudnn.h>

namespace benanza::backend::cudnn {

/// cuDNN's handle on the shared GPU and its stream.
class context {
public:
  explicit context(std::shared_ptr<cuda::gpu> on)
      : gpu_(std::move(on)) {
    check(cudnnCreate(&it_), "cuDNN cannot be started");
    check(cudnnSetStream(it_, gpu_->stream().get()), "cuDNN cannot use a stream");
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() { cudnnDestroy(it_); }

  cudnnHandle_t get() const { return it_; }
  const std::shared_ptr<cuda::gpu>& gpu() const { return gpu_; }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  cudnnHandle_t it_ = nullptr;
};

/// Throws where a launch failed. One that failed for good is the device's matter, not the
/// library's.
inline void check_launch(cudnnStatus_t s) {
  if (s == CUDNN_STATUS_SUCCESS) return;
  cuda::throw_if_lost("an execution failed");
  check(s, "an execution failed");
}

class execution final : public cuda::device_run {
public:
  execution(std::shared_ptr<context> on, built_plan&& built, numeric t, const operands& values)
      : device_run(on->gpu(), weights_of(t))
      , context_(std::move(on))
      , recipe_(std::move(built.made))
      , configuration_(std::move(built.how))
      , plan_(std::move(built.plan)) {
    for (const placed& p : recipe_.tensors)
      memory_.push_back(p.input < 0 ? cuda::poisoned(p.elements * size_bytes(p.type))
                                    : held(p, values));
    for (const handed_over& n : recipe_.numbers)
      numbers_.push_back(n.times_output_scale ? n.value * static_cast<float>(values.output_scale)
                                              : n.value);
    workspace_ = cuda::memory(plan_.one<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  }

  std::string ran() const override {
    const auto read = plan_.children(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                     CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 1);
    if (read.empty()) throw error("cuDNN: a plan does not say what it runs");
    return recipe_.before + id_of(detail::read_configuration(read[0]).choice);
  }

  void read(std::vector<double>& out) const override {
    for (std::size_t i = 0; i < recipe_.tensors.size(); ++i)
      if (recipe_.tensors[i].input == placed::result)
        return gather(recipe_.tensors[i], memory_[i].download(), out);
    throw error("cuDNN: a graph without a result");
  }

private:
  cuda::memory held(const placed& p, const operands& values) {
    const bool is_folded = p.input == folded_scale || p.input == folded_shift;
    const tensor made = is_folded ? folded(values, p.input == folded_shift) : tensor{};
    if (!is_folded && static_cast<std::size_t>(p.input) >= values.inputs.size())
      throw error("an operand is missing");
    const tensor_bytes bytes =
        spread(is_folded ? made : values.inputs[static_cast<std::size_t>(p.input)], p);
    cuda::memory m(std::ssize(bytes));
    m.upload(bytes);
    if (p.constant) add_weights(m.bytes());
    return m;
  }

  void moved() override { packs_.clear(); }

  /// What the plan reads and writes with copy `copy` of the weights.
  const descriptor& pack(std::int64_t copy) {
    const auto known = packs_.find(copy);
    if (known != packs_.end()) return known->second;
    std::vector<std::int64_t> ids;
    std::vector<void*> places;
    std::byte* weights = weights_at(copy);
    for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
      const placed& p = recipe_.tensors[i];
      ids.push_back(p.tensor);
      places.push_back(memory_[i].data());
      if (!p.constant || weights == nullptr) continue;
      places.back() = weights;
      weights += cuda::in_pool(memory_[i].bytes());
    }
    for (std::size_t i = 0; i < recipe_.numbers.size(); ++i) {
      ids.push_back(recipe_.numbers[i].tensor);
      places.push_back(&numbers_[i]);
    }
    descriptor d(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    d.set_all(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(ids))
        .set_all(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(places))
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, static_cast<void*>(workspace_.data()))
        .finalize("the operands of a plan");
    return packs_.emplace(copy, std::move(d)).first->second;
  }

  void enqueue(std::int64_t copy) override {
    check_launch(cudnnBackendExecute(context_->get(), plan_.get(), pack(copy).get()));
  }

  std::shared_ptr<context> context_;
  recipe recipe_;
  configuration configuration_;
  descriptor plan_;
  std::vector<cuda::memory> memory_{}; ///< of the recipe's tensors
  std::vector<float> numbers_{};
  cuda::memory workspace_{};
  std::map<std::int64_t, descriptor> packs_{};
};

} // namespace benanza::backend::cudnn
