// SPDX-License-Identifier: Apache-2.0
// A plan with all that it refers to; and many at once: engines that are compiled when their plan is
// built take a tenth of a second to one each, on one core, and the library builds plans on several
// threads. Those are built without a handle, which threads may not share. What cannot be built so
// is tried again where it is prepared, which reports the reason.
//
//   plans_ahead ahead;   ahead.build(layer, type, algorithms, target);
//   if (auto plan = ahead.take(layer, type, id)) ...
#pragma once

#include "../../machine/side_threads.hpp"
#include "enumerate.hpp"

#include <atomic>
#include <mutex>

namespace benanza::backend::cudnn {

/// A recipe's plan of one engine.
struct built_plan {
  built_plan(recipe&& r, const engine_choice& c, const target& on)
      : made(std::move(r))
      , how(configure(made.graph, c, on))
      , plan(plan_of(how.it, on)) {}

  recipe made;
  configuration how;
  descriptor plan;
};

/// The plan of an algorithm's id; nothing where no recipe has such ids. Throws where the library
/// refuses it.
inline std::optional<built_plan> plan_of_id(const op::layer& l, numeric t, std::string_view id,
                                            const target& on) {
  for (recipe& r : recipes_for(l, t)) {
    if (!id.starts_with(r.before)) continue;
    if (const auto choice = parse_engine(id.substr(r.before.size())))
      return built_plan(std::move(r), *choice, on);
  }
  return std::nullopt;
}

class plans_ahead {
public:
  /// Builds the plans that are compiled at run time, and forgets what was not taken.
  void build(const op::layer& l, numeric t, std::span<const algorithm> all, target on) {
    built_.clear();
    constexpr std::size_t first_without_handle = 90800; // version of cuDNN
    if (cudnnGetVersion() < first_without_handle) return;
    std::vector<std::string> ids;
    for (const algorithm& a : all)
      if (a.notes.find("compiled-at-run-time") != std::string::npos) ids.push_back(a.id);
    if (ids.size() < 2) return;
    on.handle = nullptr;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < ids.size(); i = next++) {
        try {
          auto made = plan_of_id(l, t, ids[i], on);
          if (!made) continue;
          const std::lock_guard lock(mutex_);
          built_.emplace(key(l, t, ids[i]), std::move(*made));
        } catch (const std::exception&) {
          // It fails again, and says why, where it is prepared.
        }
      }
    };
    constexpr std::size_t most = 16;
    machine::on_all_processors(std::min(most, ids.size()), work);
  }

  /// The plan of an algorithm, if it was built; it is given away.
  std::optional<built_plan> take(const op::layer& l, numeric t, const std::string& id) {
    const auto node = built_.extract(key(l, t, id));
    return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
  }

private:
  static std::string key(const op::layer& l, numeric t, const std::string& id) {
    return op::name(l) + '/' + std::string(name(t)) + '/' + id;
  }

  std::mutex mutex_{};
  std::map<std::string, built_plan> built_{};
};

} // namespace benanza::backend::cudnn
