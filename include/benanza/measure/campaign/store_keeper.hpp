// SPDX-License-Identifier: Apache-2.0
// How does a run use a store? Each group's results are added the moment they exist, under a run of
// their own; what any earlier run on this machine with this software stored, with no less
// effort, comes back instead of being measured. That nothing here runs or lists a layer is stored
// too, once.
// Built without SQLite, a store is refused with that reason.
//
//   auto k = open_store("results.db", header);   k->recall(g);   k->keep(g, all_cases(g));
#pragma once

#include "../../result/store_address.hpp"
#include "keeper.hpp"

#ifdef BENANZA_WITH_STORE
#include "../../result/store/store.hpp"
#endif

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace benanza::measure {

#ifdef BENANZA_WITH_STORE

/// Keeps results in a store.
class store_keeper final : public keeper {
public:
  /// `header` says where the run takes place; its measurements are left alone.
  store_keeper(const std::string& path, result::run header)
      : store_(path, result::store::access::write)
      , header_(std::move(header))
      , system_(result::store::identity_of(header_))
      , effort_(result::effort_of(header_)) {}

  void recall(group& g) override { recall(g, nullptr); }

  /// The same; `since` gets the date of the oldest result that came back.
  void recall(group& g, std::string* since) {
    const subject& s = *g.what;
    std::vector<std::string> dates;
    std::vector<result::measurement> known =
        store_.find(system_, s.family, s.key, name(s.type), s.threads, effort_, &dates);
    for (std::size_t i = 0; i < known.size(); ++i)
      for (bench_case& c : g.cases)
        if (result::measurement& m = known[i]; c.results.empty() && m.backend == c.backend &&
                                               m.algorithm == c.algorithm.id &&
                                               m.state == c.state) {
          m.name = c.name;
          c.results.push_back(std::move(m));
          if (since != nullptr && (since->empty() || dates[i] < *since)) *since = dates[i];
          break;
        }
  }

  void keep(const group& g, const case_list& which) override {
    std::vector<result::measurement> all;
    for (std::size_t i : which)
      all.insert(all.end(), g.cases[i].results.begin(), g.cases[i].results.end());
    add(all);
  }

  void note(const std::vector<result::measurement>& without) override {
    std::vector<result::measurement> fresh;
    for (const result::measurement& m : without) {
      const auto known = store_.find(system_, m.family, m.key, m.type, m.threads);
      const auto same = [&m](const result::measurement& k) {
        return k.backend == m.backend && k.algorithm == m.algorithm;
      };
      if (std::none_of(known.begin(), known.end(), same)) fresh.push_back(m);
    }
    if (!fresh.empty()) add(fresh);
  }

  /// Of models whose layers were all known the store gets the graphs.
  void finish() override {
    if (!run_) store_.add_new(header_);
  }

  std::string place() const override { return store_.path(); }

private:
  void add(const std::vector<result::measurement>& rows) {
    if (!run_) run_ = store_.begin_run(header_);
    store_.add(*run_, rows);
  }

  result::store::store store_;
  result::run header_;
  result::store::system_identity system_;
  result::effort effort_; ///< the least of earlier results that count
  std::optional<std::int64_t> run_{};
};

inline std::unique_ptr<keeper> open_store(const std::string& path, result::run header) {
  return std::make_unique<store_keeper>(path, std::move(header));
}

#else

inline std::unique_ptr<keeper> open_store(const std::string& path, const result::run&) {
  throw error("this program was built without SQLite, which a store needs",
              "--store " + result::store::shown(path), "build it with libsqlite3-dev installed");
}

#endif

} // namespace benanza::measure
