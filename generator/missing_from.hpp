// SPDX-License-Identifier: Apache-2.0
// Which layers need no measuring, because a store holds their times already, or why they have none
// (--missing-from)? They are still written, for the models' graphs, and not measured. Without
// SQLite in the build, a store is refused.
//
//   known_layers known = known_in({.store = "results.db"}, layers, graphs);   known.names
#pragma once

#include <benanza/core/text.hpp>
#include <benanza/model/unique.hpp>
#include <benanza/result/store_address.hpp>

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/missing.hpp>
#include <benanza/result/store/systems.hpp>
#endif

#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::generator {

/// What the command line says of a store.
struct missing_arguments {
  std::string store{};           ///< --missing-from; empty: all layers are measured
  std::string system{};          ///< --system: latest, a number, or empty for the only one
  std::string types{};           ///< --types: those of the models, if empty
  std::string threads = "1";     ///< --threads
  std::string effort = "normal"; ///< --effort
  std::string again{};           ///< --again: "failed" has what has no time measured again
};

/// What a store knows of some layers; views are not among them.
struct known_layers {
  std::set<std::string> names;               ///< that need no measuring
  std::map<std::string, std::string> failed; ///< those of them that have no time, and why
  std::int64_t weaker = 0; ///< others that are there too, with less than the effort asked for
};

#ifdef BENANZA_WITH_STORE

namespace detail {
inline result::store::wanted_settings settings_of(const missing_arguments& a) {
  result::store::wanted_settings out;
  out.least = result::parse_effort(a.effort).value();
  if (!a.types.empty())
    for (const std::string_view text : split_at(a.types, ",")) {
      const auto type = parse_numeric(text);
      if (!type)
        throw error("no type is called \"" + std::string(text) + "\"", "--types " + a.types,
                    "write --types f32,bf16");
      out.types.push_back(*type);
    }
  out.threads.clear();
  for (const std::string_view text : split_at(a.threads, ",")) {
    int n = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (bad != std::errc{} || end != text.data() + text.size() || n < 1)
      throw error("no number of threads: \"" + std::string(text) + "\"", "--threads " + a.threads,
                  "write --threads 1,2");
    out.threads.push_back(n);
  }
  return out;
}
} // namespace detail

/// The layers of which the store holds all that is asked for, or why that is not to be had.
inline known_layers known_in(const missing_arguments& a,
                             std::span<const model::catalogue_entry> layers,
                             std::span<const model::graph> graphs) {
  namespace rs = result::store;
  known_layers out;
  if (a.store.empty()) return out;
  const rs::wanted_settings wanted = detail::settings_of(a);
  const rs::store s(a.store, rs::access::read);
  if (s.systems().empty()) return out;
  const std::int64_t system = rs::choose_system(s, a.system);
  rs::missing_layers found = rs::missing(s, system, layers, graphs, wanted);
  rs::wanted_settings any_effort = wanted;
  any_effort.least = result::effort::quick;
  out.weaker = std::ssize(found.names) -
               std::ssize(rs::missing(s, system, layers, graphs, any_effort).names);
  if (a.again == "failed")
    for (auto& [name, why] : std::exchange(found.failed, {}))
      found.names.insert(name);
  out.failed = std::move(found.failed);
  for (const model::catalogue_entry& e : layers)
    if (std::string name = op::name(e.layer); !op::is_view(e.layer) && !found.names.contains(name))
      out.names.insert(std::move(name));
  return out;
}

#else

inline known_layers known_in(const missing_arguments& a, std::span<const model::catalogue_entry>,
                             std::span<const model::graph>) {
  if (!a.store.empty())
    throw error("this program was built without SQLite and reads no stores",
                result::store::shown(a.store), "install libsqlite3-dev and build it again");
  return {};
}

#endif

} // namespace benanza::generator
