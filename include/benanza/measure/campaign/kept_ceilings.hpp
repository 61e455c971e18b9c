// SPDX-License-Identifier: Apache-2.0
// Are the machine's limits measured anew for each model? No: what was measured of them on this
// machine by this software, undisturbed and with no less effort, is kept in a store in the user's
// cache folder, comes back, and goes on to where the run keeps its own results. Without SQLite, or
// where the folder cannot be written, they are measured each time; and those of a GPU, which may be
// another one tomorrow.
//
//   auto k = with_kept_ceilings(store_or_journal, header);   campaign(..., k.get(), ...);
//   k->recalled()
#pragma once

#include "../../result/machine_key.hpp"
#include "store_keeper.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace benanza::measure {

/// The fact, among those of measuring, that says how many of the machine's cases are from earlier
/// runs, and since when.
inline constexpr const char* kept_ceilings_fact = "ceilings_kept";

/// The store of ceilings: below XDG_CACHE_HOME, or ~/.cache; empty: there is no such folder.
inline std::string ceilings_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path at;
  if (cache != nullptr && *cache == '/')
    at = cache;
  else if (home != nullptr && *home == '/')
    at = std::filesystem::path(home) / ".cache";
  else
    return {};
  return (at / "benanza" / "ceilings.db").string();
}

#ifdef BENANZA_WITH_STORE

/// Keeps the machine's cases in a store of their own, and all in that of the run, if it has one.
class ceilings_keeper final : public keeper {
public:
  ceilings_keeper(keeper* of_run, const std::string& path, const result::run& header)
      : of_run_(of_run)
      , ceilings_(path, header) {}

  void recall(group& g) override {
    if (of_run_ != nullptr) of_run_->recall(g);
    if (!of_machine(g)) return;
    case_list missing;
    for (std::size_t i = 0; i < g.cases.size(); ++i)
      if (g.cases[i].results.empty()) missing.push_back(i);
    std::string since;
    ceilings_.recall(g, &since);
    case_list found;
    for (const std::size_t i : missing)
      if (!g.cases[i].results.empty()) found.push_back(i);
    recalled_ += found.size();
    if (!found.empty() && (since_.empty() || since < since_)) since_ = since;
    if (of_run_ != nullptr && !found.empty()) of_run_->keep(g, found);
  }

  void keep(const group& g, const case_list& which) override {
    if (of_run_ != nullptr) of_run_->keep(g, which);
    if (!of_machine(g)) return;
    case_list clean;
    for (const std::size_t i : which) {
      const auto& all = g.cases[i].results;
      if (std::all_of(all.begin(), all.end(), [](const result::measurement& m) {
            return m.error.empty() && m.disturbed.empty();
          }))
        clean.push_back(i);
    }
    if (!clean.empty()) ceilings_.keep(g, clean);
  }

  void note(const std::vector<result::measurement>& without) override {
    if (of_run_ != nullptr) of_run_->note(without);
  }
  void finish() override {
    if (of_run_ != nullptr) of_run_->finish();
  }
  std::string place() const override {
    return of_run_ != nullptr ? of_run_->place() : ceilings_.place();
  }

  std::size_t recalled() const { return recalled_; }  ///< cases that came back
  const std::string& since() const { return since_; } ///< the date of the oldest of them

private:
  static bool of_machine(const group& g) {
    return g.what->family == result::machine_family &&
           std::none_of(g.cases.begin(), g.cases.end(),
                        [](const bench_case& c) { return c.on_device; });
  }

  keeper* of_run_;
  store_keeper ceilings_;
  std::size_t recalled_ = 0;
  std::string since_{};
};

/// That of the cache folder; null: it has no place.
inline std::unique_ptr<ceilings_keeper> with_kept_ceilings(keeper* of_run,
                                                           const result::run& header) {
  const std::string path = ceilings_path();
  if (path.empty()) return nullptr;
  std::error_code bad;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), bad);
  if (bad) return nullptr;
  try {
    return std::make_unique<ceilings_keeper>(of_run, path, header);
  } catch (const std::exception&) {
    return nullptr; // of another version, damaged, or on a full disk: it is only a cache
  }
}

#else

/// Without SQLite nothing is kept.
struct ceilings_keeper : keeper { // nobody makes one
  std::size_t recalled() const { return 0; }
  std::string since() const { return {}; }
};
inline std::unique_ptr<ceilings_keeper> with_kept_ceilings(keeper*, const result::run&) {
  return nullptr;
}

#endif

} // namespace benanza::measure
