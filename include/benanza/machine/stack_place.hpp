// SPDX-License-Identifier: Apache-2.0
// Where is the stack when a library is called? Code that a library generates may keep vectors on
// the stack without aligning it: then a layer takes up to 1.4 times as long from one caller as from
// another, and the length of an environment variable decides. Here the place in a page is chosen,
// so that every process measures the same (stack_choice.hpp: the better one).
//
//   at_stack_place(0, [&] { dnnl_primitive_execute(...); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace benanza::machine {

inline constexpr std::size_t stack_page = 4096;

/// Two places that differ in what matters: alignment to 32 bytes, and the half of the page.
inline constexpr std::size_t stack_places[] = {0, stack_page / 2 + 16};

/// Calls `f` with the stack at `place` of its page (a multiple of 16); the same place from wherever
/// this is called.
template <class Function>
[[gnu::noinline]] auto at_stack_place(std::size_t place, Function&& f) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::size_t down = (here - place) % stack_page;
  auto* const room = static_cast<volatile char*>(__builtin_alloca(down + 16));
  // Written to when `f` has returned: else the room may be gone before it is called.
  struct held {
    volatile char* room;
    ~held() { *room = 0; }
  } const stays{room};
  return std::forward<Function>(f)();
}

} // namespace benanza::machine
