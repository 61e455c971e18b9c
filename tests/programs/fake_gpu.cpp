// SPDX-License-Identifier: Apache-2.0
// A GPU that is not there: a library to be preloaded into programs that use CUDA, cuDNN and cuBLAS,
// on a machine without a GPU or a driver. It answers as one H200 would, computes results, and takes
// times from a script (fake_gpu/script.hpp) by a virtual clock, so that a test knows every figure
// beforehand. What was done with it is recorded (fake_gpu/record.hpp).
//
//   LD_PRELOAD=libbenanza_fake_gpu.so BENANZA_FAKE_GPU_SCRIPT=script benanza_bench
#include "fake_gpu/counters.hpp"
#include "fake_gpu/kernels.hpp"
#include "fake_gpu/legacy.hpp"
#include "fake_gpu/recurrent.hpp"

#ifdef BENANZA_WITH_CUBLAS
#include "fake_gpu/cublaslt.hpp"
#endif

#include <malloc.h>

namespace {
/// Tensors in f64 take turns in memory that is kept: for the kernel to clear each page anew took
/// half of the time.
[[gnu::constructor]] void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1); // never
}
/// At the very end of the process, when all others have given back what they had.
[[gnu::destructor]] void write_record() {
  const fake::device& d = fake::device::it();
  d.log.write(d.space.live_bytes(), d.space.peak_bytes(), d.space.overruns(),
              cudaGetErrorName(d.lost()));
}
} // namespace
