// SPDX-License-Identifier: Apache-2.0
// How do rows become measurements again? Rows of one layer on one system lie side by side; each is
// read with its setting, its variant and its description, which are looked up once. What does not
// fit together is refused: the store is damaged then.
//
//   row_reader rows(d);   rows.of_layer(system, layer, [](stored&& s) { ... });
#pragma once

#include "database.hpp"
#include "packed.hpp"

#include <string>
#include <unordered_map>
#include <utility>

namespace benanza::result::store {

/// A measurement with its place in the store.
struct stored {
  measurement what;
  std::int64_t run = 0;
  std::int64_t n = 0; ///< which one of its run
};

/// Reads rows of a store; refers to the database.
class row_reader {
public:
  explicit row_reader(const database& d)
      : database_(&d)
      , of_layer_(d, "SELECT layer, setting, variant, run, n, description, numbers FROM result"
                     " WHERE system = ? AND layer = ?")
      , of_setting_(d, "SELECT layer, setting, variant, run, n, description, numbers FROM result"
                       " WHERE system = ? AND layer = ? AND setting = ?")
      , of_system_(d, "SELECT layer, setting, variant, run, n, description, numbers FROM result"
                      " WHERE system = ?")
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
  /// The same for all layers, one after the other.
  template <class Visit>
  void of_system(std::int64_t system, Visit&& visit) {
    each(of_system_.with(system), visit);
  }

private:
  template <class Visit>
  void each(statement& rows, Visit& visit) {
    rows.each([&](const statement& row) {
      stored s;
      s.run = row.integer(3);
      s.n = row.integer(4);
      measurement& m = s.what;
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
      try {
        unpack(m, described(row.integer(5)), row.bytes(6));
      } catch (const error& e) {
        database_->refuse_damaged(e.what());
      }
      visit(std::move(s));
    });
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

  const description& described(std::int64_t id) {
    if (const auto at = descriptions_.find(id); at != descriptions_.end()) return at->second;
    std::string body;
    look_up(description_, id, "description", [&](const statement& found) { body = found.text(0); });
    return descriptions_.emplace(id, description(body)).first->second;
  }

  template <class Take>
  void look_up(statement& s, std::int64_t id, const char* table, Take&& take) const {
    if (!s.with(id).first(take))
      database_->refuse_damaged("a result names a " + std::string(table) + " that is not there");
  }

  const database* database_;
  statement of_layer_, of_setting_, of_system_, layer_, setting_, variant_, description_;
  std::int64_t layer_id_ = 0;
  std::string family_, key_;
  std::unordered_map<std::int64_t, measurement> settings_, variants_;
  std::unordered_map<std::int64_t, description> descriptions_;
};

} // namespace benanza::result::store
