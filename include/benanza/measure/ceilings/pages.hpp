// SPDX-License-Identifier: Apache-2.0
// Where does the memory come from that ceilings are measured on? Straight from the kernel, in huge
// pages where that is asked for and can be had, so that no look-up of addresses limits a rate. All
// sweeps of a run share one working memory: sources that are filled once and only read, and as much
// to write to.
//
//   pages p(1 << 24, page_size::huge);   p.data();   p.huge_bytes() == 1 << 24
#pragma once

#include "../../core/error.hpp"
#include "kernels.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <sys/mman.h>

namespace benanza::measure::ceilings {

enum class page_size { small, huge };

inline constexpr std::int64_t small_page_bytes = 4096, huge_page_bytes = 2 << 20;

/// Fresh pages of zeros, none of them touched yet; begins on a huge page's boundary.
class pages {
public:
  explicit pages(std::int64_t bytes, page_size size = page_size::huge, bool shared = false)
      : bytes_(bytes)
      , mapped_(static_cast<std::size_t>(bytes + huge_page_bytes)) {
    const int flags = MAP_ANONYMOUS | MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE);
    base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base_ == MAP_FAILED)
      throw error("no memory: " + std::string(std::strerror(errno)),
                  std::to_string(bytes >> 10) + " KiB", "free some");
    const auto at = reinterpret_cast<std::uintptr_t>(base_);
    const auto step = static_cast<std::uintptr_t>(huge_page_bytes);
    data_ = reinterpret_cast<std::byte*>((at + step - 1) / step * step);
    madvise(base_, mapped_, size == page_size::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() { munmap(base_, mapped_); }

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

  /// How many of the bytes are in huge pages now.
  std::int64_t huge_bytes() const {
    char begin[32];
    std::snprintf(begin, sizeof begin, "%lx-", reinterpret_cast<unsigned long>(base_));
    std::ifstream in("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(in, line);) {
      // A line without a colon in its first word is the head of a mapping.
      const std::size_t word = line.find(' ');
      if (word != std::string::npos && word > 0 && line[word - 1] != ':')
        here = line.compare(0, std::strlen(begin), begin) == 0;
      else if (here && line.compare(0, 14, "AnonHugePages:") == 0)
        return std::atoll(line.c_str() + 14) * 1024;
    }
    return 0;
  }

private:
  std::int64_t bytes_;
  std::size_t mapped_;
  void* base_ = nullptr;
  std::byte* data_ = nullptr;
};

/// True if the kernel is set to give huge pages to those who ask.
inline bool huge_pages_given() {
  std::ifstream in("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  return std::getline(in, line) && line.find("[never]") == std::string::npos;
}

/// The memory that sweeps go through.
class working_memory {
public:
  explicit working_memory(std::int64_t bytes, page_size size = page_size::huge)
      : bytes_(bytes)
      , size_(size) {}

  /// Floats with source_value in them, `bytes` of them at least; only to be read.
  const float* sources(std::int64_t bytes) {
    map();
    auto* x = reinterpret_cast<float*>(sources_->data());
    for (const std::int64_t end = bytes / 4; filled_ < end; ++filled_)
      x[filled_] = source_value(filled_);
    return x;
  }
  /// Floats that may be written.
  float* results() {
    map();
    return reinterpret_cast<float*>(results_->data());
  }

private:
  void map() {
    if (!sources_) sources_ = std::make_unique<pages>(bytes_, size_);
    if (!results_) results_ = std::make_unique<pages>(bytes_, size_);
  }
  std::int64_t bytes_, filled_ = 0; ///< filled: in floats
  page_size size_;
  std::unique_ptr<pages> sources_, results_;
};

} // namespace benanza::measure::ceilings
