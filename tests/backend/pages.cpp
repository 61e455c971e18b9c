// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/pages.hpp>
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

using namespace benanza::backend;

namespace {
constexpr std::size_t mib = std::size_t{1} << 20;
} // namespace

TEST_CASE("large memory that was given back serves those that need most of it") {
  page_store store;
  store.give_back(store.take(60 * mib)); // so much may be held from now on
  CHECK(store.release() == 60 * mib);
  std::byte* const place = store.take(16 * mib + 1);
  CHECK(reinterpret_cast<std::uintptr_t>(place) % large_page_bytes == 0);
  std::memset(place, 7, 16 * mib + 1);
  store.give_back(place);
  CHECK(store.kept_bytes() == 18 * mib);
  std::byte *const smaller = store.take(8 * mib), // would waste the rest
      *const larger = store.take(19 * mib);
  CHECK(smaller != place);
  CHECK(larger != place);
  CHECK(store.take(16 * mib) == place);
  store.give_back(place);
  CHECK(store.take(18 * mib) == place);
  for (std::byte* p : {smaller, place, larger})
    store.give_back(p);
}

TEST_CASE("of kept blocks the smallest that fits is taken") {
  page_store store;
  std::byte *const sixteen = store.take(16 * mib), *const eight = store.take(8 * mib),
                   *const four = store.take(4 * mib), *const ten = store.take(10 * mib);
  for (std::byte* p : {sixteen, eight, four, ten})
    store.give_back(p);
  CHECK(store.kept_bytes() == 38 * mib);
  REQUIRE(store.take(6 * mib) == eight);
  REQUIRE(store.take(6 * mib) == ten);
  REQUIRE(store.take(8 * mib) == sixteen);
  CHECK(store.kept_bytes() == 4 * mib);
  CHECK(store.release() == 4 * mib);
  for (std::byte* p : {sixteen, eight, ten})
    store.give_back(p);
}

TEST_CASE("blocks never overlap, and hold hardly more together than was in use at once") {
  page_store store;
  std::mt19937 random(1);
  std::map<std::byte*, std::size_t> used;
  std::size_t sum = 0, most = 0;
  for (int i = 0; i < 2000; ++i) {
    if (used.size() > 12 || (!used.empty() && random() % 2)) {
      const auto which =
          std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      sum -= which->second;
      store.give_back(which->first);
      used.erase(which);
    } else {
      const std::size_t size =
          (1 + random() % 1000) * (random() % 2 ? page_bytes / 2 : 4 * page_bytes);
      std::byte* const data = store.take(size);
      const auto [at, is_new] = used.emplace(data, size);
      REQUIRE(is_new);
      if (std::next(at) != used.end()) CHECK(data + size <= std::next(at)->first);
      if (at != used.begin()) CHECK(std::prev(at)->first + std::prev(at)->second <= data);
      data[0] = data[size - 1] = std::byte{1};
      sum += size;
    }
    // A large block may be twice what was asked for; between small ones gaps are left.
    most = std::max(most, sum);
    CHECK(store.kept_bytes() <=
          page_store::part * most + 2 * benanza::backend::detail::page_arena::chunk_bytes);
  }
  for (const auto& [data, size] : used)
    store.give_back(data);
}

TEST_CASE("what is kept gives way before more is taken than ever") {
  page_store store;
  std::byte *const a = store.take(10 * mib), *const b = store.take(6 * mib);
  store.give_back(a);
  store.give_back(b);
  CHECK(store.kept_bytes() == 16 * mib);
  std::byte* const c = store.take(12 * mib); // 16 at most: the one given back first goes, then b
  CHECK(store.kept_bytes() == 0);
  std::byte* const d = store.take(4 * mib);
  store.give_back(c);
  CHECK(store.kept_bytes() == 12 * mib);
  std::byte* const e = store.take(20 * mib); // more than ever
  CHECK(store.kept_bytes() == 0);
  store.give_back(d);
  store.give_back(e);
  CHECK(store.kept_bytes() == 24 * mib);
}

TEST_CASE("small memory stands side by side on large pages, each at the lowest free place") {
  page_store store;
  std::byte *const first = store.take(3 * page_bytes), *const second = store.take(1),
                   *const nothing = store.take(0), *const fourth = store.take(2 * page_bytes);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % large_page_bytes == 0);
  CHECK(second == first + 3 * page_bytes);
  CHECK(nothing == second + page_bytes);
  CHECK(fourth == nothing + page_bytes);
  store.give_back(first);
  CHECK(store.take(4 * page_bytes) == fourth + 2 * page_bytes); // does not fit there
  std::byte* const part = store.take(page_bytes);
  CHECK(part == first);
  // Gaps on both sides of what is given back become one with it.
  store.give_back(nothing);
  store.give_back(part);
  store.give_back(second);
  CHECK(store.take(5 * page_bytes) == first);
  CHECK(store.kept_bytes() == 0);
}

TEST_CASE("what no chunk has room for begins a new one, and empty ones are released") {
  page_store store;
  constexpr std::size_t chunk = benanza::backend::detail::page_arena::chunk_bytes,
                        most = 4 * mib - page_bytes;
  std::vector<std::byte*> taken;
  for (std::size_t bytes = 0; bytes <= chunk; bytes += most)
    taken.push_back(store.take(most));
  store.give_back(taken.back());
  CHECK(store.kept_bytes() == chunk);
  CHECK(store.release() == chunk);
  taken.pop_back();
  for (std::byte* p : taken)
    store.give_back(p);
  CHECK(store.take(most) == taken[0]);
}

TEST_CASE("what there is not is refused") {
  page_store store;
  std::byte* const kept = store.take(8 * mib);
  store.give_back(kept);
#ifndef __SANITIZE_ADDRESS__ // which ends the program
  CHECK_THROWS_AS(store.take(std::size_t{1} << 62), std::bad_alloc);
#endif
  CHECK_THROWS_AS(store.take(~std::size_t{0}), std::bad_alloc);
  std::byte* const again = store.take(8 * mib);
  store.give_back(again);
}

TEST_CASE("page memory comes from the store of the process and goes back to it") {
  page_store& store = page_store::get();
  store.release();
  std::byte* place = nullptr;
  {
    page_memory first(7 * mib + 5);
    CHECK(first.size() == 7 * mib + 5);
    place = first.data();
    page_memory moved = std::move(first);
    CHECK(moved.data() == place);
    CHECK(store.kept_bytes() == 0);
  }
  CHECK(store.kept_bytes() == 8 * mib);
  CHECK(page_memory(6 * mib).data() == place);
}
