// SPDX-License-Identifier: Apache-2.0
// What does a library print on standard output? Libraries that report their calls print there, and
// a result may be printed there too: what they say is caught in memory.
//
//   caught_output heard;   call();   heard.bytes();   call();   std::string text = heard.text();
#pragma once

#include "../core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace benanza::machine {

/// Takes what is printed on standard output, from its making until `text` is called or it ends.
class caught_output {
public:
  caught_output() {
    std::fflush(stdout);
    own_ = dup(STDOUT_FILENO);
    file_ = memfd_create("output", 0);
    if (own_ < 0 || file_ < 0 || dup2(file_, STDOUT_FILENO) < 0)
      throw error("standard output cannot be caught");
  }
  caught_output(const caught_output&) = delete;
  caught_output& operator=(const caught_output&) = delete;
  ~caught_output() {
    give_back();
    close(file_);
  }

  /// How many bytes were printed until now.
  std::size_t bytes() const {
    std::fflush(stdout);
    return static_cast<std::size_t>(std::max<off_t>(lseek(file_, 0, SEEK_END), 0));
  }

  std::string text() {
    const std::size_t size = bytes();
    give_back();
    std::string out(size, '\0');
    const ssize_t n = pread(file_, out.data(), out.size(), 0);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }

private:
  void give_back() {
    if (own_ < 0) return;
    std::fflush(stdout);
    dup2(own_, STDOUT_FILENO);
    close(own_);
    own_ = -1;
  }

  int own_ = -1, file_ = -1;
};

} // namespace benanza::machine
