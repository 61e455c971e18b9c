// SPDX-License-Identifier: Apache-2.0
// How are lines driven out of all caches of a processor, and how does a thread wait? What each kind
// of processor has for it.
//
//   if (flushes) flush(bytes);
#pragma once

#include <cstddef>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace benanza::machine {

/// True where programs have an instruction that drives lines out of the caches.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool flushes = true;
#else
inline constexpr bool flushes = false;
#endif

/// Drives `memory` out of all caches, where `flushes`.
inline void flush([[maybe_unused]] std::span<const std::byte> memory) {
  [[maybe_unused]] constexpr std::size_t line_bytes = 64; // none of these has shorter ones
#if defined(__x86_64__)
  for (std::size_t i = 0; i < memory.size(); i += line_bytes)
    _mm_clflush(memory.data() + i);
  _mm_mfence();
#elif defined(__aarch64__)
  for (std::size_t i = 0; i < memory.size(); i += line_bytes)
    asm volatile("dc civac, %0" : : "r"(memory.data() + i) : "memory");
  asm volatile("dsb ish" : : : "memory");
#endif
}

/// A hint to the processor that this is a loop that waits.
inline void spin() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory"); // yield does nothing on most of them
#endif
}

} // namespace benanza::machine
