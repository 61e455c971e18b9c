// SPDX-License-Identifier: Apache-2.0
// cuDNN as a backend: every engine of its graph API for every layer that it can express, on the
// first GPU. Without a GPU it can list what it has for one that is described, and runs nothing.
//
//   const backend::registration<cudnn::library> here{"cudnn"};
#pragma once

#include "../cuda/chain_space.hpp"
#include "../cuda/weight_loader.hpp"
#include "all_calls.hpp"
#include "call_run.hpp"

namespace benanza::backend::cudnn {

class library final : public backend::library, public device_library {
public:
  std::string_view name() const override { return "cudnn"; }

  std::map<std::string, std::string> facts() const override {
    std::map<std::string, std::string> out{{"version", library_version()}};
    if (!unavailable().empty()) {
      out["unavailable"] = unavailable();
    } else {
      for (const auto& [key, value] : cuda::gpu::of_this_process()->facts())
        out[key] = value;
    }
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
  std::string unavailable() const override { return cuda::no_gpu(); }

  void describe_device(const std::string& device) override {
    if (!unavailable().empty()) list_.emplace(described_target(device));
  }

  std::string device_description() override {
    if (!unavailable().empty()) throw error(unavailable(), "--describe-device");
    return open() ? list_->device().json : std::string{};
  }

  std::vector<algorithm> enumerate(const op::layer& l, numeric t, const setting& s) override {
    std::vector<algorithm> out;
    if (s.threads != 1 || !open()) return out;
    const auto add = [&out](algorithm&& a) {
      a.index = static_cast<int>(out.size());
      out.push_back(std::move(a));
    };
    for (offer& o : list_->offers(l, t, s.proposed))
      add(std::move(o.what));
    // A class may have nothing among the proposals: TF32 comes before FP32.
    if (s.proposed && out.empty())
      for (offer& o : list_->offers(l, t))
        if (std::ssize(out) < lister::first_proposals) add(std::move(o.what));
    // What the legacy API has the graph API proposes too.
    const bool with_legacy = !s.proposed || out.empty();
    each_call(l, t, [&](call& c, const std::string& why) {
      if (why.empty() && (with_legacy || c.what.notes != "legacy")) add(std::move(c.what));
    });
    return out;
  }

  std::vector<refused_algorithm> refused(const op::layer& l, numeric t, const setting& s) override {
    if (s.threads != 1 || !open()) return {};
    std::vector<refused_algorithm> out = list_->refused(l, t);
    for (refused_algorithm& one : legacy::not_told(l, t))
      out.push_back(std::move(one));
    each_call(l, t, [&](call& c, const std::string& why) {
      if (!why.empty()) out.push_back({c.what.id, why});
    });
    return out;
  }

  void prepare_ahead(const op::layer& l, numeric t, std::span<const algorithm> all) override {
    if (unavailable().empty() && open()) ahead_.build(l, t, all, list_->device());
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& values, const setting& s) override {
    const std::string where = op::name(l) + ", " + a.id;
    if (!unavailable().empty()) throw error(unavailable());
    if (!open()) throw error("cuDNN cannot be started", where);
    try {
      for (call& c : all_calls(l, t))
        if (c.what.id == a.id) return std::make_unique<call_run>(context_, std::move(c), values, s);
      auto plan = ahead_.take(l, t, a.id);
      if (!plan) plan = plan_of_id(l, t, a.id, list_->device());
      if (plan) return std::make_unique<execution>(context_, std::move(*plan), values, s);
    } catch (const refusal& e) {
      cuda::throw_if_lost("an algorithm cannot be prepared");
      throw error(e.what(), where);
    }
    throw error("cuDNN does not offer this algorithm here", where,
                "list the layer's algorithms again");
  }

private:
  /// True where algorithms can be listed.
  bool open() {
    if (list_) return true;
    if (!unavailable().empty()) return false;
    context_ = std::make_shared<context>(cuda::gpu::of_this_process());
    list_.emplace(this_gpu(context_->get()));
    return true;
  }

  /// Calls `f` with each of them, and why this GPU does not have it, or why that is not known.
  template <class F>
  void each_call(const op::layer& l, numeric t, F&& f) const {
    for (call& c : all_calls(l, t)) {
      std::string why;
      try {
        if (context_ && !c.certain) c.what.workspace_bytes = c.workspace(context_->get());
      } catch (const refusal& r) {
        why = r.what();
      }
      if (!context_ && !c.certain) why = "the GPU itself has to be asked";
      f(c, why);
    }
  }

  std::shared_ptr<context> context_{};
  std::optional<lister> list_{};
  plans_ahead ahead_{};
};

} // namespace benanza::backend::cudnn
