// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <benanza/backend/onednn/library.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace benanza;

namespace onednn_test {
namespace {
constexpr numeric types[] = {numeric::f32, numeric::bf16, numeric::u8s8u8, numeric::s8s8s8};

/// Kernels of oneDNN 2.6 for ARM that are wrong: they are refused before they are measured.
bool known_wrong([[maybe_unused]] std::string_view layer,
                 [[maybe_unused]] std::string_view algorithm, [[maybe_unused]] numeric t) {
#if defined(__aarch64__)
  if (algorithm.starts_with("jit:sve_") && layer.find("Softmax/") != layer.npos)
    return t != numeric::f32;
  return algorithm.starts_with("jit_dw:sve_") && layer.starts_with("ConvWeightGradient/");
#else
  return false;
#endif
}
} // namespace

int check(const std::string& name) {
  static backend::onednn::library lib;
  const op::layer l = op::parse(name);
  int count = 0;
  for (const numeric t : types) {
    const auto list = lib.enumerate(l, t, {.threads = 1});
    if (list.empty()) continue;
    const backend::operands o = backend::make_operands(l, t);
    const auto where = backend::reference::positions_to_check(l, 3000);
    std::vector<double> expected(where.size()), all, got(where.size());
    backend::reference::evaluate(l, t, o, where, expected);
    std::set<std::string> ids;
    for (const auto& a : list) {
      CAPTURE(name);
      CAPTURE(benanza::name(t));
      CAPTURE(a.id);
      CAPTURE(a.layouts);
      CHECK(ids.insert(a.id).second);
      CHECK(a.index + 1 == static_cast<int>(ids.size()));
      CHECK(a.id.find('/') == std::string::npos);
      const auto p = lib.prepare(l, t, a, o, {.threads = 1});
      p->run(1);
      p->read(all);
      CHECK(p->ran() == a.id);
      REQUIRE(static_cast<std::int64_t>(all.size()) == backend::result_count(l));
      if (a.equivalence != benanza::name(t)) continue;
      for (std::size_t i = 0; i < where.size(); ++i)
        got[i] = all[static_cast<std::size_t>(where[i])];
      const backend::verdict v = backend::compare(l, t, where, expected, got);
      CAPTURE(v.worst);
      CAPTURE(v.where);
      CHECK((v.ok || known_wrong(name, a.id, t)));
    }
    count += static_cast<int>(list.size());
  }
  return count;
}

void check_all(std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(check(name) > 0);
  }
}
} // namespace onednn_test

using onednn_test::check;

TEST_CASE(
    "onednn: nothing is offered for what the library does not have or does otherwise than ONNX") {
  for (const std::string name :
       {"AveragePool/1x16x14x14-3x3-s2-p1-ceil-ip", "LRN/1x32x7x7-n4", "Selu/1x17x5x5",
        "Erf/1x17x5x5", "Sub/16x1x1-2x16x7x7", "Div/1-2x16x7x7", "Add/2x16x1x7-1x16x7x1",
        "Pow/2x16", "Max/2x16-n3", "Add/2x16-s32", "Relu/2x16-s32", "ReduceMean/2x16",
        "ReduceLogSum/2x16-a1", "Gather/10x8-3", "Transpose/5x6-o1x0-s64", "Reshape/1x4x3-12",
        "Resize/1x16x5x7-1x16x10x14-cubic", "Resize/1x16x5x7-1x16x10x14-linear-align_corners"}) {
    CAPTURE(name);
    CHECK(check(name) == 0);
  }
  // What oneDNN 3 has, from some version on.
  for (const std::string name :
       {"GroupNormalization/1x16x7x7-g4", "InstanceNormalization/2x16x7x7", "Attention/1x4x16x32",
        "Attention/2x3x20x16-k24-v8-bshd-mask1x1x20x24"}) {
    CAPTURE(name);
    const int offered = check(name);
    if (DNNL_VERSION_MAJOR == 2) CHECK(offered == 0);
  }
  backend::onednn::library lib;
  for (const numeric t : {numeric::f16, numeric::tf32, numeric::e4m3})
    CHECK(lib.enumerate(op::parse("Conv/1x16x9x9-32x3x3-s1-p1"), t, {.threads = 1}).empty());
}
