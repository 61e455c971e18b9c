// SPDX-License-Identifier: Apache-2.0
// How does an output file appear? Under its name only once it is whole and on the disk; what was
// there before is replaced at once, or not at all. Until then it has no name, or, where the file
// system knows no files without one, a name that cannot be guessed: a link that somebody planted is
// never followed, and no file of a user's own is written over. A name that is a link stays one, and
// those who could read or write what was there can do so with the new file, and no others. What is
// no regular file (a pipe, /dev/null) is written as it is.
//
//   output_file f("run.json");   write(f.written_to());   f.commit();
#pragma once

#include "../core/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace benanza::result {

/// A hidden name next to `path` that cannot be guessed.
inline std::filesystem::path unguessable_beside(const std::filesystem::path& path) {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device source;
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string tail;
  for (int i = 0; i < 16; ++i)
    tail += letters[pick(source)];
  return path.parent_path() / ("." + path.filename().string().substr(0, 200) + "." + tail);
}

/// Rights of a file that is new, less what the user's umask takes.
inline constexpr mode_t for_all = 0666, for_owner = 0600;

/// An output file in the making; taken away again if it is not committed.
class output_file {
public:
  /// Refuses a place that cannot be written.
  explicit output_file(const std::string& path, mode_t mode = for_all)
      : path_(behind_links(path))
      , mode_(mode) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored))
      throw error("this is a directory", path, "name a file in it");
    regular_ = !std::filesystem::exists(path_, ignored) ||
               std::filesystem::is_regular_file(path_, ignored);
    if (regular_) open();
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!name_.empty()) unlink(name_.c_str());
  }

  /// The name under which it is written.
  std::string written_to() const {
    if (!regular_) return path_.string();
    return name_.empty() ? own_name() : name_.string();
  }
  bool regular() const { return regular_; }

  /// Gives it its name.
  void commit() {
    if (!regular_) return;
    keep_rights();
    if (fsync(descriptor_) != 0) fail();
    if (name_.empty()) {
      const std::filesystem::path name = unguessable_beside(path_);
      if (linkat(AT_FDCWD, own_name().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
        fail();
      name_ = name;
    }
    if (rename(name_.c_str(), path_.c_str()) != 0) fail();
    name_.clear();
    close(std::exchange(descriptor_, -1));
  }

private:
  static std::filesystem::path behind_links(std::filesystem::path path) {
    constexpr int most = 40; // as Linux follows
    std::error_code bad;
    for (int i = 0; i < most && std::filesystem::is_symlink(path, bad); ++i)
      path = path.parent_path() / std::filesystem::read_symlink(path, bad);
    return path;
  }
  std::string own_name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  void open() {
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode_);
    if (descriptor_ >= 0 && access(own_name().c_str(), W_OK) == 0) return;
    if (descriptor_ >= 0) close(descriptor_);
    const std::filesystem::path name = unguessable_beside(path_);
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_);
    if (descriptor_ < 0) fail();
    name_ = name;
  }
  /// Those of the file that is replaced. Where its owner cannot be kept, no other user gets any.
  void keep_rights() const {
    struct stat old {};
    if (lstat(path_.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
    const bool kept = fchown(descriptor_, old.st_uid, old.st_gid) == 0;
    if (fchmod(descriptor_, old.st_mode & (kept ? 0777 : 0700)) != 0) fail();
  }
  [[noreturn]] void fail() const {
    throw error(std::string("cannot be written: ") + std::strerror(errno), path_.string(),
                "give a place that can be written");
  }

  std::filesystem::path path_, name_{};
  mode_t mode_;
  bool regular_ = true;
  int descriptor_ = -1;
};

} // namespace benanza::result
