// SPDX-License-Identifier: Apache-2.0
// How is a store opened, a file or a server's database? To write: a file is made if it is not
// there, in SQLite's write-ahead mode, in which one program writes while others read, and durable
// on every commit. To read: also where nothing may be written. What is no store, is damaged, or
// cannot be written is refused before anything in it is changed; an older schema is brought up to
// date.
//
//   std::unique_ptr<connection> c = open("results.db", access::write, 30'000);
#pragma once

#include "../store_address.hpp"
#include "schema.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace benanza::result::store {

/// What one wants to do with a store; write makes the file if it is not there.
enum class access { read, write };

/// The first bytes of every SQLite file, the closing zero included.
inline constexpr std::string_view sqlite_magic{"SQLite format 3\0", 16};

namespace detail {
/// What is under a name: nothing, an empty file, an SQLite file, or anything else.
enum class found { nothing, empty, sqlite, other };

inline found look_at(const std::string& file, const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status there = std::filesystem::status(file, failed);
  if (there.type() == std::filesystem::file_type::not_found) return found::nothing;
  if (failed) throw error("the store cannot be opened: " + failed.message(), path);
  if (!std::filesystem::is_regular_file(there))
    throw error("this is no file, and so no store", path, "name the file of the store");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw error("the store cannot be opened", path, "check your rights");
  std::string start(sqlite_magic.size(), ' ');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (in.gcount() == 0) return found::empty;
  return start == sqlite_magic ? found::sqlite : found::other;
}

/// The name of a file that no program changes, for SQLite to read without locks.
inline std::string immutable_name(const std::string& file) {
  std::string out = "file:";
  for (const char c : file)
    if (c == '%' || c == '?' || c == '#')
      out += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    else
      out += c;
  return out + "?immutable=1";
}

/// Goes over to write-ahead mode. SQLite does not always wait for others who do the same.
inline void write_ahead(const database& d, int patience_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  while (true) {
    const int rc = sqlite3_exec(d.handle(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (rc == SQLITE_OK) return;
    if ((rc & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > end) d.refuse(rc);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Refuses a place where no file can be made. SQLite tries to read what it cannot make, and says
/// that there is none.
inline void check_folder(const std::string& file, const std::string& path) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  const int number = errno;
  throw error(std::string("the store cannot be made in that folder: ") + std::strerror(number),
              path, "check the folder's name and your rights, or give another one");
}

inline std::unique_ptr<database> open_to_write(const std::string& file, const std::string& path,
                                               int patience_ms) {
  auto d = std::make_unique<database>(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path,
                                      patience_ms);
  if (sqlite3_db_readonly(d->handle(), "main") == 1) d->refuse(SQLITE_READONLY);
  const bool current = is_current(*d); // before anything is changed
  d->run("PRAGMA page_size = 8192; PRAGMA cache_size = -65536");
  write_ahead(*d, patience_ms);
  d->run("PRAGMA synchronous = FULL");
  if (!current) prepare(*d);
  return d;
}

inline std::unique_ptr<database> open_to_read(const std::string& file, const std::string& path,
                                              int patience_ms) {
  // Readers leave marks next to the file. Where they cannot, no program writes either. Those who
  // may write remove them again in the end.
  const std::string folder = std::filesystem::path(file).parent_path().string();
  std::error_code absent;
  const auto log_bytes = std::filesystem::file_size(file + "-wal", absent);
  const bool still = ::access(folder.c_str(), W_OK) != 0 && (absent || log_bytes == 0);
  auto d = std::make_unique<database>(
      still ? immutable_name(file) : file,
      still ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE, path, patience_ms);
  d->run("PRAGMA query_only = ON");
  if (is_current(*d)) return d;
  if (is_fresh(*d))
    throw error("the store is empty", path, "store results with benanza_bench --store");
  const int version = schema_of(*d);
  d.reset();
  try {
    open_to_write(file, path, patience_ms);
  } catch (const error& e) {
    throw error("the store has the older schema " + std::to_string(version) +
                " and cannot be brought up to date: " + e.what());
  }
  return open_to_read(file, path, patience_ms);
}

/// The same in the database of a server (open_server.hpp).
std::unique_ptr<connection> open_server(const std::string& address, access how, int patience_ms);
} // namespace detail

/// Opens the store in the file `path` or at that address, and waits at most `patience_ms` for other
/// programs.
inline std::unique_ptr<connection> open(const std::string& path, access how, int patience_ms) {
  if (path.empty()) throw error("a store needs a name", "", "such as results.db");
  if (is_address(path)) return detail::open_server(path, how, patience_ms);
  // Absolute, for SQLite gives some relative names a meaning of their own.
  const std::string file = std::filesystem::absolute(path).string();
  const detail::found there = detail::look_at(file, path);
  if (there == detail::found::other)
    throw error("this is no store of results", path,
                "name the file that benanza_bench --store wrote");
  if (how == access::write && there == detail::found::nothing) detail::check_folder(file, path);
  if (how == access::write) return detail::open_to_write(file, path, patience_ms);
  if (there == detail::found::nothing)
    throw error("there is no such store", path,
                "check its name, or make it with benanza_bench "
                "--store");
  if (there == detail::found::empty)
    throw error("the store is empty", path, "store results with benanza_bench --store");
  return detail::open_to_read(file, path, patience_ms);
}

} // namespace benanza::result::store

#ifndef BENANZA_COMPILED_SERVER
#include "open_server.hpp"
#endif
