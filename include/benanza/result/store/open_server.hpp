// SPDX-License-Identifier: Apache-2.0
// How is the database of a server opened as a store? Nothing else of a program needs libpqxx. Where
// BENANZA_COMPILED_SERVER is defined, one file of the program includes this for all: programs for
// other machines have the same objects, and in place of that file one without libpqxx.
#pragma once

#include "open.hpp"
#include "version.hpp"

#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::result::store::detail {

#ifdef BENANZA_WITH_POSTGRES
BENANZA_INLINE std::unique_ptr<connection> open_server(const std::string& address, access how,
                                                       int patience_ms) {
  auto p = std::make_unique<postgresql>(address, how == access::read, patience_ms);
  statement schema(*p, "SELECT current_schema()");
  if (!schema.next() || schema.null(0))
    throw error("the database has no schema of that name", p->path(), "make it: CREATE SCHEMA");
  if (is_current(*p)) return p;
  if (how == access::read && is_fresh(*p))
    throw error("the store is empty", p->path(), "store results with benanza_bench --store");
  if (how == access::write)
    prepare(*p);
  else
    prepare(postgresql(address, false, patience_ms));
  return p;
}
#else
BENANZA_INLINE std::unique_ptr<connection> open_server(const std::string& address, access, int) {
  throw error("this program was built without PostgreSQL's library", shown(address),
              "install libpqxx-dev and build it again");
}
#endif

} // namespace benanza::result::store::detail
