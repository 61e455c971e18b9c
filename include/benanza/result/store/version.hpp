// SPDX-License-Identifier: Apache-2.0
// Which SQLite and which libpqxx keep the store? For --version; empty in a program without them.
//
//   for (const named_version& v : sqlite_version()) ...
#pragma once

#include "../../core/version.hpp"

#ifdef BENANZA_WITH_STORE
#include <sqlite3.h>
#endif
#ifdef BENANZA_WITH_POSTGRES
#include <pqxx/version>
#endif

#include <string>
#include <vector>

namespace benanza::result::store {

/// The SQLite that is loaded, and the libpqxx that the program was built with.
inline std::vector<named_version> sqlite_version() {
  std::vector<named_version> out;
#ifdef BENANZA_WITH_STORE
  out.push_back({"SQLite", sqlite3_libversion()});
#endif
#ifdef BENANZA_WITH_POSTGRES
  out.push_back(
      {"libpqxx", std::to_string(PQXX_VERSION_MAJOR) + "." + std::to_string(PQXX_VERSION_MINOR)});
#endif
  return out;
}

} // namespace benanza::result::store
