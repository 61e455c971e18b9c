// SPDX-License-Identifier: Apache-2.0
// Which SQLite and which libpqxx keep the store? For --version; empty in a program without them.
// Where BENANZA_COMPILED_SERVER is defined, the file that includes open_server.hpp knows libpqxx.
//
//   for (const named_version& v : sqlite_version()) ...
#pragma once

#include "../../core/version.hpp"

#ifdef BENANZA_WITH_STORE
#include <sqlite3.h>
#endif
#if defined(BENANZA_WITH_POSTGRES) && !defined(BENANZA_COMPILED_SERVER)
#include <pqxx/version>
#endif

#include <string>
#include <vector>

#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::result::store {

namespace detail {
/// The libpqxx that the program was built with.
std::vector<named_version> server_library();
#ifndef BENANZA_COMPILED_SERVER
BENANZA_INLINE std::vector<named_version> server_library() {
#ifdef BENANZA_WITH_POSTGRES
  return {
      {"libpqxx", std::to_string(PQXX_VERSION_MAJOR) + "." + std::to_string(PQXX_VERSION_MINOR)}};
#else
  return {};
#endif
}
#endif
} // namespace detail

/// The SQLite that is loaded, and libpqxx.
inline std::vector<named_version> sqlite_version() {
  std::vector<named_version> out = detail::server_library();
#ifdef BENANZA_WITH_STORE
  out.insert(out.begin(), {"SQLite", sqlite3_libversion()});
#endif
  return out;
}

} // namespace benanza::result::store
