// SPDX-License-Identifier: Apache-2.0
// What is offered for a layer, and what does it say of itself?
#include "mover_layers.hpp"

#include <benanza/backend/cuda/enumerate.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::vector<std::string> ids(const char* layer, numeric t, bool kernels = true) {
  std::vector<std::string> out;
  for (const algorithm& a : cuda::offers(op::parse(layer), t, kernels))
    out.push_back(a.id);
  return out;
}
using list_of = std::vector<std::string>;
} // namespace

TEST_CASE("cuda: copies come first, then kernels by their width") {
  CHECK(ids("Concat/1x256x28x28-a1-n4", numeric::f16) ==
        list_of{"memcpy", "kernel:v1", "kernel:v4", "kernel:v8"});
  CHECK(ids("Transpose/33x70-o1x0", numeric::f32) ==
        list_of{"kernel:v1", "kernel:v4", "kernel:tile32"});
  CHECK(ids("Gather/10x16-1x4", numeric::f32) == list_of{"kernel:v1", "kernel:v4"});
  CHECK(ids("Conv/1x4x8x8-8x3x3-s1-p1", numeric::f32).empty());
  CHECK(ids("Concat/1x256x28x28-a1-n4", numeric::tf32).empty());
  CHECK(ids("Flatten/4x6-24", numeric::f32).empty());
}

TEST_CASE("cuda: without a compiler there are copies alone") {
  CHECK(ids("Concat/1x256x28x28-a1-n4", numeric::f16, false) == list_of{"memcpy"});
  CHECK(ids("Gather/10x16-1x4", numeric::f32, false).empty());
}

TEST_CASE("cuda: kernels for which a machine lacks something are refused with the reason") {
  const auto lacks_cub = [](const cuda::source::kernel& k) {
    return k.needs_cub ? std::string("no headers") : std::string{};
  };
  std::vector<refused_algorithm> refused;
  const op::layer l = op::parse("ReduceSum/40000-a0");
  const auto all = cuda::offers(l, numeric::f32, true, lacks_cub, &refused);
  CHECK(all.size() == 2);
  for (const algorithm& a : all)
    CHECK(a.id.starts_with("kernel:row"));
  REQUIRE(refused.size() == 2);
  CHECK(refused[1].id == "kernel:cub_device");
  CHECK(refused[1].why == "no headers");
  const auto with = cuda::offers(l, numeric::f32);
  REQUIRE(with.size() == 4);
  CHECK(with[3].id == "kernel:cub_device");
  CHECK(with[3].workspace_bytes == 8 * 20);
  CHECK(with[3].notes == "compiled-at-run-time,cub");
}

TEST_CASE("cuda: ids are unique, places count up, and what rests on our kernels is said") {
  for (const char* name : cuda_test::moved)
    for (const numeric t : {numeric::f32, numeric::bf16, numeric::e4m3}) {
      CAPTURE(name);
      const auto all = cuda::offers(op::parse(name), t);
      CHECK_FALSE(all.empty());
      std::set<std::string> seen;
      for (const algorithm& a : all) {
        CHECK(a.index == static_cast<int>(seen.size()));
        CHECK(seen.insert(a.id).second);
        CHECK(a.equivalence == benanza::name(t));
        CHECK(a.fallback == (a.id == "memcpy" ? "" : "host"));
        CHECK_FALSE(a.notes.empty());
      }
    }
}

TEST_CASE("cuda: elementwise layers keep the layout that their operands share") {
  const auto layout_of = [](const char* layer) {
    return cuda::offers(op::parse(layer), numeric::f32).at(0).result_layout;
  };
  CHECK(layout_of("Relu/1x8x6x6") == "any");
  CHECK(layout_of("Add/1x8x6x6") == "any");
  CHECK(layout_of("Add/1x8x6x6-8x1x1") == "plain");
  CHECK(layout_of("Concat/1x8x6x6-a1-n2") == "plain");
}
