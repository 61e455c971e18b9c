// SPDX-License-Identifier: Apache-2.0
// On which system was a run measured? A machine with its software, as the sections of its
// provenance say it: what must agree before results are compared.
//
//   system_identity s = identity_of(run);   s.machine.at("cpu")
#pragma once

#include "../../core/error.hpp"
#include "../backends.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace benanza::result::store {

/// The fact of a run's `measuring` section that says who measured: what --by gave, and nothing
/// else.
inline constexpr const char* by_fact = "by";

using facts = std::map<std::string, std::string>;

/// A machine with its software.
struct system_identity {
  facts machine, software;
};

/// The system that a run was measured on; refuses a run that does not say, and what frameworks ran:
/// a system has one version of each library.
inline system_identity identity_of(const run& r) {
  for (const char* section : identity_sections)
    if (const auto found = r.provenance.find(section);
        found == r.provenance.end() || found->second.empty())
      throw error("a run without the section \"" + std::string(section) +
                      "\" of its provenance is not stored",
                  r.source, "write the result again with benanza_bench");
  if (const auto frameworks = frameworks_of(r); !frameworks.empty())
    throw error("what frameworks ran is not stored, such as that of " + frameworks.begin()->first,
                r.source, "analyse it beside the store: benanza_analyze results.db " + r.source);
  return {r.provenance.at(identity_sections[0]), r.provenance.at(identity_sections[1])};
}

/// A system in a store.
struct known_system {
  std::int64_t id = 0;
  system_identity identity;
  std::int64_t runs = 0;
  std::string last_date; ///< of its newest run
};

} // namespace benanza::result::store
