// SPDX-License-Identifier: Apache-2.0
// Whatever is cut off or damaged: a profile, or one line.
#include "profile_samples.hpp"

#include <doctest/doctest.h>

TEST_CASE("read_profile: a file that is cut off anywhere, or of which a byte is another") {
  std::size_t taken = 0, refused = 0;
  const auto take = [&](const std::string& text) {
    try {
      benanza::trace::read_profile(text, "profile");
      ++taken;
    } catch (const benanza::error& e) {
      CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
      ++refused;
    }
  };
  for (const std::string& sample : profile_text::samples()) {
    const std::size_t step = sample.size() / 600 + 1;
    for (std::size_t i = 0; i < sample.size(); i += step)
      take(sample.substr(0, i));
    std::string other = sample;
    for (std::size_t i = 0; i < other.size(); i += step) {
      const char was = other[i];
      other[i] = static_cast<char>(was ^ (i % 3 == 0 ? 0x80 : i % 3 == 1 ? 0x01 : 0x22));
      take(other);
      other[i] = was;
    }
  }
  CHECK(taken > 100);
  CHECK(refused > 100);
}
