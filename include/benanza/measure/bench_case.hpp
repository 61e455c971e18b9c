// SPDX-License-Identifier: Apache-2.0
// Which cases are there? Layer x type x backend x algorithm x state x threads, each with the name
// that people read and filter by. All cases of one layer, type and number of threads form a group:
// they are prepared, checked and sampled together.
//
//   auto groups = list_cases(layers, graphs, libraries, options);   groups[0].cases[0].name
#pragma once

#include "../model/footprint.hpp"
#include "../model/registry.hpp"
#include "../result/fields.hpp"
#include "../result/own_cache.hpp"
#include "crash_guard.hpp"
#include "death.hpp"
#include "layer_subject.hpp"
#include "options.hpp"
#include "reorders.hpp"

#include <cstring>
#include <regex.h>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::measure {

/// What --benchmark_filter selects: an extended regular expression, turned round by a leading '-'.
class name_filter {
public:
  explicit name_filter(std::string text) {
    if (text.empty() || text == "all") return;
    if (text.front() == '-') {
      inverted_ = true;
      text.erase(0, 1);
    }
    auto compiled = std::make_unique<regex_t>();
    if (regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      throw error("not a regular expression: \"" + text + "\"", "--benchmark_filter");
    pattern_.reset(compiled.release());
    // What a name must begin with, as far as it is plain: "^Conv.*7x7" wants "Conv".
    if (inverted_ || text.front() != '^' || text.find('|') != std::string::npos) return;
    beginning_ = text.substr(1, text.find_first_of(".[]{}()*+?\\^$", 1) - 1);
    const std::size_t behind = 1 + beginning_.size();
    if (!beginning_.empty() && behind < text.size() && std::strchr("*?{", text[behind]) != nullptr)
      beginning_.pop_back(); // its last letter may be missing
  }
  bool operator()(const std::string& name) const {
    return !pattern_ || (regexec(pattern_.get(), name.c_str(), 0, nullptr, 0) == 0) != inverted_;
  }
  /// False if no name that begins so can be selected.
  bool may_select(std::string_view start) const {
    const std::size_t both = std::min(start.size(), beginning_.size());
    return start.substr(0, both) == std::string_view(beginning_).substr(0, both);
  }

private:
  struct release {
    void operator()(regex_t* r) const {
      regfree(r);
      delete r;
    }
  };
  bool inverted_ = false;
  std::string beginning_{};
  std::unique_ptr<regex_t, release> pattern_;
};

namespace detail {
/// A name must survive as one part of a case name.
inline std::string name_part(std::string text) {
  for (char& c : text)
    if (c == '/' || c == ' ') c = '_';
  return text;
}

struct offer {
  backend::library* library;
  backend::algorithm algorithm;
};

/// What libraries say of a layer.
struct offer_list {
  std::vector<offer> list{};
  std::map<std::string, std::string> failed{}; ///< libraries that could not say, and why
};

/// Everything the libraries have for a layer. Reference loops and outdated instruction sets are
/// left out where there is anything better, unless `all` are asked for. `title` names layer and
/// type; a library that `crashed` over them before is not asked again.
inline offer_list offers(const std::string& title, const op::layer& layer, numeric type,
                         int threads, const library_list& libraries,
                         const std::map<std::string, int>& crashed, bool all) {
  offer_list out;
  for (const auto& library : libraries) {
    const std::string backend(library->name()), what = title + '/' + backend;
    std::string why;
    if (const auto crash = crashed.find(what); crash != crashed.end()) {
      why = how_it_ended(crash->second);
    } else {
      const asking now(what);
      try {
        for (backend::algorithm& a : library->enumerate(layer, type, {.threads = threads}))
          out.list.push_back({library.get(), std::move(a)});
      } catch (const std::exception& e) {
        why = e.what();
      }
    }
    if (!why.empty()) out.failed[backend] = why + ", while its algorithms were listed";
  }
  if (all) return out;
  const auto rank = [type](const offer& o) {
    if (o.algorithm.equivalence != name(type)) return 3;
    if (o.algorithm.fallback == "ref") return 2;
    return o.algorithm.fallback == "old-isa" ? 1 : 0;
  };
  int best = 3;
  for (const offer& o : out.list)
    best = std::min(best, rank(o));
  std::erase_if(out.list, [&](const offer& o) { return rank(o) > best; });
  return out;
}
} // namespace detail

/// The type in which a model is measured where none is asked for: its own, or f32 where no library
/// here computes some of its layers in that. Frameworks without such kernels do the same.
inline numeric measured_type(const model::graph& g, const library_list& libraries,
                             const options& o) {
  if (g.type == numeric::f32 || !o.types.empty()) return g.type;
  for (const auto& library : libraries)
    if (library->on_device()) return g.type;
  const auto computes = [&](const op::layer& l, numeric type) {
    const std::string title = op::name(l) + '/' + std::string(name(type));
    return !detail::offers(title, l, type, o.threads.front(), libraries, o.crashed, false)
                .list.empty();
  };
  for (const op::layer& l : g.layers)
    if (!op::is_view(l) && !computes(l, g.type) && computes(l, numeric::f32)) return numeric::f32;
  return g.type;
}

/// In which cache states layers are measured: how much a run of a model leaves of its weights and
/// of its activations' memory in the last cache is for each model to say.
class state_choice {
public:
  state_choice(const std::vector<model::graph>& graphs, const options& o)
      : options_(o) {
    for (const model::graph& g : graphs) {
      all_.push_back(&g);
      for (const op::layer& l : g.layers)
        users_[op::name(l)].push_back(&g);
    }
  }

  /// The states of a layer in type `t`. A device has caches of its own, which hold no weights from
  /// run to run.
  std::vector<std::string> states(const op::layer& l, numeric t, int threads, bool on_device) {
    std::vector<std::string> out;
    for (const std::string& s : options_.states) {
      if (s == "llcw" && on_device) continue;
      if (s != "coldw" || options_.states_given || on_device) {
        out.push_back(s);
        continue;
      }
      place all;
      for (const model::graph* g : users(l))
        all.add(place_of(*g, t, threads));
      if (all.some_kept) out.push_back("llcw");
      if (all.some_gone || !all.some_kept) out.push_back("coldw");
    }
    return out;
  }

private:
  /// Of a model's weights, when it runs again.
  struct place {
    bool some_kept = false; ///< in the last cache
    bool some_gone = false;

    void add(const place& p) { some_kept |= p.some_kept, some_gone |= p.some_gone; }
  };

  /// How long a run takes is not known before it is measured: it may be so much longer or shorter.
  static constexpr double guessed_within = 2;

  place place_of(const model::graph& g, numeric t, int threads) {
    const auto [at, is_new] = places_.try_emplace({&g, t, threads});
    if (is_new) {
      const auto bytes = static_cast<double>(model::footprint_bytes(g, t));
      const double ns = model::runs_about_ns(g, t, threads);
      const result::own_cache& own = options_.own_cache;
      // Who shares a cache takes it over with time, even if he rested while we looked.
      const bool may_be_taken = options_.shares_last_cache && own.ns == 0;
      const result::own_cache fewer = own.beside(1 / result::others_change),
                              more = own.beside(result::others_change);
      at->second = {.some_kept = fewer.gone(bytes, ns / guessed_within) < 1,
                    .some_gone = more.gone(bytes, ns * guessed_within) > 0 || may_be_taken};
    }
    return at->second;
  }

  /// The models that may run a layer. Reorders are none of a model's own layers: any may need them.
  const std::vector<const model::graph*>& users(const op::layer& l) {
    return std::holds_alternative<op::reorder>(l) ? all_ : users_[op::name(l)];
  }

  const options& options_;
  std::vector<const model::graph*> all_{};
  std::map<std::string, std::vector<const model::graph*>> users_{};
  std::map<std::tuple<const model::graph*, numeric, int>, place> places_{};
};

/// The row of a layer in a type on so many threads that a library could not list, as `error` says,
/// or that none runs: then that is called "none" too.
inline result::measurement row_of_nothing(const op::layer& l, numeric type, int threads,
                                          const std::string& library, const std::string& error) {
  const std::string none(result::nothing_name);
  result::measurement m;
  m.family = op::family(l);
  m.key = op::key(l);
  m.type = m.equivalence = name(type);
  m.backend = library;
  m.algorithm = m.state = none;
  m.threads = threads;
  m.name = m.family + '/' + m.key + '/' + m.type + '/' + library + '/' + none + '/' + none + "/t" +
           std::to_string(threads);
  m.error = error;
  return m;
}

/// The case that stands for what a library could not list.
inline bench_case failed_at_listing(const result::measurement& row) {
  bench_case c{.name = row.name, .backend = row.backend, .algorithm = {}, .state = row.state};
  c.algorithm.id = row.algorithm;
  c.results = {row};
  return c;
}

/// All groups of cases that the options select, sorted by layer, type and threads. `without` gets a
/// row for each setting of a selected layer in which there is no case, or that a library could not
/// list. The latter is a case too, which has failed already.
inline std::vector<group> list_cases(const std::vector<op::registered_layer>& layers,
                                     const std::vector<model::graph>& graphs,
                                     const library_list& libraries, const options& o,
                                     std::vector<result::measurement>* without = nullptr) {
  // The types in which the models themselves use each layer.
  std::map<std::string, std::set<numeric>> own_types;
  for (const model::graph& g : graphs) {
    const numeric type = measured_type(g, libraries, o);
    for (const op::layer& l : g.layers)
      own_types[op::name(l)].insert(type);
  }

  std::map<std::string, const op::registered_layer*> sorted;
  for (const op::registered_layer& l : layers)
    if (!op::is_view(l.parameters) && !l.known) sorted.emplace(op::name(l.parameters), &l);

  const name_filter selected(o.filter);
  state_choice choice(graphs, o);
  std::vector<group> groups;
  std::map<std::pair<numeric, int>, layout_table> layouts;
  const auto add = [&](const std::string& layer_name, const op::registered_layer& l, numeric type,
                       int threads) {
    const auto [found, failed] =
        detail::offers(layer_name + '/' + std::string(name(type)), l.parameters, type, threads,
                       libraries, o.crashed, o.all_algorithms);
    group g{std::make_shared<layer_subject>(l.parameters, l.cost, type, threads, libraries)};
    for (const detail::offer& f : found)
      layouts[{type, threads}].add(layer_name, f.algorithm);
    for (const detail::offer& f : found)
      for (const std::string& state :
           choice.states(l.parameters, type, threads, f.library->on_device())) {
        bench_case c{.name = layer_name + '/' + std::string(name(type)) + '/' +
                             std::string(f.library->name()) + '/' +
                             detail::name_part(f.algorithm.id) + '/' + state + "/t" +
                             std::to_string(threads),
                     .backend = std::string(f.library->name()),
                     .algorithm = f.algorithm,
                     .state = state};
        if (selected(c.name)) g.cases.push_back(std::move(c));
      }
    const std::shared_ptr<subject> what = g.what;
    if (!g.cases.empty()) groups.push_back(std::move(g));
    for (const auto& [library, why] : failed) {
      const auto row = row_of_nothing(l.parameters, type, threads, library, why);
      if (!selected(row.name)) continue;
      groups.push_back({.what = what, .cases = {failed_at_listing(row)}, .measured = true});
      if (without != nullptr) without->push_back(row);
    }
    if (found.empty() && failed.empty() && without != nullptr) {
      const std::string none(result::nothing_name);
      const auto row =
          row_of_nothing(l.parameters, type, threads, none,
                         "no backend has an algorithm for it in " + std::string(name(type)));
      if (selected(row.name)) without->push_back(row);
    }
    return !found.empty();
  };

  // Reorders rest on what is listed for all layers.
  const bool reorders_too = selected.may_select("reorder/");
  for (const auto& [layer_name, l] : sorted) {
    if (!reorders_too && !selected.may_select(layer_name + '/')) continue;
    const auto own = own_types.find(layer_name);
    if (!o.model.empty() && own == own_types.end()) continue;
    const std::set<numeric> model_types =
        own == own_types.end() ? std::set{numeric::f32} : own->second;
    std::set<numeric> types(o.types.begin(), o.types.end());
    if (types.empty()) types = model_types;
    for (int threads : o.threads) {
      bool all_types = true;
      for (numeric type : types)
        all_types = add(layer_name, *l, type, threads) && all_types;
      // What no library has in the type asked for runs in the model's own.
      if (!all_types)
        for (numeric type : model_types)
          if (!types.contains(type)) add(layer_name, *l, type, threads);
    }
  }
  const auto of_layers = layouts;
  for (const auto& [setting, table] : of_layers)
    for (const auto& [layer_name, r] : reorders(graphs, table))
      add(layer_name, {model::no_layer, r, r.cost()}, setting.first, setting.second);
  return groups;
}

} // namespace benanza::measure
