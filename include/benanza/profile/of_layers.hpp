// SPDX-License-Identifier: Apache-2.0
// What does a profile say of the layers? Each of them (A2), their latency and memory in the order
// in which they ran (A3, A4), and how many there are, what they take and what they hold, by type
// (A5, A6, A7).
//
//   table t = layer_table(run);   table u = latency_by_type(run);
#pragma once

#include "levelled_run.hpp"
#include "table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::profile {

namespace detail {
inline const column number_column{"#", "", "number of the layer, in the order they ran"};
inline const column layer_column{"layer", "", "name of the node, or of the framework's operator"};
inline const column type_column{"type", "", "its operator"};
inline const column latency_column{"time", "us", "of the layer, in the run with events of layers"};

/// The memory of a layer: what it makes, and what it holds.
inline std::optional<double> memory_of(const layer& l) {
  if (!l.result_bytes) return std::nullopt;
  return *l.result_bytes + l.constant_bytes.value_or(0);
}

struct of_type {
  std::int64_t count = 0, without_memory = 0;
  double ns = 0, memory = 0;
};
/// By type, in descending order of `figure`.
template <class Figure>
std::vector<std::pair<std::string, of_type>> by_type(const levelled_run& r, Figure&& figure) {
  std::map<std::string, of_type> all;
  for (const layer& l : r.layers) {
    of_type& t = all[l.type];
    ++t.count;
    t.ns += l.ns;
    if (const auto bytes = memory_of(l))
      t.memory += *bytes;
    else
      ++t.without_memory;
  }
  std::vector<std::pair<std::string, of_type>> out(all.begin(), all.end());
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
    return figure(a.second) > figure(b.second);
  });
  return out;
}

inline void say_no_layers(table& t, const levelled_run& r) {
  if (r.layers.empty()) t.notes.push_back("no layers are known: measure with --levels layer");
}
} // namespace detail

/// A2: every layer, with all that is known of it.
inline table layer_table(const levelled_run& r) {
  table t{.id = "A2",
          .title = "Layers",
          .columns = {detail::number_column,
                      detail::layer_column,
                      detail::type_column,
                      {"dims", "", "the layer's key, or what is told of its dims"},
                      detail::latency_column,
                      {"of all", "%", "of all layers' time"},
                      {"alone", "us", "the same algorithm measured alone, with cold weights"},
                      {"call events", "us", "what taking events of calls added to it"},
                      {"memory", "MiB", "result and weights; counted from dims"},
                      {"ran by", "", "library and algorithm, or the framework's kernel"}}};
  const double all_ns = r.layers_ns();
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    t.rows.push_back({static_cast<std::int64_t>(i), l.name, l.type, l.what, l.ns / us,
                      all_ns > 0 ? cell(100 * l.ns / all_ns) : cell(), known(l.alone_ns, us),
                      l.with_calls_ns ? cell((*l.with_calls_ns - l.ns) / us) : cell(),
                      known(detail::memory_of(l), mib), l.ran});
  }
  detail::say_no_layers(t, r);
  return t;
}

/// A3: how long each layer takes, and when it begins.
inline table latency_per_layer(const levelled_run& r) {
  table t{.id = "A3",
          .title = "Latency per layer",
          .columns = {detail::number_column,
                      detail::layer_column,
                      {"begins", "us", "since the run began; ours: the sum of the layers before"},
                      detail::latency_column}};
  for (std::size_t i = 0; i < r.layers.size(); ++i)
    t.rows.push_back({static_cast<std::int64_t>(i), r.layers[i].name,
                      known(r.layers[i].begin_ns, us), r.layers[i].ns / us});
  detail::say_no_layers(t, r);
  if (r.laid_out) t.notes.push_back("the profile does not say when layers began");
  return t;
}

/// A4: what memory each layer makes and holds.
inline table memory_per_layer(const levelled_run& r) {
  table t{
      .id = "A4",
      .title = "Memory per layer",
      .columns = {detail::number_column,
                  detail::layer_column,
                  {"result", "MiB", "that it writes; counted from dims"},
                  {"weights", "MiB", "that a trained model holds constant; counted from dims"}}};
  std::int64_t unknown = 0;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const layer& l = r.layers[i];
    unknown += l.result_bytes ? 0 : 1;
    t.rows.push_back({static_cast<std::int64_t>(i), l.name, known(l.result_bytes, mib),
                      known(l.constant_bytes, mib)});
  }
  detail::say_no_layers(t, r);
  if (unknown > 0)
    t.notes.push_back("of " + std::to_string(unknown) + " layers the dims are not known");
  t.notes.push_back("an allocator may take more, and gives memory to several in turn");
  return t;
}

/// A5: how many layers there are of each type.
inline table count_by_type(const levelled_run& r) {
  table t{.id = "A5",
          .title = "Layers by type",
          .columns = {detail::type_column,
                      {"layers", "", "of the type"},
                      {"of all", "%", "of all layers"}}};
  for (const auto& [type, all] :
       detail::by_type(r, [](const auto& x) { return static_cast<double>(x.count); }))
    t.rows.push_back({type, all.count,
                      100 * static_cast<double>(all.count) / static_cast<double>(r.layers.size())});
  detail::say_no_layers(t, r);
  return t;
}

/// A6: how long those of each type take.
inline table latency_by_type(const levelled_run& r) {
  table t{.id = "A6",
          .title = "Latency by type",
          .columns = {detail::type_column,
                      {"layers", "", "of the type"},
                      {"time", "us", "of all of them"},
                      {"of all", "%", "of all layers' time"},
                      {"each", "us", "on average"}}};
  const double all_ns = r.layers_ns();
  for (const auto& [type, all] : detail::by_type(r, [](const auto& x) { return x.ns; }))
    t.rows.push_back({type, all.count, all.ns / us,
                      all_ns > 0 ? cell(100 * all.ns / all_ns) : cell(),
                      all.ns / us / static_cast<double>(all.count)});
  detail::say_no_layers(t, r);
  return t;
}

/// A7: what memory those of each type make and hold.
inline table memory_by_type(const levelled_run& r) {
  table t{.id = "A7",
          .title = "Memory by type",
          .columns = {detail::type_column,
                      {"memory", "MiB", "results and weights of all of them; counted from dims"},
                      {"of all", "%", "of that of all layers"},
                      {"not known", "", "layers of the type whose dims are not known"}}};
  const auto rows = detail::by_type(r, [](const auto& x) { return x.memory; });
  double sum = 0;
  for (const auto& [type, all] : rows)
    sum += all.memory;
  for (const auto& [type, all] : rows) {
    const bool any = all.without_memory < all.count;
    t.rows.push_back({type, any ? cell(all.memory / mib) : cell(),
                      any && sum > 0 ? cell(100 * all.memory / sum) : cell(), all.without_memory});
  }
  detail::say_no_layers(t, r);
  return t;
}

} // namespace benanza::profile
