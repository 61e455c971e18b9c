// SPDX-License-Identifier: Apache-2.0
// What was measured, on which system, in which run? A store keeps every run with its provenance and
// graphs and every measurement of it, in one SQLite file; new runs add to it, nothing is
// overwritten. A system is a machine with its software: the sections of a run's provenance that
// must agree before results are compared. Several programs may write at once.
//
//   store s("results.db", access::write);
//   const auto run = s.begin_run(header);   s.add(run, measurements);   // durable now
#pragma once

#include "../date.hpp"
#include "../effort.hpp"
#include "../fields.hpp"
#include "dictionary.hpp"
#include "identity.hpp"
#include "open.hpp"
#include "rows.hpp"

#include <nlohmann/json.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/move.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::result::store {

/// The checksum of a run with the numbers of its graphs, less its results.
inline std::int64_t sum_of_run(std::int64_t system, std::string_view date,
                               std::string_view provenance, std::int64_t effort,
                               const std::set<std::int64_t>& graphs) {
  checksum sum;
  sum.add(system).add(date).add(provenance).add(effort);
  for (const std::int64_t g : graphs)
    sum.add(g);
  return sum.value();
}

/// The checksum of a graph.
inline std::int64_t sum_of_graph(std::string_view name, std::string_view model,
                                 std::string_view unfused, std::string_view body) {
  return checksum().add(name).add(model).add(unfused).add(body).value();
}

/// The results of all runs, in one file.
class store {
public:
  /// Opens the file; refuses, in one line, what is no store, damaged, too new or may not be
  /// written. Waits at most `patience_ms` for other programs, then and later.
  explicit store(const std::string& path, access how, int patience_ms = 30'000)
      : store(open(path, how, patience_ms)) {}
  /// Over a connection to a store that was opened.
  explicit store(std::unique_ptr<connection> opened)
      : connection_(std::move(opened))
      , parts_(std::make_unique<parts>(*connection_)) {}

  const std::string& path() const { return connection_->path(); }

  /// Opens a run: its provenance and graphs are durable when this returns. Measurements of `header`
  /// are left alone.
  std::int64_t begin_run(const run& header) {
    return change([&] {
      connection_->exclude_others();
      return insert_run(header, system_id(identity_of(header)));
    });
  }

  /// Adds measurements (failed ones too) of a run; durable when it returns. Throws if they cannot
  /// be stored (disk full, locked too long ...), and then none of them is.
  void add(std::int64_t run, std::span<const measurement> batch) {
    if (batch.empty()) return;
    std::vector<place> places;
    const auto find_places = [&] {
      places.clear();
      const std::int64_t system = system_of(run);
      for (const measurement& m : batch)
        places.push_back(place_of(system, m));
      return std::int64_t{0};
    };
    // Texts that results share are added one by one where many write: a change that holds several
    // of them would wait for another one that waits for it.
    if (connection_->many_write()) try_again(find_places, [this] { parts_->forget(); });
    std::optional<std::int64_t> tried;
    change([&] {
      if (!connection_->many_write()) find_places();
      std::int64_t n = reserve(run, std::ssize(places));
      if (tried && n == *tried + std::ssize(places)) // only the answer was lost
        return reserve(run, -std::ssize(places));
      tried = n;
      for (const place& p : places)
        insert(p, run, n++);
      return n;
    });
  }

  /// Adds what the store does not hold yet of a run that was read from elsewhere: a measurement
  /// that is stored for its system already, to the last bit, is passed over. Returns how many were
  /// added.
  std::int64_t add_new(const run& r) {
    return change([&] {
      connection_->exclude_others();
      const std::int64_t system = system_id(identity_of(r));
      std::optional<std::int64_t> id;
      if (!knows_graphs(system, r)) id = insert_run(r, system);
      std::int64_t n = 0;
      for (const measurement& m : r.measurements) {
        const place p = place_of(system, m);
        if (is_there(p)) continue;
        if (!id) id = insert_run(r, system);
        insert(p, *id, n++);
      }
      if (n != 0) reserve(*id, n);
      return n;
    });
  }

  /// What is stored for a layer on a system in a type on some threads, of runs with no less than an
  /// effort: successful cases first, of each the newest run's first. Empty where there is nothing.
  std::vector<measurement> find(const system_identity& system, std::string_view family,
                                std::string_view key, std::string_view type, int threads,
                                effort least = effort::quick,
                                std::vector<std::string>* dates = nullptr) const {
    const auto s = find_system(system);
    const auto layer = parts_->layers.find({family, key});
    const auto setting = parts_->settings.find({type, std::to_string(threads)});
    if (!s || !layer || !setting) return {};
    using entry = std::tuple<bool, std::string, std::int64_t, std::int64_t>;
    std::vector<std::pair<entry, measurement>> rows;
    std::unordered_map<std::int64_t, run_facts> runs;
    parts_->rows.of_setting(*s, *layer, *setting, [&](stored&& row) {
      const auto [of, fresh] = runs.try_emplace(row.run);
      if (fresh) of->second = facts_of_run(row.run);
      if (of->second.reached < least || is_damaged(row.what)) return;
      rows.emplace_back(entry{row.what.error.empty(), of->second.date, row.run, -row.n},
                        std::move(row.what));
    });
    ranges::sort(rows, ranges::greater{}, &std::pair<entry, measurement>::first);
    if (dates != nullptr)
      for (const auto& [of, what] : rows)
        dates->push_back(std::get<1>(of));
    return rows | ranges::views::values | ranges::views::move | ranges::to<std::vector>;
  }

  /// True if a case of the layer succeeded on that system in that type on so many threads, with no
  /// less than that effort.
  bool holds(std::int64_t system, std::string_view family, std::string_view key,
             std::string_view type, int threads, effort least = effort::quick) const {
    const auto layer = parts_->layers.find({family, key});
    const auto setting = parts_->settings.find({type, std::to_string(threads)});
    return layer && setting &&
           parts_->rows.any_success(system, *layer, *setting, static_cast<std::int64_t>(least));
  }

  /// The newest row that says why the layer has no time there; nothing where it was not tried with
  /// that effort. What nothing runs takes none.
  std::optional<measurement> failure(std::int64_t system, std::string_view family,
                                     std::string_view key, std::string_view type, int threads,
                                     effort least = effort::quick) const {
    const auto layer = parts_->layers.find({family, key});
    const auto setting = parts_->settings.find({type, std::to_string(threads)});
    std::optional<measurement> out;
    std::int64_t newest = -1;
    if (layer && setting)
      parts_->rows.of_setting(system, *layer, *setting, [&](stored&& row) {
        if (row.what.error.empty() || is_damaged(row.what) || row.run < newest) return;
        if (!nothing_runs(row.what) && facts_of_run(row.run).reached < least) return;
        newest = row.run;
        out = std::move(row.what);
      });
    return out;
  }

  /// All systems of which there are runs, in the order in which they came.
  std::vector<known_system> systems() const {
    std::vector<known_system> out;
    statement s(*connection_,
                "SELECT s.id, s.machine, s.software, count(*), max(r.date) FROM system"
                " s JOIN run r ON r.system = s.id GROUP BY s.id ORDER BY s.id");
    while (s.next())
      out.push_back({.id = s.integer(0),
                     .identity = {facts_of(s.text(1)), facts_of(s.text(2))},
                     .runs = s.integer(3),
                     .last_date = std::string(s.text(4))});
    return out;
  }

  /// The system of the newest run; nothing where there is no run.
  std::optional<std::int64_t> latest_system() const {
    statement s(*connection_, "SELECT system FROM run ORDER BY date DESC, id DESC LIMIT 1");
    return s.next() ? std::optional(s.integer(0)) : std::nullopt;
  }

  /// The number of a system; nothing where the store lacks it.
  std::optional<std::int64_t> find_system(const system_identity& s) const {
    return parts_->systems.find({text_of(s.machine), text_of(s.software)});
  }

  /// Refuses a run that is not there, or not what was written.
  void check_run(std::int64_t run) const {
    std::set<std::int64_t> graphs;
    statement links(*connection_, "SELECT graph FROM run_graph WHERE run = ?");
    links.with(run).each([&](const statement& row) { graphs.insert(row.integer(0)); });
    statement s(*connection_, "SELECT system, date, provenance, effort, checksum FROM run"
                              " WHERE id = ?");
    if (!s.with(run).next()) connection_->refuse_damaged("a result names a run that is not there");
    if (!s.null(4) &&
        s.integer(4) != sum_of_run(s.integer(0), s.text(1), s.text(2), s.integer(3), graphs))
      connection_->refuse_damaged("run " + std::to_string(run) + " is not what was written");
  }

  /// The provenance of a run.
  decltype(run::provenance) provenance_of(std::int64_t run) const {
    check_run(run);
    statement s(*connection_, "SELECT provenance FROM run WHERE id = ?");
    s.with(run).next();
    return provenance_from(s.text(0));
  }

  /// For questions of its own, such as those of reader.hpp.
  const connection& tables_of() const { return *connection_; }
  row_reader& rows() const { return parts_->rows; }
  std::optional<std::int64_t> find_layer(std::string_view family, std::string_view key) const {
    return parts_->layers.find({family, key});
  }

private:
  /// What is prepared once for a connection.
  struct parts {
    explicit parts(const connection& d)
        : systems(d, "system", {"machine", "software"})
        , layers(d, "layer", {"family", "key"})
        , settings(d, "setting", {"type", "threads"})
        , variants(d, "variant", {"backend", "algorithm", "state"})
        , descriptions(d, "description", {"body"})
        , insert(d, "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        , same(d, "SELECT 1 FROM result WHERE system = ? AND layer = ? AND setting = ?"
                  " AND failed = ? AND variant = ? AND description = ? AND numbers = ?"
                  " AND coalesce(checksum, ?8) = ?8 LIMIT 1")
        , rows(d) {}
    void forget() {
      systems.forget();
      layers.forget();
      settings.forget();
      variants.forget();
      descriptions.forget();
      rows.forget();
    }
    dictionary<2> systems, layers, settings;
    dictionary<3> variants;
    dictionary<1> descriptions;
    statement insert, same;
    row_reader rows;
  };

  /// Where a measurement goes.
  struct place {
    std::int64_t system, layer, setting, failed, variant, description;
    bytes numbers;
    std::int64_t sum;
  };

  static std::string text_of(const facts& f) {
    return ordered_json(f).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  decltype(run::provenance) provenance_from(std::string_view text) const {
    try {
      auto out = json::parse(text).get<decltype(run::provenance)>();
      put_date_in_utc(out);
      return out;
    } catch (const json::exception&) {
      connection_->refuse_damaged("the provenance of a run cannot be read");
    }
  }
  facts facts_of(std::string_view text) const {
    return provenance_from("{\"section\":" + std::string(text) + "}").at("section");
  }
  struct run_facts {
    std::string date;
    effort reached = effort::quick;
  };
  run_facts facts_of_run(std::int64_t run) const {
    run_facts out;
    statement(*connection_, "SELECT date, effort FROM run WHERE id = ?")
        .with(run)
        .first([&](const statement& row) {
          out = {std::string(row.text(0)), static_cast<effort>(row.integer(1))};
        });
    return out;
  }

  /// Makes a change whole or not at all.
  template <class Change>
  std::int64_t change(Change&& make) {
    return make_whole(*connection_, make, [this] { parts_->forget(); });
  }

  std::int64_t system_id(const system_identity& s) {
    return parts_->systems.of({text_of(s.machine), text_of(s.software)});
  }

  std::int64_t insert_run(const run& r, std::int64_t system) {
    const auto measuring = r.provenance.find("measuring");
    std::string date;
    if (measuring != r.provenance.end() && measuring->second.contains("date"))
      date = utc_date(measuring->second.at("date"));
    const std::string provenance =
        ordered_json(r.provenance).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    dictionary<5> known(*connection_, "graph", {"name", "model", "unfused", "body", "checksum"});
    std::set<std::int64_t> graphs;
    for (const model::graph& g : r.graphs) {
      const std::string body = body_of(g);
      const std::string sum = std::to_string(sum_of_graph(g.name, g.model, g.unfused, body));
      graphs.insert(known.of({g.name, g.model, g.unfused, body, sum}));
    }
    const auto effort = static_cast<std::int64_t>(effort_of(r));
    std::int64_t id = 0;
    statement(*connection_, "INSERT INTO run (system, date, provenance, effort, checksum)"
                            " VALUES (?, ?, ?, ?, ?) RETURNING id")
        .with(system, date, provenance, effort,
              sum_of_run(system, date, provenance, effort, graphs))
        .first([&](const statement& row) { id = row.integer(0); });
    statement link(*connection_, "INSERT INTO run_graph VALUES (?, ?)");
    for (const std::int64_t g : graphs)
      link.run(id, g);
    return id;
  }
  static std::string body_of(const model::graph& g) {
    return to_json(g).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  bool knows_graphs(std::int64_t system, const run& r) const {
    statement s(*connection_,
                "SELECT 1 FROM graph g JOIN run_graph l ON l.graph = g.id JOIN run r ON"
                " r.id = l.run WHERE g.name = ? AND g.body = ? AND r.system = ?");
    return std::all_of(r.graphs.begin(), r.graphs.end(), [&](const model::graph& g) {
      const std::string body = body_of(g);
      return s.with(g.name, body, system).next();
    });
  }

  std::int64_t system_of(std::int64_t run) const {
    statement s(*connection_, "SELECT system FROM run WHERE id = ?");
    if (!s.with(run).next()) refuse_run(run);
    return s.integer(0);
  }
  /// The first of `count` new places in a run.
  std::int64_t reserve(std::int64_t run, std::int64_t count) {
    statement s(*connection_, "UPDATE run SET results = results + ? WHERE id = ?"
                              " RETURNING results - ?");
    if (!s.with(count, run, count).next()) refuse_run(run);
    return s.integer(0);
  }
  [[noreturn]] void refuse_run(std::int64_t run) const {
    throw error("the store has no run " + std::to_string(run), path(), "begin one");
  }

  place place_of(std::int64_t system, const measurement& m) {
    packed p = pack(m);
    const bool failed = !m.error.empty();
    const std::int64_t sum = sum_of_row(parts_->rows.sum_of_system(system), m, failed,
                                        checksum().add(p.description).value(), p.numbers);
    return {.system = system,
            .layer = parts_->layers.of({m.family, m.key}),
            .setting = parts_->settings.of({m.type, std::to_string(m.threads)}),
            .failed = failed ? 1 : 0,
            .variant = parts_->variants.of({m.backend, m.algorithm, m.state}),
            .description = parts_->descriptions.of({p.description}),
            .numbers = std::move(p.numbers),
            .sum = sum};
  }
  void insert(const place& p, std::int64_t run, std::int64_t n) {
    parts_->insert.run(p.system, p.layer, p.setting, p.failed, p.variant, run, n, p.description,
                       p.numbers, p.sum);
  }
  bool is_there(const place& p) {
    return parts_->same
        .with(p.system, p.layer, p.setting, p.failed, p.variant, p.description, p.numbers, p.sum)
        .first([](const statement&) {});
  }

  std::unique_ptr<connection> connection_;
  std::unique_ptr<parts> parts_;
};

} // namespace benanza::result::store
