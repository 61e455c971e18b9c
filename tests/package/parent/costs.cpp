// SPDX-License-Identifier: Apache-2.0
// One kind of layer alone, which costs the compiler a tenth of all.
#include <benanza/op/conv.hpp>

#include <cstdio>

int main() {
  const auto layer =
      benanza::op::read_key(benanza::op::conv{}, "1x64x56x56-64x3x3-s1-p1").canonical_form();
  std::printf("%lld\n", static_cast<long long>(layer.cost().macs));
}
