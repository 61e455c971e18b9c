// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include "../report/units.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report {

namespace {
using tables::unit;
using tables::whole;

/// What people see: of the models all rows, else what changed or is unsure.
tables::table shown_rows(const char* title, const std::vector<compare::row>& rows, std::size_t most,
                         bool all) {
  tables::table out{.title = title + (": " + counts_text(rows)),
                    .columns = {{"", ""},
                                {"", "old", unit::time},
                                {"", "new", unit::time},
                                {"", "change", unit::share},
                                {"", "95 % sure"},
                                {"", "of the model", unit::share},
                                {"", "verdict"}},
                    .shown = most};
  for (const compare::row& r : rows)
    if (all || r.says != compare::verdict::same)
      out.rows.push_back({row_title(r), r.of.before_ns, r.of.after_ns, signed_percent(r.of.change),
                          interval_text(r.of),
                          r.effect_share != 0 ? signed_percent(r.effect_share) : "",
                          std::string(compare::name(r.says))});
  return out;
}

tables::table rows_of(const char* key, const std::vector<compare::row>& rows) {
  tables::table out{.key = key,
                    .columns = tables::keys(
                        {"subject",        "what",       "type",       "threads",      "algorithm",
                         "old_by",         "new_by",     "verdict",    "change",       "low",
                         "high",           "p",          "p_holm",     "old_ns",       "new_ns",
                         "at_one_clock",   "old_visits", "new_visits", "interference", "layers",
                         "uncorroborated", "in_model",   "effect_ns",  "effect_share"})};
  for (const compare::row& r : rows) {
    const bool in_model = !r.in_model.empty();
    out.rows.push_back({r.subject,
                        r.what,
                        r.type,
                        whole(r.threads),
                        r.algorithm,
                        r.before_by,
                        r.after_by,
                        std::string(compare::name(r.says)),
                        r.of.change,
                        r.of.low,
                        r.of.high,
                        r.of.p,
                        r.adjusted,
                        r.of.before_ns,
                        r.of.after_ns,
                        r.at_one_clock,
                        whole(r.of.before_visits),
                        whole(r.of.after_visits),
                        r.of.raised,
                        whole(r.layers),
                        r.uncorroborated,
                        r.in_model,
                        in_model ? tables::cell(r.effect_ns) : tables::cell(),
                        in_model ? tables::cell(r.effect_share) : tables::cell()});
  }
  return out;
}

tables::chapter side_chapter(const char* key, const compare::side_facts& s) {
  return {.key = key,
          .only_one = true,
          .fields = {{"source", s.source},
                     {"visits", whole(s.visits)},
                     {"cpu", s.cpu},
                     {"software", s.software},
                     {"dates", s.dates},
                     {"cases", whole(s.cases)},
                     {"disturbed", whole(s.disturbed)},
                     {"clock_ns", s.clock_ns}}};
}

std::string side_text(const compare::side_facts& s) {
  return fmt::format("{}, {}, {}, {}{}", s.source,
                     counted(static_cast<std::int64_t>(s.visits), "visit"), s.cpu, s.software,
                     s.dates.empty() ? "" : ", " + s.dates);
}

/// What is on one side only, whose advice changed, and what differs besides.
void add_others(const compare::comparison& c, std::size_t most, tables::chapter& to) {
  tables::table alone{.key = "one_sided",
                      .title = "On one side only",
                      .columns = {{"kind", "kind"},
                                  {"subject", "what", unit::name},
                                  {"side", "side"},
                                  {"why", "why"}},
                      .shown = most};
  for (const compare::one_sided& o : c.alone)
    alone.rows.push_back({o.kind, o.subject, o.came ? "new" : "old", o.why});
  tables::table advice{.key = "advice",
                       .title = "Advice that changed, and what it saves",
                       .columns = {{"model", "model", unit::name},
                                   {"id", ""},
                                   {"what", "advice"},
                                   {"old_saves_ns", "old", unit::time},
                                   {"new_saves_ns", "new", unit::time}},
                       .shown = most};
  for (const compare::advice_change& a : c.advice)
    advice.rows.push_back({a.model, a.id, a.what, a.before_ns, a.after_ns});
  tables::table facts{.key = "provenance",
                      .title = "What differs besides",
                      .columns = {{"fact", "fact"},
                                  {"old", "old"},
                                  {"new", "new"},
                                  {"can_explain", "", unit::flag},
                                  {"backend", ""},
                                  {"explains_layers", "layers that it can explain", unit::count}}};
  for (const compare::fact_change& f : c.facts)
    facts.rows.push_back({f.fact, f.before, f.after, f.explains_any(),
                          f.explains_any() ? f.of : std::string(), whole(c.explained(f))});
  for (tables::table* t : {&alone, &advice, &facts})
    to.add(std::move(*t));
}
} // namespace

tables::chapter comparison_answer(const compare::comparison& c, std::size_t most) {
  tables::chapter out{
      .title = verdict_line(c),
      .fields = {
          {"schema", whole(1)},
          {"verdict", std::string(compare::name(c.worst()))},
          {"min_change", c.asked.min_change},
          {"within", c.asked.within},
          {"chance", c.asked.chance},
          {"correction", "Holm, over the rows of each of models, kernels, layers and algorithms"},
          {"at_one_clock", c.one_clock},
          {"clock_ns", c.clock_ns},
          {"notes", c.notes}}};
  out.say("old", side_text(c.before));
  out.say("new", side_text(c.after));
  for (const std::string& note : c.notes)
    out.warn(note);
  out.chapters = {
      side_chapter("old", c.before),
      side_chapter("new", c.after),
      {.key = "scatter",
       .only_one = true,
       .fields = {{"hot", c.scatter[0]}, {"cold", c.scatter[1]}, {"run", c.scatter[2]}}}};
  const auto both = [&](const char* key, const char* title, const std::vector<compare::row>& rows) {
    tables::table shown = shown_rows(title, rows, most, rows.data() == c.models.data());
    if (shown.rows.empty() && !rows.empty()) out.say(shown.title);
    out.add(std::move(shown));
    out.add(rows_of(key, rows));
  };
  both("models", "Models", c.models);
  both("kernels", "Kernels", c.kernels);
  both("layers", c.operators ? "Operators" : "Layers", c.layers);
  both("algorithms", "Algorithms", c.algorithms);
  add_others(c, most, out);
  out.add(rows_of("machine", c.machine));
  return out;
}

} // namespace benanza::report
