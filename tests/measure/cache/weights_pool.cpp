// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/cache/weights_pool.hpp>
#include <doctest/doctest.h>

#include <cmath>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("the arena outlasts the cache, cut into aligned copies") {
  weights_pools pools(4 << 20);
  const pool_slots small = pools.slots(dtype::f32, 1000);
  CHECK(small.stride == 1024);
  CHECK(small.bytes() == 4 << 20);
  const pool_slots middle = pools.slots(dtype::f32, 3 << 19);
  CHECK(middle.count == 3);
  const pool_slots large = pools.slots(dtype::f32, 3 << 20);
  CHECK(large.count == 2);
  CHECK(large.bytes() == 6 << 20);
  CHECK(reinterpret_cast<std::uintptr_t>(large.data) % 64 == 0);
}

TEST_CASE("smaller weights take their copies where those of larger ones are, which keep them") {
  for (const std::int64_t before : {64, 700 << 10, 1 << 20}) {
    weights_pools pools(4 << 20);
    (void)pools.slots(dtype::f32, before); // another layer's
    const pool_slots largest = pools.slots(dtype::f32, (2 << 20) + (100 << 10));
    CHECK(largest.count == 2);
    const pool_slots smaller = pools.slots(dtype::f32, (2 << 20) - 64);
    CHECK(smaller.count == 3); // which is more in all
    CHECK(smaller.bytes() > largest.bytes());
    CHECK(smaller.data == largest.data);
    for (std::int64_t bytes = 1 << 20; bytes > 0; bytes -= 12'345)
      CHECK(pools.slots(dtype::f32, bytes).data == largest.data);
  }
}

TEST_CASE("weights that outlast the cache are cold without a copy") {
  weights_pools pools(4 << 20);
  CHECK(pools.slots(dtype::f32, 4 << 20).count == 0);
  CHECK(pools.slots(dtype::f32, std::int64_t{1} << 50).count == 0); // takes no memory
  CHECK(pools.slots(dtype::f32, (4 << 20) - 64).count == 2);
  CHECK(pools.outlast_cache(4 << 20));
  CHECK(!pools.outlast_cache((4 << 20) - 64));
  CHECK(!weights_pools(0).outlast_cache(0));
}

TEST_CASE("a pool holds ordinary numbers of the type") {
  weights_pools pools(4 << 12);
  const pool_slots s = pools.slots(dtype::f32, 1 << 10);
  const auto* f = reinterpret_cast<const float*>(s.data);
  bool differ = false;
  for (std::int64_t i = 0; i < s.bytes() / 4; ++i) {
    REQUIRE(std::isnormal(f[i]));
    REQUIRE(f[i] > 0); // it may be a variance
    REQUIRE(f[i] <= 1);
    differ = differ || f[i] != f[0];
  }
  CHECK(differ);
  const pool_slots b = pools.slots(dtype::bf16, 1 << 10);
  const auto* h = reinterpret_cast<const std::uint16_t*>(b.data);
  for (std::int64_t i = 0; i < b.bytes() / 2; ++i) {
    const int exponent = h[i] >> 7 & 0xff;
    REQUIRE(exponent > 0);
    REQUIRE(exponent < 0xff);
  }
}

TEST_CASE("more memory than there is, is refused in words") {
  weights_pools pools(std::int64_t{1} << 50);
  CHECK_THROWS_AS(pools.slots(dtype::f32, 1 << 20), error);
}
