// SPDX-License-Identifier: Apache-2.0
// cuDNN as a backend: every engine of its graph API for every layer that it can be told, on the
// first GPU. Without a GPU it can list what it has for one that is described, and runs nothing.
//
//   const backend::registration<cudnn::library> here{"cudnn"};
#pragma once

#include "legacy.hpp"

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
    for (offer& o : list_->offers(l, t))
      out.push_back(std::move(o.what));
    for (const call& c : calls_for(l, t))
      out.push_back(algorithm_of(c, l, t, static_cast<int>(out.size())));
    if (const auto* c = std::get_if<op::conv>(&l); c != nullptr && context_)
      for (algorithm& a : legacy::offers(*context_, *c, t, static_cast<int>(out.size())))
        out.push_back(std::move(a));
    return out;
  }

  std::unique_ptr<prepared> prepare(const op::layer& l, numeric t, const algorithm& a,
                                    const operands& values, const setting& s) override {
    const std::string where = op::name(l) + ", " + a.id;
    if (!unavailable().empty()) throw error(unavailable());
    if (!open()) throw error("cuDNN cannot be started", where);
    for (call& c : calls_for(l, t))
      if (c.id == a.id) return std::make_unique<call_run>(context_, std::move(c), values, s);
    if (const auto* c = std::get_if<op::conv>(&l))
      if (auto made = legacy::prepare(context_, *c, t, a.id, values, s)) return made;
    for (recipe& r : recipes_for(l, t)) {
      if (!a.id.starts_with(r.before)) continue;
      const auto choice = parse_engine(std::string_view(a.id).substr(r.before.size()));
      if (!choice) continue;
      try {
        return std::make_unique<execution>(context_, std::move(r), *choice, values, s,
                                           list_->device());
      } catch (const refusal& e) {
        cuda::throw_if_lost("an algorithm cannot be prepared");
        throw error(e.what(), where);
      }
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

  std::shared_ptr<context> context_{};
  std::optional<lister> list_{};
};

} // namespace benanza::backend::cudnn
