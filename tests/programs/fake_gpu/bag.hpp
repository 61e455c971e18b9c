// SPDX-License-Identifier: Apache-2.0
// What was set in a descriptor of cuDNN? Every attribute of it is remembered next to the real
// descriptor, its children with it, so that an operation graph can be read back and computed.
//
//   bag* b = bags.find(descriptor);   b->numbers(CUDNN_ATTR_TENSOR_DIMENSIONS)
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fake {

/// A graph, or an attribute, that the fake cannot compute.
class not_understood : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct plan;

struct bag {
  struct attribute {
    std::vector<std::byte> bytes{};
    std::vector<std::shared_ptr<bag>> children{};
  };

  cudnnBackendDescriptorType_t type{};
  cudnnBackendDescriptor_t real = nullptr;
  std::function<void(cudnnBackendDescriptor_t)> destroy{};
  std::map<cudnnBackendAttributeName_t, attribute> attributes{};
  /// A descriptor that was filled in by the fake: it speaks for another one.
  std::shared_ptr<bag> stands_for{};
  bool finalized = false;
  bool made_by_fake = false; ///< a plan that the real library could not make without a device
  std::shared_ptr<const plan> execution{}; ///< of a finalized plan

  bag() = default;
  bag(const bag&) = delete;
  bag& operator=(const bag&) = delete;
  ~bag() {
    if (destroy) destroy(real);
  }

  bool has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  /// All values of an attribute; none if it was not set.
  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    std::vector<T> out;
    if (const auto found = attributes.find(name); found != attributes.end()) {
      out.resize(found->second.bytes.size() / sizeof(T));
      std::memcpy(out.data(), found->second.bytes.data(), out.size() * sizeof(T));
    }
    return out;
  }
  std::vector<std::int64_t> numbers(cudnnBackendAttributeName_t name) const {
    return all<std::int64_t>(name);
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name, T otherwise) const {
    T value = otherwise;
    if (const auto found = attributes.find(name);
        found != attributes.end() && found->second.bytes.size() >= sizeof(T))
      std::memcpy(&value, found->second.bytes.data(), sizeof(T));
    return value;
  }
  /// A number that may have been set as f32 or as f64.
  double real_number(cudnnBackendAttributeName_t name, double otherwise) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return otherwise;
    return found->second.bytes.size() == sizeof(float)
               ? static_cast<double>(one(name, static_cast<float>(otherwise)))
               : one(name, otherwise);
  }
  const std::vector<std::shared_ptr<bag>>& children(cudnnBackendAttributeName_t name) const {
    static const std::vector<std::shared_ptr<bag>> none;
    const auto found = attributes.find(name);
    return found == attributes.end() ? none : found->second.children;
  }
  /// The only child of a name, which must be there.
  const bag& child(cudnnBackendAttributeName_t name) const {
    const auto& all_of_them = children(name);
    if (all_of_them.size() != 1 || !all_of_them[0])
      throw not_understood("attribute " + std::to_string(name) + " is not set");
    return *all_of_them[0];
  }
};

/// All bags that callers know of.
class bag_list {
public:
  std::shared_ptr<bag> find(const void* descriptor) const {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(descriptor);
    return found == live_.end() ? nullptr : found->second;
  }
  void add(std::shared_ptr<bag> b) {
    const std::lock_guard lock(mutex_);
    const void* const key = b->real;
    live_[key] = std::move(b);
  }
  std::shared_ptr<bag> drop(const void* descriptor) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(descriptor);
    if (found == live_.end()) return nullptr;
    auto out = std::move(found->second);
    live_.erase(found);
    return out;
  }

private:
  mutable std::mutex mutex_{};
  std::map<const void*, std::shared_ptr<bag>> live_{};
};

} // namespace fake
