// SPDX-License-Identifier: Apache-2.0
// Movers on the GPU: do they run, give what ONNX says, take the time that the GPU takes, and fail
// with a reason?
#include "mover_layers.hpp"
#include "on_fake.hpp"

#include <benanza/backend/cuda/library.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using cuda_test::on_fake;
using cuda_test::runs_kernels;

namespace {
constexpr double one_execution_ns = 10'000; // unless a script says otherwise

verdict outcome_of(const op::layer& l, numeric t, const operands& o, const prepared& p) {
  std::vector<std::int64_t> where;
  for (std::int64_t i = 0; i < result_count(l); ++i)
    where.push_back(i);
  std::vector<double> right(where.size()), got;
  reference::evaluate(l, t, o, where, right);
  p.read(got);
  return compare(l, t, where, right, got);
}

std::string refusal(const char* layer, numeric t, const std::string& id, operands o) {
  cuda::library lib;
  try {
    lib.prepare(op::parse(layer), t, {.id = id}, o, {});
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
} // namespace

TEST_CASE("cuda: copies run on the GPU, again and again, and take so long" *
          doctest::skip(!on_fake())) {
  cuda::library lib;
  int tried = 0;
  for (const char* name : cuda_test::moved) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const auto plan = cuda::copies_for(l, 2);
    if (!plan) continue;
    ++tried;
    const operands o = make_operands(l, numeric::f16);
    const auto p = lib.prepare(l, numeric::f16, {.id = "memcpy"}, o, {});
    CHECK(p->ran() == "memcpy");
    CHECK(p->on_device());
    CHECK(p->weight_bytes() == 0);
    p->run(2);
    CHECK(outcome_of(l, numeric::f16, o, *p).ok);
    CHECK(p->time(5) ==
          doctest::Approx(5 * one_execution_ns * static_cast<double>(plan->copies.size()))
              .epsilon(1e-6));
    CHECK(p->remark().empty()); // replayed as a graph
    CHECK(outcome_of(l, numeric::f16, o, *p).ok);
  }
  CHECK(tried > 10);
}

TEST_CASE("cuda: kernels are compiled, loaded and run on the GPU" *
          doctest::skip(!runs_kernels())) {
  cuda::library lib;
  for (const char* name : {"Transpose/2x3x40x50-o0x2x3x1", "Concat/3x4x7-a2-n3", "Gather/10x16-1x4",
                           "Resize/1x2x6x5-1x2x12x9-cubic", "Add+RMSNormalization/9x40-a1-sum"}) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const operands o = make_operands(l, numeric::f16);
    for (const algorithm& a : lib.enumerate(l, numeric::f16, {})) {
      CAPTURE(a.id);
      const auto p = lib.prepare(l, numeric::f16, a, o, {});
      CHECK(p->ran() == a.id);
      p->run(1);
      CHECK(outcome_of(l, numeric::f16, o, *p).ok);
      if (a.id == "memcpy") continue;
      CHECK(p->time(3) == doctest::Approx(3 * one_execution_ns).epsilon(1e-6));
      p->own_device()->flush_before_each(true);
      CHECK(p->time(2) == doctest::Approx(2 * one_execution_ns).epsilon(1e-6));
      CHECK(p->remark().empty());
    }
  }
}

TEST_CASE("cuda: parts of a row are summed before it is" * doctest::skip(!runs_kernels())) {
  cuda::library lib;
  const op::layer l = op::parse("CumSum/20000-a0");
  const operands o = make_operands(l, numeric::f16);
  const auto p = lib.prepare(l, numeric::f16, {.id = "kernel:cub_device"}, o, {});
  CHECK(p->chain()->scratch_bytes() == 8 * 5);
  p->run(1);
  CHECK(outcome_of(l, numeric::f16, o, *p).ok);
  CHECK(p->time(3) == doctest::Approx(6 * one_execution_ns).epsilon(1e-6)); // two kernels
  CHECK(p->remark().empty());
}

TEST_CASE("cuda: changes of layout change the places of elements, and nothing else" *
          doctest::skip(!runs_kernels())) {
  cuda::library lib;
  for (const char* name :
       {"reorder/2x40x3x5-plain-channels_last", "reorder/2x40x3x5-channels_last-plain"}) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const operands o = make_operands(l, numeric::f16);
    const auto all = lib.enumerate(l, numeric::f16, {});
    CHECK(all.back().id == "kernel:tile32");
    for (const algorithm& a : all) {
      CAPTURE(a.id);
      CHECK(a.operand_layouts == benanza::name(op::get<op::reorder>(l).from));
      CHECK(a.result_layout == benanza::name(op::get<op::reorder>(l).to));
      const auto p = lib.prepare(l, numeric::f16, a, o, {});
      p->run(1);
      CHECK(outcome_of(l, numeric::f16, o, *p).ok);
      CHECK(p->time(2) == doctest::Approx(2 * one_execution_ns).epsilon(1e-6));
    }
  }
  CHECK(lib.enumerate(op::parse("reorder/2x40x3x5-plain-blocked16"), numeric::f16, {}).empty());
}

TEST_CASE("cuda: constants rotate through copies, and come back to their own" *
          doctest::skip(!runs_kernels())) {
  cuda::library lib;
  const op::layer l = op::parse("LayerNormalization/6x40-a1-b");
  const operands o = make_operands(l, numeric::f16);
  const auto p = lib.prepare(l, numeric::f16, {.id = "kernel:row32"}, o, {});
  CHECK(p->weight_bytes() == 512); // scale and bias, each at a multiple of 256
  const weight_slots s = p->own_device()->weight_pool();
  CHECK(s.stride == 1536); // with source and result: vectors of parameters alone are no weights
  p->rotate_weights(s.data, s.stride, s.count);
  CHECK(p->time(3) == doctest::Approx(3 * one_execution_ns).epsilon(1e-6));
  CHECK_FALSE(outcome_of(l, numeric::f16, o, *p).ok); // others than its own
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  CHECK(outcome_of(l, numeric::f16, o, *p).ok);
}

TEST_CASE("cuda: kernels of equal text are loaded once, and given back with the last" *
          doctest::skip(!runs_kernels())) {
  const auto k = cuda::source::kernels_for(op::parse("Gather/12x16-1x4"), numeric::f32).at(0);
  const auto a = cuda::loaded_kernel::of(k), b = cuda::loaded_kernel::of(k);
  CHECK(a == b);
  CHECK(cuda::architecture_of_gpu() == "sm_90");
}

TEST_CASE("cuda: what cannot be prepared says why" * doctest::skip(!on_fake())) {
  const auto values = [](const char* layer) {
    return make_operands(op::parse(layer), numeric::f32);
  };
  const char* const relu = "Relu/3x4";
  CHECK(refusal(relu, numeric::f32, "memcpy", values(relu)).find("no such mover") !=
        std::string::npos);
  CHECK(
      refusal(relu, numeric::f32, "kernel:tile32", values(relu)).find("Relu/3x4, kernel:tile32") !=
      std::string::npos);
  const char* const gather = "Gather/10x16-1x4";
  for (const std::int64_t bad : {std::int64_t{10}, std::int64_t{-11}}) {
    operands o = values(gather);
    o.inputs[1].as<std::int64_t>()[2] = bad;
    CHECK(refusal(gather, numeric::f32, "kernel:v1", o).find("lies outside what it indexes") !=
          std::string::npos);
  }
}

TEST_CASE("cuda: the library says what it is") {
  cuda::library lib;
  CHECK(lib.name() == "cuda");
  CHECK(lib.on_device());
  const auto facts = lib.facts();
  if (on_fake() && cuda::compiles) CHECK(facts.at("kernels").starts_with("NVRTC "));
  CHECK(facts.contains("unavailable") == !lib.unavailable().empty());
}
