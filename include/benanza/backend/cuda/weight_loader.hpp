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

  void share(std::span<const std::byte> weights) override {
    share(1, std::ssize(weights));
    opened_memory(shared_.at(1).handles.at(0), std::ssize(weights)).fill(weights);
  }
  void share(int objects, std::int64_t bytes) override {
    if (!has_ipc())
      throw error(
          "memory of other processes cannot be opened (IPC): the GPU or its driver has none");
    if (!other_) other_.emplace();
    object_set& set = shared_[objects];
    set = {.bytes = bytes};
    for (int i = 0; i < objects; ++i)
      set.handles.push_back(other_->take(bytes));
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
  bool shares(std::span<const std::byte> weights) override {
    const auto all = opened(1);
    std::vector<std::byte> there(weights.size());
    download(all.at(0).data(), there);
    return std::equal(there.begin(), there.end(), weights.begin());
  }

private:
  struct object_set {
    std::int64_t bytes = 0;
    std::vector<cudaIpcMemHandle_t> handles{};
  };
  std::vector<opened_memory> opened(int objects) const {
    const object_set& set = shared_.at(objects);
    std::vector<opened_memory> out;
    out.reserve(set.handles.size());
    for (const cudaIpcMemHandle_t& one : set.handles)
      out.emplace_back(one, set.bytes);
    return out;
  }

  std::shared_ptr<gpu> gpu_;
  memory there_{};
  std::optional<pinned_memory> pinned_{};
  std::optional<other_process> other_{};
  std::map<int, object_set> shared_{}; ///< by how many there are
};

} // namespace benanza::backend::cuda
