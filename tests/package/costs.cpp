// SPDX-License-Identifier: Apache-2.0
#include <benanza/op.hpp>

#include <cstdio>

int main() {
  const auto layer = benanza::op::parse("Conv/1x64x56x56-64x3x3-s1-p1");
  std::printf("%lld\n", static_cast<long long>(benanza::op::cost(layer).macs));
}
