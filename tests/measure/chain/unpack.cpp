// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/chain/storage.hpp>
#include <benanza/measure/chain/unpack.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("blocks and channels last become ONNX order, padding left out") {
  // Two channels of two elements; in blocks of 8 each element has its channels together.
  const shape dims{1, 2, 2};
  std::vector<float> blocked(16, -1);
  blocked[0] = 1, blocked[1] = 3, blocked[8] = 2, blocked[9] = 4;
  const float last[] = {1, 3, 2, 4}, plain[] = {1, 2, 3, 4};
  const auto read = [&](const void* data, layout l) {
    const auto bytes = unpack(static_cast<const std::byte*>(data), l, dims, dtype::f32);
    std::vector<float> out(4);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  const std::vector<float> expected{1, 2, 3, 4};
  CHECK(read(blocked.data(), layout::blocked8) == expected);
  CHECK(read(last, layout::channels_last) == expected);
  CHECK(read(plain, layout::plain) == expected);
}

TEST_CASE("rooms that were given back are taken again, the best fitting first") {
  activation_storage s;
  const int large = s.take(1000), small = s.take(100);
  CHECK(s.release(large));
  CHECK(!s.release(large));
  CHECK(s.release(small));
  const int again = s.take(90), grown = s.take(2000);
  s.allocate();
  CHECK(s.at(again) == s.at(small));
  CHECK(s.at(grown) == s.at(large));
  CHECK(s.bytes() == 2100);
  activation_storage held;
  const int input = held.hold(std::vector<std::byte>(8, std::byte{7}));
  CHECK(!held.release(input));
  held.allocate();
  CHECK(held.at(input)[7] == std::byte{7});
}
