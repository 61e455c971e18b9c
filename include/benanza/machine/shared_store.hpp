// SPDX-License-Identifier: Apache-2.0
// How do processes of a user share one copy of what they only read, such as a model's weights? Each
// object is a file in memory, in a folder that others cannot look into; one process fills it and
// all others map it. It stays when no process uses it, until it is evicted; one in use never is.
// Each user of an object holds a lock on a byte of its own (an open file description lock): the
// kernel gives it back when the process ends, by kill -9 too, so that no count can be wrong. There
// is no server.
//
//   shared_store s("benanza");
//   shared_object o = s.open(key, bytes, [](std::span<std::byte> to) { ... });   // fills it once
//   o.bytes();   s.list()[0].users == 1;   s.evict(key) == false
#pragma once

#include "../core/checksum.hpp"
#include "../core/content_hash.hpp"
#include "../core/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sched.h>
#include <span>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace benanza::machine {

namespace detail {

/// An open file.
class open_file {
public:
  explicit open_file(int fd = -1)
      : fd_(fd) {}
  open_file(open_file&& o) noexcept
      : fd_(std::exchange(o.fd_, -1)) {}
  open_file& operator=(open_file&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~open_file() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_;
};

[[noreturn]] inline void refuse(const std::string& what, const std::string& where,
                                const std::string& remedy = {}) {
  throw error(what + ": " + std::strerror(errno), where, remedy);
}

/// A page before what an object holds.
struct object_header {
  static constexpr std::int64_t size = 4096;
  static constexpr std::uint64_t right_magic = 0x31302d656c62617a; // and the version of the form
  std::uint64_t magic = 0;
  std::int64_t bytes = 0;
  std::uint64_t content = 0; ///< content_hash of what it holds
  std::array<char, size - 24> key{};
};
static_assert(sizeof(object_header) == object_header::size);

/// Locks on single bytes far behind the file's end, one a user.
inline constexpr off_t first_slot = off_t{1} << 40;
inline constexpr int slots = 4096;

inline struct flock lock_of(short type, off_t first, off_t count) {
  struct flock l {};
  l.l_type = type;
  l.l_whence = SEEK_SET;
  l.l_start = first;
  l.l_len = count;
  return l;
}
inline bool try_lock(int fd, off_t first, off_t count) {
  struct flock l = lock_of(F_WRLCK, first, count);
  return fcntl(fd, F_OFD_SETLK, &l) == 0;
}
/// Bytes from `first` on that others than this open file have locked, each by itself.
inline int locked_by_others(int fd, off_t first, off_t count) {
  if (count <= 0) return 0;
  struct flock l = lock_of(F_WRLCK, first, count);
  if (fcntl(fd, F_OFD_GETLK, &l) != 0 || l.l_type == F_UNLCK) return 0;
  if (l.l_len != 1) return 0; // it is evicted just now: no process uses it
  return 1 + locked_by_others(fd, first, l.l_start - first) +
         locked_by_others(fd, l.l_start + 1, first + count - l.l_start - 1);
}

/// While it lives, no others fill or evict.
class store_lock {
public:
  explicit store_lock(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    int done = -1;
    while (file_ && (done = flock(file_.fd(), LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (done != 0) refuse("the store cannot be locked", path, "check your rights");
  }

private:
  open_file file_;
};

/// The folder of a store, which this user made and no other user can look into: all may write to
/// /dev/shm, and names are known beforehand. Where something else has its name, such as what
/// another user put there, the next of a few names is taken.
inline std::string own_folder(const std::string& name) {
  constexpr int most = 10;
  const std::string first = "/dev/shm/" + name + '-' + std::to_string(geteuid());
  for (int i = 0; i < most; ++i) {
    const std::string path = i == 0 ? first : first + '.' + std::to_string(i);
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      refuse("the store's folder cannot be made", path, "check your rights");
    struct stat s {};
    if (lstat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
        (s.st_mode & 077) == 0)
      return path + '/';
  }
  throw error("the names of the store's folder are taken", first, "have what is there removed");
}
} // namespace detail

/// Mapped memory of an object; it is in use as long as this lives.
class shared_object {
public:
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;
  shared_object(shared_object&& o) noexcept
      : file_(std::move(o.file_))
      , base_(std::exchange(o.base_, nullptr))
      , size_(o.size_) {}
  shared_object& operator=(shared_object&& o) noexcept {
    std::swap(file_, o.file_);
    std::swap(base_, o.base_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~shared_object() {
    if (base_ != nullptr) munmap(base_, size_);
  }

  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(base_) + detail::object_header::size,
            size_ - static_cast<std::size_t>(detail::object_header::size)};
  }
  /// True if it holds what was put there. Reads all of it.
  bool intact() const {
    return static_cast<const detail::object_header*>(base_)->content == content_hash(bytes());
  }
  /// Has the system map all pages at once; false where it cannot (before Linux 5.14): then each is
  /// mapped when it is first read.
  bool populate() const {
    constexpr int populate_read = 22; // MADV_POPULATE_READ; older headers have no name for it
    return madvise(base_, size_, populate_read) == 0;
  }
  /// Maps no page any more, until one is read: then this process has no part of what others map.
  void unmap_pages() const { madvise(base_, size_, MADV_DONTNEED); }

private:
  friend class shared_store;
  shared_object(detail::open_file file, void* base, std::size_t size)
      : file_(std::move(file))
      , base_(base)
      , size_(size) {}
  detail::open_file file_; ///< and the lock
  void* base_;
  std::size_t size_;
};

/// What a store says of an object.
struct stored_object {
  std::string key{};
  std::int64_t bytes = 0;
  int users = 0; ///< open objects of living processes
};

/// Objects of a name's processes of one user.
class shared_store {
public:
  explicit shared_store(const std::string& name) {
    if (name.empty() || name.size() > 64 || name.find('/') != std::string::npos)
      throw error("a store's name is a word without a slash", '"' + name + '"');
    folder_ = detail::own_folder(name);
  }

  /// The object if it is there.
  std::optional<shared_object> attach(const std::string& key) const {
    const std::string path = path_of(key);
    for (int tries = 0; tries < most_tries; ++tries) {
      detail::open_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
      if (!file && errno == ENOENT) return std::nullopt;
      if (!file) detail::refuse("a shared object cannot be opened", path, "check your rights");
      if (!take_slot(file.fd())) {
        sched_yield(); // it is being evicted
        continue;
      }
      struct stat s {};
      if (fstat(file.fd(), &s) != 0 || s.st_nlink == 0) continue; // it was evicted meanwhile
      return mapped(std::move(file), static_cast<std::size_t>(s.st_size), key, path);
    }
    throw error("a shared object has too many users", path);
  }

  /// The object: attached where it is there, made and filled by `fill` where not. Those that come
  /// while another one fills wait for that.
  template <class Fill>
  shared_object open(const std::string& key, std::int64_t bytes, const Fill& fill) const {
    if (auto there = attach(key)) return std::move(*there);
    const detail::store_lock alone(lock_path());
    if (auto there = attach(key)) return std::move(*there);
    remove_unfinished();
    return made(key, bytes, fill);
  }

  /// Removes an object that no process uses; false if it is not there, or in use.
  bool evict(const std::string& key) const {
    const detail::store_lock alone(lock_path());
    return unlink_unused(path_of(key));
  }
  /// Removes all that no process uses, and what was never finished.
  void clear() const {
    const detail::store_lock alone(lock_path());
    remove_unfinished();
    for (const std::string& path : paths())
      unlink_unused(path);
  }

  /// All objects.
  std::vector<stored_object> list() const {
    std::vector<stored_object> out;
    for (const std::string& path : paths())
      if (auto known = look(path)) out.push_back(std::move(*known));
    return out;
  }
  /// Where its objects are.
  const std::string& folder() const { return folder_; }

private:
  static constexpr const char* unfinished = ".new";
  static constexpr int most_tries = 1000;

  std::string lock_path() const { return folder_ + "lock"; }
  std::string path_of(const std::string& key) const {
    if (key.empty() || key.size() >= detail::object_header{}.key.size())
      throw error("the key of a shared object has 1 to 4000 characters", key.substr(0, 40));
    return folder_ + fnv1a(key);
  }

  static bool take_slot(int fd) {
    const int begin = static_cast<int>(getpid()) % detail::slots;
    for (int i = 0; i < detail::slots; ++i)
      if (detail::try_lock(fd, detail::first_slot + (begin + i) % detail::slots, 1)) return true;
    return false;
  }

  static shared_object mapped(detail::open_file file, std::size_t size, const std::string& key,
                              const std::string& path) {
    if (size < sizeof(detail::object_header)) throw error("this is no shared object", path);
    void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.fd(), 0);
    if (base == MAP_FAILED) detail::refuse("a shared object cannot be mapped", path);
    shared_object out(std::move(file), base, size);
    const auto* const head = static_cast<const detail::object_header*>(base);
    if (head->magic != detail::object_header::right_magic || key != head->key.data() ||
        head->bytes != std::ssize(out.bytes()))
      throw error("a shared object is not what its name says", path, "remove this file");
    return out;
  }

  template <class Fill>
  shared_object made(const std::string& key, std::int64_t bytes, const Fill& fill) const {
    const std::string path = path_of(key), under_way = path + unfinished;
    detail::open_file file(::open(under_way.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) detail::refuse("a shared object cannot be made", under_way, "check your rights");
    try {
      const auto size = static_cast<std::size_t>(bytes + detail::object_header::size);
      // All pages now: where there is no room, that is an error here and no signal later.
      if ((errno = posix_fallocate(file.fd(), 0, static_cast<off_t>(size))) != 0)
        detail::refuse("there is no room for a shared object of " + std::to_string(size) + " bytes",
                       under_way, "free some of /dev/shm");
      fill_mapped(file.fd(), size, key, fill, under_way);
      take_slot(file.fd());
      if (rename(under_way.c_str(), path.c_str()) != 0)
        detail::refuse("a shared object cannot be named", path);
      return mapped(std::move(file), size, key, path);
    } catch (...) {
      unlink(under_way.c_str());
      throw;
    }
  }

  template <class Fill>
  static void fill_mapped(int fd, std::size_t size, const std::string& key, const Fill& fill,
                          const std::string& path) {
    void* const base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) detail::refuse("a shared object cannot be mapped", path);
    const auto unmap = [size](void* p) { munmap(p, size); };
    const std::unique_ptr<void, decltype(unmap)> owner(base, unmap);
    const std::span<std::byte> content(static_cast<std::byte*>(base) + detail::object_header::size,
                                       size - sizeof(detail::object_header));
    fill(content);
    auto* const head = new (base) detail::object_header;
    head->magic = detail::object_header::right_magic;
    head->bytes = std::ssize(content);
    head->content = content_hash(content);
    std::copy(key.begin(), key.end(), head->key.begin());
  }

  /// Objects that are finished.
  std::vector<std::string> paths(bool finished = true) const {
    std::vector<std::string> out;
    const auto shut = [](DIR* d) { closedir(d); };
    const std::unique_ptr<DIR, decltype(shut)> all(opendir(folder_.c_str()), shut);
    while (const dirent* e = all ? readdir(all.get()) : nullptr) {
      const std::string file = e->d_name;
      const bool is_new = file.ends_with(unfinished);
      if (file.size() == 16 + (is_new ? std::strlen(unfinished) : 0) && is_new != finished)
        out.push_back(folder_ + file);
    }
    return out;
  }
  void remove_unfinished() const {
    for (const std::string& path : paths(false))
      unlink(path.c_str()); // who fills holds the store's lock, and that is held here
  }

  static std::optional<stored_object> look(const std::string& path) {
    const detail::open_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat s {};
    detail::object_header head;
    if (!file || fstat(file.fd(), &s) != 0 || s.st_nlink == 0 ||
        pread(file.fd(), &head, sizeof head, 0) != ssize_t{sizeof head})
      return std::nullopt;
    head.key.back() = 0;
    return stored_object{
        .key = head.key.data(),
        .bytes = s.st_size - detail::object_header::size,
        .users = detail::locked_by_others(file.fd(), detail::first_slot, detail::slots)};
  }

  /// No process can begin to use an object while all of its slots are locked here.
  static bool unlink_unused(const std::string& path) {
    const detail::open_file file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    return file && detail::try_lock(file.fd(), detail::first_slot, detail::slots) &&
           unlink(path.c_str()) == 0;
  }

  std::string folder_{};
};

} // namespace benanza::machine
