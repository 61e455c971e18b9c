// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/chain/tensor_places.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
/// a -> b -> d, and a -> c -> d.
model::graph diamond() {
  model::graph g;
  const std::vector<std::vector<int>> reads{{}, {0}, {0}, {1, 2}};
  for (const std::vector<int>& from : reads) {
    model::node n;
    n.inputs = from;
    g.nodes.push_back(n);
  }
  return g;
}
} // namespace

TEST_CASE("a result has its room until its last reader has run") {
  activation_storage rooms;
  tensor_places places(diamond(), rooms);
  CHECK(places.find({0, 0}) == nullptr);
  places.put({0, 0}, {.dims = {4}, .room = rooms.take(16)});
  places.put({1, 0}, {.dims = {4}, .room = rooms.take(16)});
  const tensor_place a = *places.find({0, 0});
  CHECK(places.is_read_behind(a, 1)); // by c
  CHECK_FALSE(places.is_read_behind(a, 2));
  places.put({2, 0}, {.dims = {4}, .room = rooms.take(16)});
  places.release(2);
  CHECK_FALSE(rooms.release(a.room)); // has been given back
  CHECK(places.last().room == places.find({2, 0})->room);
}

TEST_CASE("a result that one more node reads is not given back") {
  activation_storage rooms;
  tensor_places places(diamond(), rooms);
  const int room = rooms.take(16);
  places.put({0, 0}, {.dims = {4}, .room = room});
  places.release(1); // b has run, c has not
  CHECK(rooms.release(room));
}

TEST_CASE("a result that nothing reads stays, as it is the model's") {
  activation_storage rooms;
  tensor_places places(diamond(), rooms);
  const int room = rooms.take(16);
  places.put({3, 0}, {.dims = {4}, .room = room});
  places.release(3);
  CHECK(rooms.release(room)); // it was not given back
}

TEST_CASE("a view is in the room of what it sees, which is kept for its readers too") {
  activation_storage rooms;
  tensor_places places(diamond(), rooms);
  const int room = rooms.take(16);
  places.put({0, 0}, {.dims = {2, 2}, .room = room});
  places.put({1, 0}, {.dims = {4}, .room = room}); // b is a view
  places.release(2);
  CHECK(places.is_read_behind(*places.find({0, 0}), 2)); // d reads b
  places.release(3);
  CHECK_FALSE(rooms.release(room));
}

TEST_CASE("a copy in another layout is made once, and is none when its room holds something else") {
  activation_storage rooms;
  tensor_places places(diamond(), rooms);
  const tensor_place a{.dims = {1, 8, 2, 2}, .room = rooms.take(128)};
  places.put({0, 0}, a);
  CHECK(places.copy(a, layout::blocked8, dtype::f32) == nullptr);
  tensor_place made = a;
  made.lies = layout::blocked8;
  made.room = rooms.take(128);
  places.put_copy(a, made, 1);
  REQUIRE(places.copy(a, layout::blocked8, dtype::f32) != nullptr);
  CHECK(places.copy(a, layout::blocked8, dtype::f32)->room == made.room);
  CHECK(places.copy(a, layout::blocked16, dtype::f32) == nullptr);
  CHECK(places.copy(a, layout::blocked8, dtype::bf16) == nullptr);
  places.release(1); // c may want it, too
  CHECK(places.copy(a, layout::blocked8, dtype::f32) != nullptr);
  places.release(2);
  CHECK(places.copy(a, layout::blocked8, dtype::f32) == nullptr);
  places.put_copy(a, made, 1);
  places.forget_copies(a.room);
  CHECK(places.copy(a, layout::blocked8, dtype::f32) == nullptr);
}
