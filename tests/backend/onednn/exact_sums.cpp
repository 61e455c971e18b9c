// SPDX-License-Identifier: Apache-2.0
// Do all algorithms of sums give the same bits where nothing has to be rounded? Elements are
// multiples of 1/256 whose sums fit into a float, in whatever order they are added.
#include "backend/built.hpp"

#include <benanza/backend/onednn/layout.hpp>
#include <benanza/backend/onednn/library.hpp>
#include <benanza/backend/reference/reference.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;

namespace {
operands exact_operands(const op::layer& l, numeric t) {
  operands o = make_operands(l, t);
  tensor& x = o.inputs.at(0);
  for (std::int64_t i = 0; i < x.count(); ++i)
    store(x.type, x.bytes.data(), i, static_cast<double>(i * 37 % 33 - 16) / 256);
  return o;
}

/// The exact results, rounded once to the type in which they are stored.
std::vector<double> rounded_results(const op::layer& l, numeric t, const operands& o) {
  const auto where = reference::positions_to_check(l, 1 << 20);
  std::vector<double> out(where.size());
  reference::evaluate(l, t, o, where, out);
  const dtype stored = result_type(l, t);
  std::byte room[8];
  for (double& v : out) {
    store(stored, room, 0, v);
    v = load(stored, room, 0);
  }
  return out;
}

/// How many algorithms give exactly this.
int check_bits(library& lib, const op::layer& l, numeric t) {
  const operands o = exact_operands(l, t);
  const auto expected = rounded_results(l, t, o);
  int count = 0;
  for (const algorithm& a : lib.enumerate(l, t, {.threads = 1})) {
    const auto p = lib.prepare(l, t, a, o, {.threads = 1});
    std::vector<double> got;
    p->run(1);
    p->read(got);
    CAPTURE(lib.name());
    CAPTURE(a.id);
    CHECK(got == expected);
    ++count;
  }
  return count;
}
} // namespace

TEST_CASE("sums of exact numbers are equal to the last bit, by every algorithm") {
  const auto host = test::built("host");
  onednn::library onednn;
#if defined(__x86_64__)
  const bool has_bf16 = onednn::channels_in_block() == 16; // AVX-512
#else
  const bool has_bf16 = false;
#endif
  for (const numeric t : {numeric::f32, numeric::bf16})
    for (const char* name : {"ReduceSum/64x16-a1", "ReduceSum/16x256-a1", "ReduceSum/3x4096-a1",
                             "ReduceSum/5x1000-a1", "ReduceSum/7x33-a1", "ReduceSum/33x7-a0",
                             "ReduceMean/16x256-a1", "GlobalAveragePool/2x3x16x16"}) {
      CAPTURE(name);
      CAPTURE(benanza::name(t));
      const op::layer l = op::parse(name);
      CHECK(check_bits(*host, l, t) >= 1);
      const int found = check_bits(onednn, l, t);
      if (t == numeric::f32 || has_bf16) CHECK(found >= 3);
    }
}

TEST_CASE("running sums of exact numbers are equal to the last bit") {
  const auto host = test::built("host");
  for (const numeric t : {numeric::f32, numeric::bf16})
    for (const std::string name : {"CumSum/37x16-a1", "CumSum/16x256-a1", "CumSum/3x4096-a1",
                                   "CumSum/5x1000-a1", "CumSum/7x33-a1", "CumSum/9x5-a1"})
      for (const char* way : {"", "-exclusive", "-reverse", "-exclusive-reverse"}) {
        CAPTURE(name);
        CAPTURE(way);
        CAPTURE(benanza::name(t));
        CHECK(check_bits(*host, op::parse(name + way), t) == 1);
      }
}
