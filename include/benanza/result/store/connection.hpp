// SPDX-License-Identifier: Apache-2.0
// How does the store talk to a database? A connection gives statements and transactions that close
// themselves; what it refuses is an error of one line with the place and what to do. A transaction
// that is not committed is undone, whole. database.hpp is a file of SQLite, postgresql.hpp a
// server; statements are written once, with question marks for what they are given.
//
//   const connection& c = ...;
//   transaction t(c);   statement(c, "UPDATE run SET date = ?").run("2026");   t.commit();
#pragma once

#include "../../core/error.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::result::store {

/// One compiled statement of a connection, and where it is in its rows. Texts and bytes that are
/// bound have to outlive the rows; what a column gives is valid until the next row.
class prepared {
public:
  prepared() = default;
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;
  virtual ~prepared() = default;

  /// Gives up the rows; the next step begins anew.
  virtual void rewind() = 0;
  virtual void bind(int place, std::int64_t v) = 0;
  virtual void bind(int place, std::string_view v) = 0;
  virtual void bind(int place, std::span<const unsigned char> v) = 0;
  /// Goes to the next row; false: there is none, and the rows are given up.
  virtual bool step() = 0;

  virtual std::int64_t integer(int column) const = 0;
  virtual bool null(int column) const = 0;
  virtual std::string_view text(int column) const = 0;
  virtual std::span<const unsigned char> bytes(int column) const = 0;
};

/// A change is to be made again: the connection was lost, or two changes waited for each other.
/// None of it was made; or all of it, where the connection was lost at its `commit`.
class undone : public error {
public:
  using error::error;
};

/// One connection to a database.
class connection {
public:
  /// `path` is its name in messages.
  explicit connection(std::string path)
      : path_(std::move(path)) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  const std::string& path() const { return path_; }

  virtual std::unique_ptr<prepared> prepare(std::string_view sql) const = 0;
  /// Runs statements that give no rows.
  virtual void run(const char* sql) const = 0;

  virtual void begin() const = 0;
  virtual void commit() const = 0;
  virtual void undo() const noexcept = 0;
  /// Waits until no other connection is in such a part of a transaction; it lasts until the end of
  /// this one.
  virtual void exclude_others() const = 0;
  /// Whether several programs change it at the same time; else one waits for the other.
  virtual bool many_write() const { return false; }
  /// What the database says of its own pages, a line a fault; empty: none, or it has means of its
  /// own.
  virtual std::string faults() const { return {}; }

  /// Throws that the database does not hold what it should.
  [[noreturn]] void refuse_damaged(std::string_view reason) const {
    throw error("the store is damaged: " + std::string(reason), path_,
                "take a copy of it that is whole, or begin a new one");
  }

private:
  std::string path_;
};

/// One SQL statement, compiled once and run as often as needed.
class statement {
public:
  statement(const connection& c, std::string_view sql)
      : prepared_(c.prepare(sql)) {}

  /// Begins anew with these values in place of the question marks. Texts and bytes have to outlive
  /// the rows.
  template <class... Values>
  statement& with(const Values&... values) {
    prepared_->rewind();
    int place = 0;
    (prepared_->bind(++place, values), ...);
    return *this;
  }

  /// Goes to the next row; false: there is none.
  bool next() { return prepared_->step(); }

  /// Calls `visit` with the first row, and gives up the others and with them the snapshot of the
  /// store, which would keep this connection from writing; false: there is no row.
  template <class Visit>
  bool first(Visit&& visit) {
    if (!next()) return false;
    const release done{prepared_.get()};
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
    const release done{prepared_.get()};
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

  std::int64_t integer(int column) const { return prepared_->integer(column); }
  bool null(int column) const { return prepared_->null(column); }
  /// The text of a column of the row; valid until the next one.
  std::string_view text(int column) const { return prepared_->text(column); }
  /// The bytes of a column of the row; valid until the next one.
  std::span<const unsigned char> bytes(int column) const { return prepared_->bytes(column); }

private:
  struct release {
    prepared* held;
    ~release() { held->rewind(); }
  };

  std::unique_ptr<prepared> prepared_;
};

/// Changes that are all made, at `commit`, or none of them.
class transaction {
public:
  explicit transaction(const connection& c)
      : connection_(&c) {
    c.begin();
  }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction() {
    if (!done_) connection_->undo();
  }
  void commit() {
    connection_->commit();
    done_ = true;
  }

private:
  const connection* connection_;
  bool done_ = false;
};

/// Does something again where it was undone and may succeed now. `forget` is called for each time
/// that it did not.
template <class Make, class Forget>
auto try_again(Make&& make, Forget&& forget) {
  for (int left = 20;; --left)
    try {
      return make();
    } catch (const undone&) {
      forget();
      if (left == 0) throw;
    } catch (...) {
      forget();
      throw;
    }
}

/// Makes a change whole or not at all, and gives what it gives; again where it was undone. It may
/// find then that it was made before (see `undone`).
template <class Change, class Forget>
auto make_whole(const connection& c, Change&& make, Forget&& forget) {
  return try_again(
      [&] {
        transaction t(c);
        const auto out = make();
        t.commit();
        return out;
      },
      forget);
}

} // namespace benanza::result::store
