// SPDX-License-Identifier: Apache-2.0
// Stores: any bytes as an SQLite file, analysed and exported. Changed ones are changed by SQL, so
// that they are still databases.
#include "../result/document.hpp"
#include "analysis.hpp"
#include "mutate.hpp"

#include "analyzer/store/store_commands.hpp"

#ifdef BENANZA_WITH_STORE
#include <sqlite3.h>

namespace {
/// The bytes as a file, without what SQLite left next to the one before.
std::string as_store(std::string_view bytes) {
  std::error_code ignored;
  for (const char* beside : {"store.db-wal", "store.db-shm", "store.db-journal"})
    std::filesystem::remove(fuzz::folder() / beside, ignored);
  return fuzz::put("store.db", bytes);
}

void take_store(std::string_view bytes) {
  const std::string file = as_store(bytes);
  if (!benanza::analyzer::is_store(file)) return;
  switch (fuzz::turn(bytes, 4)) {
  case 0: fuzz::analyze({file, "--system", "latest", "--layers", "all"}); break;
  case 1: fuzz::analyze_as_json({file, "--system", "latest"}); break;
  default: {
    std::string damaged;
    benanza::analyzer::export_text(file, "latest", "", damaged);
    fuzz::check_shown(damaged);
  }
  }
}

std::vector<std::string> store_samples() {
  std::vector<std::string> out;
  for (const benanza::result::run& r : {synthetic::small_run(), synthetic::fused_run()}) {
    const std::string result = fuzz::put("stored.json", synthetic::text(r));
    const std::string file = as_store({});
    std::filesystem::remove(file);
    fuzz::analyze({"--import", result, "--store", file});
    out.push_back(fuzz::bytes_of(file));
  }
  return out;
}

/// The first column of the rows of a statement.
std::vector<std::string> ask(sqlite3* d, const std::string& sql) {
  std::vector<std::string> out;
  sqlite3_stmt* s = nullptr;
  if (sqlite3_prepare_v2(d, sql.c_str(), -1, &s, nullptr) == SQLITE_OK)
    while (sqlite3_step(s) == SQLITE_ROW && out.size() < 1000)
      if (const auto* text = sqlite3_column_text(s, 0))
        out.emplace_back(reinterpret_cast<const char*>(text));
  sqlite3_finalize(s);
  return out;
}

std::string spoil_rows(const std::string& bytes, fuzz::dice& d) {
  if (fuzz::below(d, 5) == 0) return fuzz::spoil(bytes, {}, d);
  const std::string file = as_store(bytes);
  sqlite3* db = nullptr;
  if (sqlite3_open(file.c_str(), &db) != SQLITE_OK) {
    sqlite3_close(db);
    return fuzz::spoil(bytes, {}, d);
  }
  for (std::size_t left = 1 + fuzz::below(d, 3); left > 0; --left) {
    const auto tables = ask(db, "SELECT name FROM sqlite_master WHERE type = 'table'");
    if (tables.empty()) break;
    const std::string table = tables[fuzz::below(d, tables.size())];
    const auto columns = ask(db, "SELECT name FROM pragma_table_info('" + table + "')");
    const auto rows = ask(db, "SELECT rowid FROM \"" + table + "\" LIMIT 100");
    if (columns.empty() || rows.empty()) continue;
    const std::string column = columns[fuzz::below(d, columns.size())];
    const std::string row = rows[fuzz::below(d, rows.size())];
    const std::array<std::string, 8> values{
        "NULL",
        std::string(fuzz::numbers[fuzz::below(d, fuzz::numbers.size())]),
        "''",
        "randomblob(" + std::to_string(fuzz::below(d, 300)) + ")",
        "'a' || x'1b0a'",
        "CAST(substr(\"" + column + "\", 1, " + std::to_string(fuzz::below(d, 99)) + ") AS BLOB)",
        "\"" + column + "\" || 'x'",
        "\"" + column + "\" + 1"};
    const std::string one = " WHERE rowid = " + row;
    const std::string sql = fuzz::below(d, 6) == 0
                                ? "DELETE FROM \"" + table + "\"" + one
                                : "UPDATE \"" + table + "\" SET \"" + column +
                                      "\" = " + values[fuzz::below(d, values.size())] + one;
    sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  return fuzz::bytes_of(file);
}

const fuzz::registration store_target{{.name = "store",
                                       .take = take_store,
                                       .samples = store_samples,
                                       .words = {"SQLite format 3", "CREATE TABLE", "INTEGER"},
                                       .change = spoil_rows}};
} // namespace
#endif
