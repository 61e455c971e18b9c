// SPDX-License-Identifier: Apache-2.0
// A call of cuDNN's, ready to be made: operands in the GPU's memory as the call wants them, weights
// that rotate, workspace.
//
//   call_run r(context, std::move(call), operands, setting);   r.run(1);   r.time(100)
#pragma once

#include "calls.hpp"
#include "execution.hpp"

namespace benanza::backend::cudnn {

class call_run final : public cuda::device_run {
public:
  call_run(std::shared_ptr<context> on, call c, const operands& values, const setting& s)
      : device_run(on->gpu(), values, s)
      , context_(std::move(on))
      , call_(std::move(c))
      , factor_(call_.factor ? call_.factor(values) : values.output_scale) {
    for (const placed& p : call_.operands)
      operands_.push_back(hold_as(p, values));
    for (const placed& p : call_.results)
      write(p.is());
    if (call_.workspace) need_scratch(call_.workspace(context_->get()));
    places_.operands.resize(call_.operands.size());
    places_.results.resize(call_.results.size());
    places_.workspace_bytes = static_cast<std::size_t>(scratch_bytes());
    places_.scale = static_cast<float>(factor_);
  }

  std::string ran() const override { return call_.what.id; }

private:
  int hold_as(const placed& p, const operands& values) {
    if (p.input == placed::packed) {
      auto own = std::make_shared<cuda::memory>(call_.packed_bytes(context_->get()));
      own->upload(call_.packed(context_->get(), own->data(), own->bytes(), values));
      return hold_weights(std::move(own), p.type);
    }
    if (p.input != placed::filled) return hold(p.input, p.is(), p.constant, p.scaled ? factor_ : 1);
    return hold({.as = p.is(), .factor = p.value}, p.constant, [&p] { return filled(p); });
  }

  void enqueue(std::int64_t copy) override {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      places_.operands[i] = at(operands_[i], copy);
    for (std::size_t i = 0; i < places_.results.size(); ++i)
      places_.results[i] = result(copy, i);
    places_.workspace = scratch();
    check_launch(call_.launch(context_->get(), places_));
  }

  std::shared_ptr<context> context_;
  call call_;
  double factor_;
  std::vector<int> operands_{};
  call_memory places_{};
};

} // namespace benanza::backend::cudnn
