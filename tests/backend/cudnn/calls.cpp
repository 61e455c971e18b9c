// SPDX-License-Identifier: Apache-2.0
// For which layers does cuDNN have a call of its own? What each computes is tried on the fake GPU
// (measure/gpu_program.cpp).
#include <benanza/backend/cudnn/calls.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
std::set<std::string> calls_of(const char* layer, numeric t) {
  std::set<std::string> ids;
  for (const call& c : calls_for(op::parse(layer), t))
    CHECK(ids.insert(c.what.id).second);
  return ids;
}
using ids = std::set<std::string>;
} // namespace

TEST_CASE("cudnn: a call is offered where the library has one") {
  for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16}) {
    CHECK(calls_of("Softmax/8x1000-a1", t) == ids{"softmax:accurate", "softmax:fast"});
    CHECK(calls_of("LogSoftmax/8x1000-a1", t) == ids{"softmax:log"});
    CHECK(calls_of("LRN/1x96x55x55-n5", t) == ids{"lrn"});
    CHECK(calls_of("Transpose/1x2x58x28x28-o0x2x1x3x4", t) == ids{"transform"});
    CHECK(calls_of("reorder/1x64x56x56-plain-channels_last", t) == ids{"transform"});
    for (const char* reduction : {"ReduceMean/1x64x56x56-a2x3", "ReduceSum/8x64-a1",
                                  "ReduceMax/8x64-a0", "ReduceL2/8x64-a1"})
      CHECK(calls_of(reduction, t) == ids{"reduce_tensor"});
  }
}

TEST_CASE("cudnn: a call is not offered where it would compute something else") {
  CHECK(calls_of("LRN/1x96x55x55-n4", numeric::f32).empty()); // leans to the other side
  CHECK(calls_of("LRN/1x96x55x55-n17", numeric::f32).empty());
  CHECK(calls_of("reorder/1x64x56x56-plain-blocked16", numeric::f32).empty());
  CHECK(calls_of("ReduceLogSumExp/8x64-a1", numeric::f32).empty());
  CHECK(calls_of("Conv/1x3x32x32-8x3x3-s1-p1", numeric::f32).empty());
  for (const numeric t : {numeric::tf32, numeric::s8s8s8, numeric::u8s8u8, numeric::e4m3})
    CHECK(calls_of("Softmax/8x1000-a1", t).empty());
}

TEST_CASE("cudnn: a call is an algorithm of the type's own class") {
  const op::layer l = op::parse("reorder/1x64x56x56-plain-channels_last");
  const backend::algorithm a = calls_for(l, numeric::f16).at(0).what;
  CHECK(a.equivalence == "f16");
  CHECK(a.operand_layouts == "plain");
  CHECK(a.result_layout == "channels_last");
}
