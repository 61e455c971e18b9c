// SPDX-License-Identifier: Apache-2.0
// One descriptor of cuDNN's graph API: an owner with typed attributes. What the library refuses is
// thrown with its own reason, which is precise ("kDim[3] != d_qk").
//
//   descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
//   d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);   d.finalize();
#pragma once

#include "../../core/error.hpp"

#include <cudnn_graph.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::backend::cudnn {

/// What cuDNN refused, with its status.
class refusal : public error {
public:
  refusal(cudnnStatus_t s, const std::string& what, std::string_view where = {})
      : error(what, std::string(where))
      , status_(s) {}
  cudnnStatus_t status() const { return status_; }
  /// True where the library has nothing for this, and nothing is wrong.
  bool unsupported() const { return CUDNN_STATUS_CATEGORY(status_) == CUDNN_STATUS_NOT_SUPPORTED; }

private:
  cudnnStatus_t status_;
};

/// The library's own words on the last failure of this thread, on one line.
inline std::string last_reason() {
  char text[1024] = "";
  cudnnGetLastErrorString(text, sizeof text);
  std::string out(text);
  for (char& c : out)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  return out;
}

/// Throws unless `s` is a success.
inline void check(cudnnStatus_t s, std::string_view what) {
  if (s == CUDNN_STATUS_SUCCESS) return;
  const std::string reason = last_reason();
  throw refusal(s, "cuDNN: " + std::string(what) + ": " + cudnnGetErrorString(s) +
                       (reason.empty() ? "" : ": " + reason));
}

namespace detail {
template <class T>
struct attribute_type;
#define BENANZA_ATTRIBUTE(type, token)                                                             \
  template <>                                                                                      \
  struct attribute_type<type> {                                                                    \
    static constexpr cudnnBackendAttributeType_t value = token;                                    \
  };
BENANZA_ATTRIBUTE(std::int64_t, CUDNN_TYPE_INT64)
BENANZA_ATTRIBUTE(float, CUDNN_TYPE_FLOAT)
BENANZA_ATTRIBUTE(double, CUDNN_TYPE_DOUBLE)
BENANZA_ATTRIBUTE(bool, CUDNN_TYPE_BOOLEAN)
BENANZA_ATTRIBUTE(char, CUDNN_TYPE_CHAR)
BENANZA_ATTRIBUTE(std::int32_t, CUDNN_TYPE_INT32)
BENANZA_ATTRIBUTE(void*, CUDNN_TYPE_VOID_PTR)
BENANZA_ATTRIBUTE(cudnnHandle_t, CUDNN_TYPE_HANDLE)
BENANZA_ATTRIBUTE(cudnnFraction_t, CUDNN_TYPE_FRACTION)
BENANZA_ATTRIBUTE(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE)
BENANZA_ATTRIBUTE(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE)
BENANZA_ATTRIBUTE(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE)
BENANZA_ATTRIBUTE(cudnnBackendKnobType_t, CUDNN_TYPE_KNOB_TYPE)
BENANZA_ATTRIBUTE(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE)
BENANZA_ATTRIBUTE(cudnnBackendBehaviorNote_t, CUDNN_TYPE_BEHAVIOR_NOTE)
BENANZA_ATTRIBUTE(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE)
BENANZA_ATTRIBUTE(cudnnReduceTensorOp_t, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE)
BENANZA_ATTRIBUTE(cudnnResampleMode_t, CUDNN_TYPE_RESAMPLE_MODE)
BENANZA_ATTRIBUTE(cudnnPaddingMode_t, CUDNN_TYPE_PADDING_MODE)
BENANZA_ATTRIBUTE(cudnnBackendNormMode_t, CUDNN_TYPE_NORM_MODE)
BENANZA_ATTRIBUTE(cudnnBackendNormFwdPhase_t, CUDNN_TYPE_NORM_FWD_PHASE)
#undef BENANZA_ATTRIBUTE
} // namespace detail

/// Owner of one descriptor.
class descriptor {
public:
  explicit descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &it_), "a descriptor cannot be made");
  }
  descriptor(descriptor&& o) noexcept
      : it_(std::exchange(o.it_, nullptr)) {}
  descriptor& operator=(descriptor&& o) noexcept {
    std::swap(it_, o.it_);
    return *this;
  }
  ~descriptor() {
    if (it_ != nullptr) cudnnBackendDestroyDescriptor(it_);
  }

  cudnnBackendDescriptor_t get() const { return it_; }

  template <class T>
  descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    return put(name, detail::attribute_type<T>::value, 1, &value);
  }
  template <class T>
  descriptor& set_all(cudnnBackendAttributeName_t name, std::span<const T> values) {
    return put(name, detail::attribute_type<T>::value, std::ssize(values), values.data());
  }
  descriptor& set(cudnnBackendAttributeName_t name, const descriptor& child) {
    return put(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child.it_);
  }
  descriptor& set_children(cudnnBackendAttributeName_t name,
                           const std::vector<cudnnBackendDescriptor_t>& children) {
    return put(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::ssize(children), children.data());
  }

  /// Throws where the library refuses what was set.
  descriptor& finalize(std::string_view what) {
    check(finalized(), what);
    return *this;
  }
  /// False where the library refuses what was set.
  bool accepted() { return finalized() == CUDNN_STATUS_SUCCESS; }

  template <class T>
  T one(cudnnBackendAttributeName_t name) const {
    T value{};
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(it_, name, detail::attribute_type<T>::value, 1, &count, &value),
          "an attribute cannot be read");
    return value;
  }
  /// At most `most` values; none where the library does not say.
  template <class T>
  std::vector<T> several(cudnnBackendAttributeName_t name, std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    std::int64_t count = 0;
    if (cudnnBackendGetAttribute(it_, name, detail::attribute_type<T>::value, most, &count,
                                 values.data()) != CUDNN_STATUS_SUCCESS)
      count = 0;
    values.resize(static_cast<std::size_t>(std::min(count, most)));
    return values;
  }
  /// At most `most` descriptors of `type`. The library fills in such as were made before.
  std::vector<descriptor> children(cudnnBackendAttributeName_t name,
                                   cudnnBackendDescriptorType_t type, std::int64_t most) const {
    std::vector<descriptor> made;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < most; ++i) {
      made.emplace_back(type);
      raw.push_back(made.back().get());
    }
    std::int64_t count = 0;
    check(answer_of([&] {
            return cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count,
                                            raw.data());
          }),
          "an attribute cannot be read");
    made.erase(made.begin() + std::min(count, most), made.end());
    return made;
  }
  /// How many descriptors there are to ask for.
  std::int64_t count_of(cudnnBackendAttributeName_t name) const {
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(it_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
          "an attribute cannot be read");
    return count;
  }

private:
  cudnnStatus_t finalized() {
    return answer_of([this] { return cudnnBackendFinalize(it_); });
  }
  /// What a call answers. 9.19 throws where it cannot write its own reason (an attention in FP8
  /// with a mask).
  template <class Call>
  static cudnnStatus_t answer_of(const Call& call) {
    try {
      return call();
    } catch (const std::exception&) {
      return CUDNN_STATUS_INTERNAL_ERROR;
    }
  }

  descriptor& put(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::int64_t count, const void* values) {
    check(cudnnBackendSetAttribute(it_, name, type, count, values), "an attribute is refused");
    return *this;
  }

  cudnnBackendDescriptor_t it_ = nullptr;
};

} // namespace benanza::backend::cudnn
