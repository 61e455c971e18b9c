// SPDX-License-Identifier: Apache-2.0
// How does a program end that gets no more memory? Like after any other refusal: with one line. So
// that there is memory left for clearing up and for that line, some is held back from the start.
//
//   int main() { hold_memory_back();  try { ... } catch (const std::exception& e) { reason(e) } }
#pragma once

#include "error.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace benanza {

namespace detail {
inline void* held_back = nullptr;
inline const char* program = "";

/// Called where memory is wanted and there is none.
[[noreturn]] inline void give_up() {
  std::free(std::exchange(held_back, nullptr));
  std::set_new_handler(nullptr);
  throw std::bad_alloc();
}
} // namespace detail

/// The refusal of what no memory is left for.
inline error out_of_memory(std::string_view doing) {
  return error("out of memory", doing, "give it more memory, or less to read");
}

namespace detail {
/// Called where an exception cannot be thrown, as out of a destructor.
[[noreturn]] inline void end_at_once() {
  if (const std::exception_ptr now = std::current_exception()) {
    try {
      std::rethrow_exception(now);
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "%s: %s\n", program, out_of_memory({}).what());
      std::_Exit(2);
    } catch (...) { // a fault of ours
    }
  }
  std::abort();
}
} // namespace detail

/// Holds memory back, which is not touched and so costs none, until there is no other.
inline void hold_memory_back(const char* program) {
  constexpr std::size_t most = std::size_t{1} << 24, least = std::size_t{1} << 16;
  for (std::size_t bytes = most; detail::held_back == nullptr && bytes >= least; bytes /= 2)
    detail::held_back = std::malloc(bytes);
  detail::program = program;
  std::set_new_handler(detail::give_up);
  std::set_terminate(detail::end_at_once);
}

/// What an exception says, in one line.
inline std::string reason(const std::exception& e) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
                      dynamic_cast<const std::length_error*>(&e) != nullptr;
  if (memory) return out_of_memory({}).what();
  return dynamic_cast<const error*>(&e) != nullptr ? e.what() : error(e.what()).what();
}

} // namespace benanza
