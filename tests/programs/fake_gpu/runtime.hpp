// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime's functions, as the fake GPU answers them. Those that need no device (names of
// errors, the runtime's version) stay the real library's.
#pragma once

#include "device.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <type_traits>

#define FAKE_GPU_API extern "C" __attribute__((visibility("default")))

namespace fake {
/// Answers a call: the device's own error if it is lost, else what `f` gives.
template <class F>
cudaError_t answer(F&& f) {
  device& d = device::it();
  const std::lock_guard lock(d.mutex);
  if (d.lost() != cudaSuccess) return d.lost();
  return d.note(f(d));
}
/// The same for calls that a stream which is capturing does not allow.
template <class F>
cudaError_t answer_at_once(F&& f) {
  return answer(
      [&](device& d) { return d.spoils_capture() ? cudaErrorStreamCaptureUnsupported : f(d); });
}
inline int device_attribute(const device& d, cudaDeviceAttr which, bool& known) {
  known = true;
  switch (which) {
  case cudaDevAttrL2CacheSize: return static_cast<int>(d.l2_bytes());
  case cudaDevAttrMultiProcessorCount: return d.facts.multiprocessors;
  case cudaDevAttrComputeCapabilityMajor: return d.facts.compute_capability / 100;
  case cudaDevAttrComputeCapabilityMinor: return d.facts.compute_capability / 10 % 10;
  case cudaDevAttrClockRate: return d.facts.clock_khz;
  case cudaDevAttrMemoryClockRate: return d.facts.memory_clock_khz;
  case cudaDevAttrGlobalMemoryBusWidth: return 6144;
  case cudaDevAttrEccEnabled: return 1;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: return d.facts.shared_memory_opt_in;
  case cudaDevAttrMaxThreadsPerMultiProcessor: return d.facts.threads_per_multiprocessor;
  case cudaDevAttrWarpSize: return 32;
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrIpcEventSupport: return 1;
  default: known = false; return 0;
  }
}
template <class Handle, class T>
Handle handle(T* it) {
  return reinterpret_cast<Handle>(it);
}
} // namespace fake

// ---- the device
// ----------------------------------------------------------------------------------
FAKE_GPU_API cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake::device::it().rules.gpus;
  return cudaSuccess;
}
FAKE_GPU_API cudaError_t cudaGetDevice(int* which) {
  *which = 0;
  return cudaSuccess;
}
FAKE_GPU_API cudaError_t cudaSetDevice(int which) {
  return fake::answer([which](fake::device& d) {
    return which >= 0 && which < d.rules.gpus ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
FAKE_GPU_API cudaError_t cudaDeviceEnablePeerAccess(int which, unsigned) {
  return fake::answer([which](fake::device& d) {
    return which > 0 && which < d.rules.gpus ? cudaSuccess : cudaErrorInvalidDevice;
  });
}
FAKE_GPU_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
FAKE_GPU_API cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int which) {
  return fake::answer([&](fake::device&) {
    if (which != 0) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:FA:4E.0"); // of no real machine
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  return fake::answer([&](fake::device& d) {
    bool known = false;
    *value = fake::device_attribute(d, which, known);
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}
FAKE_GPU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  return fake::answer([p](fake::device& d) {
    *p = cudaDeviceProp{};
    std::snprintf(p->name, sizeof p->name, "Fake %.*s", static_cast<int>(d.facts.name.size()),
                  d.facts.name.data());
    std::memcpy(p->uuid.bytes, "fake gpu of test", sizeof p->uuid.bytes);
    p->major = d.facts.compute_capability / 100;
    p->minor = d.facts.compute_capability / 10 % 10;
    p->multiProcessorCount = d.facts.multiprocessors;
    p->totalGlobalMem = static_cast<std::size_t>(d.facts.memory_gib) << 30;
    p->l2CacheSize = static_cast<int>(d.l2_bytes());
    p->warpSize = 32;
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return fake::answer([&](fake::device& d) {
    *total = static_cast<std::size_t>(d.facts.memory_gib) << 30;
    *free = *total - static_cast<std::size_t>(d.space.live_bytes());
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaDeviceSynchronize() {
  return fake::answer_at_once([](fake::device& d) {
    d.wait(d.now());
    d.wait_for_default();
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaGetLastError() {
  fake::device& d = fake::device::it();
  const std::lock_guard lock(d.mutex);
  return d.take_last();
}
FAKE_GPU_API cudaError_t cudaPeekAtLastError() {
  fake::device& d = fake::device::it();
  const std::lock_guard lock(d.mutex);
  return d.peek();
}

// ---- memory
// --------------------------------------------------------------------------------------
FAKE_GPU_API cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  return fake::answer_at_once(
      [&](fake::device& d) { return d.take(p, static_cast<std::int64_t>(bytes)); });
}
FAKE_GPU_API cudaError_t cudaFree(void* p) {
  return fake::answer_at_once([p](fake::device& d) {
    return d.is_pinned(p) ? d.give_back_pinned(p) : d.give_back(p); // managed memory
  });
}
FAKE_GPU_API cudaError_t cudaMallocManaged(void** p, std::size_t bytes, unsigned) {
  return fake::answer_at_once([&](fake::device& d) {
    *p = d.take_pinned(static_cast<std::int64_t>(bytes));
    return *p == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}
#if CUDART_VERSION >= 13000
FAKE_GPU_API cudaError_t cudaMemPrefetchAsync(const void* p, std::size_t bytes, cudaMemLocation,
                                              unsigned, cudaStream_t s) {
#else
FAKE_GPU_API cudaError_t cudaMemPrefetchAsync(const void* p, std::size_t bytes, int,
                                              cudaStream_t s) {
#endif
  return fake::answer([&](fake::device& d) {
    return d.put(s, [&d, p, bytes](const fake::stream&) {
      d.pass(d.host_copy_ns(p, p, static_cast<std::int64_t>(bytes)));
    });
  });
}
namespace fake {
/// What a handle says of memory that another process may open.
struct shared_memory {
  int process = 0, file = -1;
  std::int64_t bytes = 0;
};
} // namespace fake
FAKE_GPU_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p) {
  return fake::answer_at_once([&](fake::device& d) {
    const fake::block* const b = d.space.find(p, 0);
    if (b == nullptr) return cudaErrorInvalidValue;
    const fake::shared_memory its{getpid(), d.share(p), b->bytes};
    std::memcpy(handle, &its, sizeof its);
    return its.file < 0 ? cudaErrorMapBufferObjectFailed : cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned) {
  return fake::answer_at_once([&](fake::device& d) {
    fake::shared_memory its;
    std::memcpy(static_cast<void*>(&its), &handle, sizeof its);
    if (its.process == getpid()) return cudaErrorDeviceUninitialized; // as CUDA says it
    *p = d.space.open_shared(its.process, its.file, its.bytes);
    if (*p == nullptr) return cudaErrorMapBufferObjectFailed;
    ++d.log.made["memory"];
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaIpcCloseMemHandle(void* p) {
  return fake::answer_at_once([&](fake::device& d) { return d.give_back(p); });
}
FAKE_GPU_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                    cudaMemcpyKind kind) {
  return fake::answer_at_once(
      [&](fake::device& d) { return d.copy(to, from, static_cast<std::int64_t>(bytes), kind); });
}
FAKE_GPU_API cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  return fake::answer_at_once([&](fake::device& d) {
    *p = d.take_pinned(static_cast<std::int64_t>(bytes));
    return *p == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaFreeHost(void* p) {
  return fake::answer_at_once([p](fake::device& d) { return d.give_back_pinned(p); });
}
FAKE_GPU_API cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    return d.put(s, [&d, p, value, bytes](const fake::stream& on) {
      d.set(p, value, static_cast<std::int64_t>(bytes), on);
    });
  });
}
FAKE_GPU_API cudaError_t cudaMemset(void* p, int value, std::size_t bytes) {
  return fake::answer_at_once([&](fake::device& d) {
    d.set(p, value, static_cast<std::int64_t>(bytes), *d.stream_of(nullptr));
    return cudaSuccess;
  });
}

// ---- streams and events
// --------------------------------------------------------------------------
FAKE_GPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  return fake::answer([&](fake::device& d) {
    *s = fake::handle<cudaStream_t>(
        d.streams.make({.waits_for_default = (flags & cudaStreamNonBlocking) == 0}));
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaStreamCreate(cudaStream_t* s) {
  return cudaStreamCreateWithFlags(s, cudaStreamDefault);
}
FAKE_GPU_API cudaError_t cudaStreamDestroy(cudaStream_t s) {
  return fake::answer([s](fake::device& d) {
    return d.streams.drop(s) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
FAKE_GPU_API cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  return fake::answer_at_once([s](fake::device& d) {
    const fake::stream* const on = d.stream_of(s);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    d.wait(d.now());
    if (on->waits_for_default) d.wait_for_default();
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
  return fake::answer([&](fake::device& d) {
    const fake::stream* const on = d.stream_of(s);
    if (on == nullptr) return cudaErrorInvalidResourceHandle;
    *status = on->captured == nullptr ? cudaStreamCaptureStatusNone
              : on->capture_broken    ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  return fake::answer([e](fake::device& d) {
    *e = fake::handle<cudaEvent_t>(d.events.make());
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaEventCreate(cudaEvent_t* e) {
  return cudaEventCreateWithFlags(e, cudaEventDefault);
}
FAKE_GPU_API cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return fake::answer([e](fake::device& d) {
    return d.events.drop(e) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
FAKE_GPU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) {
  return fake::answer([&](fake::device& d) {
    const fake::stream* const on = d.stream_of(s);
    if (on == nullptr || d.events.find(e) == nullptr) return cudaErrorInvalidResourceHandle;
    const bool external = (flags & cudaEventRecordExternal) != 0;
    if (external && !on->captured) return cudaErrorInvalidValue;
    // Without the flag a capture takes it for a dependency, and it has no time to be read.
    const bool depends = on->captured && !external;
    fake::event* const its = d.events.find(e);
    its->captured = depends ? on->captured : nullptr;
    its->lane = on->lane;
    return d.put(s, [&d, e, depends](const fake::stream&) {
      fake::event* const there = d.events.find(e);
      if (there == nullptr) return d.lose(cudaErrorIllegalAddress);
      if (!depends) d.pass_to_event();
      there->at = d.now();
      if (!depends) d.pass_event();
    });
  });
}
FAKE_GPU_API cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  return cudaEventRecordWithFlags(e, s, cudaEventRecordDefault);
}
FAKE_GPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  return fake::answer([&](fake::device& d) { return d.wait_for(s, d.events.find(e)); });
}
FAKE_GPU_API cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  return fake::answer_at_once([e](fake::device& d) {
    const fake::event* const there = d.events.find(e);
    if (there == nullptr) return cudaErrorInvalidResourceHandle;
    if (there->at) d.wait(*there->at);
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t first, cudaEvent_t last) {
  return fake::answer([&](fake::device& d) {
    const fake::event *const a = d.events.find(first), *const b = d.events.find(last);
    if (a == nullptr || b == nullptr || !a->at || !b->at) return cudaErrorInvalidResourceHandle;
    if (!d.waited_for(*a->at) || !d.waited_for(*b->at)) return cudaErrorNotReady;
    *ms = static_cast<float>(static_cast<double>(*b->at - *a->at) * 1e-6);
    return cudaSuccess;
  });
}

// ---- graphs
// --------------------------------------------------------------------------------------
FAKE_GPU_API cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  return fake::answer([s](fake::device& d) { return d.begin_capture(s); });
}
FAKE_GPU_API cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* out) {
  return fake::answer([&](fake::device& d) {
    fake::graph* made = nullptr;
    const cudaError_t e = d.end_capture(s, made);
    *out = fake::handle<cudaGraph_t>(made);
    return e;
  });
}
FAKE_GPU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t g,
                                              unsigned long long) {
  return fake::answer_at_once([&](fake::device& d) {
    const fake::graph* const from = d.graphs.find(g);
    if (from == nullptr) return cudaErrorInvalidResourceHandle;
    *out = fake::handle<cudaGraphExec_t>(d.replays.make(*from));
    return cudaSuccess;
  });
}
FAKE_GPU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
  return fake::answer([&](fake::device& d) {
    fake::graph* const it = d.replays.find(g);
    if (it == nullptr) return cudaErrorInvalidResourceHandle;
    ++d.log.graphs_launched;
    return d.put(s, [it, &d](const fake::stream& on) { d.replay(*it, on); });
  });
}
FAKE_GPU_API cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  return fake::answer([g](fake::device& d) {
    return d.graphs.drop(g) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
FAKE_GPU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
  return fake::answer([g](fake::device& d) {
    return d.replays.drop(g) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
