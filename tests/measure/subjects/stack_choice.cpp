// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/subjects/stack_choice.hpp>
#include <doctest/doctest.h>

using namespace benanza;

namespace {
[[gnu::noinline]] std::size_t own_place() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % machine::stack_page;
}

std::size_t place_seen(std::size_t place) {
  return machine::at_stack_place(place, [] { return own_place() + 0; });
}

[[gnu::noinline]] std::size_t seen_from_below(std::size_t place, int depth, std::size_t bytes) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes));
  room[0] = 1;
  const auto one = static_cast<std::size_t>(room[0]);
  return depth > 0 ? seen_from_below(place, depth - 1, bytes) + one - 1 : place_seen(place);
}

/// Takes so long at each place, and no longer after the first execution.
class moody final : public backend::prepared {
public:
  explicit moody(double first_ns, double second_ns)
      : ns_{first_ns, second_ns} {}
  std::string ran() const override { return "moody"; }
  void run(int) override {}
  double time(int n) override {
    ++executions;
    return n * ns_[stack_place() == machine::stack_places[0] ? 0 : 1];
  }
  void read(std::vector<double>&) const override {}
  std::size_t place() const { return stack_place(); }

  int executions = 0;

private:
  double ns_[2];
};
} // namespace

TEST_CASE("the stack is at the same place of its page for every caller") {
  for (const std::size_t place : machine::stack_places) {
    const std::size_t first = seen_from_below(place, 0, 16);
    for (const std::size_t bytes : {16u, 48u, 1040u, 5000u})
      for (const int depth : {1, 2, 7})
        CHECK(seen_from_below(place, depth, bytes) == first);
  }
}

TEST_CASE("the two places differ in what generated code may take for granted") {
  const std::size_t a = place_seen(machine::stack_places[0]);
  const std::size_t b = place_seen(machine::stack_places[1]);
  CHECK(a % 32 != b % 32);
  CHECK(a % 16 == b % 16);
}

TEST_CASE("what is returned or thrown comes through") {
  CHECK(machine::at_stack_place(0, [] { return 7; }) == 7);
  CHECK_THROWS_AS(machine::at_stack_place(16, [] { throw error("no"); }), error);
}

TEST_CASE("an algorithm stays at the place where it is faster, and at the first if neither is") {
  moody even(1000, 990), first(1000, 1400), second(1400, 1000);
  measure::choose_stack_place(even);
  measure::choose_stack_place(first);
  measure::choose_stack_place(second);
  CHECK(even.place() == machine::stack_places[0]);
  CHECK(first.place() == machine::stack_places[0]);
  CHECK(second.place() == machine::stack_places[1]);
}

TEST_CASE("what takes long is not tried often") {
  moody slow(1e9, 1e9);
  measure::choose_stack_place(slow);
  CHECK(slow.executions == 2);
}
