// SPDX-License-Identifier: Apache-2.0
// Where are the stores of a test? In files of a folder; or, where BENANZA_TEST_POSTGRESQL names a
// database of a server, in schemas of it. They are gone when the test is over.
//
//   const store_places f("reader");   store s(f / "a.db", access::write);
#pragma once

#include "../../program.hpp"

#include <benanza/result/store/open.hpp>

#include <cstdlib>
#include <map>
#include <string>

namespace benanza::test {

/// The address of a server's database; empty: there is none, and stores are files.
inline std::string server() {
  const char* address = std::getenv("BENANZA_TEST_POSTGRESQL");
  return address == nullptr ? "" : address;
}

class store_places {
public:
  explicit store_places(const std::string& name)
      : folder_("stores_" + name) {}
  store_places(const store_places&) = delete;
  store_places& operator=(const store_places&) = delete;
  ~store_places() {
    for ([[maybe_unused]] const auto& [name, schema] : schemas_)
      ask("DROP SCHEMA " + schema + " CASCADE");
  }

  /// The store of a name.
  std::string operator/(const std::string& name) const {
    if (server().empty()) return folder_ / name;
    static int last = 0;
    const auto [at, fresh] = schemas_.try_emplace(name);
    if (fresh) {
      at->second = "t" + std::to_string(getpid()) + "_" + std::to_string(++last);
      ask("CREATE SCHEMA " + at->second);
    }
    return server() + (server().find('?') == std::string::npos ? '?' : '&') +
           "options=-csearch_path%3D" + at->second;
  }

private:
  static void ask([[maybe_unused]] const std::string& sql) {
#ifdef BENANZA_WITH_POSTGRES
    result::store::postgresql(server(), false, 10'000).run(sql.c_str());
#endif
  }

  scratch_folder folder_;
  mutable std::map<std::string, std::string> schemas_;
};

} // namespace benanza::test
