// SPDX-License-Identifier: Apache-2.0
// How is a PostgreSQL server a connection of the store? Every statement is prepared, and what it is
// given are its parameters. A lost connection is made again: questions are asked again, and of a
// change whose end was not seen the server itself says whether it was made, by the number of its
// transaction. So nothing is lost and nothing is there twice. Encryption, roles and rights are
// those of the server and of the address.
//
//   postgresql p("postgresql://db/results", access::write, 30'000);
//   statement(p, "SELECT date FROM run WHERE id = ?").with(7).first(...);
#pragma once

#if defined(BENANZA_WITH_POSTGRES) && !defined(BENANZA_COMPILED_SERVER)

#include "../store_address.hpp"
#include "connection.hpp"

#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/nontransaction>
#include <pqxx/prepared_statement>
#include <pqxx/result>
#include <pqxx/transaction>

#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <vector>

namespace benanza::result::store {

namespace detail {
/// What the address leaves open: how long a server may be silent, and who asks.
inline std::string full_address(const std::string& address) {
  std::string out = address;
  char between = out.find('?') == std::string::npos ? '?' : '&';
  for (const std::string_view more :
       {"connect_timeout=10", "keepalives_idle=30", "keepalives_interval=10", "keepalives_count=3",
        "tcp_user_timeout=60000", "fallback_application_name=benanza"}) {
    if (address.find(more.substr(0, more.find('=') + 1)) != std::string::npos) continue;
    out.append(1, std::exchange(between, '&')).append(more);
  }
  return out;
}

/// A statement with question marks, as the server wants it: ? and ?8 become $1 and $8.
inline std::string numbered(std::string_view sql) {
  std::string out;
  int last = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '?') {
      out += sql[i];
      continue;
    }
    out += '$';
    if (i + 1 == sql.size() || sql[i + 1] < '0' || sql[i + 1] > '9') out += std::to_string(++last);
  }
  return out;
}

inline constexpr char hex_digits[] = "0123456789abcdef";
inline std::string to_hex(std::span<const unsigned char> bytes) {
  std::string out = "\\x";
  out.reserve(2 + 2 * bytes.size());
  for (const unsigned char b : bytes)
    out.append(1, hex_digits[b / 16]).append(1, hex_digits[b % 16]);
  return out;
}
inline std::vector<unsigned char> from_hex(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<unsigned char> out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 2; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<unsigned char>(digit(text[i]) * 16 + digit(text[i + 1])));
  return out;
}

using parameters = std::vector<std::string>;

/// The one difference between the versions of libpqxx that matters here.
inline pqxx::result run_prepared(pqxx::transaction_base& t, const std::string& name,
                                 const parameters& values) {
#if PQXX_VERSION_MAJOR < 7
  return t.exec_prepared(name, pqxx::prepare::make_dynamic_params(values));
#else
  pqxx::params all;
  for (const std::string& v : values)
    all.append(v);
  return t.exec(pqxx::prepped{name}, all);
#endif
}

#if PQXX_VERSION_MAJOR < 7
/// A session as libpqxx 6 keeps it: it says nothing on standard error, and is not made anew behind
/// our back, without what was set.
class quiet_connection : public pqxx::connection {
public:
  explicit quiet_connection(const std::string& address)
      : pqxx::connection(address)
      , quiet_(*this) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    inhibit_reactivation(true);
#pragma GCC diagnostic pop
  }

private:
  pqxx::quiet_errorhandler quiet_;
};
#else
class quiet_connection : public pqxx::connection {
public:
  explicit quiet_connection(const std::string& address)
      : pqxx::connection(address) {
    set_notice_handler([](pqxx::zview) {});
  }
};
#endif

/// One session with a server, from login to loss.
struct session {
  explicit session(const std::string& address)
      : c(address) {}

  /// The name of a statement that the server knows from now on.
  const std::string& named(const std::string& sql) {
    const auto [at, fresh] = names.try_emplace(sql, "benanza" + std::to_string(names.size()));
    if (fresh) try {
        c.prepare(at->second, sql);
      } catch (...) {
        names.erase(at);
        throw;
      }
    return at->second;
  }

  quiet_connection c;
  std::map<std::string, std::string> names;
  std::optional<pqxx::work> change{}; ///< the transaction that is open
};
} // namespace detail

/// A connection to a server that is made again when it is lost.
class postgresql final : public connection {
public:
  /// Logs in, to read alone if `read_only`. Waits at most `patience_ms` for locks of others, and
  /// ten times that for a server that went away.
  postgresql(const std::string& address, bool read_only, int patience_ms)
      : connection(known(address))
      , address_(detail::full_address(address))
      , read_only_(read_only)
      , patience_ms_(patience_ms) {
    guarded([&] { log_in(); });
  }

  std::unique_ptr<prepared> prepare(std::string_view sql) const override;
  void run(const char* sql) const override {
    guarded([&] {
      if (session_->change) {
        session_->change->exec(sql);
        return;
      }
      pqxx::work t(session_->c);
      t.exec(sql);
      t.commit();
    });
  }

  void begin() const override {
    while (true)
      try {
        guarded([&] {
          session_->change.emplace(session_->c);
          session_->change->exec("SELECT 1"); // it begins at the server with the first words
        });
        return;
      } catch (const undone&) { // at its begin: nothing is in it
        session_->change.reset();
      }
  }
  /// Throws `undone`, too, where it was made and the answer was lost with the connection. The
  /// server's number of the transaction does not say which: after a crash it gives numbers anew
  /// whose transactions it had not written yet. So what a change does it must be able to do twice.
  void commit() const override {
    guarded([&] {
      session_->change->commit();
      session_->change.reset();
    });
  }
  void undo() const noexcept override {
    try {
      session_->change.reset();
    } catch (...) { // it is undone with the connection
    }
  }
  bool many_write() const override { return true; }
  void exclude_others() const override {
    ask("SELECT pg_advisory_xact_lock(1114536545, hashtext(current_schema()::text))", {});
  }

  /// The rows that a statement gives; asked again if the connection is lost before they are there.
  pqxx::result ask(const std::string& sql, const detail::parameters& values) const {
    const bool inside = session_->change.has_value();
    while (true)
      try {
        return guarded([&] {
          const std::string& name = session_->named(sql);
          if (inside) return detail::run_prepared(*session_->change, name, values);
          pqxx::nontransaction once(session_->c);
          return detail::run_prepared(once, name, values);
        });
      } catch (const undone&) {
        if (inside || !sql.starts_with("SELECT")) throw;
      }
  }

private:
  static std::string known(const std::string& address) {
    if (auto server = server_of(address)) return *server;
    throw error("the address of the store is not understood", shown(address),
                "write postgresql://user@host:port/database, with %40 for @ and so on in a "
                "password, or keep the password in ~/.pgpass");
  }

  void log_in() const {
    auto fresh = std::make_unique<detail::session>(address_);
    pqxx::work t(fresh->c);
    // Results are durable when they are said to be, whatever the server does else.
    detail::run_prepared(
        t,
        fresh->named(
            "SELECT set_config('client_encoding', 'UTF8', false),"
            " set_config('bytea_output', 'hex', false),"
            " set_config('lock_timeout', $1, false),"
            " set_config('default_transaction_read_only', $2, false),"
            " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
            " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)"),
        {std::to_string(patience_ms_.count()), read_only_ ? "on" : "off"});
    t.commit();
    session_ = std::move(fresh);
  }

  /// Logs in anew, as soon as the server is there again.
  void log_in_again(const std::string& reason) const {
    const auto end = std::chrono::steady_clock::now() + 10 * patience_ms_;
    for (auto pause = std::chrono::milliseconds(50);; pause = std::min(2 * pause, longest_pause)) {
      try {
        return log_in();
      } catch (const std::exception&) {
        if (std::chrono::steady_clock::now() > end)
          throw error("the server of the store went away and does not come back: " + reason, path(),
                      "what was stored is there; run the same command again when the server runs");
      }
      std::this_thread::sleep_for(pause);
    }
  }

  /// Calls, and makes an error of ours of what libpqxx throws; `undone` if trying again may do,
  /// with a connection that is there.
  template <class Call>
  auto guarded(Call&& call) const -> decltype(call()) {
    std::string state, reason;
    try {
      return call();
    } catch (const error&) {
      throw;
    } catch (const pqxx::transaction_rollback& e) {
      reason = first_line(e.what());
      if (!is_lost({})) throw undone("two programs changed the store at once: " + reason, path());
    } catch (const pqxx::sql_error& e) {
      state = state_of(e);
      reason = first_line(e.what());
    } catch (const std::exception& e) {
      reason = first_line(e.what());
    }
    if (!session_)
      throw error("the server of the store does not let us in: " + reason, path(),
                  "check the address, and that the server runs");
    if (!is_lost(state)) refuse(state, reason);
    log_in_again(reason);
    throw undone("the connection to the store was lost: " + reason, path());
  }
  bool is_lost(std::string_view state) const {
    return !session_ || !session_->c.is_open() || state.starts_with("57P0") ||
           state.starts_with("08");
  }
  /// libpqxx 6 says what some errors are by their class alone.
  static std::string state_of(const pqxx::sql_error& e) {
    if (!e.sqlstate().empty()) return e.sqlstate();
    if (dynamic_cast<const pqxx::insufficient_privilege*>(&e) != nullptr) return "42501";
    if (dynamic_cast<const pqxx::disk_full*>(&e) != nullptr) return "53100";
    if (dynamic_cast<const pqxx::syntax_error*>(&e) != nullptr) return "42P01";
    return {};
  }
  static std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
  }

  /// Throws what an error of the server means.
  [[noreturn]] void refuse(std::string_view state, const std::string& reason) const {
    if (state == "53100")
      throw error("the disk of the server is full: nothing of this was stored", path(),
                  "free some space and store it again");
    if (state == "55P03")
      throw error("another program keeps the store locked", path(),
                  "wait until it has ended, and try again");
    if (state == "25006")
      throw error("the store cannot be written: it is read-only", path(), "open it to write");
    if (state == "42501")
      throw error("the server does not allow that: " + reason, path(),
                  "ask for the right, or log in as another role");
    if (state == "42P01" || state == "42703" || state.starts_with("XX00")) refuse_damaged(reason);
    throw error("the store cannot be read or written: " + reason, path(),
                "what was stored before is still there");
  }

  static constexpr std::chrono::milliseconds longest_pause{1000};
  std::string address_;
  bool read_only_;
  std::chrono::milliseconds patience_ms_;
  mutable std::unique_ptr<detail::session> session_;
};

/// A statement that a server has prepared, with the rows that it gave.
class server_statement final : public prepared {
public:
  server_statement(const postgresql& p, std::string_view sql)
      : server_(&p)
      , sql_(detail::numbered(sql)) {}

  void rewind() override { rows_.reset(); }
  void bind(int place, std::int64_t v) override { put(place, std::to_string(v)); }
  void bind(int place, std::string_view v) override {
    if (v.find('\0') != std::string_view::npos)
      throw error("PostgreSQL takes no text with a zero byte in it", server_->path(),
                  "store the result in a file: --store results.db");
    put(place, std::string(v));
  }
  void bind(int place, std::span<const unsigned char> v) override { put(place, detail::to_hex(v)); }
  bool step() override {
    if (rows_) {
      ++at_;
    } else {
      rows_ = server_->ask(sql_, values_);
      at_ = 0;
    }
    if (at_ < rows_->size()) return true;
    rows_.reset();
    return false;
  }

  std::int64_t integer(int column) const override {
    const std::string_view t = text(column);
    std::int64_t v = t == "t" ? 1 : 0; // of a truth
    std::from_chars(t.data(), t.data() + t.size(), v);
    return v;
  }
  bool null(int column) const override { return field(column).is_null(); }
  std::string_view text(int column) const override {
    const auto f = field(column);
    return {f.c_str(), f.size()};
  }
  std::span<const unsigned char> bytes(int column) const override {
    return bytes_[column] = detail::from_hex(text(column));
  }

private:
  pqxx::field field(int column) const {
    return (*rows_)[at_][static_cast<pqxx::row::size_type>(column)];
  }
  void put(int place, std::string value) {
    values_.resize(std::max(values_.size(), static_cast<std::size_t>(place)));
    values_[static_cast<std::size_t>(place) - 1] = std::move(value);
  }

  const postgresql* server_;
  std::string sql_;
  detail::parameters values_;
  std::optional<pqxx::result> rows_;
  pqxx::result::size_type at_ = 0;
  mutable std::map<int, std::vector<unsigned char>> bytes_; ///< of the row, by column
};

inline std::unique_ptr<prepared> postgresql::prepare(std::string_view sql) const {
  return std::make_unique<server_statement>(*this, sql);
}

} // namespace benanza::result::store

#endif
