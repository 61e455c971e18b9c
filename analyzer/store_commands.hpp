// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze` do with a store? It reads one in place of a result file, writes one's
// results as a result file (--export), and adds result files to one (--import ... --store). A store
// is recognised by its first bytes. Without SQLite in the build, each of these is refused.
//
//   if (is_store("results.db")) run r = read_from_store("results.db", "latest", "resnet50");
#pragma once

#include "benanza/bound/missing.hpp"
#include "benanza/result/reader.hpp"
#include "benanza/result/writer.hpp"

#ifdef BENANZA_WITH_STORE
#include "benanza/result/store/reader.hpp"
#endif

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// What the command line says of stores.
struct store_request {
  std::string system;                ///< --system: latest, a number, or empty
  std::string exported;              ///< --export: the result file to write
  std::vector<std::string> imported; ///< --import: the result files to add
  std::string store;                 ///< --store: to where
};

/// True if a file begins as every SQLite file does; pipes and what cannot be read do not.
inline bool is_store(const std::string& path) {
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string start(magic.size(), ' ');
  return in.read(start.data(), static_cast<std::streamsize>(start.size())) && start == magic;
}

/// How the command goes on that measures all that a store lacks of a model: what is there is not
/// measured again.
inline std::string from_store(const std::string& store, const bound::model_bound& b) {
  const auto tried = [](const bound::hole& h) { return h.failed && !h.command.empty(); };
  const bool failed = std::any_of(b.covered.holes.begin(), b.covered.holes.end(), tried) ||
                      std::any_of(b.covered.rooflines.begin(), b.covered.rooflines.end(), tried);
  return " --store " + bound::shell_word(store) + (failed ? " --again=failed" : "");
}

#ifdef BENANZA_WITH_STORE

/// The run in a store, for the report.
inline result::run read_from_store(const std::string& path, const std::string& system,
                                   const std::string& model) {
  return result::store::read_store(path, {.system = system, .model = model});
}

/// The results of a store that are not what was written, in one line; empty: there are none.
inline std::string damaged_results(const result::run& r) {
  std::size_t n = 0;
  std::string first;
  for (const result::measurement& m : r.measurements)
    if (result::store::is_damaged(m) && n++ == 0) first = m.name;
  if (n == 0) return {};
  return std::to_string(n) + (n == 1 ? " result of the store is" : " results of the store are") +
         " damaged, such as " + printable(first) + ": measure again";
}

/// The result file with all entries of a store, less the damaged ones, which `lacking` tells of.
inline std::string export_text(const std::string& path, const std::string& system,
                               const std::string& model, std::string& lacking) {
  const result::store::store s(path, result::store::access::read);
  result::run r = result::store::read_entries(s, {.system = system, .model = model});
  lacking = damaged_results(r);
  std::erase_if(r.measurements, result::store::is_damaged);
  std::ostringstream out;
  result::write(out, r);
  return std::move(out).str();
}

/// Adds result files to a store, and says of each how much of it was new.
inline void import_files(const store_request& asked, std::ostream& out) {
  std::vector<result::run> runs; // all are read before the first is added
  for (const std::string& f : asked.imported)
    runs.push_back(result::read_file(f));
  result::store::store s(asked.store, result::store::access::write);
  for (const result::run& r : runs)
    out << printable(r.source) << ": " << s.add_new(r) << " of " << r.measurements.size()
        << " results added to " << printable(asked.store) << '\n';
}

#else

namespace detail {
[[noreturn]] inline void no_store(const std::string& path) {
  throw error("this program was built without SQLite and reads no stores", path,
              "install libsqlite3-dev and build it again");
}
} // namespace detail

inline result::run read_from_store(const std::string& path, const std::string&,
                                   const std::string&) {
  detail::no_store(path);
}
inline std::string damaged_results(const result::run&) {
  return {};
}
inline std::string export_text(const std::string& path, const std::string&, const std::string&,
                               std::string&) {
  detail::no_store(path);
}
inline void import_files(const store_request& asked, std::ostream&) {
  detail::no_store(asked.store);
}

#endif

} // namespace benanza::analyzer
