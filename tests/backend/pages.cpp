// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/pages.hpp>
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>

using namespace benanza::backend;

namespace {
constexpr std::size_t mib = std::size_t{1} << 20;
} // namespace

TEST_CASE("large memory that was given back serves those that need most of it") {
  page_store store;
  store.give_back(store.take(60 * mib)); // so much may be held from now on
  CHECK(store.release() == 60 * mib);
  std::byte* const place = store.take(8 * mib + 1);
  CHECK(reinterpret_cast<std::uintptr_t>(place) % page_bytes == 0);
  std::memset(place, 7, 8 * mib + 1);
  store.give_back(place);
  CHECK(store.kept_bytes() == 8 * mib + page_bytes);
  std::byte *const smaller = store.take(4 * mib), // would waste the rest
      *const larger = store.take(9 * mib);
  CHECK(smaller != place);
  CHECK(larger != place);
  CHECK(store.take(8 * mib) == place);
  store.give_back(place);
  CHECK(store.take(8 * mib + page_bytes) == place);
  for (std::byte* p : {smaller, place, larger})
    store.give_back(p);
}

TEST_CASE("of kept blocks the smallest that fits is taken") {
  page_store store;
  std::byte *const eight = store.take(8 * mib), *const four = store.take(4 * mib),
                   *const two = store.take(2 * mib), *const five = store.take(5 * mib);
  for (std::byte* p : {eight, four, two, five})
    store.give_back(p);
  CHECK(store.kept_bytes() == 19 * mib);
  REQUIRE(store.take(3 * mib) == four);
  REQUIRE(store.take(3 * mib) == five);
  REQUIRE(store.take(4 * mib) == eight);
  CHECK(store.kept_bytes() == 2 * mib);
  CHECK(store.release() == 2 * mib);
  for (std::byte* p : {eight, four, five})
    store.give_back(p);
}

TEST_CASE("blocks never overlap, and are no more together than were in use at once") {
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
      const std::size_t size = (1 + random() % 1000) * (random() % 2 ? page_bytes : 8 * page_bytes);
      std::byte* const data = store.take(size);
      const auto [at, is_new] = used.emplace(data, size);
      REQUIRE(is_new);
      if (std::next(at) != used.end()) CHECK(data + size <= std::next(at)->first);
      if (at != used.begin()) CHECK(std::prev(at)->first + std::prev(at)->second <= data);
      data[0] = data[size - 1] = std::byte{1};
      sum += size;
    }
    // A block may be twice what was asked for.
    most = std::max(most, sum);
    CHECK(store.kept_bytes() <= page_store::part * most);
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

TEST_CASE("small memory goes back to the system, and what there is not is refused") {
  page_store store;
  std::byte* const small = store.take(page_store::smallest - page_bytes);
  std::byte* const nothing = store.take(0);
  CHECK(nothing != nullptr);
  store.give_back(small);
  store.give_back(nothing);
  CHECK(store.kept_bytes() == 0);
  std::byte* const kept = store.take(2 * mib);
  store.give_back(kept);
#ifndef __SANITIZE_ADDRESS__ // which ends the program
  CHECK_THROWS_AS(store.take(std::size_t{1} << 62), std::bad_alloc);
#endif
  CHECK_THROWS_AS(store.take(~std::size_t{0}), std::bad_alloc);
  std::byte* const again = store.take(2 * mib);
  store.give_back(again);
}

TEST_CASE("page memory comes from the store of the process and goes back to it") {
  page_store& store = page_store::get();
  store.release();
  std::byte* place = nullptr;
  {
    page_memory first(3 * mib + 5);
    CHECK(first.size() == 3 * mib + 5);
    place = first.data();
    page_memory moved = std::move(first);
    CHECK(moved.data() == place);
    CHECK(store.kept_bytes() == 0);
  }
  CHECK(store.kept_bytes() == 3 * mib + page_bytes);
  CHECK(page_memory(3 * mib).data() == place);
}
