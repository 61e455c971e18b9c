// SPDX-License-Identifier: Apache-2.0
// Are a GPU's counters read in the order that CUPTI wants, do the chips have them, and is a refusal
// no more than a reason?
#include "on_fake.hpp"

#include <benanza/backend/cuda/counters.hpp>
#include <benanza/backend/cuda/gpu.hpp>

#include <doctest/doctest.h>

#include <string>

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

// What we declare is CUPTI's own: members that are filled in have the same places.
#define SAME_SIZE(theirs, ours)                                                                    \
  static_assert(                                                                                   \
      theirs##_STRUCT_SIZE ==                                                                      \
      benanza::backend::cuda::cupti_counter::size_of<benanza::backend::cuda::cupti_counter::ours>)
#define SAME_MEMBER(theirs, their_member, ours, member)                                            \
  static_assert(offsetof(theirs, their_member) ==                                                  \
                    offsetof(benanza::backend::cuda::cupti_counter::ours, member) &&               \
                sizeof(theirs::their_member) ==                                                    \
                    sizeof(benanza::backend::cuda::cupti_counter::ours::member))
SAME_SIZE(CUpti_Profiler_Initialize_Params, initialize);
SAME_SIZE(CUpti_Device_GetChipName_Params, chip);
SAME_SIZE(CUpti_Profiler_Host_Initialize_Params, host_initialize);
SAME_MEMBER(CUpti_Profiler_Host_Initialize_Params, pChipName, host_initialize, chip);
SAME_SIZE(CUpti_Profiler_Host_Deinitialize_Params, host_deinitialize);
SAME_SIZE(CUpti_Profiler_Host_GetMetricProperties_Params, metric_properties);
SAME_SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params, add_metrics);
SAME_SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params, config_size);
SAME_SIZE(CUpti_Profiler_Host_GetConfigImage_Params, config_image);
SAME_MEMBER(CUpti_Profiler_Host_GetConfigImage_Params, configImageSize, config_image, bytes);
SAME_SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
SAME_MEMBER(CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize, passes, bytes);
SAME_SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
SAME_MEMBER(CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex, evaluate, range);
SAME_MEMBER(CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames, evaluate, metrics);
SAME_SIZE(CUpti_RangeProfiler_Enable_Params, enable);
SAME_MEMBER(CUpti_RangeProfiler_Enable_Params, ctx, enable, context);
SAME_SIZE(CUpti_RangeProfiler_Disable_Params, plain);
SAME_SIZE(CUpti_RangeProfiler_Start_Params, plain);
SAME_SIZE(CUpti_RangeProfiler_PopRange_Params, plain);
SAME_SIZE(CUpti_RangeProfiler_GetCounterDataSize_Params, counter_size);
SAME_MEMBER(CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes, counter_size,
            most_nodes);
SAME_SIZE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counter_image);
SAME_MEMBER(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize, counter_image,
            bytes);
SAME_SIZE(CUpti_RangeProfiler_SetConfig_Params, configure);
SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, configSize, configure, config_bytes);
SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize, configure, image_bytes);
SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, range, configure, range);
SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, replayMode, configure, replay);
SAME_MEMBER(CUpti_RangeProfiler_SetConfig_Params, numNestingLevels, configure, levels);
SAME_SIZE(CUpti_RangeProfiler_Stop_Params, stop);
SAME_SIZE(CUpti_RangeProfiler_PushRange_Params, push);
SAME_SIZE(CUpti_RangeProfiler_DecodeData_Params, decode);
static_assert(CUPTI_UserRange == 2 && CUPTI_UserReplay == 3 &&
              CUPTI_PROFILER_TYPE_RANGE_PROFILER == 0);
#endif

namespace test_of_counters {
using namespace benanza;
using backend::cuda::counters;
using backend::cuda::cupti;

namespace {
const std::string fake = BENANZA_FAKE_GPU_LIBRARY;

/// True where the fake GPU counts too: it needs CUPTI's headers for that.
bool fake_counts() {
  return cuda_test::on_fake() && dlsym(RTLD_DEFAULT, "cuptiRangeProfilerEnable") != nullptr;
}
} // namespace

TEST_CASE("counters: where there is no CUPTI, or one that has none, that is a reason") {
  const cupti absent({""}), other({"libc.so.6"});
  bool ran = false;
  for (const cupti* library : {&absent, &other}) {
    counters none(*library);
    CHECK_THROWS_AS((void)none.count([&] { ran = true; }), backend::no_profiler);
  }
  CHECK_FALSE(ran);
}

TEST_CASE("counters: work is repeated until all is counted, and what it throws is its own" *
          doctest::skip(!fake_counts())) {
  const cupti library({fake});
  counters here(library);
  CHECK(here.passes_on("GH100") == 4);
  CHECK_THROWS_AS((void)here.passes_on("another"), backend::no_profiler);
  const auto gpu = backend::cuda::gpu::of_this_process();
  backend::cuda::memory m(4'000'000);
  int runs = 0;
  const auto work = [&] {
    ++runs;
    REQUIRE(cudaMemsetAsync(m.data(), 0, 4'000'000, gpu->stream().get()) == cudaSuccess);
    gpu->stream().wait();
  };
  counters again(library);
  const device_counters seen = again.count(work);
  CHECK(runs == 4);
  CHECK(seen == device_counters{.active_cycles = 1980}); // 1 us at 1980 MHz
  CHECK_THROWS_AS((void)again.count([] { throw error("its own"); }), error);
  CHECK(again.count(work) == seen);
  CHECK_THROWS_AS((void)again.count([] {}), error); // nothing was counted
  CHECK(again.count(work).counted());
}

TEST_CASE(
    "nvrtc: the real CUPTI knows the counters of the chips, and counts nothing without a GPU") {
  const cupti real(cupti::usual_libraries());
  if (!real.why_not().empty() || cuda_test::on_fake() || backend::cuda::no_gpu().empty()) return;
  if (!real.has("cuptiRangeProfilerSetConfig")) return; // before CUDA 12.6
  counters it(real);
  for (const char* chip : {"TU102", "GA100", "AD102", "GH100"}) {
    CAPTURE(std::string(chip));
    const std::size_t passes = it.passes_on(chip);
    CHECK((passes >= 1 && passes <= 16));
  }
  std::string why;
  try {
    (void)counters(real).count([] {});
  } catch (const backend::no_profiler& e) {
    why = e.what();
  }
  CHECK(why.starts_with("CUPTI does not read counters: CUPTI_ERROR_"));
}
} // namespace test_of_counters
