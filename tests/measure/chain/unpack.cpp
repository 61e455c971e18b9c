// SPDX-License-Identifier: Apache-2.0
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

TEST_CASE("what is packed is what was unpacked, with zeros in what pads blocks") {
  const shape dims{2, 11, 3, 2};
  backend::tensor_bytes plain(static_cast<std::size_t>(4 * elements(dims)));
  for (std::size_t i = 0; i < plain.size() / 4; ++i) {
    const auto v = static_cast<float>(i + 1);
    std::memcpy(plain.data() + 4 * i, &v, 4);
  }
  for (const layout l : all_layouts) {
    const backend::tensor_bytes lying = measure::pack(plain, l, dims, dtype::f32);
    CHECK(lying.size() >= plain.size());
    CHECK(measure::unpack(lying.data(), l, dims, dtype::f32) == plain);
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < lying.size(); i += 4)
      zeros += std::memcmp(lying.data() + i, "\0\0\0\0", 4) == 0;
    CHECK(4 * zeros == lying.size() - plain.size());
  }
}
