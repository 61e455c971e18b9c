// SPDX-License-Identifier: Apache-2.0
// Which tables does a store have, and how does an older store become a current one? Texts that many
// results share stand once, in tables of their own; a result is a row of small numbers in the order
// of the questions that are asked (what is there for this layer on that system?), so that an answer
// is one range of neighbouring rows. A store of an older schema is brought up to date, step by
// step.
//
//   if (!is_current(database)) prepare(database);   // makes the tables, or brings them up to date
#pragma once

#include "database.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace benanza::result::store {

/// Marks the SQLite files that are ours: "Bnza".
inline constexpr std::int64_t application_id = 0x426e7a61;

/// The tables of the current schema.
///   system       machine and software, the sections of a run's provenance, as JSON
///   run          one run of the benchmark with its whole provenance; results: how many it has;
///                effort: that it reached, counted from the lowest
///   graph        the different graphs; run_graph: which run came with which
///   setting      type and number of threads
///   variant      backend, algorithm and cache state
///   description  what further texts many results have, and the names of their numbers (packed.hpp)
///   result       one measurement; n counts those of its run
/// A checksum is one over all that a row says and refers to; null: from a schema without checksums.
inline constexpr const char* tables = R"(
CREATE TABLE system (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, software TEXT NOT NULL,
  UNIQUE (machine, software));
CREATE TABLE run (id INTEGER PRIMARY KEY, system INTEGER NOT NULL REFERENCES system,
  date TEXT NOT NULL, provenance TEXT NOT NULL, results INTEGER NOT NULL DEFAULT 0,
  effort INTEGER NOT NULL DEFAULT 1, checksum INTEGER);
CREATE INDEX run_by_date ON run (system, date, id);
CREATE TABLE graph (id INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL,
  unfused TEXT NOT NULL, body TEXT NOT NULL, checksum INTEGER);
CREATE INDEX graph_by_name ON graph (name);
CREATE TABLE run_graph (run INTEGER NOT NULL REFERENCES run, graph INTEGER NOT NULL
  REFERENCES graph, PRIMARY KEY (run, graph)) WITHOUT ROWID;
CREATE TABLE layer (id INTEGER PRIMARY KEY, family TEXT NOT NULL, key TEXT NOT NULL,
  UNIQUE (family, key));
CREATE TABLE setting (id INTEGER PRIMARY KEY, type TEXT NOT NULL, threads INTEGER NOT NULL,
  UNIQUE (type, threads));
CREATE TABLE variant (id INTEGER PRIMARY KEY, backend TEXT NOT NULL, algorithm TEXT NOT NULL,
  state TEXT NOT NULL, UNIQUE (backend, algorithm, state));
CREATE TABLE description (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);
CREATE TABLE result (system INTEGER NOT NULL, layer INTEGER NOT NULL, setting INTEGER NOT NULL,
  failed INTEGER NOT NULL, variant INTEGER NOT NULL, run INTEGER NOT NULL, n INTEGER NOT NULL,
  description INTEGER NOT NULL, numbers BLOB NOT NULL, checksum INTEGER,
  PRIMARY KEY (system, layer, setting, failed, variant, run, n)) WITHOUT ROWID;
)";

/// One step from a schema to the next.
struct migration {
  int from;
  const char* sql;
};

/// All steps. Schema 1 did not know of which graph another one is the fused form; schema 2 had the
/// effort of a run in its provenance only; schema 3 had no checksums.
inline constexpr std::array<migration, 3> migrations{{
    {1, "ALTER TABLE graph ADD COLUMN unfused TEXT NOT NULL DEFAULT '';"},
    {2, R"(ALTER TABLE run ADD COLUMN effort INTEGER NOT NULL DEFAULT 1;
UPDATE run SET effort = min(
  CASE json_extract(provenance, '$.measuring.effort')
    WHEN 'quick' THEN 0 WHEN 'thorough' THEN 2 WHEN 'exhaustive' THEN 3 ELSE 1 END,
  CASE WHEN json_extract(provenance, '$.measuring.min_time_s') + 0 < 0.1 THEN 0
    WHEN json_extract(provenance, '$.measuring.min_time_s') + 0 < 0.3 THEN 1
    WHEN json_extract(provenance, '$.measuring.min_time_s') + 0 < 0.5 THEN 2 ELSE 3 END)
WHERE json_valid(provenance);)"},
    {3, R"(ALTER TABLE run ADD COLUMN checksum INTEGER;
ALTER TABLE graph ADD COLUMN checksum INTEGER;
ALTER TABLE result ADD COLUMN checksum INTEGER;)"},
}};

inline constexpr int current_schema = 4;
static_assert(migrations.back().from + 1 == current_schema);

namespace detail {
inline std::int64_t number(const database& d, const char* sql) {
  statement s(d, sql);
  return s.next() ? s.integer(0) : 0;
}

inline void set_schema(const database& d, int version) {
  d.run(("PRAGMA user_version = " + std::to_string(version)).c_str());
}

/// True for a file without any table, which nobody has claimed.
inline bool is_fresh(const database& d) {
  return number(d, "PRAGMA application_id") == 0 && number(d, "PRAGMA user_version") == 0 &&
         number(d, "SELECT count(*) FROM sqlite_master") == 0;
}

/// The schema of the file; refuses a file of another application and one that is too new.
inline int schema_of(const database& d) {
  if (number(d, "PRAGMA application_id") != application_id)
    throw error("this is a database of another application, not a store of results", d.path(),
                "name the file that benanza_bench --store wrote");
  const std::int64_t version = number(d, "PRAGMA user_version");
  if (version > current_schema)
    throw error("the store has schema " + std::to_string(version) + ", this program knows up to " +
                    std::to_string(current_schema),
                d.path(), "use a newer version of Benanza");
  if (version < migrations.front().from)
    d.refuse_damaged("it has no schema " + std::to_string(version));
  return static_cast<int>(version);
}
} // namespace detail

/// Brings the tables from schema `from` to what the last step makes; all steps or none.
inline void migrate(const database& d, int from, std::span<const migration> steps = migrations) {
  for (const migration& step : steps)
    if (step.from >= from) {
      d.run(step.sql);
      detail::set_schema(d, step.from + 1);
    }
}

/// True if the file's tables are ours and current. False where they have to be made or brought up
/// to date first, which takes the right to write. Refuses what is not a store.
inline bool is_current(const database& d) {
  if (detail::is_fresh(d)) return false;
  return detail::schema_of(d) == current_schema;
}

/// Makes the tables of a new file, or brings those of an older one up to date. Several programs may
/// do so at once.
inline void prepare(const database& d) {
  transaction t(d);
  // Asked again, for another program may have been faster.
  if (detail::is_fresh(d)) {
    d.run(tables);
    d.run(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    detail::set_schema(d, current_schema);
  } else {
    migrate(d, detail::schema_of(d));
  }
  t.commit();
}

} // namespace benanza::result::store
