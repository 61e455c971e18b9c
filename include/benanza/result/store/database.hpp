// SPDX-License-Identifier: Apache-2.0
// How does the store talk to SQLite? A connection, statements and transactions that close
// themselves; what SQLite refuses becomes an error of one line with the file and what to do. A
// transaction that is not committed is undone, whole.
//
//   database d(file, SQLITE_OPEN_READWRITE, "results.db", 30'000);
//   transaction t(d);   statement(d, "UPDATE run SET date = ?").run("2026");   t.commit();
#pragma once

#include "../../core/error.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::result::store {

/// One connection to a file.
class database {
public:
  /// Opens `file`; `path` is its name in messages, `patience_ms` the longest wait for other
  /// writers.
  database(const std::string& file, int flags, std::string path, int patience_ms)
      : path_(std::move(path)) {
    const int rc = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
    if (rc != SQLITE_OK) {
      const std::string reason = handle_ != nullptr ? system_reason() : std::string();
      sqlite3_close(std::exchange(handle_, nullptr));
      throw error("the store cannot be opened" + reason, path_, "check its name and your rights");
    }
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, patience_ms);
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() { sqlite3_close(handle_); }

  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

  /// Runs statements that give no rows.
  void run(const char* sql) const {
    const int rc = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) refuse(rc);
  }

  /// Throws what the result code of a call on this connection means.
  [[noreturn]] void refuse(int code) const {
    switch (code & 0xff) {
    case SQLITE_FULL:
      throw error("the disk is full: nothing of this was stored", path_,
                  "free some space and store it again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw error("another program keeps the store locked", path_,
                  "wait until it has ended, and try again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw error("the store cannot be written: it is read-only", path_,
                  "check the rights of the file and of its folder");
    case SQLITE_CANTOPEN:
      throw error("the store cannot be opened" + system_reason(), path_,
                  "check the rights of the file and of its folder");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // a table or a column of ours that is not there
      refuse_damaged(sqlite3_errmsg(handle_));
    default:
      throw error("the store cannot be read or written: " + std::string(sqlite3_errstr(code)) +
                      system_reason(),
                  path_, "check the disk; what was stored before is still there");
    }
  }

  /// Throws that the file does not hold what it should.
  [[noreturn]] void refuse_damaged(std::string_view reason) const {
    throw error("the store is damaged: " + std::string(reason), path_,
                "take a copy of it that is whole, or begin a new one");
  }

private:
  std::string system_reason() const {
    const int number = sqlite3_system_errno(handle_);
    return number == 0 ? std::string() : std::string(": ") + std::strerror(number);
  }

  sqlite3* handle_ = nullptr;
  std::string path_;
};

/// One SQL statement, compiled once and run as often as needed.
class statement {
public:
  statement(const database& d, std::string_view sql)
      : database_(&d) {
    const int rc = sqlite3_prepare_v3(d.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
    if (rc != SQLITE_OK) d.refuse(rc);
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() { sqlite3_finalize(handle_); }

  /// Begins anew with these values in place of the question marks. Texts and bytes have to outlive
  /// the rows.
  template <class... Values>
  statement& with(const Values&... values) {
    sqlite3_reset(handle_);
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }

  /// Goes to the next row; false: there is none.
  bool next() {
    const int rc = sqlite3_step(handle_);
    if (rc == SQLITE_ROW) return true;
    // Else it would keep its snapshot of the store open.
    sqlite3_reset(handle_);
    if (rc != SQLITE_DONE) database_->refuse(rc);
    return false;
  }

  /// Calls `visit` with the first row, and gives up the others and with them the snapshot of the
  /// store, which would keep this connection from writing; false: there is no row.
  template <class Visit>
  bool first(Visit&& visit) {
    if (!next()) return false;
    const release done{this};
    visit(*this);
    return true;
  }
  /// Calls `visit` with every row.
  template <class Visit>
  void each(Visit&& visit) {
    some([&](const statement& row) {
      visit(row);
      return true;
    });
  }
  /// Calls `visit` with one row after the other, as long as it returns true.
  template <class Visit>
  void some(Visit&& visit) {
    const release done{this};
    while (next() && visit(*this)) {
    }
  }

  /// Runs it once with these values.
  template <class... Values>
  void run(const Values&... values) {
    with(values...);
    while (next()) {
    }
  }

  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  bool null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  /// The text of a column of the row; valid until the next one.
  std::string_view text(int column) const {
    const auto* at = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return at == nullptr ? std::string_view() : std::string_view(at, size(column));
  }
  /// The bytes of a column of the row; valid until the next one.
  std::span<const unsigned char> bytes(int column) const {
    const auto* at = static_cast<const unsigned char*>(sqlite3_column_blob(handle_, column));
    return {at, at == nullptr ? 0 : size(column)};
  }

private:
  struct release {
    statement* held;
    ~release() { sqlite3_reset(held->handle_); }
  };
  std::size_t size(int column) const {
    return static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  }
  void bind(int place, std::int64_t v) { check(sqlite3_bind_int64(handle_, place, v)); }
  void bind(int place, std::string_view v) {
    const char* at = v.data() == nullptr ? "" : v.data();
    check(sqlite3_bind_text64(handle_, place, at, v.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(int place, std::span<const unsigned char> v) {
    check(sqlite3_bind_blob64(handle_, place, v.data(), v.size(), SQLITE_STATIC));
  }
  void check(int rc) const {
    if (rc != SQLITE_OK) database_->refuse(rc);
  }

  const database* database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// Changes that all come to pass, at `commit`, or none of them. Waits for other writers first, so
/// that it cannot fail half way because of them.
class transaction {
public:
  explicit transaction(const database& d)
      : database_(&d) {
    d.run("BEGIN IMMEDIATE");
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction() {
    if (!done_) sqlite3_exec(database_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    database_->run("COMMIT");
    done_ = true;
  }

private:
  const database* database_;
  bool done_ = false;
};

} // namespace benanza::result::store
