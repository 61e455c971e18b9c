// SPDX-License-Identifier: Apache-2.0
// How do a model's weights come into the GPU's memory? By a copy from the host, out of pageable or
// of pinned memory, timed by the GPU's events; or from a process that has them there already, by
// opening its memory (IPC), timed by the host's clock.
//
//   weight_loader l(gpu::of_this_process());   l.share(weights);   l.attach_ns(1);
#pragma once

#include "limit_runs.hpp"
#include "other_process.hpp"

#include <map>

namespace benanza::backend::cuda {

class weight_loader final : public backend::weight_loader {
public:
  explicit weight_loader(std::shared_ptr<gpu> on)
      : gpu_(std::move(on)) {}

  double copy_ns(std::span<const std::byte> weights, bool pinned) override {
    const std::int64_t bytes = std::ssize(weights);
    if (there_.bytes() != bytes) there_ = memory(bytes);
    if (pinned && (!pinned_ || pinned_->bytes() != bytes)) {
      pinned_.emplace(bytes);
      std::memcpy(pinned_->data(), weights.data(), weights.size());
    }
    return between_events(gpu_->stream(), [&] {
      check(cudaMemcpyAsync(there_.data(), pinned ? pinned_->data() : weights.data(),
                            weights.size(), cudaMemcpyHostToDevice, gpu_->stream().get()),
            "weights cannot be copied");
    });
  }

  double pin_ns(std::int64_t bytes) override {
    const stopwatch took;
    const pinned_memory one(bytes);
    return took.ns();
  }

  void share(const std::vector<std::span<const std::byte>>& parts) override {
    if (!has_ipc())
      throw error(
          "memory of other processes cannot be opened (IPC): the GPU or its driver has none");
    if (!other_) other_.emplace();
    std::vector<object>& all = shared_[static_cast<int>(parts.size())];
    all.clear();
    for (const std::span<const std::byte> part : parts) {
      const std::int64_t bytes = std::max<std::int64_t>(std::ssize(part), own_mapping_bytes);
      all.push_back({other_->take(bytes), bytes});
      opened_memory(all.back().handle, bytes).fill(part);
    }
  }

  double attach_ns(int objects) override {
    const stopwatch took;
    const auto all = opened(objects);
    return took.ns();
  }
  double touch_ns(int objects) override {
    const auto all = opened(objects);
    const stopwatch took;
    for (const opened_memory& one : all)
      one.touch();
    return took.ns();
  }
  bool shares(const std::vector<std::span<const std::byte>>& parts) override {
    const auto all = opened(static_cast<int>(parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<std::byte> there(parts[i].size());
      download(all[i].data(), there);
      if (!std::equal(there.begin(), there.end(), parts[i].begin())) return false;
    }
    return true;
  }

private:
  /// A GPU maps so much at once: smaller objects would share a mapping.
  static constexpr std::int64_t own_mapping_bytes = 2 << 20;
  struct object {
    cudaIpcMemHandle_t handle{};
    std::int64_t bytes = 0;
  };
  std::vector<opened_memory> opened(int objects) const {
    std::vector<opened_memory> out;
    out.reserve(static_cast<std::size_t>(objects));
    for (const object& one : shared_.at(objects))
      out.emplace_back(one.handle, one.bytes);
    return out;
  }

  std::shared_ptr<gpu> gpu_;
  memory there_{};
  std::optional<pinned_memory> pinned_{};
  std::optional<other_process> other_{};
  std::map<int, std::vector<object>> shared_{}; ///< by how many there are
};

} // namespace benanza::backend::cuda
