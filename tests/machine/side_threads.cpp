// SPDX-License-Identifier: Apache-2.0
// Do threads next to a bound one use all processors?
#include <benanza/machine/binding.hpp>
#include <benanza/machine/side_threads.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace test_of_side_threads {
using namespace benanza::machine;

int processors_here() {
  return benanza::machine::detail::affinity().first;
}

TEST_CASE("threads next to a bound one may use every processor, and it stays bound") {
  const environment before = entered();
  const int count = processors_here();
  const std::string list = benanza::machine::detail::affinity().second;
  std::thread([&] {
    entered() = environment{count, list, {}};
    REQUIRE(bind_to(sched_getcpu()));
    std::mutex lock;
    std::map<std::thread::id, int> allowed;
    on_all_processors(3, [&] {
      const std::lock_guard held(lock);
      allowed[std::this_thread::get_id()] = processors_here();
    });
    CHECK(std::ssize(allowed) == std::min(3, count));
    for (const auto& [thread, processors] : allowed)
      CHECK(processors == (thread == std::this_thread::get_id() ? 1 : count));
    CHECK(processors_here() == 1);
    int calls = 0;
    on_all_processors(1, [&] { ++calls; });
    CHECK(calls == 1);
  }).join();
  entered() = before;
}
} // namespace test_of_side_threads
