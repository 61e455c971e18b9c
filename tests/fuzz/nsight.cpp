// SPDX-License-Identifier: Apache-2.0
// Exports of Nsight Systems: any bytes as an SQLite file. Changed ones are changed by SQL, so that
// they are still databases.
#include "mutate.hpp"

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/database.hpp>
#include <benanza/trace/profile/nsight.hpp>

namespace {
using benanza::result::store::database;

constexpr const char* small_export = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'softmax'), (3, 'conv1');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid,
  shortName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1500, 0, 7, 7, 16777216, 1),
  (1600, 1700, 0, 7, 8, 16777216, 2), (3000, 3400, 0, 7, 17, 16777216, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 16777217, 7, 0), (120, 130, 16777217, 8, 0),
  (500, 510, 16777217, 17, 0);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);
INSERT INTO NVTX_EVENTS VALUES (90, 200, 59, 'model', NULL, 16777217),
  (95, 140, 59, NULL, 3, 16777217), (490, 600, 60, 'model', NULL, 16777217);
)";

void take_nsight(std::string_view bytes) {
  const auto p = benanza::trace::read_nsight(fuzz::put("nsight.sqlite", bytes));
  for (const benanza::trace::profiled_operator& o : p.operators)
    for (const double ns : o.ns)
      if (!(ns >= 0)) throw fuzz::finding("a time is none");
}

std::string changed_by(const std::string& bytes, const std::vector<std::string>& statements) {
  const std::string file = fuzz::put("changed.sqlite", bytes);
  const database db(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, file, 100);
  for (const std::string& sql : statements)
    sqlite3_exec(db.handle(), sql.c_str(), nullptr, nullptr, nullptr);
  return fuzz::bytes_of(file);
}

std::vector<std::string> nsight_samples() {
  return {changed_by({}, {small_export})};
}

std::string spoil_export(const std::string& bytes, fuzz::dice& d) {
  static constexpr std::array<std::string_view, 12> columns{
      "KERNEL.start",     "KERNEL.end",       "KERNEL.streamId", "KERNEL.correlationId",
      "KERNEL.globalPid", "KERNEL.shortName", "RUNTIME.start",   "RUNTIME.globalTid",
      "NVTX.start",       "NVTX.end",         "NVTX.text",       "NVTX.eventType"};
  static constexpr std::array<std::string_view, 7> others{
      "NULL", "'x' || x'1b0a'", "randomblob(200)", "''", "-1.5", "9e999", "'9'"};
  if (fuzz::below(d, 4) == 0) return fuzz::spoil(bytes, {}, d);
  std::vector<std::string> statements;
  for (std::size_t left = 1 + fuzz::below(d, 3); left > 0; --left) {
    const std::string_view what = columns[fuzz::below(d, columns.size())];
    const std::string_view table = what.substr(0, what.find('.'));
    const std::string value(fuzz::below(d, 2) == 0
                                ? others[fuzz::below(d, others.size())]
                                : fuzz::numbers[fuzz::below(d, fuzz::numbers.size())]);
    statements.push_back(
        "UPDATE " +
        (table == "NVTX" ? "NVTX_EVENTS" : "CUPTI_ACTIVITY_KIND_" + std::string(table)) + " SET " +
        std::string(what.substr(table.size() + 1)) + " = " + value +
        " WHERE rowid = " + std::to_string(1 + fuzz::below(d, 3)));
  }
  return changed_by(bytes, statements);
}

const fuzz::registration nsight_target{{.name = "nsight",
                                        .take = take_nsight,
                                        .samples = nsight_samples,
                                        .words = {"SQLite format 3", "CUPTI", "NVTX"},
                                        .change = spoil_export}};
} // namespace
#endif
