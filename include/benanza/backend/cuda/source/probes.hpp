// SPDX-License-Identifier: Apache-2.0
// Kernels that measure the GPU itself: one that reads its clocks, one that does nothing, one that
// computes for a given time, one that waits for memory, and those that read, write, copy and add up
// memory at full speed, 16 bytes an access and eight accesses of a thread under way at once. Their
// sizes are arguments; so is how many blocks run.
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

/// Takes `unsigned steps, float* to`: so many multiplications and additions of one thread, each
/// of which waits for the one before it. Their result is not written, but the compiler cannot
/// know.
inline kernel busy() {
  return {.name = "busy",
          .text = "extern \"C\" __global__ void busy(unsigned int steps, float* to) {\n"
                  "  float x = 1.0f;\n"
                  "  for (unsigned int i = 0; i < steps; ++i) x = x * 0.5f + 1.0f;\n"
                  "  if (x < 0.0f) *to = x;\n}\n",
          .blocks = 1,
          .threads = 1};
}

/// Takes `const unsigned* from, unsigned loads, unsigned step, unsigned zero, unsigned* to`: so
/// many loads of one thread past the first cache, `step` words apart, each of which waits for the
/// one before it.
inline kernel chase() {
  return {.name = "chase",
          .text =
              "extern \"C\" __global__ void chase(const unsigned int* from, unsigned int loads, "
              "unsigned int step, unsigned int zero, unsigned int* to) {\n"
              "  for (unsigned int i = 0; i < loads; ++i) {\n    unsigned int seen;\n"
              "    asm volatile(\"ld.global.cg.u32 %0, [%1];\" : \"=r\"(seen) : \"l\"(from));\n"
              "    from += step + seen * zero;\n  }\n  if (from == to) *to = 0;\n}\n",
          .blocks = 1,
          .threads = 1};
}

/// Accesses of 16 bytes that a thread has under way at once, and the blocks of a multiprocessor
/// that leave registers for them: with more of these the compiler takes fewer, and waits in
/// between.
inline constexpr int sweep_accesses = 8, sweep_resident_blocks = 4;
inline constexpr std::int64_t pack_bytes = widest_access_bytes;

namespace detail {
/// What a thread of a sweep does with the pack at `at`, its k-th of a round: all packs of a round
/// are loaded before any is used.
struct sweep_steps {
  std::string packs{}; ///< declares arrays of `n` packs, for `load`
  std::string load{};
  std::string use{};
};

/// A kernel that goes over `count` packs, a step of all threads at a time. Rounds of `n` packs have
/// no condition within, so that their accesses follow each other; what is left is a last round.
inline kernel sweep(const std::string& name, const std::string& parameters, int n,
                    const std::string& before, const sweep_steps& steps, const std::string& after) {
  lines out;
  out("struct alignas(16) pack { unsigned int a, b, c, d; };");
  out("struct alignas(16) four { float a, b, c, d; };");
  out(kernel_head(name, sweep_resident_blocks), parameters, ") {");
  out("  const int n = ", n, ";");
  out("  const unsigned long long step = (unsigned long long)gridDim.x * ", threads_of_a_block,
      ";");
  out("  unsigned long long i = (unsigned long long)blockIdx.x * ", threads_of_a_block,
      " + threadIdx.x;");
  out(before);
  const auto round = [&](const char* condition) {
    out(steps.packs);
    for (const std::string* each : {&steps.load, &steps.use}) {
      if (each->empty()) continue;
      out("#pragma unroll");
      out("    for (int k = 0; k < n; ++k) {");
      out("      const unsigned long long at = i + k * step;");
      out("      ", condition, "{ ", *each, " }\n    }");
    }
  };
  out("  for (; i + (n - 1) * step < count; i += n * step) {");
  round("");
  out("  }\n  {");
  round("if (at < count) ");
  out("  }\n", after, "}");
  return {.name = name, .text = out.text(), .blocks = 1};
}
} // namespace detail

/// Takes `const pack* from, count, unsigned never, unsigned* to`. It writes nothing, unless what it
/// reads comes to `never`.
inline kernel read_all() {
  return detail::sweep("read_all",
                       "const pack* __restrict__ from, unsigned long long count, unsigned int "
                       "never, unsigned int* __restrict__ to",
                       sweep_accesses, "  unsigned int seen = 0;",
                       {.packs = "    pack p[n];",
                        .load = "p[k] = from[at];",
                        .use = "seen ^= p[k].a ^ p[k].b ^ p[k].c ^ p[k].d;"},
                       "  if (seen == never) *to = seen;\n");
}
/// Takes `count, pack* to`.
inline kernel write_all() {
  return detail::sweep("write_all", "unsigned long long count, pack* __restrict__ to",
                       sweep_accesses, "  const pack p = {1, 1, 1, 1};", {.use = "to[at] = p;"},
                       "");
}
/// Takes `const pack* from, count, pack* to`.
inline kernel copy_all() {
  return detail::sweep(
      "copy_all", "const pack* __restrict__ from, unsigned long long count, pack* __restrict__ to",
      sweep_accesses, "",
      {.packs = "    pack p[n];", .load = "p[k] = from[at];", .use = "to[at] = p[k];"}, "");
}
/// Takes `const four* x, const four* y, count, four* to`: `to = x + 3 y`, of floats.
inline kernel triad() {
  return detail::sweep("triad",
                       "const four* __restrict__ x, const four* __restrict__ y, unsigned long "
                       "long count, four* __restrict__ to",
                       sweep_accesses / 2, "",
                       {.packs = "    four p[n], q[n];",
                        .load = "p[k] = x[at]; q[k] = y[at];",
                        .use =
                            "four r;\n"
                            "        r.a = p[k].a + 3.0f * q[k].a, r.b = p[k].b + 3.0f * q[k].b;\n"
                            "        r.c = p[k].c + 3.0f * q[k].c, r.d = p[k].d + 3.0f * q[k].d;\n"
                            "        to[at] = r;"},
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
