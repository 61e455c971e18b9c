// SPDX-License-Identifier: Apache-2.0
// Is what CUPTI records read right, and is its absence or its refusal no more than a reason?
#include "on_fake.hpp"

#include <benanza/backend/cuda/cupti.hpp>
#include <benanza/backend/cuda/gpu.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cupti.h>
#include <type_traits>

// The front that we declare is CUPTI's own.
#define SAME_PLACE(theirs, their_field, ours, field)                                               \
  static_assert(offsetof(theirs, their_field) ==                                                   \
                    offsetof(benanza::backend::cuda::cupti_record::ours, field) &&                 \
                sizeof(theirs::their_field) ==                                                     \
                    sizeof(benanza::backend::cuda::cupti_record::ours::field))
#define SAME_KERNEL(theirs)                                                                        \
  SAME_PLACE(theirs, registersPerThread, kernel, registers);                                       \
  SAME_PLACE(theirs, start, kernel, start);                                                        \
  SAME_PLACE(theirs, end, kernel, end);                                                            \
  static_assert(offsetof(theirs, gridX) ==                                                         \
                offsetof(benanza::backend::cuda::cupti_record::kernel, grid));                     \
  static_assert(offsetof(theirs, blockX) ==                                                        \
                offsetof(benanza::backend::cuda::cupti_record::kernel, block));                    \
  SAME_PLACE(theirs, staticSharedMemory, kernel, static_shared);                                   \
  SAME_PLACE(theirs, dynamicSharedMemory, kernel, dynamic_shared);                                 \
  SAME_PLACE(theirs, name, kernel, name)
SAME_KERNEL(CUpti_ActivityKernel4);
SAME_KERNEL(CUpti_ActivityKernel5);
SAME_KERNEL(CUpti_ActivityKernel9);
#if CUPTI_API_VERSION >= 130000
SAME_KERNEL(CUpti_ActivityKernel10);
#endif
SAME_PLACE(CUpti_ActivityMemcpy, start, move, start);
SAME_PLACE(CUpti_ActivityMemcpy, end, move, end);
SAME_PLACE(CUpti_ActivityMemset, start, move, start);
SAME_PLACE(CUpti_ActivityMemset, end, move, end);
static_assert(benanza::backend::cuda::cupti_record::kernel_kind ==
                  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
              benanza::backend::cuda::cupti_record::copy_kind == CUPTI_ACTIVITY_KIND_MEMCPY &&
              benanza::backend::cuda::cupti_record::fill_kind == CUPTI_ACTIVITY_KIND_MEMSET);
#endif

using namespace benanza;
using backend::cuda::cupti;

namespace {
const std::string fake = BENANZA_FAKE_GPU_LIBRARY;

/// True where the fake GPU plays CUPTI too: it needs CUPTI's header for that.
bool fake_records() {
  return cuda_test::on_fake() && dlsym(RTLD_DEFAULT, "cuptiActivityFlushAll") != nullptr;
}
} // namespace

TEST_CASE("cupti: a library that is not there, or is another one, is a reason") {
  const cupti absent({"libno-such-cupti.so.1", "/no/such/libcupti.so"});
  CHECK(absent.why_not() == "no CUPTI (libno-such-cupti.so.1 was not found)");
  CHECK(cupti({""}).why_not() == "no CUPTI");
  CHECK(cupti({"libc.so.6"}).why_not() == "this CUPTI is not known, or too old (libc.so.6)");
  bool ran = false;
  CHECK_THROWS_AS((void)cupti({""}).observe([&] { ran = true; }), error);
  CHECK_FALSE(ran);
}

TEST_CASE("cupti: the library is that of this CUDA, or the one that the environment names") {
  CHECK(cupti::usual_libraries().front() == "libcupti.so." + std::to_string(CUDART_VERSION / 1000));
  setenv("BENANZA_CUPTI", "/somewhere/libcupti.so", 1);
  CHECK(cupti::usual_libraries() == std::vector<std::string>{"/somewhere/libcupti.so"});
  unsetenv("BENANZA_CUPTI");
}

TEST_CASE("cupti: fills and copies are recorded in their order, with their times" *
          doctest::skip(!fake_records())) {
  cupti records({fake});
  REQUIRE(records.why_not() == "");
  CHECK(records.version() == "CUPTI 13.0");
  const auto gpu = backend::cuda::gpu::of_this_process();
  backend::cuda::memory m(4'000'000), to(4'000'000);
  const auto work = [&] {
    for (const std::size_t bytes : {4'000'000U, 400'000U})
      REQUIRE(cudaMemsetAsync(m.data(), 0, bytes, gpu->stream().get()) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(to.data(), m.data(), 4'000'000, cudaMemcpyDeviceToDevice,
                            gpu->stream().get()) == cudaSuccess);
    gpu->stream().wait();
  };
  work(); // before: not recorded
  const std::vector<device_kernel> seen = records.observe(work);
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == device_kernel{.name = "memset", .ns = 1000});
  CHECK(seen[1] == device_kernel{.name = "memset", .ns = 100});
  CHECK(seen[2] == device_kernel{.name = "memcpy", .ns = 10000});
  CHECK(records.observe([] {}).empty());
  CHECK_THROWS_AS((void)records.observe([] { throw error("its own"); }), error);
  CHECK(records.observe(work).size() == 3); // what was thrown ended that recording only
}

TEST_CASE("nvrtc: the real CUPTI, without a GPU, refuses and stays harmless") {
  cupti real(cupti::usual_libraries());
  if (!real.why_not().empty() || cuda_test::on_fake() || backend::cuda::no_gpu().empty()) return;
  CHECK(real.version().starts_with("CUPTI "));
  std::string why;
  try {
    (void)real.observe([] {});
  } catch (const error& e) {
    why = e.what();
  }
  CAPTURE(why);
  CHECK(why.starts_with("CUPTI does not record kernels: CUPTI_ERROR_"));
}
