// SPDX-License-Identifier: Apache-2.0
// How does an output file appear? Under its name only once it is closed and on the disk: until then
// it is FILE.part. What is no regular file (a pipe, /dev/null) is written as it is.
//
//   result_file f("run.json");   write(f.written_to());   f.commit();
#pragma once

#include "../core/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <utility>

namespace benanza::measure {

/// An output file in the making; taken away again if it is not committed.
class result_file {
public:
  /// Refuses a place that cannot be written.
  explicit result_file(std::string path)
      : path_(std::move(path)) {
    std::error_code ignored;
    regular_ = !std::filesystem::exists(path_, ignored) ||
               std::filesystem::is_regular_file(path_, ignored);
    if (std::filesystem::is_directory(path_, ignored))
      throw error("this is a directory", path_, "name a file in it");
    if (!regular_) return;
    const int f = open(written_to().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f < 0) fail();
    close(f);
    open_ = true;
  }
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;
  ~result_file() {
    if (open_) unlink(written_to().c_str());
  }

  /// The name under which it is written.
  std::string written_to() const { return regular_ ? path_ + ".part" : path_; }
  bool regular() const { return regular_; }

  /// Gives it its name; what was there before is replaced at once, or not at all.
  void commit() {
    if (!regular_) return;
    const int f = open(written_to().c_str(), O_RDONLY | O_CLOEXEC);
    if (f < 0) fail();
    const bool durable = fsync(f) == 0;
    close(f);
    if (!durable || rename(written_to().c_str(), path_.c_str()) != 0) fail();
    open_ = false;
  }

private:
  [[noreturn]] void fail() const {
    throw error(std::string("the result cannot be written: ") + std::strerror(errno), path_,
                "give a place that can be written");
  }

  std::string path_;
  bool regular_ = true, open_ = false;
};

} // namespace benanza::measure
