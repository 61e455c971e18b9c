// SPDX-License-Identifier: Apache-2.0
// How do rows become measurements again? Rows of one layer on one system are side by side; each is
// read with its setting, its variant and its description, which are looked up once. A row that does
// not say what was written becomes a failed case, to be measured again; where it names what is not
// there, the store is refused.
//
//   row_reader rows(d);   rows.of_layer(system, layer, [](stored&& s) { ... });
#pragma once

#include "../fields.hpp"
#include "connection.hpp"
#include "packed.hpp"

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace benanza::result::store {

/// Why a case failed whose row does not say what was written.
inline constexpr std::string_view damaged_row = "its row in the store is damaged, measure it again";

inline bool is_damaged(const measurement& m) {
  return m.error == damaged_row;
}

/// The checksum of a row, over all that it says and names; of the system and the description, over
/// theirs.
inline std::int64_t sum_of_row(std::int64_t system, const measurement& m, bool failed,
                               std::int64_t description, std::span<const unsigned char> numbers) {
  return checksum()
      .add(system)
      .add(m.family)
      .add(m.key)
      .add(m.type)
      .add(m.threads)
      .add(m.backend)
      .add(m.algorithm)
      .add(m.state)
      .add(failed ? 1 : 0)
      .add(description)
      .add(numbers)
      .value();
}

/// A measurement with its place in the store.
struct stored {
  measurement what;
  std::int64_t run = 0;
  std::int64_t n = 0; ///< which one of its run
};

/// Reads rows of a store; refers to the connection.
class row_reader {
public:
  explicit row_reader(const connection& d)
      : connection_(&d)
      , of_layer_(d, select("WHERE system = ? AND layer = ?"))
      , of_setting_(d, select("WHERE system = ? AND layer = ? AND setting = ?"))
      , of_layers_(d, select("WHERE system = ? AND layer BETWEEN ? AND ?"))
      , next_layer_(d, "SELECT layer FROM result WHERE system = ? AND layer >= ? ORDER BY layer"
                       " LIMIT 1")
      , successes_(d, select("WHERE system = ? AND layer = ? AND setting = ? AND failed = 0 AND"
                             " (SELECT effort FROM run WHERE run.id = result.run) >= ?",
                             " LIMIT ?"))
      , system_(d, "SELECT machine, software FROM system WHERE id = ?")
      , run_(d, "SELECT checksum IS NULL FROM run WHERE id = ?")
      , layer_(d, "SELECT family, key FROM layer WHERE id = ?")
      , setting_(d, "SELECT type, threads FROM setting WHERE id = ?")
      , variant_(d, "SELECT backend, algorithm, state FROM variant WHERE id = ?")
      , description_(d, "SELECT body FROM description WHERE id = ?") {}

  /// Calls `visit(stored&&)` for all rows of a layer, those of one setting and algorithm together.
  template <class Visit>
  void of_layer(std::int64_t system, std::int64_t layer, Visit&& visit) {
    each(of_layer_.with(system, layer), visit);
  }
  /// The same for one setting only.
  template <class Visit>
  void of_setting(std::int64_t system, std::int64_t layer, std::int64_t setting, Visit&& visit) {
    each(of_setting_.with(system, layer, setting), visit);
  }
  /// The same for all layers, one after the other. A server sends all rows of a question before the
  /// first is seen, so no question is for more than some layers.
  template <class Visit>
  void of_system(std::int64_t system, Visit&& visit) {
    constexpr std::int64_t layers = 64, last = std::numeric_limits<std::int64_t>::max();
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    const auto take_first = [&](const statement& row) { first = row.integer(0); };
    while (next_layer_.with(system, first).first(take_first)) {
      const std::int64_t end = first > last - layers ? last : first + layers;
      each(of_layers_.with(system, first, end), visit);
      if (end == last) return;
      first = end + 1;
    }
  }

  /// True if there is a successful row of that setting that says what was written, of a run with no
  /// less than that effort.
  bool any_success(std::int64_t system, std::int64_t layer, std::int64_t setting,
                   std::int64_t effort) {
    // Almost always the first one will do, and a server sends all that it is asked for.
    for (const std::int64_t most : {std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}) {
      bool found = false;
      std::int64_t seen = 0;
      successes_.with(system, layer, setting, effort, most).some([&](const statement& row) {
        measurement m = named(row);
        found = fill(m, row);
        ++seen;
        return !found;
      });
      if (found || seen < most) return found;
    }
    return false;
  }

  /// The checksum of a system: of its machine and its software.
  std::int64_t sum_of_system(std::int64_t id) {
    if (const auto at = system_sums_.find(id); at != system_sums_.end()) return at->second;
    checksum sum;
    look_up(system_, id, "system",
            [&](const statement& found) { sum.add(found.text(0)).add(found.text(1)); });
    return system_sums_.emplace(id, sum.value()).first->second;
  }

  /// Forgets what an undone transaction takes back.
  void forget() { system_sums_.clear(); }

private:
  static std::string select(std::string_view which, std::string_view how_many = {}) {
    return "SELECT layer, setting, variant, run, n, description, numbers, checksum, failed, system"
           " FROM result " +
           std::string(which) +
           " ORDER BY system, layer, setting, failed, variant, run, n" + // as SQLite stores them
           std::string(how_many);
  }

  template <class Visit>
  void each(statement& rows, Visit& visit) {
    rows.each([&](const statement& row) {
      stored s{.what = named(row), .run = row.integer(3), .n = row.integer(4)};
      if (!fill(s.what, row)) {
        s.what = named(row);
        s.what.error = damaged_row;
        s.what.name = detail::case_name(s.what);
      }
      visit(std::move(s));
    });
  }

  /// Fills in what a row says; false if that is not what was written.
  bool fill(measurement& m, const statement& row) {
    const description* d = described(row.integer(5));
    const std::int64_t system = sum_of_system(row.integer(9));
    const bool failed = row.integer(8) != 0;
    if (d == nullptr ||
        (row.null(7) ? !unchecked(row.integer(3))
                     : row.integer(7) != sum_of_row(system, m, failed, d->sum(), row.bytes(6))))
      return false;
    try {
      unpack(m, *d, row.bytes(6));
    } catch (const error&) { // of a row without a checksum
      return false;
    }
    return m.error.empty() != failed && impossible_field(m).empty();
  }

  /// True for a run from before there were checksums.
  bool unchecked(std::int64_t run) {
    const auto known = unchecked_.find(run);
    if (known != unchecked_.end()) return known->second;
    bool& old = unchecked_[run];
    run_.with(run).first([&](const statement& found) { old = found.integer(0) != 0; });
    return old;
  }

  /// The case that a row names.
  measurement named(const statement& row) {
    measurement m;
    if (row.integer(0) != layer_id_)
      look_up(layer_, row.integer(0), "layer", [&](const statement& found) {
        family_ = found.text(0);
        key_ = found.text(1);
        layer_id_ = row.integer(0);
      });
    m.family = family_;
    m.key = key_;
    const measurement& setting = known(settings_, row.integer(1), [&](measurement& to) {
      look_up(setting_, row.integer(1), "setting", [&](const statement& found) {
        to.type = found.text(0);
        to.threads = static_cast<int>(found.integer(1));
      });
    });
    m.type = setting.type;
    m.threads = setting.threads;
    const measurement& variant = known(variants_, row.integer(2), [&](measurement& to) {
      look_up(variant_, row.integer(2), "variant", [&](const statement& found) {
        to.backend = found.text(0);
        to.algorithm = found.text(1);
        to.state = found.text(2);
      });
    });
    m.backend = variant.backend;
    m.algorithm = variant.algorithm;
    m.state = variant.state;
    return m;
  }

  /// The entry `id` of a table that is read on demand.
  template <class Fill>
  static const measurement& known(std::unordered_map<std::int64_t, measurement>& table,
                                  std::int64_t id, Fill&& fill) {
    if (const auto at = table.find(id); at != table.end()) return at->second;
    measurement found;
    fill(found);
    return table.emplace(id, std::move(found)).first->second;
  }

  /// A description; null: it is not one.
  const description* described(std::int64_t id) {
    if (const auto at = descriptions_.find(id); at != descriptions_.end()) return &at->second;
    std::string body;
    look_up(description_, id, "description", [&](const statement& found) { body = found.text(0); });
    try {
      return &descriptions_.emplace(id, description(body)).first->second;
    } catch (const error&) {
      return nullptr;
    }
  }

  template <class Take>
  void look_up(statement& s, std::int64_t id, const char* table, Take&& take) const {
    if (!s.with(id).first(take))
      connection_->refuse_damaged("a result names a " + std::string(table) + " that is not there");
  }

  const connection* connection_;
  statement of_layer_, of_setting_, of_layers_, next_layer_, successes_;
  statement system_, run_, layer_, setting_, variant_, description_;
  std::int64_t layer_id_ = 0;
  std::string family_, key_;
  std::unordered_map<std::int64_t, measurement> settings_, variants_;
  std::unordered_map<std::int64_t, description> descriptions_;
  std::unordered_map<std::int64_t, std::int64_t> system_sums_;
  std::unordered_map<std::int64_t, bool> unchecked_;
};

} // namespace benanza::result::store
