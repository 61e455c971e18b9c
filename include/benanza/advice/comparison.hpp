// SPDX-License-Identifier: Apache-2.0
// Where does a framework's time go, against the best kernels? Its operators are matched to the
// model's nodes, and each is held against the best that was measured of the same work: the same
// nodes, fused where they can be and the framework runs them as one. From the framework's run down
// to the roofline every step is a bar, so that they add up; what nobody can explain is one of them.
// Profiled times are never added up to a total: that is of runs without a profiler. Times in ns.
//
//   comparison c = compare(profile, model);   c.bars[0].what   c.rows[0].lost_ns()
#pragma once

#include "../bound/figures.hpp"
#include "../bound/form_totals.hpp"
#include "../result/statistics.hpp"
#include "../trace/profile/match.hpp"

#include <fmt/format.h>
#include <range/v3/action/sort.hpp>
#include <range/v3/action/stable_sort.hpp>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/min.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::advice {

/// Two times are told apart if they lie further apart than this share, or their own scatter.
inline constexpr double told_apart = 0.05;
/// Branches that win less than this share of the bound are not spoken of.
inline constexpr double least_parallel = 0.01;

/// One operator of the framework, and the best of the same work.
struct compared_operator {
  std::size_t op = 0;       ///< of the profile
  std::vector<int> nodes{}; ///< of the unfused graph that it stands for, ascending
  trace::matched_by how = trace::matched_by::nothing;
  double ns = 0, scatter_ns = 0; ///< median of its runs, and half of their middle range
  double best_ns = 0;            ///< the prediction of the same work
  bool known = false;            ///< all of that work was measured or modelled
  std::string layer{};           ///< the layer that takes most of it
  const bound::layer_answer* answer = nullptr; ///< of that layer

  double lost_ns() const { return known ? ns - best_ns : 0; }
  /// +1: the framework is slower beyond noise; -1: it is faster; 0: neither.
  int verdict() const {
    if (!known) return 0;
    const double noise = std::max(told_apart * std::max(ns, best_ns), 2 * scatter_ns);
    return lost_ns() > noise ? 1 : lost_ns() < -noise ? -1 : 0;
  }
};

/// Operators of one layer and kernel: a row of a table.
struct compared_row {
  std::string layer{}, type{}, kernel{}; ///< the layer, and the framework's operator and kernel
  const bound::layer_answer* answer = nullptr;
  std::vector<const compared_operator*> operators{};
  double ns = 0, best_ns = 0; ///< of all of them

  double lost_ns() const { return ns - best_ns; }
};

/// Operators that match no node of the model, by their kind.
struct added_row {
  std::string type{};
  std::int64_t count = 0;
  double ns = 0;
};

/// A step from the framework's run down to the roofline: what it takes away, where positive.
struct bar {
  std::string_view id{}; ///< stable
  std::string what{};
  bound::figure takes{};
  double left_ns = 0; ///< behind it
};

/// A framework's run of a model, held against what was measured of its layers.
struct comparison {
  const trace::profile* from = nullptr;
  const bound::model_bound* model = nullptr;
  bound::figure latency{};       ///< median of its runs without a profiler; of what it told else
  double least_ns = 0;           ///< of them
  bool latency_profiled = false; ///< there are only runs with the profiler
  bool disturbed = false;        ///< runs without the profiler took longer than those with it
  trace::attribution matched{};
  std::vector<compared_operator> operators{};   ///< matched ones, in their order
  std::vector<compared_operator> groups{};      ///< where ours runs as one what are several there
  std::vector<compared_row> slower{}, faster{}; ///< rows that are told apart, most time first
  std::vector<added_row> added{};               ///< most time first
  std::vector<bar> bars{};
  std::int64_t nodes = 0; ///< of the model, without views
  std::int64_t matched_nodes = 0;
  double unexplained_ns = 0; ///< outside of all operators, or all of it without a profile

  bool profiled() const { return !from->operators.empty(); }
};

namespace detail {
inline std::vector<double> ascending(std::vector<double> samples) {
  return std::move(samples) | ranges::actions::sort;
}

inline double median_of(const std::vector<double>& samples) {
  return samples.empty() ? 0 : result::quantile(ascending(samples), 0.5);
}

/// Half of the range that the middle half of samples lies in.
inline double scatter_of(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const std::vector<double> sorted = ascending(samples);
  return (result::quantile(sorted, 0.75) - result::quantile(sorted, 0.25)) / 2;
}

/// The median of redrawn samples, with its interval.
inline bound::figure median_figure(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  const std::vector<double> sorted = ascending(samples);
  bound::generator random{3};
  std::vector<double> drawn;
  for (int i = 0; i < bound::redraws; ++i)
    drawn.push_back(bound::redrawn_median(sorted, random));
  return bound::between(std::move(drawn), result::quantile(sorted, 0.5));
}

/// What the model's nodes take by the best that was measured, for any set of nodes.
class work_table {
public:
  explicit work_table(const bound::model_bound& b)
      : b_(b) {}

  /// What a set of nodes takes, fused where all parts of a fused layer are in it. `layer_ns` is of
  /// each of b.layers.
  double take(const std::vector<int>& nodes, const std::vector<double>& layer_ns) const {
    double sum = 0;
    for (const auto& [layer, fused, count] : pieces(nodes, layer_ns))
      sum += static_cast<double>(count) * layer_ns[layer];
    return sum;
  }

  /// True if everything that the nodes do has a time.
  bool known(const std::vector<int>& nodes) const {
    return ranges::all_of(nodes, [&](int n) {
      const int l = b_.graph->nodes[bound::detail::at(n)].layer;
      return (l != model::no_layer && b_.layers[bound::detail::at(l)].known()) || in_known_group(n);
    });
  }

  /// The layer that takes most of a set of nodes; null: none has a time.
  const bound::layer_answer* main_layer(const std::vector<int>& nodes,
                                        const std::vector<double>& layer_ns) const {
    const bound::layer_answer* best = nullptr;
    double most = -1;
    for (const piece& p : pieces(nodes, layer_ns))
      if (layer_ns[p.layer] > most) {
        most = layer_ns[p.layer];
        best = &b_.layers[p.layer];
      }
    return best;
  }

private:
  struct piece {
    std::size_t layer = 0; ///< of b.layers
    bool fused = false;
    int count = 1;
  };

  bool in_known_group(int node) const {
    if (!b_.fused) return false;
    const int owner = b_.fused->pair.owner[bound::detail::at(node)];
    const model::node& f = b_.fused->graph->nodes[bound::detail::at(owner)];
    return f.layer != model::no_layer &&
           b_.layers[b_.fused->layers[bound::detail::at(f.layer)]].known();
  }

  std::vector<piece> pieces(const std::vector<int>& nodes,
                            const std::vector<double>& layer_ns) const {
    std::vector<piece> out;
    std::map<int, std::vector<int>> groups; // by the fused node
    for (int n : nodes)
      groups[b_.fused ? b_.fused->pair.owner[bound::detail::at(n)] : -1 - n].push_back(n);
    for (const auto& [owner, inside] : groups) {
      double parts_ns = 0;
      bool parts_known = true;
      std::vector<piece> parts;
      for (int n : inside) {
        const int l = b_.graph->nodes[bound::detail::at(n)].layer;
        const bool known = l != model::no_layer && b_.layers[bound::detail::at(l)].known();
        parts_known = parts_known && known;
        if (!known) continue;
        parts.push_back({static_cast<std::size_t>(l)});
        parts_ns += layer_ns[bound::detail::at(l)];
      }
      if (owner >= 0) {
        const auto f = bound::detail::at(owner);
        const model::node& node = b_.fused->graph->nodes[f];
        if (node.layer != model::no_layer && node.parts.size() == inside.size() &&
            b_.fused->pair.differs(f)) {
          const std::size_t l = b_.fused->layers[bound::detail::at(node.layer)];
          const bound::layer_answer& a = b_.layers[l];
          if ((a.timed() || b_.fused->pair.is_view(f)) &&
              (!parts_known || layer_ns[l] <= parts_ns)) {
            out.push_back({l, true});
            continue;
          }
        }
      }
      out.insert(out.end(), parts.begin(), parts.end());
    }
    return out;
  }

  const bound::model_bound& b_;
};

/// What the same redraws make of a difference of two sums.
inline bound::figure difference(const std::vector<double>& from, const std::vector<double>& to,
                                double point) {
  std::vector<double> drawn;
  for (std::size_t i = 0; i < from.size(); ++i)
    drawn.push_back(from[i] - to[i]);
  return bound::between(std::move(drawn), point);
}

/// A total with a value for each redraw.
struct drawn_total {
  double ns = 0;
  std::vector<double> drawn = std::vector<double>(bound::redraws, 0.0);

  void add(const std::vector<double>& samples, bound::generator& random) {
    if (samples.empty()) return;
    const std::vector<double> sorted = ascending(samples);
    ns += result::quantile(sorted, 0.5);
    for (double& d : drawn)
      d += bound::redrawn_median(sorted, random);
  }
  /// A figure of the model, whose redraws are not kept: its interval stands for them.
  static drawn_total of(const bound::figure& f) {
    drawn_total out{.ns = f.ns};
    bound::generator random{5};
    for (double& d : out.drawn)
      d = f.low_ns + random.uniform() * (f.high_ns - f.low_ns);
    return out;
  }
};

/// The bars between totals that follow each other.
class bar_chain {
public:
  explicit bar_chain(drawn_total top)
      : last_(std::move(top)) {}

  void down_to(std::string_view id, std::string what, drawn_total next) {
    bars_.push_back(
        {id, std::move(what), difference(last_.drawn, next.drawn, last_.ns - next.ns), next.ns});
    last_ = std::move(next);
  }
  std::vector<bar> take() { return std::move(bars_); }

private:
  drawn_total last_;
  std::vector<bar> bars_{};
};

inline std::vector<compared_row> rows_of(const std::vector<compared_operator>& all,
                                         const trace::profile& p, int verdict) {
  std::vector<compared_row> out;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> place;
  for (const compared_operator& o : all) {
    if (o.verdict() != verdict) continue;
    const trace::profiled_operator& of = p.operators[o.op];
    const auto [found, fresh] = place.try_emplace({o.layer, of.type, of.kernel}, out.size());
    if (fresh)
      out.push_back({.layer = o.layer, .type = of.type, .kernel = of.kernel, .answer = o.answer});
    compared_row& row = out[found->second];
    row.operators.push_back(&o);
    row.ns += o.ns;
    row.best_ns += o.best_ns;
  }
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, [verdict](const auto& r) {
           return verdict * r.lost_ns();
         });
}

/// True for operators that did nothing in any run.
inline bool idle(const trace::profiled_operator& o) {
  return o.ns.empty() || median_of(o.ns) <= 0;
}

inline std::vector<added_row> added_rows(const comparison& c) {
  std::map<std::string, added_row> rows;
  for (const auto& [i, o] : ranges::views::enumerate(c.from->operators)) {
    if (!c.matched.added(i) || idle(o)) continue;
    added_row& row = rows.try_emplace(o.type, added_row{.type = o.type}).first->second;
    ++row.count;
    row.ns += median_of(o.ns);
  }
  std::vector<added_row> out;
  for (auto& [type, row] : rows)
    out.push_back(std::move(row));
  return std::move(out) | ranges::actions::stable_sort(ranges::greater{}, &added_row::ns);
}

/// Nodes of which something has to be computed.
inline bool computes(const model::graph& g, const model::node& n) {
  const op::layer* l = model::layer_of(g, n);
  return l == nullptr || !op::is_view(*l);
}

inline std::vector<compared_operator> compared_operators(const comparison& c,
                                                         const work_table& work,
                                                         const std::vector<double>& layer_ns) {
  std::vector<std::vector<std::size_t>> together(c.matched.leader.size());
  for (const auto& [i, leader] : ranges::views::enumerate(c.matched.leader))
    together[bound::detail::at(leader)].push_back(i);
  std::vector<compared_operator> out;
  for (const auto& [i, nodes] : ranges::views::enumerate(c.matched.nodes)) {
    if (nodes.empty()) continue;
    compared_operator one{.op = i, .nodes = nodes, .how = c.matched.sureness(i)};
    one.known = work.known(nodes);
    for (std::size_t j : together[i]) {
      const trace::profiled_operator& o = c.from->operators[j];
      one.ns += median_of(o.ns);
      one.scatter_ns += scatter_of(o.ns);
      one.known = one.known && !o.ns.empty();
    }
    one.best_ns = work.take(nodes, layer_ns);
    one.answer = work.main_layer(nodes, layer_ns);
    if (one.answer != nullptr) one.layer = one.answer->name;
    out.push_back(std::move(one));
  }
  return out;
}

/// The operators as the best run has its layers: where that runs as one what are several operators
/// there, these are one. A framework that is faster in a part of it only is not faster.
inline std::vector<compared_operator> compared_groups(const comparison& c) {
  const bound::model_bound& b = *c.model;
  if (!b.fused) return c.operators;
  const bound::layer_times point = bound::point_times(b.layers);
  const bound::detail::fused_times t = bound::detail::times_as_fused(b, point.prediction);
  const auto group_of = [&](const compared_operator& o) { // -1: in none, or in several
    int owner = -1;
    for (int n : o.nodes) {
      if (!computes(*b.graph, b.graph->nodes[bound::detail::at(n)])) continue;
      const int its = b.fused->pair.owner[bound::detail::at(n)];
      if (owner >= 0 && owner != its) return -1;
      owner = its;
    }
    return owner >= 0 && t.own[bound::detail::at(owner)] < bound::detail::never ? owner : -1;
  };
  std::vector<compared_operator> out;
  std::map<int, std::size_t> place; // of the group
  for (const compared_operator& o : c.operators) {
    const int group = group_of(o);
    const auto [found, fresh] =
        group < 0 ? std::pair(place.end(), true) : place.try_emplace(group, out.size());
    if (fresh) {
      out.push_back(o);
      continue;
    }
    compared_operator& all = out[found->second];
    all.nodes.insert(all.nodes.end(), o.nodes.begin(), o.nodes.end());
    all.ns += o.ns;
    all.scatter_ns += o.scatter_ns;
    all.best_ns += o.best_ns;
    all.known = all.known && o.known;
    all.how = std::max(all.how, o.how);
  }
  for (const auto& [group, where] : place) {
    const auto g = bound::detail::at(group);
    const auto [own, parts] = b.fused->pair.times(g, t.own, t.parts);
    if (!(own < parts)) continue;
    compared_operator& all = out[where];
    all.best_ns = std::min(all.best_ns, own);
    all.answer = &b.layers[b.fused->layers[bound::detail::at(b.fused->graph->nodes[g].layer)]];
    all.layer = all.answer->name;
  }
  return out;
}

/// The bars from the framework's run down to what a run should take.
inline void add_bars(comparison& c, const work_table& work) {
  const bound::model_bound& b = *c.model;
  const bound::form_figures& form = b.fastest_form();
  bound::generator random{7};
  drawn_total run;
  run.add(c.from->latency_ns.empty() ? c.from->profiled_ns : c.from->latency_ns, random);
  if (run.ns <= 0) return;
  bar_chain chain(std::move(run));
  const bound::layer_times point = bound::point_times(b.layers);
  const std::vector<bound::layer_times> redrawn = bound::redrawn_times(b.layers);
  const auto best_of = [&](const std::vector<int>& nodes) {
    drawn_total out{.ns = work.take(nodes, point.prediction)};
    for (std::size_t d = 0; d < redrawn.size(); ++d)
      out.drawn[d] = work.take(nodes, redrawn[d].prediction);
    return out;
  };
  const auto plus = [](drawn_total a, const drawn_total& x) {
    a.ns += x.ns;
    for (std::size_t i = 0; i < a.drawn.size(); ++i)
      a.drawn[i] += x.drawn[i];
    return a;
  };
  if (c.profiled()) {
    drawn_total all, mine;
    for (const auto& [i, o] : ranges::views::enumerate(c.from->operators)) {
      all.add(o.ns, random);
      if (!c.matched.added(i)) mine.add(o.ns, random);
    }
    chain.down_to("between_operators", "outside of its operators: calls, scheduling, memory", all);
    chain.down_to("added_operators", "operators that the model does not have", mine);
    drawn_total best;
    for (const compared_operator& o : c.operators)
      best = plus(std::move(best), best_of(o.nodes));
    std::vector<int> nobodys;
    for (const auto& [i, owner] : ranges::views::enumerate(c.matched.owner))
      if (owner == trace::no_operator) nobodys.push_back(static_cast<int>(i));
    chain.down_to("kernels", "kernels slower than the best for the same work", best);
    const drawn_total left_out = best_of(nobodys);
    if (left_out.ns > 0)
      chain.down_to("left_out", "nodes that it does not run, or nobody matched",
                    plus(std::move(best), left_out));
    chain.down_to("fusion", "layers that it does not fuse",
                  drawn_total::of(form.prediction.sequential));
  } else {
    chain.down_to("unexplained", "not explained: there is no profile of its operators",
                  drawn_total::of(form.prediction.sequential));
  }
  if (const auto expected = bound::expected(form); expected && form.layouts)
    chain.down_to("layouts", "changes of layout that the best algorithms want",
                  drawn_total::of(*expected));
  chain.down_to("caches", "caches warmer than in a run, and no interference",
                drawn_total::of(form.bound.sequential));
  const bool parallel = (c.from->threads == 0 || c.from->threads >= b.workers * b.threads) &&
                        form.bound.reachable.ns < (1 - least_parallel) * form.bound.sequential.ns;
  if (parallel)
    chain.down_to("parallel", fmt::format("branches side by side on {} workers", b.workers),
                  drawn_total::of(form.bound.reachable));
  const bound::figure& roof = parallel ? form.roofline.reachable : form.roofline.sequential;
  if (roof.ns > 0)
    chain.down_to("roofline", "kernels that do not reach the machine's limits",
                  drawn_total::of(roof));
  c.bars = chain.take();
}
} // namespace detail

/// Holds a profile against the model `b`. Refers to both.
inline comparison compare(const trace::profile& p, const bound::model_bound& b) {
  comparison c{.from = &p, .model = &b};
  c.latency_profiled = p.latency_ns.empty();
  const std::vector<double>& runs = c.latency_profiled ? p.profiled_ns : p.latency_ns;
  c.latency = detail::median_figure(runs);
  if (!runs.empty()) c.least_ns = ranges::min(runs);
  c.disturbed = !p.latency_ns.empty() && !p.profiled_ns.empty() &&
                c.latency.ns > (1 + told_apart) * detail::median_of(p.profiled_ns);
  c.matched = trace::attribute(p, *b.graph);
  const detail::work_table work(b);
  const std::vector<double> point = bound::point_times(b.layers).prediction;
  c.operators = detail::compared_operators(c, work, point);
  c.slower = detail::rows_of(c.operators, p, 1);
  c.groups = detail::compared_groups(c);
  c.faster = detail::rows_of(c.groups, p, -1);
  c.added = detail::added_rows(c);
  for (const auto& [n, owner] : ranges::views::zip(b.graph->nodes, c.matched.owner)) {
    if (!detail::computes(*b.graph, n)) continue;
    ++c.nodes;
    c.matched_nodes += owner != trace::no_operator;
  }
  detail::add_bars(c, work);
  for (const bar& one : c.bars)
    if (one.id == "between_operators" || one.id == "unexplained") c.unexplained_ns = one.takes.ns;
  return c;
}

} // namespace benanza::advice
