// SPDX-License-Identifier: Apache-2.0
// One engine configuration of one layer, ready to run on the GPU: plan built, operands in its
// layouts in the GPU's memory, workspace allocated. Timed by events around replayed graphs.
//
//   execution e(context, std::move(built_plan), operands, setting);   e.run(1);   e.time(100)
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
    get();
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context() { cudnnDestroy(it_); }

  /// On the stream that the GPU's libraries use just now.
  cudnnHandle_t get() const {
    const cudaStream_t now = gpu_->stream().get();
    if (std::exchange(stream_, now) != now)
      check(cudnnSetStream(it_, now), "cuDNN cannot use a stream");
    return it_;
  }
  const std::shared_ptr<cuda::gpu>& gpu() const { return gpu_; }

private:
  std::shared_ptr<cuda::gpu> gpu_;
  cudnnHandle_t it_ = nullptr;
  mutable cudaStream_t stream_ = nullptr;
};

/// Throws where a launch failed. One that failed for good is the device's matter, not the
/// library's.
inline void check_launch(cudnnStatus_t s) {
  if (s == CUDNN_STATUS_SUCCESS) return;
  cuda::throw_if_lost("an execution failed");
  check(s, "an execution failed");
}

/// The bytes of a tensor that no operand gives.
inline tensor_bytes filled(const placed& p) {
  tensor_bytes bytes(static_cast<std::size_t>(p.is().bytes()));
  for (std::int64_t i = 0; i < p.elements; ++i)
    store(p.type, bytes.data(), i, p.value);
  return bytes;
}

class execution final : public cuda::device_run {
public:
  execution(std::shared_ptr<context> on, built_plan&& built, const operands& values,
            const setting& s)
      : device_run(on->gpu(), values, s)
      , context_(std::move(on))
      , recipe_(std::move(built.made))
      , configuration_(std::move(built.how))
      , plan_(std::move(built.plan))
      , factor_(recipe_.factor ? recipe_.factor(values) : values.output_scale) {
    for (const placed& p : recipe_.tensors)
      places_.push_back(hold_or_write(p, values));
    for (const handed_over& n : recipe_.numbers)
      numbers_.push_back(n.times_factor ? n.value * static_cast<float>(factor_) : n.value);
    need_scratch(plan_.one<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  }

  std::string ran() const override {
    const auto read = plan_.children(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                     CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 1);
    if (read.empty()) throw error("cuDNN: a plan does not say what it runs");
    return recipe_.before + id_of(detail::read_configuration(read[0]).choice);
  }

private:
  /// The number of an operand; negative for what is written.
  int hold_or_write(const placed& p, const operands& values) {
    if (p.input == placed::result || p.input == placed::second) {
      write(p.is());
      return p.input;
    }
    if (p.input == placed::unread) {
      unread_.emplace_back(p.is().bytes());
      return placed::unread;
    }
    if (p.input == placed::filled)
      return hold({.as = p.is(), .factor = p.value}, p.constant, [&p] { return filled(p); });
    if (p.input != folded_scale && p.input != folded_shift)
      return hold(p.input, p.is(), p.constant, p.scaled ? factor_ : 1);
    const bool shift = p.input == folded_shift;
    return hold({values.inputs.at(1).bytes.data(), p.is(), 1, shift ? 2 : 1}, p.constant,
                [&] { return cuda::spread(folded(values, shift), p.is()); });
  }

  void moved() override { packs_.clear(); }

  /// What the plan reads and writes with copy `copy` of the weights.
  const descriptor& pack(std::int64_t copy) {
    const auto known = packs_.find(copy);
    if (known != packs_.end()) return known->second;
    std::vector<std::int64_t> ids;
    std::vector<void*> places;
    auto unread = unread_.begin();
    for (std::size_t i = 0; i < recipe_.tensors.size(); ++i) {
      ids.push_back(recipe_.tensors[i].tensor);
      const int which = places_[i];
      places.push_back(which >= 0                ? at(which, copy)
                       : which == placed::result ? result(copy)
                       : which == placed::second ? result(copy, 1)
                                                 : (unread++)->data());
    }
    for (std::size_t i = 0; i < recipe_.numbers.size(); ++i) {
      ids.push_back(recipe_.numbers[i].tensor);
      places.push_back(&numbers_[i]);
    }
    descriptor d(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    d.set_all(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(ids))
        .set_all(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(places))
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, static_cast<void*>(scratch()))
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
  double factor_;
  std::vector<int> places_{};          ///< of the recipe's tensors
  std::vector<cuda::memory> unread_{}; ///< what is written besides
  std::vector<float> numbers_{};
  std::map<std::int64_t, descriptor> packs_{};
};

} // namespace benanza::backend::cudnn
