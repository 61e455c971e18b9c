// SPDX-License-Identifier: Apache-2.0
// Which SQLite keeps the store? For --version; empty in a program without one.
//
//   for (const named_version& v : sqlite_version()) ...
#pragma once

#include "../../core/version.hpp"

#ifdef BENANZA_WITH_STORE
#include <sqlite3.h>
#endif

#include <vector>

namespace benanza::result::store {

/// The library that is loaded.
inline std::vector<named_version> sqlite_version() {
#ifdef BENANZA_WITH_STORE
  return {{"SQLite", sqlite3_libversion()}};
#else
  return {};
#endif
}

} // namespace benanza::result::store
