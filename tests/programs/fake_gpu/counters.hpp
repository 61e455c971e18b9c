// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler, as the fake GPU answers it: four counters of an H100, each of which takes
// an execution of its own, in the structures of CUPTI's own headers. A script says what an
// execution's counters are, and what goes wrong (script.hpp). A wrong order of calls is refused.
#pragma once

#include "cupti.hpp"

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cuda.h>)
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <array>
#include <string_view>

namespace fake {
/// What is counted, and how far that is.
struct range_profiler {
  static range_profiler& it() {
    static range_profiler* const one = new range_profiler;
    return *one;
  }

  static constexpr std::array<std::string_view, 4> names{
      "sm__cycles_active.avg", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "dram__bytes_read.sum", "dram__bytes_write.sum"};
  static constexpr std::size_t config_bytes = 40, image_bytes = 64;

  enum class stage { off, enabled, configured, started, inside, popped, complete };
  stage at = stage::off;
  std::size_t pass = 0, asked = 0;
  std::array<double, 4> counted{};
  std::uint8_t* image = nullptr;

  bool moves(stage from, stage to) {
    const bool fine = at == from;
    if (fine) at = to;
    return fine;
  }
  /// The device did something: of the pass's own counter it is seen.
  void saw(const std::string& name, const std::string& id, ns start, ns end) {
    if (at != stage::inside) return;
    const auto cycles = static_cast<double>((end - start) * device::it().rules.clock_mhz / 1000);
    const script::counts c = device::it().rules.counters(name, id);
    const std::array<double, 4> one{cycles, c.tensor_pipe_percent * cycles, c.read, c.written};
    counted.at(pass) += one.at(pass);
  }
};

inline CUptiResult in_order(bool fine) {
  return fine ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
/// True where the caller's structure is what these headers have.
template <class Parameters>
bool sized(const Parameters* p, std::size_t wanted) {
  return p->structSize == wanted && p->pPriv == nullptr;
}
#define SIZED(p, type) fake::sized(p, type##_STRUCT_SIZE)
} // namespace fake

FAKE_GPU_API CUresult cuCtxGetCurrent(CUcontext* to) {
  *to = reinterpret_cast<CUcontext>(&fake::range_profiler::it());
  return CUDA_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* p) {
  return fake::in_order(SIZED(p, CUpti_Profiler_Initialize_Params));
}
FAKE_GPU_API CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  if (!SIZED(p, CUpti_Device_GetChipName_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
  p->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  if (!SIZED(p, CUpti_Profiler_Host_Initialize_Params) || std::string_view(p->pChipName) != "GH100")
    return CUPTI_ERROR_INVALID_PARAMETER;
  p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&fake::range_profiler::it());
  fake::range_profiler::it().asked = 0;
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  return fake::in_order(SIZED(p, CUpti_Profiler_Host_Deinitialize_Params));
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* p) {
  if (!SIZED(p, CUpti_Profiler_Host_GetMetricProperties_Params))
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (const std::string_view name : fake::range_profiler::names)
    if (name.substr(0, name.find('.')) == p->pMetricName) return CUPTI_SUCCESS;
  return CUPTI_ERROR_INVALID_METRIC_NAME;
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  const auto& all = fake::range_profiler::names;
  if (!SIZED(p, CUpti_Profiler_Host_ConfigAddMetrics_Params) || p->numMetrics != all.size())
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != p->ppMetricNames[i]) return CUPTI_ERROR_INVALID_METRIC_NAME;
  fake::range_profiler::it().asked = all.size();
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = fake::range_profiler::config_bytes;
  return fake::in_order(SIZED(p, CUpti_Profiler_Host_GetConfigImageSize_Params));
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* p) {
  if (!SIZED(p, CUpti_Profiler_Host_GetConfigImage_Params) ||
      p->configImageSize < fake::range_profiler::config_bytes)
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memset(p->pConfigImage, 0x5c, fake::range_profiler::config_bytes);
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  p->numOfPasses = fake::range_profiler::it().asked;
  return fake::in_order(SIZED(p, CUpti_Profiler_Host_GetNumOfPasses_Params));
}
FAKE_GPU_API CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  auto& r = fake::range_profiler::it();
  if (!SIZED(p, CUpti_Profiler_Host_EvaluateToGpuValues_Params) || p->rangeIndex != 0 ||
      p->numMetrics != r.asked || p->pCounterDataImage[0] != 0xdc)
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < r.asked; ++i)
    p->pMetricValues[i] = i == 1 ? r.counted[1] / r.counted[0] : r.counted[i];
  return CUPTI_SUCCESS;
}

FAKE_GPU_API CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  if (fake::cupti_says("counters-refused")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (fake::cupti_says("counters-end-process")) _exit(4);
  if (fake::cupti_says("counters-lose-device")) fake::device::it().lose(cudaErrorLaunchFailure);
  auto& r = fake::range_profiler::it();
  if (!SIZED(p, CUpti_RangeProfiler_Enable_Params) || p->ctx == nullptr ||
      !fake::profiler::it().enabled.empty()) // kernels are not recorded meanwhile
    return CUPTI_ERROR_INVALID_OPERATION;
  p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&r);
  fake::device::it().counter = [](const std::string& name, const std::string& id, fake::ns start,
                                  fake::ns end) {
    fake::range_profiler::it().saw(name, id, start, end);
  };
  r.counted = {};
  r.pass = 0;
  return fake::in_order(
      r.moves(fake::range_profiler::stage::off, fake::range_profiler::stage::enabled));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* p) {
  fake::device::it().counter = {};
  fake::range_profiler::it().at = fake::range_profiler::stage::off;
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_Disable_Params));
}
FAKE_GPU_API CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  p->counterDataSize = fake::range_profiler::image_bytes;
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_GetCounterDataSize_Params) &&
                        p->maxNumOfRanges == 1 && p->maxNumRangeTreeNodes >= p->maxNumOfRanges);
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* p) {
  if (!SIZED(p, CUpti_RangeProfiler_CounterDataImage_Initialize_Params) ||
      p->counterDataSize < fake::range_profiler::image_bytes)
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memset(p->pCounterData, 0xcc, fake::range_profiler::image_bytes);
  return CUPTI_SUCCESS;
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
  auto& r = fake::range_profiler::it();
  if (!SIZED(p, CUpti_RangeProfiler_SetConfig_Params) || p->pConfig[0] != 0x5c ||
      p->pCounterDataImage[0] != 0xcc || p->range != CUPTI_UserRange ||
      p->replayMode != CUPTI_UserReplay || p->numNestingLevels != 1 || p->minNestingLevel != 1)
    return CUPTI_ERROR_INVALID_PARAMETER;
  r.image = p->pCounterDataImage;
  return fake::in_order(
      r.moves(fake::range_profiler::stage::enabled, fake::range_profiler::stage::configured));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* p) {
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_Start_Params) &&
                        fake::range_profiler::it().moves(fake::range_profiler::stage::configured,
                                                         fake::range_profiler::stage::started));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* p) {
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_PushRange_Params) &&
                        p->pRangeName != nullptr &&
                        fake::range_profiler::it().moves(fake::range_profiler::stage::started,
                                                         fake::range_profiler::stage::inside));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* p) {
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_PopRange_Params) &&
                        fake::range_profiler::it().moves(fake::range_profiler::stage::inside,
                                                         fake::range_profiler::stage::popped));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
  auto& r = fake::range_profiler::it();
  using enum fake::range_profiler::stage;
  ++r.pass;
  p->isAllPassSubmitted = r.pass == r.asked;
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_Stop_Params) &&
                        r.moves(popped, r.pass == r.asked ? complete : configured));
}
FAKE_GPU_API CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* p) {
  auto& r = fake::range_profiler::it();
  p->numOfRangeDropped = 0;
  if (r.image != nullptr) std::memset(r.image, 0xdc, fake::range_profiler::image_bytes);
  return fake::in_order(SIZED(p, CUpti_RangeProfiler_DecodeData_Params) &&
                        r.at == fake::range_profiler::stage::complete);
}
#undef SIZED
#endif
