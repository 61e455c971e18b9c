// SPDX-License-Identifier: Apache-2.0
// What was not measured that a model's figures need, and which one command measures all of it? The
// model's layers, those of its fused form and its changes of layout; not what nothing runs. The
// command's filter names whole families where a run holds nothing of them, else keys.
//
//   b = with_missing(std::move(b), run);   b.missing_command   // benanza_bench --model ...
#pragma once

#include "../core/printable.hpp"
#include "../model/dims.hpp"
#include "../model/operands.hpp"
#include "../result/effort.hpp"
#include "../result/machine_key.hpp"
#include "figures.hpp"
#include "layout/choices.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/addressof.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/join.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::bound {

/// A text as one word of a shell's command line.
inline std::string shell_word(std::string_view text) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
    return std::string(text);
  std::string out = "'";
  for (char c : text)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + '\'';
}
/// The same of a file in this folder, which must not look like an option.
inline std::string shell_file(const std::string& name) {
  return shell_word(name.starts_with('-') ? "./" + name : name);
}

namespace detail {
/// Alternatives of a regular expression, in parentheses if there are several.
inline std::string any_of(const std::vector<std::string>& patterns) {
  const auto out = patterns | ranges::views::join('|') | ranges::to<std::string>;
  return patterns.size() == 1 ? out : '(' + out + ')';
}
} // namespace detail

/// The filter for the cases of some layers. Of `whole` families all layers are meant.
inline std::string filter_of(const std::vector<std::string>& layers,
                             const std::set<std::string>& whole = {}) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const std::string& l : layers) {
    const std::size_t slash = l.find('/');
    keys[l.substr(0, slash)].push_back(as_pattern(l.substr(slash + 1)));
  }
  std::vector<std::string> families;
  for (const auto& [family, of_it] : keys)
    families.push_back(as_pattern(family) +
                       (whole.contains(family) ? "" : '/' + detail::any_of(of_it)));
  return '^' + detail::any_of(families) + '/';
}

/// benanza_bench, with the files of models that were measured, if they were not those compiled in.
inline std::string bench_program(const result::run& r) {
  std::string out = "benanza_bench";
  const auto facts = r.provenance.find("measuring");
  if (facts == r.provenance.end() || !facts->second.contains(result::graphs_fact)) return out;
  for (const std::string_view file :
       items(facts->second.at(result::graphs_fact), result::between_facts))
    if (printable(file, file.size()) == file) out += " --graphs " + shell_file(std::string(file));
  return out;
}

/// The options of benanza_bench by which the rest of the run was measured; on `threads` and in
/// `type` where these say others.
inline std::string bench_setting(const result::run& r, const model_bound& b,
                                 const std::string& threads = {},
                                 std::optional<numeric> type = std::nullopt) {
  std::string out;
  if (const numeric wanted = type.value_or(b.type); wanted != b.graph->type)
    out += " --types " + std::string(name(wanted));
  if (!threads.empty() || b.threads != 1)
    out += " --threads " + (threads.empty() ? std::to_string(b.threads) : threads);
  if (const auto facts = r.provenance.find("measuring"); facts != r.provenance.end())
    if (const auto fact = facts->second.find("effort"); fact != facts->second.end())
      if (const auto e = result::parse_effort(fact->second); e && *e != result::effort::normal)
        out += " --effort " + std::string(name(*e));
  return out;
}

/// The start of the command that measures something of `b` so.
inline std::string bench_command(const result::run& r, const model_bound& b,
                                 const std::string& threads = {},
                                 std::optional<numeric> type = std::nullopt) {
  std::string out = bench_program(r);
  const std::string& model = b.graph->name;
  if (!b.graph->model.empty() && !model.empty() && printable(model, model.size()) == model)
    out += " --model " + shell_word(model);
  return out + bench_setting(r, b, threads, type);
}

/// How commands are given the dims that a model was read with.
inline std::string dims_options(const model::graph& g) {
  std::string out;
  for (const auto& [symbol, n] : g.dims)
    out += " --dim " + shell_word(symbol + "=" + std::to_string(n));
  return out;
}

namespace detail {
/// Changes of layout that layers may need once they are measured: of their tensors, between any
/// layouts that the cases of `mine` have, where there is no case of it.
inline std::set<std::string> changes_for(const std::set<std::string>& layers,
                                         const std::vector<const model::graph*>& graphs,
                                         const std::vector<const measurement*>& mine) {
  std::set<layout> layouts{layout::plain};
  std::set<std::string> known;
  for (const measurement* m : mine) {
    if (m->family == "reorder") known.insert(m->family + '/' + m->key);
    std::vector<std::optional<layout>> of_case;
    read_layouts(m->operand_layouts, of_case);
    read_layouts(m->result_layout, of_case);
    for (const std::optional<layout>& l : of_case)
      if (l) layouts.insert(*l);
  }
  std::set<std::string> out;
  const auto add = [&](const std::optional<shape>& dims, dtype element) {
    if (!dims || dims->size < 3 || dims->size > 5) return;
    for (layout from : layouts)
      for (layout to : layouts)
        if (!same_memory(from, to, *dims))
          out.insert(op::name(op::reorder_of(*dims, element, from, to)));
  };
  for (const model::graph* g : graphs)
    for (const model::node& n : g->nodes) {
      if (n.layer == model::no_layer) continue;
      const op::layer& l = g->layers[at(n.layer)];
      if (!layers.contains(op::name(l))) continue;
      add(op::output(l), op::results(l)[0].element);
      std::size_t place = 0;
      for (const model::operand& o : model::known_operands(n))
        if (o.node != model::constant)
          add(op::operand_dims(l, place++),
              o.node < 0 ? dtype::real : model::result_element(*g, o));
    }
  std::erase_if(out, [&](const std::string& change) { return known.contains(change); });
  return out;
}
} // namespace detail

/// `b` with all that is missing, where `missing` held the changes of layout, and the command for
/// it.
inline model_bound with_missing(model_bound b, const result::run& r) {
  for (auto* holes : {&b.covered.holes, &b.covered.rooflines})
    for (hole& h : *holes)
      if (!h.command.empty()) h.command = bench_program(r) + h.command.substr(h.command.find(' '));
  for (const layer_answer& l : b.layers) {
    if (l.rests_on == basis::view) continue;
    if (l.left == 0 && (l.timed() ? !l.untried : l.nothing_runs)) continue;
    // A fused layer that was tried in vain is taken as its parts.
    if (l.uses > 0 || (l.fused_uses > 0 && (l.untried || l.left > 0))) b.missing.push_back(l.name);
  }
  std::set<std::string> of_machine;
  for (const measurement& m : r.measurements)
    if (m.family == result::machine_family && result::not_reached(m)) {
      b.machine_left += result::cases_behind(m);
      of_machine.insert(m.family + '/' + m.key);
    }
  b.missing.insert(b.missing.end(), of_machine.begin(), of_machine.end());
  if (b.missing.empty()) return b;
  std::set<std::string> selected(b.missing.begin(), b.missing.end()), whole;
  const auto mine =
      r.measurements | ranges::views::filter([&b](const measurement& m) {
        return m.type == name(b.type) && m.threads == b.threads && !result::not_reached(m);
      }) |
      ranges::views::addressof | ranges::to<std::vector>;
  std::vector<const model::graph*> graphs{b.graph};
  if (b.fused) graphs.push_back(b.fused->graph);
  if (b.layouts) selected.merge(detail::changes_for(selected, graphs, mine));
  b.missing_filter = {selected.begin(), selected.end()};
  for (const std::string& l : selected)
    whole.insert(l.substr(0, l.find('/')));
  for (const measurement* m : mine)
    whole.erase(m->family);
  if (!of_machine.empty()) whole.insert(std::string(result::machine_family));
  // Where nothing was measured of it, all is missing.
  b.missing_command = bench_command(r, b);
  if (ranges::any_of(mine, [](const measurement* m) { return result::of_a_layer(*m); }))
    b.missing_command += " --benchmark_filter='" + filter_of(b.missing_filter, whole) + '\'';
  b.missing_command += " --benchmark_out=" + std::string(missing_file);
  return b;
}

} // namespace benanza::bound
