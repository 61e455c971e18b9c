// SPDX-License-Identifier: Apache-2.0
#include <benanza/result/store_address.hpp>

#include <doctest/doctest.h>

#include <string>

using benanza::result::store::shown;

TEST_CASE("addresses of stores: server and database are shown, a password nowhere") {
  CHECK(shown("postgresql://me:secret@db/results?sslmode=require") == "postgresql://db/results");
  CHECK(shown("results.db") == "results.db");
  CHECK(shown("host=db password=secret") == "postgresql://...");
  CHECK(shown("postgres://me:se/cret@db") == "postgresql://...");
  CHECK(shown(std::string(5000, 'x') + " PassWord=secret") == "postgresql://...");
}
