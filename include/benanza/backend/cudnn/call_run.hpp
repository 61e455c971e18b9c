// SPDX-License-Identifier: Apache-2.0
// A call of cuDNN's, ready to be made: operands in the GPU's memory as the call wants them, weights
// that rotate, workspace.
//
//   call_run r(context, std::move(call), numeric::f16, operands);   r.run(1);   r.time(100)
#pragma once

#include "calls.hpp"
#include "execution.hpp"

namespace benanza::backend::cudnn {

class call_run final : public cuda::device_run {
public:
  call_run(std::shared_ptr<context> on, call c, numeric t, const operands& values)
      : device_run(on->gpu(), weights_of(t))
      , context_(std::move(on))
      , call_(std::move(c)) {
    if (call_.workspace) workspace_ = cuda::memory(call_.workspace(context_->get()));
    places_.workspace = workspace_.data();
    places_.workspace_bytes = static_cast<std::size_t>(workspace_.bytes());
    places_.scale = static_cast<float>(values.output_scale);
    for (const placed& p : call_.operands) {
      operands_.push_back(held(p, values));
      places_.operands.push_back(operands_.back().data());
      if (p.constant) add_weights(operands_.back().bytes());
    }
    for (const placed& p : call_.results) {
      results_.push_back(cuda::poisoned(p.elements * size_bytes(p.type)));
      places_.results.push_back(results_.back().data());
    }
  }

  std::string ran() const override { return call_.what.id; }

  void read(std::vector<double>& out) const override {
    out.clear();
    std::vector<double> one;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      gather(call_.results[i], results_[i].download(), one);
      out.insert(out.end(), one.begin(), one.end());
    }
  }

private:
  cuda::memory held(const placed& p, const operands& values) const {
    if (p.input == placed::packed) {
      cuda::memory m(call_.packed_bytes(context_->get()));
      m.upload(call_.packed(context_->get(), m.data(), m.bytes(), values));
      return m;
    }
    tensor_bytes bytes;
    if (p.input == placed::filled) {
      bytes.resize(static_cast<std::size_t>(p.elements * size_bytes(p.type)));
      for (std::int64_t i = 0; i < p.elements; ++i)
        store(p.type, bytes.data(), i, p.value);
    } else {
      if (static_cast<std::size_t>(p.input) >= values.inputs.size())
        throw error("an operand is missing");
      bytes =
          cuda::spread(values.inputs[static_cast<std::size_t>(p.input)],
                       {p.dims, p.strides, p.type, p.elements}, p.scaled ? values.output_scale : 1);
    }
    cuda::memory m(std::ssize(bytes));
    m.upload(bytes);
    return m;
  }

  void enqueue(std::int64_t copy) override {
    std::byte* weights = weights_at(copy);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!call_.operands[i].constant) continue;
      places_.operands[i] = weights != nullptr ? weights : operands_[i].data();
      if (weights != nullptr) weights += cuda::in_pool(operands_[i].bytes());
    }
    check_launch(call_.launch(context_->get(), places_));
  }

  std::shared_ptr<context> context_;
  call call_;
  std::vector<cuda::memory> operands_{}, results_{};
  cuda::memory workspace_{};
  call_memory places_{};
};

} // namespace benanza::backend::cudnn
