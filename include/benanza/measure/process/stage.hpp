// SPDX-License-Identifier: Apache-2.0
// What is being done right now, and on which case? It is noted on a board before each step. In a
// worker process the board is in memory that the supervisor reads too: when the worker dies or
// hangs, it says which case to charge. A note costs a few nanoseconds, outside timing.
//
//   note_stage(stage::preparing, 3);   library.prepare(...);   // crashes: case 3, while preparing
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace benanza::measure {

/// The steps of measuring a group.
enum class stage : int { starting, waiting, beginning, preparing, checking, sampling, ending };

/// What a stage is called after "while".
constexpr std::string_view words(stage s) {
  switch (s) {
  case stage::starting: return "starting";
  case stage::waiting: return "waiting for work";
  case stage::beginning: return "making the operands";
  case stage::preparing: return "preparing";
  case stage::checking: return "checking its result";
  case stage::sampling: return "being timed";
  case stage::ending: return "freeing the group";
  }
  return "";
}

/// The last note.
struct stage_board {
  std::atomic<std::uint64_t> notes{0}; ///< how many were taken: a worker that lives takes more
  std::atomic<stage> doing{stage::starting};
  std::atomic<int> on_case{-1}; ///< place in the group; -1: on none
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<stage>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

/// The board of this process; a worker puts the shared one here.
inline stage_board*& current_board() {
  static stage_board own;
  static stage_board* current = &own;
  return current;
}

/// Notes a step on the case that was noted last.
inline void note_stage(stage s) {
  stage_board& b = *current_board();
  b.doing.store(s, std::memory_order_relaxed);
  b.notes.fetch_add(1, std::memory_order_relaxed);
}

/// Notes a step on a case; -1: on none of them.
inline void note_stage(stage s, int on_case) {
  current_board()->on_case.store(on_case, std::memory_order_relaxed);
  note_stage(s);
}

} // namespace benanza::measure
