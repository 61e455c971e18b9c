// SPDX-License-Identifier: Apache-2.0
// Is there a GPU, and what of it do backends share? The first one of this process, with its L2
// cache's size; errors as exceptions; streams, events and memory with owners. Host code only: the
// driver is reached through the CUDA runtime, and its absence is a reason, not a crash.
//
//   if (std::string why = cuda::no_gpu(); !why.empty()) ...   cuda::memory m(1 << 20);
#pragma once

#include "../concept.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace benanza::backend::cuda {

/// True for errors after which nothing of this process runs on the GPU any more.
inline bool is_final(cudaError_t e) {
  constexpr int contained = 226, tensor_memory_leak = 721; // older headers have no names for them
  if (static_cast<int>(e) == contained || static_cast<int>(e) == tensor_memory_leak) return true;
  switch (e) {
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchFailure:
  case cudaErrorLaunchTimeout:
  case cudaErrorECCUncorrectable:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorAssert:
  case cudaErrorNvlinkUncorrectable:
  case cudaErrorMpsClientTerminated:
  case cudaErrorContextIsDestroyed:
  case cudaErrorUnknown:
  case cudaErrorDevicesUnavailable: return true;
  default: return false;
  }
}

/// Throws unless `e` is a success: std::bad_alloc, device_lost or benanza::error.
inline void check(cudaError_t e, std::string_view what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();
  if (e == cudaErrorMemoryAllocation) throw std::bad_alloc();
  const std::string text = "CUDA: " + std::string(what) + ": " + cudaGetErrorString(e) + " (" +
                           cudaGetErrorName(e) + ')';
  if (is_final(e)) throw device_lost(text);
  throw error(text);
}

/// Why nothing can run on a GPU here; empty if it can. Asked once a process, before anything else
/// may have loaded a stand-in for the driver.
inline const std::string& no_gpu() {
  static const std::string reason = [] {
    int count = 0, driver = 0;
    const cudaError_t e = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (e == cudaSuccess && count > 0) return std::string{};
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
      return std::string("no NVIDIA driver (libcuda.so.1 was not found)");
    if (e == cudaErrorInsufficientDriver)
      return "the NVIDIA driver is too old for this CUDA (it takes " +
             std::to_string(driver / 1000) + '.' + std::to_string(driver % 1000 / 10) + ')';
    if (e == cudaErrorNoDevice || count == 0) return std::string("no NVIDIA GPU");
    return "no usable NVIDIA GPU: " + std::string(cudaGetErrorString(e));
  }();
  return reason;
}

/// Throws where the GPU is lost. A library may have a CUDA runtime of its own, whose errors this
/// program's runtime does not know: so the device itself is asked.
inline void throw_if_lost(std::string_view what) {
  if (!no_gpu().empty()) return;
  const cudaError_t e = cudaDeviceSynchronize();
  cudaGetLastError();
  if (is_final(e)) check(e, what);
}

/// A property of the GPU.
inline int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "a property of the GPU cannot be read");
  return value;
}

/// Waits for what plain copies and memsets have begun: they may return before it is done, and
/// streams of our own do not wait for them.
inline void wait_for_default_stream() {
  check(cudaStreamSynchronize(cudaStreamLegacy), "the GPU");
}

/// Brings bytes there into the GPU's memory.
inline void upload(std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  check(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice), "a copy failed");
  wait_for_default_stream();
}
/// Reads what is there in the GPU's memory.
inline void download(const std::byte* from, std::span<std::byte> to) {
  if (!to.empty())
    check(cudaMemcpy(to.data(), from, to.size(), cudaMemcpyDeviceToHost), "a copy failed");
}

/// Memory of the GPU.
class memory {
public:
  memory() = default;
  explicit memory(std::int64_t bytes)
      : bytes_(bytes) {
    if (bytes > 0)
      check(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "memory cannot be had");
  }
  memory(memory&& o) noexcept
      : data_(std::exchange(o.data_, nullptr))
      , bytes_(std::exchange(o.bytes_, 0)) {}
  memory& operator=(memory&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~memory() {
    if (data_ != nullptr) cudaFree(data_);
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::int64_t bytes() const { return bytes_; }

  void upload(std::span<const std::byte> from) { cuda::upload(data(), from); }

private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Memory of the host that the GPU can reach.
class pinned_memory {
public:
  explicit pinned_memory(std::int64_t bytes, unsigned kind = cudaHostAllocDefault)
      : bytes_(bytes) {
    check(cudaHostAlloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), kind),
          "pinned memory");
  }
  pinned_memory(const pinned_memory&) = delete;
  pinned_memory& operator=(const pinned_memory&) = delete;
  ~pinned_memory() { cudaFreeHost(data_); }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::int64_t bytes() const { return bytes_; }

private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

/// A stream that waits for no other.
class stream {
public:
  stream() {
    check(cudaStreamCreateWithFlags(&it_, cudaStreamNonBlocking), "a stream cannot be made");
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { cudaStreamDestroy(it_); }

  cudaStream_t get() const { return it_; }
  void wait() const { check(cudaStreamSynchronize(it_), "the GPU"); }

private:
  cudaStream_t it_ = nullptr;
};

/// A point in a stream's time.
class event {
public:
  event() { check(cudaEventCreate(&it_), "an event cannot be made"); }
  event(event&& o) noexcept
      : it_(std::exchange(o.it_, nullptr)) {}
  event& operator=(event&& o) noexcept {
    std::swap(it_, o.it_);
    return *this;
  }
  ~event() {
    if (it_ != nullptr) cudaEventDestroy(it_);
  }

  void record(const stream& s) { check(cudaEventRecord(it_, s.get()), "an event"); }
  /// What is put on `s` from now on begins when this has happened.
  void hold_back(const stream& s) const {
    check(cudaStreamWaitEvent(s.get(), it_, 0), "a stream cannot wait");
  }
  /// Into a graph that is being captured: each replay records it anew.
  void record_in_graph(const stream& s) {
    check(cudaEventRecordWithFlags(it_, s.get(), cudaEventRecordExternal), "an event in a graph");
  }
  /// Nanoseconds from `first` to this one; both have happened.
  double ns_since(const event& first) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, first.it_, it_), "the time between events");
    return static_cast<double>(ms) * 1e6;
  }

private:
  cudaEvent_t it_ = nullptr;
};

} // namespace benanza::backend::cuda
