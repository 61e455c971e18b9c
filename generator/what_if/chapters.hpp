// SPDX-License-Identifier: Apache-2.0
// The answers for a GPU that is not here, as tables: of each model rooflines, engines, fusion and
// tensor cores, by type; and all layers. Titles mark what a figure is: [l] listed by a library, [d]
// roofline of the data sheet. What is not known is empty.
//
//   report::tables::chapter c = what_if_answer(answer(all, graphs, arguments));
#pragma once

#include "answers.hpp"

#include "../../analyzer/report/units.hpp"

#ifdef BENANZA_WITH_CUDNN

#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/view/take.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::generator {

namespace detail {
using report::tables::cell, report::tables::chapter, report::tables::table, report::tables::unit,
    report::tables::whole;

inline cell type_cell(numeric t) {
  return std::string(name(t));
}

/// An algorithm's id without the knobs of its engine.
inline std::string engine_of(const std::string& id) {
  return id.substr(0, id.find('_'));
}

/// The library's own words without its codes: the first of the reasons that it gives.
inline std::string short_reason(const std::string& words) {
  constexpr std::string_view before = "Reason: ", behind = " Warning: ";
  const std::size_t at = words.find(before);
  if (at == std::string::npos) return printable(words.substr(0, words.find(": {")), 100);
  const std::string rest = words.substr(at + before.size());
  return "cuDNN says " + printable(rest.substr(0, rest.find(behind)), 80);
}

/// The peaks of a data sheet, in the order in which they are shown.
inline table peaks_table(const data_sheet& d) {
  table t{.key = "peaks", .columns = report::tables::keys({"type", "dense_tflop_per_s"})};
  for (const numeric n :
       {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::e4m3, numeric::s8s8s8})
    if (const double rate = d.flops_per_ns(n); rate > 0)
      t.rows.push_back({std::string(quantised(n) ? "s8" : name(n)), rate / 1e3});
  return t;
}

inline void add_sheet(chapter& out, const answers& a) {
  if (!a.sheet) {
    out.say("[d]", "no data sheet is known of a GPU that a file describes: no rooflines.");
    return;
  }
  table peaks = peaks_table(*a.sheet);
  std::string text;
  for (const std::vector<cell>& row : peaks.rows)
    text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", std::get<std::string>(row[0]),
                        std::get<double>(row[1]));
  out.fields.push_back({"board", std::string(a.sheet->board)});
  out.fields.push_back({"memory_gb_per_s", static_cast<double>(a.sheet->gb_per_s)});
  out.say("[l]", "listed: engines of cuDNN, plain functions of cuBLAS.");
  out.say("[d]", fmt::format("roofline of NVIDIA's data sheet, {}, dense: {} Tflop/s, {:g} GB/s; "
                             "operands come from memory (those in the L2 cache come faster).",
                             a.sheet->board, text, a.sheet->gb_per_s));
  out.add(std::move(peaks));
}

/// Nodes of which each is a kernel at least.
inline std::int64_t kernels_of(const model::graph& g) {
  return ranges::count_if(g.nodes, [&](const model::node& n) {
    const op::layer* l = model::layer_of(g, n);
    return l != nullptr && !op::is_view(*l);
  });
}

inline table rooflines_table(const answers& a, const model_answer& m) {
  table t{.key = "rooflines",
          .title = "Rooflines of all layers one after the other [d]",
          .columns = {{"type", "type", unit::name},
                      {"unfused_ns", "unfused", unit::time},
                      {"by_arithmetic", "by arithmetic", unit::share},
                      {"fused_ns", "fused", unit::time},
                      {"saves", "saves", unit::share},
                      {"bytes_not_moved", "bytes not moved", unit::bytes},
                      {"nodes_unknown", "nodes without", unit::count}}};
  for (const type_answer& of : m.types) {
    const bool known = a.sheet && a.sheet->flops_per_ns(of.type) > 0;
    const auto where = [&](bool is, auto make) { return known && is ? cell(make()) : cell(); };
    const roof_sum &whole_sum = of.unfused, fused = of.fused.value_or(roof_sum{});
    const bool any = whole_sum.ns > 0;
    t.rows.push_back({type_cell(of.type), where(true, [&] { return whole_sum.ns; }),
                      where(any, [&] { return whole_sum.arithmetic_ns / whole_sum.ns; }),
                      where(of.fused.has_value(), [&] { return fused.ns; }),
                      where(any && of.fused, [&] { return 1 - fused.ns / whole_sum.ns; }),
                      where(of.fused.has_value(), [&] { return whole_sum.bytes - fused.bytes; }),
                      where(true, [&] { return whole_sum.unknown; })});
  }
  const std::int64_t unfused = kernels_of(*m.it), fused = m.fused ? kernels_of(*m.fused) : 0;
  t.note = fmt::format("A type without figures: the data sheet has no such arithmetic. Launches "
                       "are not in it: of {} kernels at least{}.",
                       unfused, fused > 0 ? fmt::format(", {} fused", fused) : "");
  return t;
}

/// Layers and nodes that a tally counts, for people the layers.
inline void add_tally(std::vector<cell>& row, const tally& t) {
  row.insert(row.end(), {t.layers, t.nodes});
}
inline void tally_columns(table& t, const std::string& key, const std::string& title) {
  t.columns.push_back({key + "_layers", title, unit::count});
  t.columns.push_back({key + "_nodes", ""});
}

inline table engines_table(const model_answer& m) {
  table t{.key = "engines",
          .title = "Layers for which cuDNN lists [l]",
          .columns = {{"type", "type", unit::name}}};
  tally_columns(t, "several", "several engines");
  tally_columns(t, "one", "one");
  tally_columns(t, "none", "none");
  for (const type_answer& of : m.types) {
    std::vector<cell>& row = t.rows.emplace_back(std::vector<cell>{type_cell(of.type)});
    add_tally(row, of.several), add_tally(row, of.one), add_tally(row, of.none);
  }
  return t;
}

/// The layers of a model in a type, the heaviest first.
inline table layers_table(const type_answer& of) {
  constexpr std::size_t heaviest = 6;
  table t{.key = "layers",
          .title = fmt::format("Layers in {}, the heaviest first", name(of.type)),
          .columns = {{"layer", "layer", unit::name},
                      {"type", ""},
                      {"uses", "uses", unit::count},
                      {"roofline_ns", "[d] each", unit::time},
                      {"limited_by", ""},
                      {"engines", "[l]", unit::count},
                      {"first", ""},
                      {"first_engines", "cuDNN's first [l]"},
                      {"tensor_cores", ""},
                      {"tensor_cores_gain", "", unit::factor},
                      {"refused", ""}},
          .shown = heaviest,
          .all_by = "--format json"};
  for (const auto& [l, uses] : of.layers) {
    const bool may = l->multiplies && l->on != tensor_cores::none;
    t.rows.push_back(
        {op::name(l->list->layer), type_cell(of.type), whole(uses),
         l->least ? cell(l->least->ns) : cell(),
         l->least ? cell(std::string(l->least->by_memory() ? "memory" : "arithmetic")) : cell(),
         whole(l->engines), l->first,
         join(l->first | ranges::views::take(2) | ranges::views::transform(engine_of), " "),
         l->multiplies ? cell(std::string(l->on == tensor_cores::listed     ? "listed"
                                          : l->on == tensor_cores::not_told ? "not told"
                                                                            : "none"))
                       : cell(),
         may && l->least && l->without_tensor_cores ? cell(l->gain()) : cell(),
         l->refused.empty() ? cell() : cell(printable(l->refused))});
  }
  return t;
}

inline table fusion_table(const answers& a, const type_answer& of) {
  table t{.key = "fusion",
          .title = fmt::format("Nodes that stand for several, in {}", name(of.type)),
          .columns = {{"family", "nodes of", unit::name},
                      {"type", ""},
                      {"nodes", "all", unit::count},
                      {"with_engine", "with an engine [l]", unit::count},
                      {"saves_ns", "saves [d]", unit::time},
                      {"bytes_not_moved", "bytes not moved", unit::bytes},
                      {"refused", ""}}};
  const bool known = a.sheet && a.sheet->flops_per_ns(of.type) > 0;
  for (const fused_group& g : of.groups)
    t.rows.push_back({g.family, type_cell(of.type), g.all.nodes, g.listed.nodes,
                      known ? cell(g.saved_ns) : cell(), known ? cell(g.saved_bytes) : cell(),
                      g.refused.empty() ? cell() : cell(printable(g.refused))});
  return t;
}

/// The same for programs alone.
inline table not_shown(table t) {
  for (report::tables::column& c : t.columns)
    c.title.clear();
  return t;
}

inline table tensor_cores_table(const model_answer& m) {
  table t{.key = "tensor_cores",
          .title = "Layers that multiply, and may use tensor cores [l]",
          .columns = {{"type", "type", unit::name}}};
  tally_columns(t, "listed", "cuDNN's");
  tally_columns(t, "not_told", "cuBLAS: not told");
  tally_columns(t, "none", "none");
  t.columns.push_back({"without_ns", "without [d]", unit::time});
  t.columns.push_back({"with_ns", "with [d]", unit::time});
  tally_columns(t, "gain_nothing", "gain nothing");
  for (const type_answer& of : m.types) {
    if (of.type == numeric::f32) continue; // which does not use them
    std::vector<cell>& row = t.rows.emplace_back(std::vector<cell>{type_cell(of.type)});
    add_tally(row, of.on_listed), add_tally(row, of.on_not_told), add_tally(row, of.on_none);
    const bool known = of.without_ns > 0;
    row.insert(row.end(),
               {known ? cell(of.without_ns) : cell(), known ? cell(of.with_ns) : cell()});
    if (known)
      add_tally(row, of.no_gain);
    else
      row.insert(row.end(), {cell(), cell()});
  }
  return t;
}

/// The layer that gains most, or the heaviest that may use tensor cores and gains nothing.
inline const layer_answer* example(const type_answer& t, bool gains) {
  const layer_answer* best = nullptr;
  double most = 0;
  for (const auto& [l, uses] : t.layers) {
    if (!l->multiplies || l->on == tensor_cores::none || !l->least || !l->without_tensor_cores)
      continue;
    if ((l->gain() >= least_gain) != gains) continue;
    const double weight = static_cast<double>(uses) *
                          (gains ? l->without_tensor_cores->ns - l->least->ns : l->least->ns);
    if (weight > most) best = l, most = weight;
  }
  return best;
}

inline void say_examples(chapter& c, const answers& a, const type_answer& t) {
  if (const layer_answer* l = example(t, true))
    c.say(fmt::format("{}: {} gains most: {} with f32's units, {} with tensor cores.", name(t.type),
                      op::name(l->list->layer), report::show_time(l->without_tensor_cores->ns),
                      report::show_time(l->least->ns)));
  if (const layer_answer* l = example(t, false))
    c.say(fmt::format(
        "{}: {} gains nothing: memory limits it, with {:.1f} flop/byte; f32's units do from {:.1f} "
        "on.",
        name(t.type), op::name(l->list->layer),
        static_cast<double>(l->least->flops) / static_cast<double>(l->least->bytes),
        a.sheet->flops_per_ns(numeric::f32) / a.sheet->bytes_per_ns()));
}

/// The type whose layers people see: that with the least fused roofline.
inline const type_answer& shown_type(const answers& a, const model_answer& m) {
  const auto weight = [&a](const type_answer& t) {
    const bool known = a.sheet && a.sheet->flops_per_ns(t.type) > 0;
    return known ? (t.fused ? t.fused->ns : t.unfused.ns) : std::numeric_limits<double>::max();
  };
  return *std::min_element(m.types.begin(), m.types.end(),
                           [&](auto& x, auto& y) { return weight(x) < weight(y); });
}

inline chapter model_chapter(const answers& a, const model_answer& m) {
  chapter c{.key = "models",
            .title = m.it->name,
            .title_is_name = true,
            .fields = {{"model", m.it->name, true}, {"unresolved", m.unresolved}}};
  if (m.unresolved > 0)
    c.warn(fmt::format("PARTIAL: {} nodes are not resolved, and in no figure.", m.unresolved));
  if (a.sheet) c.add(rooflines_table(a, m));
  c.add(engines_table(m));
  const type_answer& shown = shown_type(a, m);
  std::map<std::string, std::set<std::string_view>> refused; // families, by why
  for (const auto& [l, uses] : shown.layers)
    if (l->engines == 0) refused[short_reason(l->refused)].insert(op::family(l->list->layer));
  for (const auto& [why, families] : refused)
    c.say(fmt::format("None in {} for {}: {}.", name(shown.type), join(families, ", "), why));
  const auto add = [&](const type_answer& of, auto make) {
    c.add(&of == &shown ? make(of) : not_shown(make(of)));
  };
  for (const type_answer& of : m.types)
    add(of, layers_table);
  if (m.fused == nullptr) c.say("Fusion: no pattern fits this model.");
  for (const type_answer& of : m.types)
    add(of, [&a](const type_answer& its) { return fusion_table(a, its); });
  c.add(tensor_cores_table(m));
  if (a.sheet)
    for (const type_answer& of : m.types)
      say_examples(c, a, of);
  return c;
}
} // namespace detail

/// A chapter for each model.
inline report::tables::chapter what_if_answer(const answers& a) {
  report::tables::chapter out;
  detail::add_target(out, a.list);
  detail::add_sheet(out, a);
  for (const model_answer& m : a.models)
    out.chapters.push_back(detail::model_chapter(a, m));
  return out;
}

} // namespace benanza::generator

#endif
