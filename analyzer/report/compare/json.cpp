// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

namespace benanza::report {

namespace {
result::ordered_json compared_json(const compare::row& r) {
  result::ordered_json out{
      {"subject", r.subject}, {"what", r.what}, {"type", r.type}, {"threads", r.threads}};
  if (!r.algorithm.empty()) out["algorithm"] = r.algorithm;
  if (!r.before_by.empty()) {
    out["old_by"] = r.before_by;
    out["new_by"] = r.after_by;
  }
  out["verdict"] = compare::name(r.says);
  out["change"] = r.of.change;
  out["low"] = r.of.low;
  out["high"] = r.of.high;
  out["p"] = r.of.p;
  out["p_holm"] = r.adjusted;
  out["old_ns"] = r.of.before_ns;
  out["new_ns"] = r.of.after_ns;
  out["at_one_clock"] = r.at_one_clock;
  out["old_visits"] = r.of.before_visits;
  out["new_visits"] = r.of.after_visits;
  out["interference"] = r.of.raised;
  if (r.layers != 0) out["layers"] = r.layers;
  if (r.uncorroborated) out["uncorroborated"] = true;
  if (!r.in_model.empty()) {
    out["in_model"] = r.in_model;
    out["effect_ns"] = r.effect_ns;
    out["effect_share"] = r.effect_share;
  }
  return out;
}

result::ordered_json compared_json(const compare::side_facts& s) {
  return {{"source", s.source},       {"visits", s.visits},    {"cpu", s.cpu},
          {"software", s.software},   {"dates", s.dates},      {"cases", s.cases},
          {"disturbed", s.disturbed}, {"clock_ns", s.clock_ns}};
}
} // namespace

std::string comparison_json(const compare::comparison& c) {
  const auto rows = [](const auto& all, auto entry) {
    result::ordered_json out = result::ordered_json::array();
    for (const auto& one : all)
      out.push_back(entry(one));
    return out;
  };
  const auto compared = [](const compare::row& r) { return compared_json(r); };
  const result::ordered_json out{
      {"schema", 1},
      {"verdict", compare::name(c.worst())},
      {"old", compared_json(c.before)},
      {"new", compared_json(c.after)},
      {"min_change", c.asked.min_change},
      {"within", c.asked.within},
      {"chance", c.asked.chance},
      {"correction", "Holm, over the rows of each of models, kernels, layers and algorithms"},
      {"at_one_clock", c.one_clock},
      {"clock_ns", c.clock_ns},
      {"scatter", {{"hot", c.scatter[0]}, {"cold", c.scatter[1]}, {"run", c.scatter[2]}}},
      {"models", rows(c.models, compared)},
      {"kernels", rows(c.kernels, compared)},
      {"layers", rows(c.layers, compared)},
      {"algorithms", rows(c.algorithms, compared)},
      {"one_sided", rows(c.alone,
                         [](const compare::one_sided& o) -> result::ordered_json {
                           return {{"kind", o.kind},
                                   {"subject", o.subject},
                                   {"side", o.came ? "new" : "old"},
                                   {"why", o.why}};
                         })},
      {"advice", rows(c.advice,
                      [](const compare::advice_change& a) -> result::ordered_json {
                        return {{"model", a.model},
                                {"id", a.id},
                                {"what", a.what},
                                {"old_saves_ns", a.before_ns},
                                {"new_saves_ns", a.after_ns}};
                      })},
      {"provenance", rows(c.facts,
                          [&](const compare::fact_change& f) -> result::ordered_json {
                            return {{"fact", f.fact},
                                    {"old", f.before},
                                    {"new", f.after},
                                    {"can_explain", f.explains_any()},
                                    {"backend", f.explains_any() ? f.of : ""},
                                    {"explains_layers", c.explained(f)}};
                          })},
      {"machine", rows(c.machine, compared)},
      {"notes", c.notes}};
  return out.dump(2, ' ', true, result::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace benanza::report
