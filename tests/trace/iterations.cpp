// SPDX-License-Identifier: Apache-2.0
// Are the iterations of a run found, behind a warm-up and before a cut, and none where there are
// none?
#include "log_text.hpp"

#include <benanza/trace/iterations.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test_of_iterations {
using benanza::trace::find_iterations;
using benanza::trace::find_period;
using benanza::trace::iterations;

std::vector<int> joined(std::vector<std::vector<int>> parts) {
  std::vector<int> out;
  for (const auto& p : parts)
    out.insert(out.end(), p.begin(), p.end());
  return out;
}
const std::vector<int> network{1, 2, 2, 3, 2, 2, 3, 4};

TEST_CASE("nothing, one run, and the same run several times") {
  CHECK(find_period({}) == iterations{});
  CHECK(find_period({5}) == iterations{.first = 0, .length = 1, .count = 1});
  CHECK(find_period(network) == iterations{.first = 0, .length = 8, .count = 1});
  CHECK(find_period(joined({network, network, network})) ==
        iterations{.first = 0, .length = 8, .count = 3});
  CHECK(find_period({7, 7, 7, 7}) == iterations{.first = 0, .length = 1, .count = 4});
  const iterations three = find_period(joined({network, network, network}));
  CHECK(three.at(2) == std::pair<std::size_t, std::size_t>{16, 24});
}

TEST_CASE("a warm-up before, a cut behind") {
  // A warm-up that calls something else: counted from the end.
  CHECK(find_period(joined({{9, 1, 2, 9, 4}, network, network, network})) ==
        iterations{.first = 5, .length = 8, .count = 3});
  // The first calls of an iteration that was cut off.
  CHECK(find_period(joined({network, network, {1, 2, 2}})) ==
        iterations{.first = 0, .length = 8, .count = 2, .behind = 3});
  // The end of the warm-up is like the end of an iteration.
  CHECK(find_period(joined({{9, 9, 2, 3, 4}, network, network})) ==
        iterations{.first = 5, .length = 8, .count = 2});
}

TEST_CASE("a warm-up that tries every algorithm may be longer than all that follows") {
  std::vector<int> tried;
  for (int layer : network)
    tried.insert(tried.end(), 40, layer);
  CHECK(find_period(joined({tried, network, network, network})) ==
        iterations{.first = 320, .length = 8, .count = 3});
}

TEST_CASE("a few equal calls at the end are no iterations") {
  CHECK(find_period({1, 2, 3, 4, 5, 6, 6, 6}) == iterations{.first = 0, .length = 8, .count = 1});
  CHECK(find_period({1, 2, 3, 4, 5, 6, 7, 8}) == iterations{.first = 0, .length = 8, .count = 1});
}

TEST_CASE("any network, any number of times") {
  std::uint32_t state = 7;
  const auto next = [&](std::uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 16) % n);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<int> once{100};
    for (int i = next(30); i >= 0; --i)
      once.push_back(next(5));
    const auto times = static_cast<std::size_t>(2 + next(4));
    std::vector<int> all;
    for (std::size_t i = 0; i < times; ++i)
      all.insert(all.end(), once.begin(), once.end());
    CHECK(find_period(all) == iterations{.first = 0, .length = once.size(), .count = times});
  }
}

TEST_CASE("algorithms that settle only with time do not hide the iterations") {
  using namespace log_text;
  const dims image{1, 64, 56, 56};
  const auto run = [&](const std::string& algorithm) {
    return conv_call(image, {64, 64, 3, 3}, image, 1, 1, algorithm) +
           conv_call(image, {64, 64, 1, 1}, image, 0, 1, algorithm);
  };
  const benanza::trace::call_log l = read(run("IMPLICIT_GEMM") + run("WINOGRAD") + run("WINOGRAD"));
  CHECK(l.calls.size() == 4);
  const iterations it = find_iterations(l);
  CHECK(it == iterations{.first = 0, .length = 2, .count = 3});
  CHECK(l.at(l.entries[it.at(2).first]).algorithm == "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD");
}

} // namespace test_of_iterations
