// SPDX-License-Identifier: Apache-2.0
// Are plain kernels honest: near the speed of memcpy? Ratios within one run, with room for noise;
// on a quiet machine they are above 0.6 and mostly near one.
#include "backend/built.hpp"

#include <benanza/backend/host/detail/memory.hpp>
#include <benanza/backend/make_operands.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
namespace {
/// Speed of a layer's kernel as a share of memcpy's, both moving the layer's bytes, by the least
/// times of many turns.
double share_of_memcpy(const char* name) {
  const op::layer l = op::parse(name);
  const auto owned = test::built("host");
  library& lib = *owned;
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {})[0],
                             make_operands(l, numeric::f32), {});
  const std::int64_t bytes = op::cost(l).bytes(numeric::f32);
  const host::detail::buffer from(bytes / 2), to(bytes / 2);
  double kernel = 1e30, copy = 1e30;
  for (std::size_t i = 0; i < 200; ++i) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    std::memcpy(to.bytes(), from.bytes(), static_cast<std::size_t>(bytes / 2));
    const std::chrono::duration<double, std::nano> took = clock::now() - start;
    copy = std::min(copy, took.count());
    CHECK(to.bytes()[i] == from.bytes()[i]);
    kernel = std::min(kernel, p->time(1));
  }
  return copy / kernel;
}
} // namespace

TEST_CASE("speed: movers run near the speed of memcpy") {
  for (const char* name :
       {"Concat/1x256x56x56-a1-n4", "Split/1x256x56x56-a1-n2",
        "Slice/1x256x56x56-1x256x55x55-from0x0x1x1", "Transpose/8x128x12x64-o0x2x1x3",
        "Pad/1x64x112x112-b0x0x1x1-e0x0x1x1", "Add/1x256x56x56-256x1x1", "Gather/30522x768-1x512",
        "DepthToSpace/1x64x112x112-k2", "Where/1x1x256x256-1x12x256x256-1",
        "Expand/1x8x1x512x64-1x8x4x512x64", "Expand/1x64x56x1-1x64x56x56", "Tile/256x56-1024x112",
        "Cast/1x256x56x56-real-s32"}) {
    const double share = share_of_memcpy(name);
    MESSAGE(std::string(name) << ": " << share);
    CHECK_MESSAGE(share > 0.25, std::string(name)); // by clang a Tile has 0.32
  }
}
#endif
