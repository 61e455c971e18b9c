// SPDX-License-Identifier: Apache-2.0
// What does the C library take for memory? Copies whose source and destination are in no cache,
// copies of rows with gaps between them (2D), a block that is taken and given back, which never
// gets a page, and blocks that are taken, filled and given back, which are the same memory each
// time. Each is checked once, before it is timed.
//
//   for (limit& l : host_copies({131072})) l.make()->time(10);   // a copy of 65536 bytes moves
//   them
#pragma once

#include "../../core/error.hpp"
#include "../cache/states.hpp"
#include "limit_subject.hpp"
#include "pages.hpp"

#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace benanza::measure::ceilings {

/// Rows with gaps begin so many times their length after each other.
inline constexpr std::int64_t pitch_of_rows = 4;

namespace detail {
inline void fill_sources(const pages& p) {
  auto* values = reinterpret_cast<float*>(p.data());
  for (std::int64_t i = 0; i < p.bytes() / 4; ++i)
    values[i] = source_value(i);
}
} // namespace detail

/// Copies what no cache holds. Driving it out is not timed.
class flushed_copy final : public backend::prepared {
public:
  explicit flushed_copy(std::int64_t bytes)
      : from_(bytes)
      , to_(bytes) {
    detail::fill_sources(from_);
    time(1);
    if (std::memcmp(from_.data(), to_.data(), size()) != 0) throw error("a copy is wrong");
  }

  std::string ran() const override { return "libc"; }
  void run(int executions) override { time(executions); }
  double time(int executions) override {
    double ns = 0;
    for (int i = 0; i < executions; ++i) {
      flush({from_.data(), size()});
      flush({to_.data(), size()});
      const stopwatch timer;
      std::memcpy(to_.data(), from_.data(), size());
      ns += timer.ns();
    }
    return ns;
  }
  void read(std::vector<double>& out) const override { out.clear(); }

private:
  std::size_t size() const { return static_cast<std::size_t>(from_.bytes()); }
  pages from_, to_;
};

/// Copies rows with gaps to rows without.
class rows_copy final : public timed_run {
public:
  rows_copy(std::int64_t row_bytes, std::int64_t bytes)
      : timed_run("libc")
      , row_(static_cast<std::size_t>(row_bytes))
      , from_(bytes * pitch_of_rows)
      , to_(bytes) {
    detail::fill_sources(from_);
    go(1);
    for (std::int64_t row = 0; row < bytes / row_bytes; ++row)
      if (std::memcmp(to_.data() + row * row_bytes, from_.data() + row * pitch_of_rows * row_bytes,
                      row_) != 0)
        throw error("a copy of rows is wrong");
    settle();
  }

private:
  void go(std::int64_t times) override {
    const auto rows = static_cast<std::size_t>(to_.bytes()) / row_;
    for (std::int64_t t = 0; t < times; ++t)
      for (std::size_t r = 0; r < rows; ++r)
        std::memcpy(to_.data() + r * row_, from_.data() + r * row_ * pitch_of_rows, row_);
  }
  std::size_t row_;
  pages from_, to_;
};

/// Takes a block from the C library and gives it back; fills it meanwhile, or does not.
class block_run final : public timed_run {
public:
  block_run(std::int64_t bytes, bool fills)
      : timed_run(fills ? "libc_memset" : "libc_untouched")
      , bytes_(static_cast<std::size_t>(bytes))
      , fills_(fills) {
    settle();
  }

private:
  void go(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      void* block = std::malloc(bytes_);
      if (block == nullptr) throw std::bad_alloc();
      if (fills_) std::memset(block, static_cast<int>(i), bytes_);
      asm volatile("" : "+r"(block) : : "memory"); // not read, but it must be done
      std::free(block);
    }
  }
  std::size_t bytes_;
  bool fills_;
};

/// All of them, each to move so many bytes: a copy reads half of them and writes half.
inline std::vector<limit> host_copies(const std::vector<std::int64_t>& moved) {
  std::vector<limit> out;
  const auto add = [&out](std::string kind, const char* way, std::int64_t bytes, std::int64_t moves,
                          auto make) {
    out.push_back({std::move(kind), way, bytes, moves,
                   [make] { return std::unique_ptr<backend::prepared>(make()); }});
  };
  for (const std::int64_t all : moved) {
    const std::int64_t n = all / 2;
    if (machine::flushes)
      add("memcpy_flushed", "libc", n, all, [n] { return std::make_unique<flushed_copy>(n); });
    for (const std::int64_t row : {64, 1024})
      add("copy_2d_" + std::to_string(row), "libc", n, all,
          [n, row] { return std::make_unique<rows_copy>(row, n); });
    add("malloc", "libc_memset", all, all,
        [all] { return std::make_unique<block_run>(all, true); });
  }
  // The size of what is never touched makes no difference.
  add("malloc", "libc_untouched", 0, 0, [] { return std::make_unique<block_run>(65536, false); });
  return out;
}

} // namespace benanza::measure::ceilings
