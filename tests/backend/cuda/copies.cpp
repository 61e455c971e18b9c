// SPDX-License-Identifier: Apache-2.0
// Do blocks, and the copies that they become, put every element where ONNX wants it? Both are done
// on the host's memory here, as the runtime's copies are documented.
#include "mover_layers.hpp"

#include <benanza/backend/cuda/copies.hpp>
#include <benanza/backend/reference/reference.hpp>

#include <doctest/doctest.h>

#include <cstring>

using namespace benanza;
using namespace benanza::backend;

namespace {
/// All of a layer's results, by the reference.
std::vector<double> right(const op::layer& l, numeric t, const operands& o) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < elements(op::output(l)); ++i)
    all.push_back(i);
  std::vector<double> out(all.size());
  reference::evaluate(l, t, o, all, out);
  return out;
}

std::vector<double> numbers(const std::span<const std::byte> bytes, dtype type,
                            std::int64_t count) {
  std::vector<double> out;
  load_all(type, bytes.data(), count, out);
  return out;
}

/// Memory that shows what was never written: a code that no operand has.
std::vector<std::byte> blank(std::int64_t bytes, bool zeros) {
  return std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte(zeros ? 0 : 0x7b));
}

void do_block(const cuda::block& b, const operands& o, std::int64_t width, std::size_t level,
              std::int64_t to, std::int64_t from, std::vector<std::byte>& out) {
  if (level == b.loops.size()) {
    const auto& bytes = o.inputs.at(static_cast<std::size_t>(b.operand)).bytes;
    REQUIRE(from >= 0);
    REQUIRE((from + 1) * width <= std::ssize(bytes));
    REQUIRE((to + 1) * width <= std::ssize(out));
    std::memcpy(out.data() + to * width, bytes.data() + from * width,
                static_cast<std::size_t>(width));
    return;
  }
  const cuda::loop& l = b.loops[level];
  for (std::int64_t i = 0; i < l.count; ++i)
    do_block(b, o, width, level + 1, to + i * l.to, from + i * l.from, out);
}

/// As the runtime documents it: pitches hold a run, planes hold whole pitches.
void do_copy(const cuda::copy& c, const operands& o, std::vector<std::byte>& out) {
  const auto& bytes = o.inputs.at(static_cast<std::size_t>(c.operand)).bytes;
  if (c.rows > 1) {
    REQUIRE(c.to_pitch >= c.width);
    REQUIRE(c.from_pitch >= c.width);
  }
  if (c.planes > 1) {
    REQUIRE(c.to_plane % c.to_pitch == 0);
    REQUIRE(c.from_plane % c.from_pitch == 0);
    REQUIRE(c.to_plane / c.to_pitch >= c.rows);
    REQUIRE(c.from_plane / c.from_pitch >= c.rows);
  }
  for (std::int64_t z = 0; z < c.planes; ++z)
    for (std::int64_t y = 0; y < c.rows; ++y) {
      const std::int64_t to = c.to + z * c.to_plane + y * c.to_pitch,
                         from = c.from + z * c.from_plane + y * c.from_pitch;
      REQUIRE(from >= 0);
      REQUIRE(from + c.width <= std::ssize(bytes));
      REQUIRE(to + c.width <= std::ssize(out));
      std::memcpy(out.data() + to, bytes.data() + from, static_cast<std::size_t>(c.width));
    }
}

std::int64_t copies_of(const std::string& layer, std::int64_t width = 4) {
  const auto plan = cuda::copies_for(op::parse(layer), width);
  return plan ? std::ssize(plan->copies) : -1;
}
} // namespace

TEST_CASE("cuda: blocks and copies move what ONNX says, for elements of every width") {
  int blocks = 0, plans = 0;
  for (const char* name : cuda_test::moved)
    for (const numeric t : {numeric::f32, numeric::f16, numeric::s8s8s8}) {
      CAPTURE(name);
      const op::layer l = op::parse(name);
      const operands o = make_operands(l, t);
      const dtype type = result_type(l, t);
      const std::int64_t width = size_bytes(type), count = elements(op::output(l));
      const auto wanted = right(l, t, o);
      if (const auto b = cuda::blocks_of(l)) {
        ++blocks;
        auto out = blank(count * width, b->zeros_first);
        for (const cuda::block& one : b->moved)
          do_block(one, o, width, 0, one.to, one.from, out);
        CHECK(numbers(out, type, count) == wanted);
      }
      if (const auto p = cuda::copies_for(l, width)) {
        ++plans;
        CHECK(std::ssize(p->copies) <= cuda::most_copies_of_a_layer);
        auto out = blank(count * width, p->zeros_first);
        for (const cuda::copy& one : p->copies)
          do_copy(one, o, out);
        CHECK(numbers(out, type, count) == wanted);
      }
    }
  CHECK(blocks > 60);
  CHECK(plans > 30);
}

TEST_CASE("cuda: layers take as few copies as they can") {
  CHECK(copies_of("Concat/1x256x28x28-a1-n4") == 4);
  CHECK(copies_of("Split/8x256x28x28-a1-n2") == 2);
  CHECK(copies_of("Concat/8x5x3-a1-n1") == 1);
  CHECK(copies_of("Slice/4x10x12-2x3x8-from1x2x4") == 1);   // planes of rows
  CHECK(copies_of("Transpose/2x3x4-o0x1x2") == 1);          // as it is
  CHECK(copies_of("Transpose/1x128x12x64-o0x2x1x3") == 12); // a copy a head
  CHECK(copies_of("Pad/1x3x5x5-b0x0x1x1-e0x0x1x1") == 1);   // and zeros
  CHECK(copies_of("Slice/2x3x4x5x6-2x2x3x2x5-from0x1x1x2x1") > 1);
}

TEST_CASE("cuda: what copies cannot do, or not in a few, is not offered") {
  CHECK(copies_of("Transpose/33x70-o1x0") == -1);            // single elements
  CHECK(copies_of("Transpose/4x128x128x64-o0x2x1x3") == -1); // 128 copies or more
  CHECK(copies_of("Slice/7x16-3x16-from6x0-bym2x1") == -1);  // backwards
  CHECK(copies_of("Slice/4x10-4x5-by1x2") == -1);            // every other element
  CHECK(copies_of("Pad/3x4-b1x2-e2x1-edge") == -1);
  CHECK(copies_of("Gather/10x16-1x4") == -1);
  CHECK(copies_of("Relu/3x4") == -1);
  CHECK(copies_of("Concat/200x2-a0-n100") == -1);
  CHECK(copies_of("Slice/4x10-0x5") == -1); // nothing at all
  // Pitches are 31 bits.
  CHECK(copies_of("Slice/2x1073741824-2x4", 1) == 1);
  CHECK(copies_of("Slice/2x1073741824-2x4", 4) == 2);
}

TEST_CASE("cuda: loops that can be one are one") {
  const auto loops = [](const char* name) {
    return cuda::blocks_of(op::parse(name))->moved.at(0).loops;
  };
  CHECK(loops("Transpose/2x3x4-o0x1x2") == std::vector<cuda::loop>{{24, 1, 1}});
  CHECK(loops("Transpose/2x3x4x5-o0x2x3x1") ==
        std::vector<cuda::loop>{{2, 60, 60}, {20, 3, 1}, {3, 1, 20}});
  CHECK(loops("Transpose/1x1x1-o2x1x0").empty());
  CHECK(loops("Slice/4x6-4x6-from3x5-bym1xm1") == std::vector<cuda::loop>{{24, 1, -1}});
}
