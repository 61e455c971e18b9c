// SPDX-License-Identifier: Apache-2.0
// Kernels that measure the GPU itself: one that reads its clocks, one that does nothing, and those
// that read, copy and add up memory at full speed, 16 bytes a thread and access. Their sizes are
// arguments; so is how many blocks run.
//
//   loaded_kernel::of(source::read_all())->launch(stream, arguments, blocks);
#pragma once

#include "text.hpp"

#include <algorithm>

namespace benanza::backend::cuda::source {

/// What `sm_stamp` writes for each of its blocks, of one thread: the time in ns, that of all of the
/// GPU; the cycles that its multiprocessor has counted; and which one that is.
struct stamp {
  unsigned long long ns = 0, cycles = 0, sm = 0;
};
inline constexpr int stamping_blocks = 16;

/// Takes `stamp*`.
inline kernel sm_stamp() {
  return {.name = "sm_stamp",
          .text = "struct stamp { unsigned long long ns, cycles, sm; };\n"
                  "extern \"C\" __global__ void sm_stamp(stamp* at) {\n"
                  "  unsigned long long ns, cycles;\n  unsigned int sm;\n"
                  "  asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
                  "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(ns));\n"
                  "  asm volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(cycles));\n"
                  "  at[blockIdx.x].ns = ns;\n  at[blockIdx.x].cycles = cycles;\n"
                  "  at[blockIdx.x].sm = sm;\n}\n",
          .blocks = stamping_blocks,
          .threads = 1};
}

/// Takes no argument.
inline kernel nothing() {
  return {.name = "nothing",
          .text = "extern \"C\" __global__ void nothing() {}\n",
          .blocks = 1,
          .threads = 1};
}

/// Accesses of 16 bytes that a thread has under way at once.
inline constexpr int sweep_unroll = 8;
inline constexpr std::int64_t pack_bytes = widest_access_bytes;

namespace detail {
/// A kernel that goes over `count` packs, a step of all threads at a time.
inline kernel sweep(const std::string& name, const std::string& parameters,
                    const std::string& before, const std::string& each, const std::string& after) {
  lines out;
  out("struct alignas(16) pack { unsigned int a, b, c, d; };");
  out("struct alignas(16) four { float a, b, c, d; };");
  out(kernel_head(name), parameters, ") {");
  out("  const unsigned long long step = (unsigned long long)gridDim.x * ", threads_of_a_block,
      ";");
  out(before);
  out("#pragma unroll ", sweep_unroll);
  out("  for (unsigned long long i = (unsigned long long)blockIdx.x * ", threads_of_a_block,
      " + threadIdx.x; i < count; i += step) {");
  out(each, "  }");
  out(after, "}");
  return {.name = name, .text = out.text(), .blocks = 1};
}
} // namespace detail

/// Takes `const pack* from, count, unsigned never, unsigned* to`. What it reads goes nowhere,
/// unless that comes to `never`.
inline kernel read_all() {
  return detail::sweep("read_all",
                       "const pack* __restrict__ from, unsigned long long count, unsigned int "
                       "never, unsigned int* __restrict__ to",
                       "  unsigned int seen = 0;",
                       "    const pack p = from[i];\n    seen ^= p.a ^ p.b ^ p.c ^ p.d;\n",
                       "  if (seen == never) *to = seen;\n");
}
/// Takes `const pack* from, count, pack* to`.
inline kernel copy_all() {
  return detail::sweep("copy_all",
                       "const pack* __restrict__ from, unsigned long long count, pack* "
                       "__restrict__ to",
                       "", "    to[i] = from[i];\n", "");
}
/// Takes `const four* x, const four* y, count, four* to`: `to = x + 3 y`, of floats.
inline kernel triad() {
  return detail::sweep("triad",
                       "const four* __restrict__ x, const four* __restrict__ y, unsigned long "
                       "long count, four* __restrict__ to",
                       "",
                       "    const four p = x[i], q = y[i];\n    four r;\n"
                       "    r.a = p.a + 3.0f * q.a, r.b = p.b + 3.0f * q.b;\n"
                       "    r.c = p.c + 3.0f * q.c, r.d = p.d + 3.0f * q.d;\n    to[i] = r;\n",
                       "");
}

/// Blocks for a sweep over so many bytes: an access a thread, until the GPU is full.
inline std::int64_t sweep_blocks(std::int64_t bytes, std::int64_t multiprocessors) {
  constexpr std::int64_t of_a_multiprocessor = 16;
  const std::int64_t packs = bytes / pack_bytes,
                     all = (packs + threads_of_a_block - 1) / threads_of_a_block;
  return std::clamp<std::int64_t>(all, 1, of_a_multiprocessor * multiprocessors);
}

} // namespace benanza::backend::cuda::source
