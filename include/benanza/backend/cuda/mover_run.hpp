// SPDX-License-Identifier: Apache-2.0
// A layer that moves data, ready to run on the GPU: operands in its memory, and either the list of
// copies or the loaded kernel. Timed by events around replayed graphs, like every library there.
//
//   copy_run r(gpu, layer, numeric::f16, *copies_for(layer, 2), operands);   r.run(1);
#pragma once

#include "../../op/kinds.hpp"
#include "copies.hpp"
#include "device_run.hpp"
#include "loaded_kernel.hpp"

namespace benanza::backend::cuda {

namespace detail {

/// True for what a trained model holds constant.
inline bool is_constant(const tensor& x) {
  return x.part == role::weights || x.part == role::vector;
}

/// How a tensor is stored in a layout.
inline stored stored_in(layout l, const shape& dims, dtype type) {
  return {dims, l == layout::channels_last ? channels_last(dims) : packed(dims), type,
          elements(dims)};
}

/// Operands and result of a layer, in ONNX's order but for changes of layout.
class plain_run : public device_run {
public:
  plain_run(std::shared_ptr<gpu> on, const op::layer& l, numeric t, const operands& values,
            const setting& s)
      : device_run(std::move(on), values, s) {
    const auto* r = op::as<op::reorder>(l);
    for (int i = 0; i < std::ssize(values.inputs); ++i) {
      const tensor& x = values.inputs[static_cast<std::size_t>(i)];
      hold(i, stored_in(r != nullptr ? r->from : layout::plain, x.dims, x.type), is_constant(x));
    }
    operands_ = static_cast<int>(std::ssize(values.inputs));
    for (const placed_result& one : results_of(l, t))
      write(stored_in(r != nullptr ? r->to : layout::plain, one.dims, one.type));
    results_ = static_cast<std::size_t>(op::results(l).size);
  }

protected:
  int operand_count() const { return operands_; }
  /// Where operands and results of an execution with copy `copy` are.
  void find_places(std::int64_t copy, std::vector<std::byte*>& out) const {
    out.clear();
    for (int i = 0; i < operands_; ++i)
      out.push_back(at(i, copy));
    for (std::size_t i = 0; i < results_; ++i)
      out.push_back(result(copy, i));
  }

private:
  int operands_ = 0;
  std::size_t results_ = 1;
};
} // namespace detail

/// Copies of the CUDA runtime, one after the other.
class copy_run final : public detail::plain_run {
public:
  copy_run(std::shared_ptr<gpu> on, const op::layer& l, numeric t, copy_plan plan,
           const operands& values, const setting& s)
      : plain_run(std::move(on), l, t, values, s)
      , plan_(std::move(plan)) {}

  std::string ran() const override { return "memcpy"; }

private:
  void enqueue(std::int64_t number) override {
    const cudaStream_t s = device()->stream().get();
    if (plan_.zeros_first)
      check(cudaMemsetAsync(result(number), 0, static_cast<std::size_t>(result_bytes()), s),
            "zeros cannot be written");
    for (const copy& c : plan_.copies)
      check(start_copy(c, at(c.operand, number) + c.from, result(number) + c.to, s),
            "a copy cannot be started");
  }

  static cudaError_t start_copy(const copy& c, std::byte* from, std::byte* to, cudaStream_t s) {
    const auto n = [](std::int64_t v) { return static_cast<std::size_t>(v); };
    if (c.planes > 1) {
      cudaMemcpy3DParms p{};
      p.srcPtr = {from, n(c.from_pitch), n(c.width), n(c.from_plane / c.from_pitch)};
      p.dstPtr = {to, n(c.to_pitch), n(c.width), n(c.to_plane / c.to_pitch)};
      p.extent = {n(c.width), n(c.rows), n(c.planes)};
      p.kind = cudaMemcpyDeviceToDevice;
      return cudaMemcpy3DAsync(&p, s);
    }
    if (c.rows > 1)
      return cudaMemcpy2DAsync(to, n(c.to_pitch), from, n(c.from_pitch), n(c.width), n(c.rows),
                               cudaMemcpyDeviceToDevice, s);
    return cudaMemcpyAsync(to, from, n(c.width), cudaMemcpyDeviceToDevice, s);
  }

  copy_plan plan_;
};

/// A kernel of ours.
class kernel_run final : public detail::plain_run {
public:
  kernel_run(std::shared_ptr<gpu> on, const op::layer& l, numeric t, const source::kernel& k,
             const operands& values, const setting& s)
      : plain_run(std::move(on), l, t, values, s)
      , name_("kernel:" + k.name)
      , before_(k.before ? loaded_kernel::of(*k.before) : nullptr)
      , kernel_(loaded_kernel::of(k)) {
    if (k.scratch_bytes > 0) need_scratch(k.scratch_bytes);
    find_places(0, addresses_);
    // One argument an operand, or the first of them for all; those of results come last.
    for (int i = 0; i < std::ssize(addresses_); ++i)
      if (i == 0 || !k.table || i >= operand_count())
        arguments_.push_back(&addresses_[static_cast<std::size_t>(i)]);
    if (k.scratch_bytes > 0) arguments_.push_back(&scratch_);
  }

  std::string ran() const override { return name_; }

private:
  /// The runtime copies the arguments before it returns.
  void enqueue(std::int64_t copy) override {
    find_places(copy, addresses_);
    scratch_ = scratch();
    if (before_) before_->launch(device()->stream(), arguments_.data());
    kernel_->launch(device()->stream(), arguments_.data());
  }

  std::string name_;
  std::shared_ptr<const loaded_kernel> before_, kernel_;
  std::vector<std::byte*> addresses_{};
  std::byte* scratch_ = nullptr;
  std::vector<void*> arguments_{};
};

} // namespace benanza::backend::cuda
