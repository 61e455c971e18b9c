// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze` do with a store? It reads one in place of a result file, writes one's
// results as a result file (--export), and adds result files to one (--import ... --store). A store
// is recognised by its first bytes, or by its address (postgresql://). Without SQLite in the build,
// each of these is refused.
//
//   if (is_store("results.db")) run r = read_from_store("results.db", "latest", "resnet50");
#pragma once

#include <benanza/bound/figures.hpp>
#include <benanza/result/run.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace benanza::bound {
struct model_bound;
}

namespace benanza::analyzer {

/// What the command line says of stores.
struct store_request {
  std::string system;                ///< --system: latest, a number, or empty
  std::string exported;              ///< --export: the result file to write
  std::vector<std::string> imported; ///< --import: the result files to add
  std::string store;                 ///< --store: to where
};

/// True for an address, and if a file begins as every SQLite file does; pipes and what cannot be
/// read do not.
bool is_store(const std::string& path);

/// How the command goes on that measures all that a store lacks of a model: what is there is not
/// measured again. Of an address no more than its server and database is shown.
std::string from_store(const std::string& store, const bound::model_bound& b);

/// The run in a store, for the report.
result::run read_from_store(const std::string& path, const std::string& system,
                            const std::string& model);

/// The runs of one system in a store, each by itself, the oldest first. `system` is a number,
/// latest, or empty for the only one.
std::vector<result::run> runs_in_store(const std::string& path, const std::string& system,
                                       const std::string& model);

/// The numbers of the systems in a store, that with the newest run last.
std::vector<std::string> systems_in_store(const std::string& path);

/// The results of a store that are not what was written, in one line; empty: there are none.
std::string damaged_results(const result::run& r);

/// The result file with all entries of a store, less the damaged ones, which `lacking` counts.
std::string export_text(const std::string& path, const std::string& system,
                        const std::string& model, std::string& lacking);

/// Adds result files to a store, and says of each how much of it was new.
void import_files(const store_request& asked, std::ostream& out);

} // namespace benanza::analyzer
