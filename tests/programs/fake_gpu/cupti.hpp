// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions, as the fake GPU answers them: records of the kernels that its executions are,
// in the structures of CUPTI's own header. A script says what an execution's kernels are called,
// and what goes wrong (script.hpp). Without that header there is none of it.
#pragma once

#include "runtime.hpp"

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>

#include <list>
#include <new>
#include <set>
#include <thread>
#include <unistd.h>

namespace fake {
/// What is recorded, and for whom.
class profiler {
public:
  static profiler& it() {
    static profiler* const one = new profiler;
    return *one;
  }

  CUpti_BuffersCallbackRequestFunc ask = nullptr;
  CUpti_BuffersCallbackCompleteFunc hand_over = nullptr;
  std::set<int> enabled{};

  /// The device did something.
  void saw(const std::string& name, const std::string& id, ns start, ns end) {
    const auto when = [&](auto& r) {
      r.start = static_cast<std::uint64_t>(start);
      r.end = static_cast<std::uint64_t>(end);
    };
    if (name == "call memcpy" || name == "memset") {
      const bool copy = name != "memset";
      const int kind = copy ? CUPTI_ACTIVITY_KIND_MEMCPY : CUPTI_ACTIVITY_KIND_MEMSET;
      if (!enabled.contains(kind)) return;
      if (copy) {
        CUpti_ActivityMemcpy r{};
        r.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
        when(r);
        add(r);
      } else {
        CUpti_ActivityMemset r{};
        r.kind = CUPTI_ACTIVITY_KIND_MEMSET;
        when(r);
        add(r);
      }
      return;
    }
    if (!enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return;
    std::vector<std::string> kernels = device::it().rules.kernels(name, id);
    if (kernels.empty()) kernels.push_back(name);
    const ns each = (end - start) / static_cast<ns>(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      CUpti_ActivityKernel9 r{};
      r.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      r.registersPerThread = 128;
      r.gridX = 132, r.gridY = 2, r.gridZ = 1;
      r.blockX = 256, r.blockY = r.blockZ = 1;
      r.staticSharedMemory = 1024, r.dynamicSharedMemory = 48 << 10;
      r.start = static_cast<std::uint64_t>(start + each * static_cast<ns>(i));
      r.end = r.start + static_cast<std::uint64_t>(each);
      r.name = names_.emplace_back(kernels[i]).c_str();
      r.localMemoryTotal_v2 = ~std::uint64_t{0}; // what is behind the front must not be read
      add(r);
    }
  }

  /// Hands over what was recorded, the last first, from a thread of its own.
  CUptiResult flush() {
    std::thread([this] {
      std::uint8_t* to = nullptr;
      std::size_t size = 0, most = 0;
      ask(&to, &size, &most);
      std::size_t used = 0;
      for (auto r = waiting_.rbegin(); r != waiting_.rend() && used + r->size() <= size; ++r) {
        std::memcpy(to + used, r->data(), r->size());
        used += r->size();
      }
      waiting_.clear();
      const bool cut = device::it().rules.cupti == "cut-off" && used > 0;
      hand_over(nullptr, 0, to, size, cut ? used - 100 : used);
    }).join();
    return CUPTI_SUCCESS;
  }

  static std::size_t bytes_of(const void* record) {
    switch (static_cast<const CUpti_Activity*>(record)->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset);
    default: return sizeof(CUpti_ActivityKernel9);
    }
  }

private:
  template <class T>
  void add(const T& r) {
    const auto* const from = reinterpret_cast<const std::byte*>(&r);
    waiting_.emplace_back(from, from + sizeof r);
  }

  std::vector<std::vector<std::byte>> waiting_{};
  std::list<std::string> names_{};
};

inline bool cupti_says(const char* what) {
  return device::it().rules.cupti == what;
}
} // namespace fake

FAKE_GPU_API CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake::cupti_says("old") ? 9 : 130001;
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiGetResultString(CUptiResult e, const char** text) {
  *text = e == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                                   : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc ask, CUpti_BuffersCallbackCompleteFunc hand_over) {
  fake::profiler& p = fake::profiler::it();
  p.ask = ask, p.hand_over = hand_over;
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (fake::cupti_says("refuses")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (fake::cupti_says("loses-device")) fake::device::it().lose(cudaErrorLaunchFailure);
  fake::profiler::it().enabled.insert(kind);
  ++fake::device::it().log.executions["cupti"];
  fake::device::it().watcher = [](const std::string& name, const std::string& id, fake::ns start,
                                  fake::ns end) { fake::profiler::it().saw(name, id, start, end); };
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  fake::profiler::it().enabled.erase(kind);
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  if (fake::cupti_says("ends-process")) _exit(3);
  return fake::profiler::it().flush();
}
FAKE_GPU_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t,
                                                           std::size_t* dropped) {
  *dropped = fake::cupti_says("drops") ? 3 : 0;
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                                    CUpti_Activity** at) {
  std::uint8_t* const before = reinterpret_cast<std::uint8_t*>(*at);
  std::uint8_t* const next = before == nullptr ? buffer : before + fake::profiler::bytes_of(before);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *at = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
#endif
