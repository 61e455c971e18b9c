// SPDX-License-Identifier: Apache-2.0
// How do runs of one machine and of several versions of a library become one answer? Each backend
// of which the runs have different versions gets a name with the version in it, so that every row
// says which it is: "onednn" becomes "onednn-2.6.3" and "onednn-3.7.2".
//
//   tell_versions_apart(runs);   library_of("onednn-3.7.2") == "onednn"
#pragma once

#include "../core/error.hpp"
#include "planned.hpp"
#include "run.hpp"

#include <range/v3/view/map.hpp>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result {

/// The section that holds the versions of the frameworks whose cases a run has, by their backends.
inline constexpr const char* frameworks_section = "frameworks";

/// The library in a backend's name, without its version.
inline std::string_view library_of(std::string_view backend) {
  return backend.substr(0, backend.find('-'));
}

/// True if `asked` means that backend: by its name, or by its library's.
inline bool means(std::string_view asked, std::string_view backend) {
  return asked == backend || asked == library_of(backend);
}

namespace detail {
using backend_facts = std::map<std::string, std::string>;

/// What a run says of the libraries and frameworks behind its backends.
inline std::map<std::string, backend_facts> facts_by_backend(const run& r) {
  std::map<std::string, backend_facts> out;
  std::set<std::string> backends;
  for (const measurement& m : r.measurements)
    if (m.backend != "none") backends.insert(m.backend);
  if (const auto software = r.provenance.find("software"); software != r.provenance.end())
    for (const auto& [key, value] : software->second) {
      const std::size_t end = key.find('_');
      if (end != std::string::npos) out[key.substr(0, end)][key.substr(end + 1)] = value;
    }
  if (const auto found = r.provenance.find(frameworks_section); found != r.provenance.end())
    for (const auto& [name, version] : found->second)
      out[name] = {{"version", version}};
  std::erase_if(out, [&](const auto& b) { return !backends.contains(b.first); });
  return out;
}

/// What distinguishes versions of a backend, as a part of its name; without a version of its own it
/// is ours, and the compiler's.
inline std::string version_in_name(const backend_facts& facts) {
  std::string out;
  for (const char* fact : {"version", "compiler", "kernels"})
    if (const auto found = facts.find(fact); found != facts.end()) {
      out = found->second;
      break;
    }
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.') c = '_';
  return out.substr(0, 24);
}

/// Gives a backend of a run another name, wherever the run has it.
inline void rename_backend(run& r, const std::string& from, const std::string& to) {
  const std::string in_name = '/' + from + '/';
  for (measurement& m : r.measurements) {
    for (timed_part& p : m.parts)
      if (p.name.starts_with(from + '/')) p.name.replace(0, from.size(), to);
    if (m.backend != from) continue;
    m.backend = to;
    if (const std::size_t at = m.name.find(in_name); at != std::string::npos)
      m.name.replace(at + 1, from.size(), to);
  }
  for (refused_case& x : r.refused)
    if (x.backend == from) x.backend = to;
  if (planned_cases planned = planned_of(r); !planned.empty()) {
    planned_cases renamed;
    for (const auto& [setting, n] : planned) {
      const std::size_t at = setting.rfind(in_name);
      const bool its = at != setting.npos && at + in_name.size() == setting.rfind('/') + 1;
      renamed[its ? setting.substr(0, at + 1) + to + setting.substr(setting.rfind('/')) : setting] =
          n;
    }
    r.provenance["measuring"][planned_fact] = planned_text(renamed);
  }
  std::map<std::string, std::string>& software = r.provenance["software"];
  for (auto fact = software.begin(); fact != software.end();) {
    if (!fact->first.starts_with(from + '_')) {
      ++fact;
      continue;
    }
    software[to + fact->first.substr(from.size())] = fact->second;
    fact = software.erase(fact);
  }
  std::map<std::string, std::string>& frameworks = r.provenance[frameworks_section];
  if (auto node = frameworks.extract(from)) {
    node.key() = to;
    frameworks.insert(std::move(node));
  }
  if (frameworks.empty()) r.provenance.erase(frameworks_section);
}

/// The first fact in which two differ, for a message.
inline std::string difference(const backend_facts& a, const backend_facts& b) {
  backend_facts all = a;
  all.insert(b.begin(), b.end());
  const auto text = [](const backend_facts& of, const std::string& key) {
    const auto found = of.find(key);
    return found == of.end() ? std::string("nothing") : '"' + found->second + '"';
  };
  for (const auto& [key, value] : all)
    if (text(a, key) != text(b, key)) return key + " is " + text(a, key) + " and " + text(b, key);
  return {};
}
} // namespace detail

/// Gives backends names with their versions where the runs have several of one. Refuses what two
/// runs say differently of one version.
inline void tell_versions_apart(std::vector<run>& runs) {
  std::vector<std::map<std::string, detail::backend_facts>> facts;
  std::map<std::string, detail::backend_facts> first;
  std::set<std::string> several;
  for (const run& r : runs)
    for (const auto& [backend, its] : facts.emplace_back(detail::facts_by_backend(r)))
      if (first.try_emplace(backend, its).first->second != its) several.insert(backend);
  if (several.empty()) return;
  std::map<std::string, std::pair<detail::backend_facts, std::string>> named;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [backend, its] : facts[i]) {
      std::string name = backend;
      if (several.contains(backend))
        name = std::string(library_of(backend)) + '-' + detail::version_in_name(its);
      const auto [known, fresh] = named.try_emplace(name, its, runs[i].source);
      if (!fresh && known->second.first != its)
        throw error("results of different provenance are not merged: of " + name + ", " +
                        detail::difference(known->second.first, its),
                    known->second.second + " and " + runs[i].source, "analyse them one at a time");
      if (name != backend) detail::rename_backend(runs[i], backend, name);
    }
}

} // namespace benanza::result
