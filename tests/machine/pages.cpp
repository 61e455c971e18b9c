// SPDX-License-Identifier: Apache-2.0
#include <benanza/machine/pages.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

using namespace benanza::machine;

namespace {
constexpr std::size_t mib = std::size_t{1} << 20;
} // namespace

TEST_CASE("large memory begins with a large page, and holds anything") {
  page_store store;
  std::byte* const data = store.take(16 * mib + 1);
  CHECK(reinterpret_cast<std::uintptr_t>(data) % large_page_bytes == 0);
  std::memset(data, 7, 16 * mib + 1);
  store.give_back(data);
  CHECK(store.kept_bytes() == 18 * mib);
  CHECK(store.release() == 18 * mib);
  CHECK(store.kept_bytes() == 0);
}

TEST_CASE("a little may be read past the end") {
  page_store store;
  int sum = 0;
  for (const std::size_t bytes : {6 * mib, 16 * mib}) {
    std::byte* const data = store.take(bytes);
    for (std::size_t at = bytes; at < bytes + 4096; at += 64)
      sum += std::to_integer<int>(data[at]);
    store.give_back(data);
  }
  CHECK(sum == 0);
}

TEST_CASE("pages that were given back serve whatever comes next") {
  page_store store;
  const auto is_all = [](const std::byte* data, std::size_t bytes, int value) {
    return std::all_of(data, data + bytes, [value](std::byte b) { return b == std::byte(value); });
  };
  std::byte *const a = store.take(10 * mib), *const b = store.take(6 * mib);
  std::memset(a, 7, 10 * mib);
  std::memset(b, 7, 6 * mib);
  store.give_back(a);
  store.give_back(b);
  CHECK(store.kept_bytes() == 16 * mib);
  std::byte* const part = store.take(4 * mib); // of one of them
  CHECK(is_all(part, 4 * mib, 7));
  CHECK(store.kept_bytes() == 12 * mib);
  std::byte* const more = store.take(20 * mib); // what is left of both, and fresh ones
  CHECK(store.kept_bytes() == 0);
  CHECK(is_all(more, 12 * mib, 7));
  CHECK(is_all(more + 12 * mib, 8 * mib, 0)); // the system clears them
  std::memset(more, 8, 20 * mib);
  store.give_back(part);
  store.give_back(more);
  CHECK(store.kept_bytes() == 24 * mib);
  std::byte* const all = store.take(24 * mib);
  CHECK(std::count(all, all + 24 * mib, std::byte{8}) == 20 * mib);
  CHECK(std::count(all, all + 24 * mib, std::byte{7}) == 4 * mib);
  store.give_back(all);
}

TEST_CASE(
    "blocks never overlap, keep what they hold, and are never more than were in use at once") {
  page_store store;
  std::mt19937 random(1);
  struct block {
    std::size_t bytes;
    std::byte value;
  };
  std::map<std::byte*, block> used;
  std::size_t chunks = 0, most = 0;
  const auto whole = [](std::size_t bytes) {
    return (bytes + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  };
  std::size_t sum = 0;
  for (int i = 0; i < 4000; ++i) {
    if (used.size() > 12 || (!used.empty() && random() % 2)) {
      const auto which =
          std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      const auto& [data, b] = *which;
      bool kept = data[b.bytes - 1] == b.value;
      for (std::size_t at = 0; at < b.bytes; at += page_bytes)
        kept = kept && data[at] == b.value;
      REQUIRE(kept);
      sum -= whole(b.bytes);
      store.give_back(data);
      used.erase(which);
    } else {
      const std::size_t bytes =
          (1 + random() % 1000) * (random() % 2 ? page_bytes / 2 : 8 * page_bytes);
      std::byte* const data = store.take(bytes);
      const auto [at, is_new] = used.emplace(data, block{bytes, std::byte(random() % 256)});
      REQUIRE(is_new);
      if (std::next(at) != used.end()) CHECK(data + bytes <= std::next(at)->first);
      if (at != used.begin()) CHECK(std::prev(at)->first + std::prev(at)->second.bytes <= data);
      for (std::size_t p = 0; p < bytes; p += page_bytes)
        data[p] = at->second.value;
      data[bytes - 1] = at->second.value;
      sum += whole(bytes);
    }
    chunks = 3 * benanza::machine::detail::page_arena::chunk_bytes; // small ones leave gaps
    most = std::max(most, sum);
    CHECK(store.kept_bytes() <= most + chunks);
  }
  for (const auto& [data, b] : used)
    store.give_back(data);
  CHECK(store.release() <= most + chunks);
}

TEST_CASE("small memory is side by side on large pages, each at the lowest free place") {
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

TEST_CASE("what no chunk has room for begins a new one, and empty ones serve large blocks too") {
  page_store store;
  constexpr std::size_t chunk = benanza::machine::detail::page_arena::chunk_bytes,
                        most = 4 * mib - page_bytes;
  std::vector<std::byte*> taken;
  for (std::size_t bytes = 0; bytes <= chunk; bytes += most)
    taken.push_back(store.take(most));
  store.give_back(taken.back());
  CHECK(store.kept_bytes() == chunk);
  std::byte* const large = store.take(chunk - 2 * mib);
  CHECK(store.kept_bytes() == 2 * mib);
  store.give_back(large);
  taken.pop_back();
  for (std::byte* p : taken)
    store.give_back(p);
}

TEST_CASE("what there is not is refused") {
  page_store store;
  std::byte* const kept = store.take(8 * mib);
  store.give_back(kept);
  CHECK_THROWS_AS(store.take(std::size_t{1} << 62), std::bad_alloc);
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
    std::memset(place, 9, moved.size());
  }
  CHECK(store.kept_bytes() == 8 * mib);
  CHECK(page_memory(6 * mib).data()[6 * mib - 1] == std::byte{9});
}

TEST_CASE("large containers are on such pages, small ones where others are") {
  page_store& store = page_store::get();
  store.release();
  {
    std::vector<int, page_allocator<int>> little(1000, 7), much(2 * mib, 7);
    CHECK(reinterpret_cast<std::uintptr_t>(much.data()) % large_page_bytes == 0);
    little.insert(little.end(), much.begin(), much.end());
    CHECK(std::count(little.begin(), little.end(), 7) == 1000 + 2 * mib);
  }
  CHECK(store.release() >= 16 * mib);
}
