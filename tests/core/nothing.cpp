// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/nothing.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <string>
#include <variant>
#include <vector>

using namespace benanza;

namespace {
bool no_memory = false;

template <class T>
struct scarce {
  using value_type = T;
  T* allocate(std::size_t n) {
    if (no_memory) throw std::bad_alloc();
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) { std::allocator<T>().deallocate(p, n); }
  bool operator==(const scarce&) const = default;
};
using text = std::basic_string<char, std::char_traits<char>, scarce<char>>;
} // namespace

TEST_CASE("a variant that no memory is left to copy is one exception, and nothing is destroyed") {
  using cell = std::variant<nothing, text, bool, long, double, std::vector<text>>;
  const cell empty, full = std::vector<text>(3, text(1000, 'x'));
  no_memory = true;
  CHECK_THROWS_AS(cell{full}, std::bad_alloc);
  CHECK(cell(empty) == empty);
  no_memory = false;
  CHECK(cell(full) == full);
  cell changed = 1.0;
  no_memory = true;
  CHECK_THROWS_AS(changed = full, std::bad_alloc);
  no_memory = false;
  CHECK((changed == cell(1.0) || changed.valueless_by_exception()));
}
