// SPDX-License-Identifier: Apache-2.0
// A layer that moves data, ready to run on the GPU: operands in its memory, and either the list of
// copies or the loaded kernel. Timed by events around replayed graphs, like every library there.
//
//   copy_run r(gpu, layer, numeric::f16, *copies_for(layer, 2), operands);   r.run(1);
#pragma once

#include "copies.hpp"
#include "device_run.hpp"
#include "loaded_kernel.hpp"

namespace benanza::backend::cuda {

namespace detail {

/// True for what a trained model holds constant.
inline bool is_constant(const tensor& x) {
  return x.part == role::weights || x.part == role::vector;
}

/// Elements of a tensor N x C x spatial with its last two dims exchanged: from ONNX's order to
/// channels last, or back.
inline std::vector<std::byte> exchanged(std::span<const std::byte> from, std::int64_t rows,
                                        std::int64_t columns, std::int64_t width) {
  std::vector<std::byte> out(from.size());
  const std::int64_t matrix = rows * columns * width;
  for (std::int64_t at = 0; at < std::ssize(from); at += matrix)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        std::memcpy(out.data() + at + (c * rows + r) * width,
                    from.data() + at + (r * columns + c) * width, static_cast<std::size_t>(width));
  return out;
}

/// Operands and result of a layer in the GPU's memory, in ONNX's order but for changes of layout.
/// Constants rotate.
class plain_run : public device_run {
public:
  plain_run(std::shared_ptr<gpu> on, const op::layer& l, numeric t, const operands& values)
      : device_run(std::move(on), dtype::f32) // no constants but vectors of parameters
      , result_type_(result_type(l, t))
      , count_(elements(op::output(l)))
      , result_(poisoned(count_ * size_bytes(result_type_))) {
    if (const auto* r = std::get_if<op::reorder>(&l)) reorder_ = *r;
    for (const tensor& x : values.inputs) {
      operands_.emplace_back(std::ssize(x.bytes));
      if (reorder_ && reorder_->from == layout::channels_last)
        operands_.back().upload(exchanged(x.bytes, channels(), plane(), size_bytes(x.type)));
      else
        operands_.back().upload(x.bytes);
      constant_.push_back(is_constant(x));
      if (constant_.back()) add_weights(operands_.back().bytes());
    }
  }

  void read(std::vector<double>& out) const final {
    std::vector<std::byte> bytes = result_.download();
    if (reorder_ && reorder_->to == layout::channels_last)
      bytes = exchanged(bytes, plane(), channels(), size_bytes(result_type_));
    load_all(result_type_, bytes.data(), count_, out);
  }

protected:
  const std::vector<memory>& inputs() const { return operands_; }
  const memory& result() const { return result_; }
  /// Where the operands of an execution stand that takes copy `copy` of the constants.
  void find_operands(std::int64_t copy, std::vector<std::byte*>& out) const {
    std::byte* constants = weights_at(copy);
    out.clear();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const bool rotates = constant_[i] && constants != nullptr;
      out.push_back(rotates ? constants : operands_[i].data());
      if (rotates) constants += in_pool(operands_[i].bytes());
    }
  }

private:
  std::int64_t channels() const { return reorder_->input[1]; }
  std::int64_t plane() const { return elements(reorder_->input, 2, reorder_->input.size); }

  dtype result_type_;
  std::int64_t count_;
  memory result_;
  std::optional<op::reorder> reorder_{};
  std::vector<memory> operands_{};
  std::vector<bool> constant_{};
};
} // namespace detail

/// Copies of the CUDA runtime, one after the other.
class copy_run final : public detail::plain_run {
public:
  copy_run(std::shared_ptr<gpu> on, const op::layer& l, numeric t, copy_plan plan,
           const operands& values)
      : plain_run(std::move(on), l, t, values)
      , plan_(std::move(plan)) {}

  std::string ran() const override { return "memcpy"; }

private:
  void enqueue(std::int64_t) override {
    const cudaStream_t s = device()->stream().get();
    if (plan_.zeros_first)
      check(cudaMemsetAsync(result().data(), 0, static_cast<std::size_t>(result().bytes()), s),
            "zeros cannot be written");
    for (const copy& c : plan_.copies)
      check(start(c, s), "a copy cannot be started");
  }

  cudaError_t start(const copy& c, cudaStream_t s) const {
    std::byte* const to = result().data() + c.to;
    std::byte* const from = inputs().at(static_cast<std::size_t>(c.operand)).data() + c.from;
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
             const operands& values)
      : plain_run(std::move(on), l, t, values)
      , name_("kernel:" + k.name)
      , kernel_(loaded_kernel::of(k)) {
    find_operands(0, addresses_);
    addresses_.push_back(result().data());
    // One argument an operand, or the first of them for all; the result's comes last.
    const std::size_t last = addresses_.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
      if (i == 0 || !k.table) arguments_.push_back(&addresses_[i]);
    arguments_.push_back(&addresses_[last]);
  }

  std::string ran() const override { return name_; }

private:
  /// The runtime copies the arguments before it returns.
  void enqueue(std::int64_t copy) override {
    find_operands(copy, addresses_);
    addresses_.push_back(result().data());
    kernel_->launch(device()->stream(), arguments_.data());
  }

  std::string name_;
  std::shared_ptr<const loaded_kernel> kernel_;
  std::vector<std::byte*> addresses_{};
  std::vector<void*> arguments_{};
};

} // namespace benanza::backend::cuda
