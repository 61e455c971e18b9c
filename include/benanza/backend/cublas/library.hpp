// SPDX-License-Identifier: Apache-2.0
// cuBLAS as a backend: products of matrices by its plain functions and by each algorithm that
// cublasLt proposes, on the first GPU. Without a GPU it lists the plain functions, and runs
// nothing.
//
//   const backend::registration<cublas::library> here{"cublas"};
#pragma once

#include "../cuda/chain_space.hpp"
#include "../cuda/weight_loader.hpp"
#include "../cudnn/device_table.hpp"
#include "execution.hpp"
#include "grouped.hpp"

namespace benanza::backend::cublas {

class library final : public backend::library, public device_library {
public:
  std::string_view name() const override { return "cublas"; }

  std::map<std::string, std::string> facts() const override {
    if (!unavailable().empty())
      return {{"version", told_by_headers()}, {"unavailable", unavailable()}};
    std::string version;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int value = 0;
      check(call::get_property(part, &value), "its version");
      version.append(version.empty() ? "" : ".").append(std::to_string(value));
    }
    std::map<std::string, std::string> out{{"version", version}};
    for (const auto& [key, value] : cuda::gpu::of_this_process()->facts())
      out[key] = value;
    return out;
  }

  device_library* own_devices() override { return this; }
  std::unique_ptr<device_space> make_space() override {
    if (!unavailable().empty()) throw error(unavailable());
    return std::make_unique<cuda::chain_space>(cuda::gpu::of_this_process());
  }
  std::unique_ptr<backend::weight_loader> make_loader() override {
    if (!unavailable().empty()) throw error(unavailable());
    return std::make_unique<cuda::weight_loader>(cuda::gpu::of_this_process());
  }
  std::string profiler() override { return cuda::cupti::that_is_here(); }
  /// Without a GPU the library is not even loaded.
  std::string unavailable() const override {
    return cuda::no_gpu().empty() ? why_not_loaded() : cuda::no_gpu();
  }

  void describe_device(const std::string& device) override {
    if (unavailable().empty()) return;
    described_ = true;
    if (const auto known = cudnn::find_device(device))
      capability_ = known->compute_capability / 100;
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting& s) override {
    std::vector<algorithm> out;
    if (s.threads != 1 || !open()) return out;
    if (t == numeric::tf32 && capability_ < first_with_tf32) return out;
    for (const task& of : tasks_for(l, t)) {
      add_plain_functions(of, l, t, out);
      if (!context_) continue;
      add_proposals(of, l, t, false, s.proposed, out);
      if (t == numeric::e4m3) add_proposals(of, l, t, true, s.proposed, out);
    }
    return out;
  }

  std::vector<refused_algorithm> refused(const op::layer& l, numeric, const setting& s) override {
    const std::string step(step_without_epilogue(l));
    if (s.threads != 1 || step.empty()) return {};
    return {{"lt", "it has no epilogue " + step}};
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& values, const setting& s) override {
    const std::string where = op::name(l) + ", " + a.id;
    if (!unavailable().empty()) throw error(unavailable());
    open();
    for (task& of : tasks_for(l, t)) {
      if (!a.id.starts_with(of.before)) continue;
      const std::string_view id = std::string_view(a.id).substr(of.before.size());
      try {
        if (id == gemm_id && has_gemm(of, t))
          return std::make_unique<gemm_run>(context_, std::move(of), t, values, s);
        if (id == gemv_id && has_gemv(of, t))
          return std::make_unique<gemv_run>(context_, std::move(of), t, values, s);
        if (id == grouped_id && has_grouped(of, t))
          return std::make_unique<grouped_run>(context_, std::move(of), t, values, s);
        if (const auto choice = parse_lt(id); choice && may_be(*choice, t))
          return std::make_unique<lt_run>(context_, std::move(of), t, *choice, algo_of(a.opaque),
                                          values, s);
      } catch (const refusal& e) {
        cuda::throw_if_lost("an algorithm cannot be prepared");
        throw error(e.what(), where);
      }
    }
    throw error("cuBLAS does not offer this algorithm here", where,
                "list the layer's algorithms again");
  }

private:
  static constexpr int first_with_tf32 = 8; // compute capability
  static constexpr int first_proposals = 3; // of cublasLt, where few are asked for

  /// Only FP8 can be added up in fewer bits.
  static bool may_be(const lt_choice& c, numeric t) { return !c.fast_accum || t == numeric::e4m3; }

  /// What cublasLt proposes for a task.
  void add_proposals(const task& of, const op::layer& l, numeric t, bool fast_accum, bool few,
                     std::vector<algorithm>& out) const {
    int shown = 0;
    for (const lt_found& f : lt_problem(of, t, fast_accum).proposals(context_->light())) {
      if (few && ++shown > first_proposals) break;
      out.push_back(algorithm_of(of, l, t, id_of(f.choice), static_cast<int>(out.size())));
      out.back().equivalence = equivalence_of(f, t);
      out.back().workspace_bytes = f.workspace_bytes;
      out.back().notes = notes_of(f);
      out.back().opaque = hex_of(f.algo);
    }
  }

  static std::string told_by_headers() {
    return std::to_string(CUBLAS_VER_MAJOR) + '.' + std::to_string(CUBLAS_VER_MINOR) + '.' +
           std::to_string(CUBLAS_VER_PATCH);
  }

  /// True where algorithms can be listed.
  bool open() {
    if (context_ || described_) return true;
    if (!unavailable().empty()) return false;
    context_ = std::make_shared<context>(cuda::gpu::of_this_process());
    capability_ = cuda::attribute(cudaDevAttrComputeCapabilityMajor);
    return true;
  }

  std::shared_ptr<context> context_{};
  bool described_ = false;
  int capability_ = first_with_tf32; ///< major; of an unknown device, a current one's
};

} // namespace benanza::backend::cublas
