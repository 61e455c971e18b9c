// SPDX-License-Identifier: Apache-2.0
// Do the host's kernels compute what the reference does? Every output of many small layers, in
// every storage they take, on one and two threads.
//
//   test::check("Relu/4x5", numeric::bf16);
#pragma once

#include "backend/built.hpp"

#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace benanza::test {

using namespace backend;

inline std::vector<double> computed(const op::layer& l, numeric t, const operands& o, int threads) {
  const auto owned = built("host");
  library& lib = *owned;
  const setting s{.threads = threads};
  const auto offered = lib.enumerate(l, t, s);
  REQUIRE_MESSAGE(offered.size() == 1, op::name(l));
  CHECK(offered[0].fallback == "host");
  const auto prepared = lib.prepare(l, t, offered[0], o, s);
  CHECK(prepared->ran() == offered[0].id);
  prepared->run(2);
  std::vector<double> got;
  prepared->read(got);
  return got;
}

inline void check(const std::string& name, numeric t = numeric::f32) {
  const op::layer l = op::parse(name);
  const operands o = make_operands(l, t);
  const auto where = reference::positions_to_check(l, 1 << 20);
  std::vector<double> expected(where.size());
  reference::evaluate(l, t, o, where, expected);
  for (int threads = 1; threads <= 2; ++threads) {
    const auto got = computed(l, t, o, threads);
    const verdict v = compare(l, t, where, expected, got);
    const auto at = static_cast<std::size_t>(v.where);
    CHECK_MESSAGE(v.ok, name << " " << std::string(benanza::name(t)) << " t" << threads << " at "
                             << v.where << ": " << (got.empty() ? 0 : got[at]) << " for "
                             << (expected.empty() ? 0 : expected[at]) << ", " << v.worst);
  }
}

inline void check_floats(const std::string& name) {
  check(name, numeric::f32);
  check(name, numeric::bf16);
}

inline void check_all(const std::string& name) {
  check_floats(name);
  check(name, numeric::u8s8u8);
  check(name, numeric::s8s8s8);
}

} // namespace benanza::test
