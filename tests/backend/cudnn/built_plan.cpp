// SPDX-License-Identifier: Apache-2.0
// Are plans that are built together those that would be built one by one? On the fake GPU, in this
// process ("cudnn_calls" in tests/CMakeLists.txt).
#include <benanza/backend/cudnn/library.hpp>
#include <benanza/backend/make_operands.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::cudnn;

TEST_CASE("on the fake gpu: plans built at once are found, each once, and compute the same") {
  if (!backend::cuda::no_gpu().empty()) return;
  const op::layer l = op::parse("MatMul+Relu/1x8x16-16x24-w");
  const auto on = std::make_shared<context>(backend::cuda::gpu::of_this_process());
  const target here = this_gpu(on->get());
  std::vector<backend::algorithm> all;
  for (offer& o : offers(l, numeric::f16, here))
    all.push_back(std::move(o.what));
  REQUIRE(all.size() > 2);
  all.push_back({.id = "eng9999", .notes = "compiled-at-run-time"}); // fails alone
  plans_ahead ahead;
  ahead.build(l, numeric::f16, all, here);
  const backend::operands values = backend::make_operands(l, numeric::f16);
  std::size_t found = 0;
  for (const backend::algorithm& a : all) {
    auto plan = ahead.take(l, numeric::f16, a.id);
    const bool compiled = a.notes.find("compiled-at-run-time") != std::string::npos;
    CHECK(plan.has_value() == (compiled && a.id != "eng9999"));
    CHECK_FALSE(ahead.take(l, numeric::f16, a.id));
    if (!plan) continue;
    ++found;
    std::vector<double> together, alone;
    execution first(on, std::move(*plan), values, {});
    execution second(on, std::move(*plan_of_id(l, numeric::f16, a.id, here)), values, {});
    CHECK(first.ran() == a.id);
    first.run(1), first.read(together);
    second.run(1), second.read(alone);
    CHECK(together == alone);
  }
  CHECK(found > 1);
}

TEST_CASE("on the fake gpu: the library builds ahead, and prepares what it can") {
  if (!backend::cuda::no_gpu().empty()) return;
  const op::layer l = op::parse("Relu/1x4x8x8");
  library lib;
  const auto all = lib.enumerate(l, numeric::f16, {});
  REQUIRE(!all.empty());
  lib.prepare_ahead(l, numeric::f16, all);
  const backend::operands values = backend::make_operands(l, numeric::f16);
  for (const backend::algorithm& a : all)
    CHECK(lib.prepare(l, numeric::f16, a, values, {})->ran() == a.id);
}
