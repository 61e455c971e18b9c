// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include "../rewrite/page.hpp"
#include "../scenario/page.hpp"
#include "../training/page.hpp"
#include "advice.hpp"
#include "gaps.hpp"
#include "json_array.hpp"
#include "kinds.hpp"
#include "layers.hpp"
#include "limits.hpp"
#include "memory.hpp"
#include "screen.hpp"
#include "transfers.hpp"
#include "warnings.hpp"

#include <benanza/advice/baseline.hpp>
#include <benanza/advice/energy.hpp>
#include <benanza/advice/tensor_cores.hpp>
#include <nlohmann/json.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/map.hpp>
#include <range/v3/view/zip.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace benanza::report {

std::string dumped(const result::ordered_json& j, int indent) {
  return j.dump(indent, ' ', true, result::ordered_json::error_handler_t::replace) + '\n';
}

result::ordered_json to_json(const bound::figure& f) {
  return {{"ns", f.ns}, {"low_ns", f.low_ns}, {"high_ns", f.high_ns}};
}

namespace {
/// A batch of so many that takes so long: what each takes, and how many that is a second.
result::ordered_json rate_json(const std::optional<bound::figure>& f, std::int64_t batch) {
  const auto n = static_cast<double>(batch);
  if (!f || f->ns <= 0) return nullptr;
  return {{"ns_per_item", f->ns / n}, {"items_per_s", 1e9 * n / f->ns}};
}
} // namespace

result::ordered_json to_json(const bound::totals& t) {
  return {{"sequential", to_json(t.sequential)},   {"parallel", to_json(t.parallel)},
          {"reachable", to_json(t.reachable)},     {"path_nodes", t.longest.nodes},
          {"path_share_of_redraws", t.path_share}, {"paths", t.paths}};
}

result::ordered_json to_json(const std::optional<bound::layout_solution>& l) {
  if (!l) return nullptr;
  return {{"total", to_json(l->total)},
          {"reorders", l->change_count},
          {"reorders_time", to_json(l->changes)},
          {"exact", l->exact},
          {"interval", "of this assignment"}};
}

result::ordered_json to_json(const std::optional<bound::layout_figures>& l) {
  if (!l) return nullptr;
  return {{"bound", to_json(l->bound)},
          {"prediction", to_json(l->prediction)},
          {"all_plain_prediction",
           l->plain_prediction ? to_json(*l->plain_prediction) : result::ordered_json()}};
}

namespace {
/// The figures of a form of a model, added to `out`.
void add_form(result::ordered_json& out, const bound::form_figures& f) {
  out["roofline"] = f.roofline.sequential.ns > 0 ? to_json(f.roofline) : result::ordered_json();
  out["bound"] = f.bound.sequential.ns > 0 ? to_json(f.bound) : result::ordered_json();
  out["layers_ns"] = f.layers_ns;
  if (f.winograd_ns > 0) out["bound_with_winograd_ns"] = f.winograd_ns;
  out["prediction"] =
      f.prediction.sequential.ns > 0 ? to_json(f.prediction) : result::ordered_json();
  out["layouts"] = to_json(f.layouts);
}
} // namespace

result::ordered_json to_json(const bound::fused_figures& f) {
  const auto as_one = ranges::views::enumerate(f.as_one) |
                      ranges::views::filter([](const auto& node) { return node.second != 0; }) |
                      ranges::views::keys | ranges::to<std::vector>;
  result::ordered_json out{{"graph", f.graph->name},
                           {"groups", f.fused_nodes},
                           {"faster_fused", f.faster_fused},
                           {"groups_not_measured", f.not_measured},
                           {"nodes_as_one", as_one}};
  add_form(out, f);
  return out;
}

result::ordered_json to_json(const bound::chain_run& w, const bound::model_bound& b) {
  const bound::form_figures& f = b.form(w.fused);
  result::ordered_json parts =
      array_of(w.parts, [](const bound::run_part& p) -> result::ordered_json {
        return {{"name", p.name}, {"ns", p.ns}, {"expected_ns", p.expected_ns}};
      });
  const std::optional<double> at_clock = bound::expected_at_clock(f, *w.run);
  const std::optional<bound::figure> expected =
      w.side_by_side() ? std::nullopt : bound::expected(f);
  result::ordered_json error, error_at_clock; // a run that was disturbed is compared with nothing
  if (w.run->disturbed.empty() && expected) {
    error = expected->ns / w.run->median_ns - 1;
    if (at_clock) error_at_clock = *at_clock / w.run->median_ns - 1;
  }
  result::ordered_json out{
      {"name", w.run->name},
      {"fused", w.fused},
      {"algorithm", w.run->algorithm},
      {"state", w.run->state},
      {"min_ns", w.run->min_ns},
      {"median_ns", w.run->median_ns},
      {"items_per_s", 1e9 * static_cast<double>(b.graph->batch) / w.run->median_ns},
      {"prediction_ns", expected ? result::ordered_json(expected->ns) : result::ordered_json()},
      {"prediction_error", std::move(error)},
      {"prediction_at_clock_ns",
       at_clock ? result::ordered_json(*at_clock) : result::ordered_json()},
      {"prediction_error_at_clock", std::move(error_at_clock)},
      {"disturbed", w.run->disturbed},
      {"parts", std::move(parts)}};
  if (w.run->energy_nj > 0) out["energy_nj"] = w.run->energy_nj;
  return out;
}

result::ordered_json to_json(const bound::measurement* m, double ns) {
  if (m == nullptr) return nullptr;
  result::ordered_json out{{"backend", m->backend},
                           {"algorithm", m->algorithm},
                           {"algorithm_index", m->algorithm_index},
                           {"state", m->state},
                           {"ns", ns},
                           {"layouts", m->layouts},
                           {"workspace_bytes", m->workspace_bytes},
                           {"weight_bytes", m->weight_bytes},
                           {"fallback", m->fallback},
                           {"disturbed", m->disturbed}};
  if (m->energy_nj > 0) out["energy_nj"] = m->energy_nj;
  if (!m->kernels.empty()) out["kernels"] = result::to_json(m->kernels);
  if (const device_counters& c = m->counters; c.counted())
    out["counters"] = {{"tensor_pipe_percent", c.tensor_pipe_percent},
                       {"dram_read_bytes", c.dram_read_bytes},
                       {"dram_written_bytes", c.dram_written_bytes},
                       {"active_cycles", c.active_cycles}};
  if (const advice::tensor_answer a = advice::tensor_answer_of(*m);
      a.by != advice::told_by::none && advice::may_use_tensor_cores(*m))
    out["tensor_cores"] = {{"use", advice::name(a.use)}, {"by", advice::name(a.by)}};
  return out;
}

result::ordered_json to_json(const bound::layer_answer& l, double sum_ns) {
  result::ordered_json out{{"layer", l.name},           {"uses", l.uses},
                           {"basis", name(l.rests_on)}, {"fused_uses", l.fused_uses},
                           {"on_path", l.on_path},      {"flops", l.flops}};
  if (l.roofline) out["roofline_ns"] = l.roofline->ns;
  if (l.failed != 0) out["failed_cases"] = l.failed;
  if (!l.reason.empty()) out["reason"] = l.reason;
  if (l.known()) out["share"] = sum_ns > 0 ? bound_ns(l) / sum_ns : 0;
  if (!l.timed()) return out;
  const bound::choice& c = l.algorithms;
  const arithmetic_rate r = rate(l);
  out["type"] = name(l.type);
  out["gflops"] = r.gflops;
  out["fewer_operations_than_counted"] = r.less_than_nominal;
  out["bound"] = to_json(c.best, c.bound.ns);
  if (c.bound_from_roofline()) out["bound"]["from_roofline"] = name(c.why_roofline);
  if (l.winograd != nullptr)
    out["winograd"] = {{"algorithm", l.winograd->algorithm},
                       {"class", l.winograd->equivalence},
                       {"ns", l.winograd->min_ns}};
  out["prediction"] = to_json(c.chosen, c.prediction.ns);
  if (c.chosen_warmer != nullptr) out["prediction"]["state"] = "llcw+coldw";
  out["first_choice"] = to_json(c.first, c.first_choice.ns);
  out["gain_ns"] = advice::gain_ns(l);
  return out;
}

result::ordered_json to_json(const bound::coverage& c) {
  const auto rows = [](const std::vector<bound::hole>& holes) {
    return array_of(holes, [](const bound::hole& h) -> result::ordered_json {
      return {{"name", h.name}, {"nodes", h.nodes}, {"reason", h.reason}, {"command", h.command}};
    });
  };
  return {{"measured", c.measured()},
          {"modelled", c.modelled},
          {"native", c.native},
          {"reference", c.reference},
          {"host", c.host},
          {"old_isa", c.old_isa},
          {"other_type", c.other_type},
          {"nodes", c.nodes},
          {"view_nodes", c.view_nodes},
          {"modelled_nodes", c.modelled_nodes},
          {"slow_nodes", c.slow_nodes},
          {"missing_nodes", c.missing_nodes},
          {"rooflines", rows(c.rooflines)},
          {"holes", rows(c.holes)}};
}

result::ordered_json to_json(const bound::model_bound& b) {
  result::ordered_json out{{"model", b.graph->name},
                           {"batch", b.graph->batch},
                           {"model_type", name(b.graph->type)},
                           {"type", name(b.type)},
                           {"threads", b.threads},
                           {"workers", b.workers},
                           {"partial", b.partial()},
                           {"parallel_assumption", b.assumption()},
                           {"predicted_from", b.weights.name()},
                           {"weights_gone", b.weights.hot ? 0 : b.weights.gone},
                           {"weights_gone_low", b.fewest_gone},
                           {"weights_gone_high", b.most_gone},
                           {"prepared_weight_bytes", b.prepared_weight_bytes}};
  if (!b.graph->dims.empty()) out["dims"] = b.graph->dims;
  add_form(out, b);
  out["fused"] = b.fused ? to_json(*b.fused) : result::ordered_json();
  out["rewritten"] = rewritten_json(b);
  out["lower_bound"] =
      b.has_bound() ? to_json(b.best_form().bound.sequential) : result::ordered_json();
  out["memory"] = memory_json(b);
  out["bound_clock_ns"] = b.clock_ns;
  const std::optional<bound::figure> predicted = bound::expected(b.fastest_form());
  result::ordered_json& expected = out["expected"] =
      predicted ? to_json(*predicted) : result::ordered_json();
  if (const auto by_clock = bound::expected_by_clock(b.fastest_form())) {
    expected["still_ns"] = by_clock->still_ns;
    expected["ns_per_clock_ns"] = by_clock->per_clock;
  }
  // Of sums that lack something, or were disturbed, there are no items a second.
  const std::optional<bound::figure> none;
  out["bound_rate"] = rate_json(b.sure() ? b.best_form().bound.sequential : none, b.graph->batch);
  out["expected_rate"] = rate_json(b.sure() ? predicted : none, b.graph->batch);
  if (const advice::layers_energy e = advice::energy_of(b); e.with > 0)
    out["energy"] = {{"layers_nj", e.whole() ? result::ordered_json(e.nj) : result::ordered_json()},
                     {"share_of_layers", e.share()},
                     {"of", e.on_device ? "gpu" : "packages"}};
  out["runs"] = array_of(b.runs, [&](const bound::chain_run& w) { return to_json(w, b); });
  if (!b.scenarios.empty()) out["scenarios"] = scenarios_json(b);
  out["algorithm_gain"] = to_json(advice::algorithm_gain(b));
  const advice::first_choices first = advice::first_choices_of(b);
  out["first_choices"] = {{"layers", first.layers},
                          {"within_2_percent", first.within_2_percent},
                          {"within_5_percent", first.within_5_percent}};
  out["far_above_roofline"] =
      array_of(by_lost_time(b), [](const far_layer& f) -> result::ordered_json {
        return {{"layer", f.layer->name},
                {"uses", f.uses},
                {"ns", bound::measured_ns(f.layer->algorithms)},
                {"roofline_ns", f.layer->roofline->ns},
                {"lost_ns", f.lost_ns}};
      });
  out["failed_runs"] =
      array_of(b.failed_runs, [&](const bound::measurement* m) -> result::ordered_json {
        return {{"name", m->name}, {"fused", m->key != b.graph->name}, {"error", m->error}};
      });
  out["coverage"] = to_json(b.covered);
  if (const advice::tensor_summary t = advice::tensor_cores_of(b); !t.empty())
    out["tensor_cores"] = {{"yes", t.yes.size()},         {"no", t.no.size()},
                           {"unknown", t.unknown.size()}, {"counted", t.counted},
                           {"observed", t.observed},      {"by_the_librarys_note", t.noted}};
  if (const std::string lacking = lacks(b); !lacking.empty()) out["lacks"] = lacking;
  out["missing"] = b.missing;
  out["missing_command"] = b.missing_command;
  out["failed_cases"] = b.failed();
  out["views"] = views(b);
  if (!b.unmeasurable.empty()) out["no_verdict"] = b.unmeasurable;
  if (const auto step = step_times_of(b))
    out["training_step"] = {{"forward_ns", step->forward_ns},
                            {"by_activations_ns", step->by_activations_ns},
                            {"by_weights_ns", step->by_weights_ns}};
  out["faults"] = array_of(b.faults, [](const bound::fault& f) -> result::ordered_json {
    return {{"what", f.what}, {"name", f.name}};
  });
  out["disturbed"] = array_of(disturbed(b), [](const auto& row) -> result::ordered_json {
    return {{"layer", row.first}, {"disturbed", row.second}};
  });
  out["notes"] = b.notes;
  out["kinds"] = array_of(operator_kinds(b), [](const operator_kind& k) -> result::ordered_json {
    return {{"kind", k.what},
            {"ns", k.ns},
            {"least_gflops", k.least_gflops},
            {"most_gflops", k.most_gflops},
            {"fewer_operations_than_counted", k.fewer_operations},
            {"limited_by", k.limit()}};
  });
  out["layers_in_run"] =
      array_of(layers_in_run(b), [](const layer_in_run& l) -> result::ordered_json {
        return {{"layer", l.layer->name},
                {"uses", l.uses},
                {"ns", l.ns},
                {"backend", l.by != nullptr ? l.by->backend : ""},
                {"algorithm", l.by != nullptr ? l.by->algorithm : ""}};
      });
  out["layers"] =
      array_of(b.layers, [&](const bound::layer_answer& l) { return to_json(l, b.layers_ns); });
  return out;
}

namespace {
result::ordered_json limit_json(const limit_answer& a) {
  return {{"limit", a.limit},
          {"model", a.model},
          {"type", a.type},
          {"threads", a.threads},
          {"figure", a.figure},
          {"value", a.value ? result::ordered_json(*a.value) : result::ordered_json()},
          {"unit", a.unit},
          {"is", name(a.is)},
          {"why", a.why}};
}

/// The geometric means of the gaps of each framework, in each type on so many threads.
result::ordered_json means_json(const std::vector<advice::advised>& all) {
  result::ordered_json out = result::ordered_json::array();
  const gap_table t = gaps_of(all);
  for (const gap_means& m : t.means)
    for (const auto& [column, of] : ranges::views::zip(t.columns, m.of))
      if (of.models > 0)
        out.push_back({{"framework", column.name},
                       {"type", name(m.type)},
                       {"threads", m.threads},
                       {"models", of.models},
                       {"gap", gap_json(of.mean)}});
  return out;
}
} // namespace

std::string json_report(const result::run& r, const std::vector<bound::model_bound>& models,
                        bool partial, const std::vector<advice::advised>& all,
                        const std::vector<limit_answer>& limits) {
  result::ordered_json analyses = result::ordered_json::array();
  for (std::size_t i = 0; i < models.size(); ++i) {
    result::ordered_json one = to_json(models[i]);
    if (auto moved = transfers_json(r, models[i]); !moved.is_null())
      one["transfers"] = std::move(moved);
    if (i < all.size()) {
      one["doubts"] = doubts(all[i]);
      one["advice"] = advice_json(all[i]);
      one["frameworks"] = array_of(all[i].frameworks, framework_run_json);
    }
    analyses.push_back(std::move(one));
  }
  result::ordered_json out{{"schema", report_schema},
                           {"status", partial ? "partial" : "complete"},
                           {"sources", r.source},
                           {"provenance", r.provenance}};
  if (auto means = means_json(all); !means.empty()) out["mean_gaps"] = std::move(means);
  if (!limits.empty()) out["limits"] = array_of(limits, limit_json);
  out["analyses"] = std::move(analyses);
  return dumped(out);
}

std::string json_report(const input& in) {
  return json_report(in.run, in.models, in.partial(), in.advised, in.limits);
}

} // namespace benanza::report
