// SPDX-License-Identifier: Apache-2.0
#include "programs/fake_gpu/pending.hpp"
#include "programs/fake_gpu/rotation.hpp"

#include <doctest/doctest.h>

namespace fake {
namespace {
/// Blocks of memory, and executions that write a number to one of them.
struct lazy_bench {
  memory space{};
  record log{};
  pending_work left{space, log};
  std::byte* x = take();
  std::byte* y = take();

  std::byte* take() { return static_cast<std::byte*>(space.take(64)); }
  std::shared_ptr<const execution> writes(std::vector<extent> to, int value,
                                          std::vector<extent> from = {}) {
    auto e = std::make_shared<execution>();
    e->name = "one";
    e->reads = std::move(from);
    e->writes = to.front();
    e->writes_too.assign(to.begin() + 1, to.end());
    e->compute = [to, value](memory& m) {
      for (const extent& w : to)
        std::memset(m.contents(w.address, w.bytes), value, static_cast<std::size_t>(w.bytes));
    };
    return e;
  }
  int seen(const std::byte* at) {
    left.settle_for_reading({at, 1});
    return static_cast<int>(*space.contents(at, 1));
  }
};
} // namespace

TEST_CASE("fake pending: what was written anew is never computed") {
  lazy_bench b;
  for (int i = 1; i <= 9; ++i)
    b.left.add(b.writes({{b.x, 64}}, i));
  CHECK(b.seen(b.x) == 9);
  CHECK(b.log.computed["one"] == 1);
}

TEST_CASE("fake pending: who reads a result, or writes to operands, waits for it") {
  lazy_bench b;
  b.left.add(b.writes({{b.x, 64}}, 1));
  b.left.add(b.writes({{b.y, 64}}, 2, {{b.x + 60, 4}}));
  CHECK(b.log.computed["one"] == 1);
  b.left.settle_for_writing({b.x, 4});
  CHECK(b.log.computed["one"] == 1);
  b.left.settle_for_writing({b.x + 62, 2});
  CHECK(b.log.computed["one"] == 2);
}

TEST_CASE(
    "fake pending: of a result that can be had by elements, one that is read is computed alone") {
  lazy_bench b;
  const auto e = std::make_shared<execution>(*b.writes({{b.x, 64}}, 1));
  e->element_bytes = 4;
  e->compute_element = [](memory& m, const void* at) { std::memset(m.contents(at, 4), 7, 4); };
  b.left.add(e);
  b.left.settle_for_reading({b.x + 8, 4});
  CHECK(b.space.contents(b.x, 64)[8] == std::byte{7});
  CHECK(b.space.contents(b.x, 64)[12] != std::byte{7});
  CHECK(b.log.computed["one"] == 0);
  CHECK(b.seen(b.x + 8) == 1);
  CHECK(b.log.computed["one"] == 1);
}

TEST_CASE("fake pending: a result comes without its scratch where others used that since") {
  lazy_bench b;
  b.left.add(b.writes({{b.x, 16}, {b.y, 64}}, 1));
  b.left.add(b.writes({{b.x + 16, 16}, {b.y, 64}}, 2));
  CHECK(b.log.computed["one"] == 0);
  CHECK(b.seen(b.x + 16) == 2);
  CHECK(b.seen(b.x) == 1);
  CHECK(b.seen(b.y) == 2);
  // Nothing is left that would write to memory which is gone.
  b.left.add(b.writes({{b.x, 16}, {b.y, 64}}, 3));
  b.left.add(b.writes({{b.x + 16, 16}, {b.y, 64}}, 4));
  b.left.settle_for_freeing({b.y, 64});
  b.space.give_back(b.y);
  CHECK(b.seen(b.x) == 3);
  CHECK(b.seen(b.x + 16) == 4);
}

TEST_CASE("fake rotation: tensors end where their next copies begin") {
  rotation r;
  r.see({{1, {100, 130}}, {2, {500}}});
  CHECK(r.end_of(1, 100) > 1000);
  r.see({{1, {400, 430}}, {2, {500}}});
  r.see({{1, {150, 180}}, {2, {500}}});
  CHECK(r.end_of(1, 100) == 350);
  CHECK(r.end_of(2, 500) > 1000); // it has not moved
  r.see({{1, {180, 210}}});       // the second is where the first was: no copies
  CHECK(r.end_of(1, 100) == 350);
}

} // namespace fake
