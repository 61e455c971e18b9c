// SPDX-License-Identifier: Apache-2.0
// How is a file of SQLite a connection of the store? One that waits for other writers before it
// changes anything; what SQLite refuses becomes an error of one line with the file and what to do.
//
//   database d(file, SQLITE_OPEN_READWRITE, "results.db", 30'000);
//   statement(d, "SELECT date FROM run").each(...);
#pragma once

#include "connection.hpp"

#include <sqlite3.h>

#include <cstring>

namespace benanza::result::store {

/// One connection to a file.
class database final : public connection {
public:
  /// Opens `file`; `path` is its name in messages, `patience_ms` the longest wait for other
  /// writers.
  database(const std::string& file, int flags, std::string path, int patience_ms)
      : connection(std::move(path)) {
    const int rc = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
    if (rc != SQLITE_OK) {
      const std::string reason = handle_ != nullptr ? system_reason() : std::string();
      sqlite3_close(std::exchange(handle_, nullptr));
      throw error("the store cannot be opened" + reason, connection::path(),
                  "check its name and your rights");
    }
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_timeout(handle_, patience_ms);
    // Ours has neither, and a file of somebody else's may get them at any time.
    for (const int has : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW})
      sqlite3_db_config(handle_, has, 0, nullptr);
  }
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() override { sqlite3_close(handle_); }

  sqlite3* handle() const { return handle_; }

  std::unique_ptr<prepared> prepare(std::string_view sql) const override;
  void run(const char* sql) const override {
    const int rc = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) refuse(rc);
  }

  /// Waits for other writers, so that a change cannot fail half way because of them.
  void begin() const override { run("BEGIN IMMEDIATE"); }
  void commit() const override { run("COMMIT"); }
  void undo() const noexcept override {
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void exclude_others() const override {} // a transaction does
  std::string faults() const override {
    std::string out;
    statement s(*this, "PRAGMA integrity_check(10)");
    while (s.next())
      if (s.text(0) != "ok") out.append(s.text(0)).append("\n");
    return out;
  }

  /// Throws what the result code of a call on this connection means.
  [[noreturn]] void refuse(int code) const {
    switch (code & 0xff) {
    case SQLITE_FULL:
      throw error("the disk is full: nothing of this was stored", path(),
                  "free some space and store it again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw error("another program keeps the store locked", path(),
                  "wait until it has ended, and try again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw error("the store cannot be written: it is read-only", path(),
                  "check the rights of the file and of its folder");
    case SQLITE_CANTOPEN:
      throw error("the store cannot be opened" + system_reason(), path(),
                  "check the rights of the file and of its folder");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: // a table or a column of ours that is not there
      refuse_damaged(sqlite3_errmsg(handle_));
    default:
      throw error("the store cannot be read or written: " + std::string(sqlite3_errstr(code)) +
                      system_reason(),
                  path(), "check the disk; what was stored before is still there");
    }
  }

private:
  std::string system_reason() const {
    const int number = sqlite3_system_errno(handle_);
    return number == 0 ? std::string() : std::string(": ") + std::strerror(number);
  }

  sqlite3* handle_ = nullptr;
};

/// A statement of SQLite.
class sqlite_statement final : public prepared {
public:
  sqlite_statement(const database& d, std::string_view sql)
      : database_(&d) {
    const int rc = sqlite3_prepare_v3(d.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
    if (rc != SQLITE_OK) d.refuse(rc);
  }
  ~sqlite_statement() override { sqlite3_finalize(handle_); }

  void rewind() override { sqlite3_reset(handle_); }
  void bind(int place, std::int64_t v) override { check(sqlite3_bind_int64(handle_, place, v)); }
  void bind(int place, std::string_view v) override {
    const char* at = v.data() == nullptr ? "" : v.data();
    check(sqlite3_bind_text64(handle_, place, at, v.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void bind(int place, std::span<const unsigned char> v) override {
    check(sqlite3_bind_blob64(handle_, place, v.data(), v.size(), SQLITE_STATIC));
  }
  bool step() override {
    const int rc = sqlite3_step(handle_);
    if (rc == SQLITE_ROW) return true;
    // Else it would keep its snapshot of the store open.
    sqlite3_reset(handle_);
    if (rc != SQLITE_DONE) database_->refuse(rc);
    return false;
  }

  std::int64_t integer(int column) const override { return sqlite3_column_int64(handle_, column); }
  bool null(int column) const override {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
  }
  std::string_view text(int column) const override {
    const auto* at = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return at == nullptr ? std::string_view() : std::string_view(at, size(column));
  }
  std::span<const unsigned char> bytes(int column) const override {
    const auto* at = static_cast<const unsigned char*>(sqlite3_column_blob(handle_, column));
    return {at, at == nullptr ? 0 : size(column)};
  }

private:
  std::size_t size(int column) const {
    return static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  }
  void check(int rc) const {
    if (rc != SQLITE_OK) database_->refuse(rc);
  }

  const database* database_;
  sqlite3_stmt* handle_ = nullptr;
};

inline std::unique_ptr<prepared> database::prepare(std::string_view sql) const {
  return std::make_unique<sqlite_statement>(*this, sql);
}

} // namespace benanza::result::store
