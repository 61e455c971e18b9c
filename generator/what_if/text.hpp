// SPDX-License-Identifier: Apache-2.0
// How do the answers for a GPU that is not here look to people? A screen for each model, each
// figure with a mark of what it is: [l] listed by a library, [d] roofline of the data sheet, [e]
// estimate. What is not known is a dash.
//
//   say(text_of(answer(all, graphs, arguments)));
#pragma once

#include "answers.hpp"

#ifdef BENANZA_WITH_CUDNN

namespace benanza::generator {

namespace detail {
inline constexpr std::size_t screen = 80;
inline constexpr std::size_t heaviest = 6; ///< layers that are shown

/// "12.3 us", "1.20 ms"
inline std::string time_text(double ns) {
  const double us = ns / 1e3;
  if (us >= 999.5) return fmt::format("{:.{}f} ms", us / 1e3, us < 9995 ? 2 : 1);
  return fmt::format("{:.{}f} us", us, us < 9.995 ? 2 : 1);
}
inline std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}
inline std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}
inline std::string counted(std::int64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

/// Words over as many lines as they need, the first behind `start`, all others below it.
inline std::string wrapped(std::string_view start, std::string_view words) {
  std::string out, line(start);
  bool fresh = true;
  for (const std::string_view w : split_at(words, " ")) {
    if (!fresh && line.size() + 1 + w.size() > screen) {
      out += line + '\n';
      line.assign(start.size(), ' ');
      fresh = true;
    }
    line.append(fresh ? "" : " ").append(w);
    fresh = false;
  }
  return out + line + '\n';
}

/// True where a cut before byte `i` would split a character.
inline bool inside_character(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
}

/// Text of at most `width` columns, cut in its middle for a tail of at most `tail` columns.
inline std::string cell(std::string_view text, std::size_t width, std::size_t tail = 0) {
  const std::string clean = printable(text, text.size());
  if (clean.size() <= width) return clean;
  std::size_t end = width - 2 - tail, again = clean.size() - tail;
  while (inside_character(clean, end))
    --end;
  while (inside_character(clean, again))
    ++again;
  return clean.substr(0, end) + ".." + clean.substr(again);
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

/// What is said of several things, with all of them before it.
class said_of {
public:
  void add(std::string_view thing, const std::string& words) {
    auto at =
        std::find_if(all_.begin(), all_.end(), [&](auto& one) { return one.second == words; });
    if (at == all_.end()) at = all_.insert(all_.end(), {{}, words});
    if (std::find(at->first.begin(), at->first.end(), thing) == at->first.end())
      at->first.emplace_back(thing);
  }
  std::vector<std::pair<std::string, std::string>> each() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& [things, words] : all_)
      out.emplace_back(join(things, ", "), words);
    return out;
  }

private:
  std::vector<std::pair<std::vector<std::string>, std::string>> all_;
};

inline std::string marks_text(const answers& a) {
  std::string out =
      wrapped("[l] ", fmt::format("listed: engines of cuDNN {}, plain functions of cuBLAS",
                                  version_text()));
  if (a.sheet) {
    std::string peaks;
    for (const numeric t :
         {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::e4m3, numeric::s8s8s8})
      if (const double rate = a.sheet->flops_per_ns(t); rate > 0)
        peaks += fmt::format("{}{} {:g}", peaks.empty() ? "" : ", ", quantised(t) ? "s8" : name(t),
                             rate / 1e3);
    out += wrapped("[d] ",
                   fmt::format("roofline of NVIDIA's data sheet, {}, dense: {} Tflop/s, {:g} GB/s; "
                               "operands come from memory (those in the L2 cache come faster)",
                               a.sheet->board, peaks, a.sheet->gb_per_s));
  } else {
    out += wrapped("[d] ", "no data sheet is known of a GPU that a file describes: no rooflines");
  }
  return out;
}

/// Nodes of which each is a kernel at least.
inline std::int64_t kernels_of(const model::graph& g) {
  return ranges::count_if(g.nodes, [&](const model::node& n) {
    const op::layer* l = model::layer_of(g, n);
    return l != nullptr && !op::is_view(*l);
  });
}

inline std::string sums_text(const answers& a, const model_answer& m) {
  if (!a.sheet) return {};
  std::string out = "Rooflines of all layers one after the other [d]\n"
                    "            unfused  by arithmetic       fused      saves  bytes not moved\n";
  for (const type_answer& t : m.types) {
    if (!(a.sheet->flops_per_ns(t.type) > 0)) {
      out += fmt::format("  {:<7} the data sheet has no such arithmetic\n", name(t.type));
      continue;
    }
    out += fmt::format("  {:<7}{:>10}  {:>13}", name(t.type), time_text(t.unfused.ns),
                       percent(t.unfused.arithmetic_ns, t.unfused.ns));
    if (t.fused)
      out += fmt::format("  {:>10}  {:>9}  {:>15}", time_text(t.fused->ns),
                         percent(t.unfused.ns - t.fused->ns, t.unfused.ns),
                         megabytes(t.unfused.bytes - t.fused->bytes));
    out += '\n';
    if (t.unfused.unknown > 0)
      out += fmt::format("    without {}, whose rooflines are not known\n",
                         counted(t.unfused.unknown, "node"));
  }
  const std::int64_t unfused = kernels_of(*m.it), fused = m.fused ? kernels_of(*m.fused) : 0;
  return out + wrapped("  ", fmt::format("Launches are not in it: of {} at least{}.",
                                         counted(unfused, "kernel"),
                                         fused > 0 ? fmt::format(", {} fused", fused) : ""));
}

/// The type whose layers are shown: that with the least fused roofline.
inline const type_answer& shown_type(const answers& a, const model_answer& m) {
  const auto weight = [&a](const type_answer& t) {
    const bool known = a.sheet && a.sheet->flops_per_ns(t.type) > 0;
    return known ? (t.fused ? t.fused->ns : t.unfused.ns) : std::numeric_limits<double>::max();
  };
  return *std::min_element(m.types.begin(), m.types.end(),
                           [&](auto& x, auto& y) { return weight(x) < weight(y); });
}

inline std::string layers_text(const answers& a, const model_answer& m) {
  std::string out = "Algorithms: layers for which cuDNN lists [l]\n"
                    "          several engines    one   none\n";
  for (const type_answer& t : m.types) {
    out += fmt::format("  {:<7} {:>15}  {:>5}  {:>5}\n", name(t.type), t.several.layers,
                       t.one.layers, t.none.layers);
  }
  const type_answer& t = shown_type(a, m);
  said_of refused;
  for (const auto& [l, uses] : t.layers)
    if (l->engines == 0) refused.add(op::family(l->list->layer), short_reason(l->refused));
  for (const auto& [families, why] : refused.each())
    out += wrapped("  ", fmt::format("none in {}: {}: {}", name(t.type), families, why));
  if (t.several.layers == 0) return out;
  out += fmt::format("  {:>9} {:>4} {:>4}  {:<17}  the heaviest, in {}\n",
                     a.sheet ? "[d] each" : "", "uses", "[l]", "cuDNN's first [l]", name(t.type));
  std::size_t shown = 0;
  for (const auto& [l, uses] : t.layers) {
    if (l->engines < 2 || ++shown > heaviest) continue;
    const std::string first =
        l->first.empty() ? "-" : join(l->first | ranges::views::transform(engine_of), " ");
    out +=
        fmt::format("  {:>9} {:>4} {:>4}  {:<17}  {}\n", l->least ? time_text(l->least->ns) : "-",
                    uses, l->engines, cell(first, 17), cell(op::name(l->list->layer), 38, 9));
  }
  return out;
}

inline std::string fusion_text(const answers& a, const model_answer& m) {
  if (m.fused == nullptr) return "Fusion: no pattern fits this model\n";
  const type_answer& shown = shown_type(a, m);
  std::string out = fmt::format(
      "Fusion: nodes that stand for several; for how many cuDNN has an engine [l]\n  {:>5}",
      "nodes");
  for (const type_answer& t : m.types)
    out += fmt::format(" {:>6}", name(t.type));
  out += a.sheet ? fmt::format("  {:>9}  not moved  in {}\n", "saves [d]", name(shown.type)) : "\n";
  std::size_t rows = 0;
  for (const fused_group& g : shown.groups) {
    if (++rows > heaviest) continue;
    out += fmt::format("  {:>5}", g.all.nodes);
    for (const type_answer& t : m.types)
      for (const fused_group& same : t.groups)
        if (same.family == g.family) out += fmt::format(" {:>6}", same.listed.nodes);
    if (a.sheet)
      out += fmt::format("  {:>9}  {:>9}", time_text(g.saved_ns), megabytes(g.saved_bytes));
    out += "  " + cell(g.family, 21, 8) + '\n';
  }
  if (rows > heaviest) out += fmt::format("  and {} more kinds\n", rows - heaviest);
  said_of all;
  for (const type_answer& t : m.types) {
    said_of refused;
    for (const fused_group& g : t.groups)
      if (!g.refused.empty()) refused.add(g.family, short_reason(g.refused));
    for (const auto& [families, why] : refused.each())
      all.add(name(t.type), families + ": " + why);
  }
  for (const auto& [types, what] : all.each())
    out += wrapped("  ", fmt::format("none in {}: {}", types, what));
  return out;
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

inline std::string tensor_cores_text(const answers& a, const model_answer& m) {
  std::string out = "Tensor cores: layers that multiply, and may use them [l]\n"
                    "          cuDNN's  cuBLAS: not told  none";
  out += a.sheet ? "  without [d]   with [d]  gain nothing\n" : "\n";
  bool any = false;
  for (const type_answer& t : m.types) {
    if (t.type == numeric::f32) continue;
    any = true;
    out += fmt::format("  {:<7} {:>7}  {:>16}  {:>4}", name(t.type), t.on_listed.layers,
                       t.on_not_told.layers, t.on_none.layers);
    if (t.without_ns > 0)
      out += fmt::format("  {:>11}  {:>9}  {:>12}", time_text(t.without_ns), time_text(t.with_ns),
                         t.no_gain.layers);
    out += '\n';
  }
  if (!any) return "Tensor cores: f32 does not use them\n";
  if (!a.sheet) return out;
  said_of examples;
  for (const type_answer& t : m.types) {
    if (const layer_answer* l = example(t, true))
      examples.add(name(t.type),
                   fmt::format("{} gains most: {} with f32's units, {} with tensor cores",
                               cell(op::name(l->list->layer), 40, 12),
                               time_text(l->without_tensor_cores->ns), time_text(l->least->ns)));
    if (const layer_answer* l = example(t, false))
      examples.add(
          name(t.type),
          fmt::format("{} gains nothing: memory limits it, with {:.1f} flop/byte; f32's "
                      "units do from {:.1f} on",
                      cell(op::name(l->list->layer), 40, 12),
                      static_cast<double>(l->least->flops) / static_cast<double>(l->least->bytes),
                      a.sheet->flops_per_ns(numeric::f32) / a.sheet->bytes_per_ns()));
  }
  for (const auto& [types, what] : examples.each())
    out += wrapped("  ", types + ": " + what);
  return out;
}
} // namespace detail

/// A screen for each model.
inline std::string text_of(const answers& a) {
  const int capability = detail::capability_of(a.list.target.json);
  std::string out;
  for (const model_answer& m : a.models) {
    if (!out.empty()) out += '\n';
    out += detail::wrapped("",
                           fmt::format("{} on {} (compute capability {}.{}): not measured",
                                       printable(m.it->name, 60), printable(a.list.target.name, 60),
                                       capability / 100, capability / 10 % 10));
    if (const std::string w = detail::warning_of(a.list); !w.empty()) out += detail::wrapped("", w);
    out += detail::marks_text(a);
    int number = 0;
    for (const std::string& section : {detail::sums_text(a, m), detail::layers_text(a, m),
                                       detail::fusion_text(a, m), detail::tensor_cores_text(a, m)})
      if (!section.empty()) out += fmt::format("\n{}  {}", ++number, section);
    if (m.unresolved > 0)
      out += fmt::format("\nPARTIAL: {} not resolved, and in no figure\n",
                         detail::counted(m.unresolved, "node"));
  }
  return out;
}

} // namespace benanza::generator

#endif
