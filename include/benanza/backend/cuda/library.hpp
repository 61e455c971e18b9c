// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime as a backend, for layers that no library of NVIDIA's computes: its copies, and
// kernels of ours that NVRTC compiles for the GPU that is there. Without a GPU it lists what it has
// and runs nothing.
//
//   const backend::registration<cuda::library> here{"cuda"};
#pragma once

#include "../../op/kinds.hpp"
#include "../indices.hpp"
#include "chain_space.hpp"
#include "enumerate.hpp"
#include "limits.hpp"
#include "mover_run.hpp"
#include "weight_loader.hpp"

namespace benanza::backend::cuda {

namespace detail {
/// What this machine lacks for a kernel; without a GPU only what is known of the toolkit.
inline std::string lacking_here(const source::kernel& k) {
  if (k.needs_cub && !cub_headers::it().found()) return cub_headers::it().why_not();
  if (k.least_architecture == 0 || !no_gpu().empty()) return {};
  const int its = compute_capability();
  if (its >= k.least_architecture) return {};
  return "it needs sm_" + std::to_string(k.least_architecture) + ", and this GPU has sm_" +
         std::to_string(its);
}
} // namespace detail

class library final : public backend::library, public device_library {
public:
  std::string_view name() const override { return "cuda"; }

  std::map<std::string, std::string> facts() const override {
    std::map<std::string, std::string> out;
    if (!compiles) out["kernels"] = "none, built without NVRTC";
    if (compiles && !cub_headers::it().version().empty()) out["cub"] = cub_headers::it().version();
    if (!unavailable().empty()) {
      out["unavailable"] = unavailable();
    } else {
      if (compiles) out["kernels"] = kernel_compiler();
      for (const auto& [key, value] : gpu::of_this_process()->facts())
        out[key] = value;
    }
    return out;
  }

  device_library* own_devices() override { return this; }
  std::unique_ptr<device_space> make_space() override {
    if (!unavailable().empty()) throw error(unavailable());
    return std::make_unique<chain_space>(gpu::of_this_process());
  }
  std::unique_ptr<backend::weight_loader> make_loader() override {
    if (!unavailable().empty()) throw error(unavailable());
    return std::make_unique<weight_loader>(gpu::of_this_process());
  }
  std::string profiler() override { return cupti::that_is_here(); }
  std::string unavailable() const override { return no_gpu(); }

  std::vector<device_limit> limits() override {
    return unavailable().empty() ? cuda::limits() : std::vector<device_limit>{};
  }
  std::string absent_limits() override {
    return unavailable().empty() ? cuda::absent_limits() : std::string{};
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting& s) override {
    if (s.threads != 1) return {};
    return offers(l, t, compiles, detail::lacking_here);
  }
  std::vector<refused_algorithm> refused(const op::layer& l, numeric t, const setting& s) override {
    std::vector<refused_algorithm> out;
    if (s.threads == 1) offers(l, t, compiles, detail::lacking_here, &out);
    return out;
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& values, const setting& s) override {
    if (!unavailable().empty()) throw error(unavailable());
    if (!gpu_) gpu_ = gpu::of_this_process();
    check_indices(l, values);
    if (a.id == copies_id)
      if (auto plan = copies_for(l, size_bytes(detail::moved_type(l, t))))
        return std::make_unique<copy_run>(gpu_, l, t, std::move(*plan), values, s);
    for (const source::kernel& k : source::kernels_for(l, t, values.output_scale))
      if (a.id == std::string(kernel_prefix) + k.name)
        return std::make_unique<kernel_run>(gpu_, l, t, k, values, s);
    throw error("there is no such mover for this layer", op::name(l) + ", " + a.id,
                "list the layer's algorithms again");
  }

private:
  /// "NVRTC 13.0", or why there is none.
  static std::string kernel_compiler() {
    try {
      return "NVRTC " + compiler_version();
    } catch (const error& e) {
      return e.what();
    }
  }

  std::shared_ptr<gpu> gpu_{};
};

} // namespace benanza::backend::cuda
