// SPDX-License-Identifier: Apache-2.0
// The head of a model: its four figures, what to change first, the steps down, the kinds of
// operators, all advice; and the table of all models.
"use strict";

/** Of the four zones: what they are called, in the order from the machine's limits up. */
const zoneNames = [
  ["limits", "the machine's limits", "arithmetic or bytes over the measured peak: no kernel is faster"],
  ["bound", "kernels above the limits", "the least time of the best algorithm, caches hot, less the limits"],
  ["expected", "caches as in a run", "what the best algorithm takes in a run of the model, less its least time"],
  ["run", "lost by the choice", "what the compared run takes longer than the best algorithm for the same work"],
];
const legend = names => el("ul", {class: "legend"},
  (names || zoneNames).map(([key, text, title]) => el("li", {title}, el("i", {class: key}), text)));

/** The zones that there are: without the machine's limits, the bound begins at nothing. */
const zonesShown = limits => (limits ?
    zoneNames :
    [["bound", "lower bound (the machine's limits were not measured)", zoneNames[1][2]], ...zoneNames.slice(2)]);

/** A bar with parts: [[class, from, to], ...] of `most`. */
function bar(parts, most, title) {
  const out = el("span", {class: "bar", title});
  for (const [key, from, to] of parts) {
    if (!(to > from)) continue;
    const i = el("i", {class: key});
    i.style.left = `${(100 * from) / most}%`;
    i.style.width = `${(100 * (to - from)) / most}%`;
    out.append(i);
  }
  return out;
}
const zoneBar = (z, most) => bar(
  [
    ["limits", 0, z.limits > 0 ? z.limits : 0], ["bound", z.limits, z.bound], ["expected", z.bound, z.run],
    ["run", z.run, z.now]
  ],
  most);

/** [class, what, figure, what it means] of the figures of a model. */
function figuresOf(m) {
  const f = m.figures;
  const out = m.frameworks.map(
    c => ["run", c.name, c.latency,
      `${c.profiled ? "with its profiler on" : `least ${time(c.least)}`}${c.disturbed ? ", disturbed" : ""}`]);
  if (m.frameworks.length === 0 && f.first > 0 && f.expected && f.first > 1.0005 * f.expected[0])
    out.push([
      "run", "by the libraries' first choices", [f.first], "each layer by the algorithm that its library offers first"
    ]);
  if (f.expected)
    out.push([
      "expected", "expected run", f.expected,
      "each layer by its best algorithm, caches as in a run, changes of layout paid for"
    ]);
  if (f.rewritten)
    out.push(["expected", "by the best graph", f.rewritten, `the same results with less work: ${f.best_graph}`]);
  if (f.bound)
    out.push([
      "bound", "lower bound", f.bound,
      f.by_memory ? "what each run reads from memory: no run reads it faster"
                  : `the least time of every layer${f.best_graph ? " of the best graph" : ""}, caches hot: no run of these layers is faster`
    ]);
  if (f.winograd)
    out.push(["bound", `with ${m.type}-winograd`, [f.winograd], "with Winograds that are less exact than the type: no bound"]);
  if (f.roofline)
    out.push(
      ["limits", "the machine's limits", f.roofline, "arithmetic and bytes over what was measured of the machine"]);
  return out.filter(r => r[2] && r[2][0] > 0);
}

function drawHead(m) {
  const loose = m.model === "";
  fill("title", loose ? counted(m.layers.length, "layer") : m.name, " ",
    el("small", {}, loose ? `no model, ${m.type_shown}, ${counted(m.threads, "thread")}` : settingOf(m)));
  for (const box of document.querySelectorAll("#figures .two")) box.hidden = loose;
  fill("where", m.machine.line);
  fill("notices",
    m.no_verdict ? el("p", {class: "notice"}, el("strong", {}, "No verdict. "), `${m.no_verdict}.`) : null,
    m.lacks ? el("p", {class: "notice"}, el("strong", {}, "Partial. "), `${m.lacks}.`) : null,
    m.missing ? command(m.missing) : null,
    m.machine.merged ? el("p", {class: "notice"}, m.machine.merged) : null,
    m.frameworks.filter(c => c.below).map(c => el("p", {class: "notice"}, `${c.name} ${c.below}.`)));
  const rows = figuresOf(m);
  const most = Math.max(...rows.map(r => r[2][0]), 1);
  const f = m.figures;
  const told =
    m.frameworks.filter(c => m.sure && f.expected && f.bound)
      .map(c => el("p", {}, `${c.name} takes `, el("strong", {}, `${(c.latency[0] / f.expected[0]).toFixed(2)} times`),
             ` the expected run, ${(c.latency[0] / f.bound[0]).toFixed(2)} times the bound.`));
  fill("figures_body", el("h2", {}, "How fast could it run?"), rows.map(([key, what, v, means]) => {
    const track = el("div", {class: "track", "aria-hidden": "true"}, el("i", {class: key}));
    track.firstChild.style.width = `${(100 * v[0]) / most}%`;
    const within = v.length === 3 && v[2] > v[1] ? ` [${time(v[1])}, ${time(v[2])}]` : "";
    return el("div", {class: "figure_row"}, el("span", {class: "what"}, what),
      el("span", {class: "value", title: `95 of 100 redraws of the samples: ${within || "no interval"}`}, time(v[0])),
      track, el("span", {class: "more"}, !m.sure ? means : `${rate((1e9 * m.batch) / v[0])} items/s${within} · ${means}`));
  }),
    told,
    f.roofline ? null :
                 el("p", {class: "quiet"}, "The machine's limits were not measured; this does: ",
                   el("code", {}, "benanza_bench --benchmark_filter=^machine/")),
    f.memory.map(line => el("p", {class: "quiet"}, `${line}.`)),
    f.energy ? el("p", {class: "quiet"}, `energy: ${f.energy}`) : null,
    m.runs.filter(r => !r.disturbed)
      .map(r => el("p", {class: "quiet"},
             `${r.name}${r.fused ? "" : ", unfused"}: ${time(r.median)}, least ${time(r.least)}`)));
  drawLimits(m);
  drawChanges(m);
}

// ---- limits: told by a word and a sign, so that no colour is needed ----
const answers = {kept: ["✓", "kept"], unsure: ["?", "unsure"], broken: ["✗", "BROKEN"]};
const heldIs = (is, what) => [el("span", {"aria-hidden": "true"}, `${answers[is][0]} `), what || answers[is][1]];
/** The worst of some limits: how many are so, of how many. */
function worstOf(limits) {
  const is = ["broken", "unsure", "kept"].find(i => limits.some(l => l[0] === i));
  return {is, count: limits.filter(l => l[0] === is).length};
}

/** The value of a figure, with the page's sign of microseconds. */
const valueShown = text => text.replace(/ us$/, " µs") || "not there";
/** Which models break limits, in a sentence with links. */
function brokenLimits() {
  const all = data.models.flatMap((m, index) => m.limits.map(limit => ({index, limit}))), most = 6;
  const broken = all.filter(a => a.limit[0] === "broken");
  if (!broken.length) return el("p", {}, `No limit is broken by any model, of ${all.length}.`);
  return el("p", {},
    el("strong", {}, `${broken.length} of ${counted(all.length, "limit")} broken, over all models: `),
    broken.slice(0, most).map(({index, limit: [, , figure, shown]}, n) => [n ? ", " : "",
      el("a", {href: `#model=${index}`}, data.models[index].name),
      data.machines.length > 1 ? ` on ${data.machines[data.models[index].machine].title}` : null, `: ${figure} ${valueShown(shown)}`]),
    broken.length > most ? `, and ${broken.length - most} more.` : ".");
}
/** The limits that were asked for, each with what this model has of it. */
function drawLimits(m) {
  if (!data.models.some(o => o.limits.length)) return fill("limits");
  const row = ([is, limit, figure, shown, bound, why]) => el("tr", {}, el("td", {class: `held ${is}`}, heldIs(is)),
    el("th", {scope: "row"}, figure, why ? el("div", {class: "quiet"}, why) : null),
    el("td", {class: "n"}, valueShown(shown)), el("td", {class: "n"}, bound),
    el("td", {class: "often"}, el("code", {}, limit)));
  const head = [["", "this model"], ["", "figure"], ["n", "is"], ["n", "must be"], ["often", "asked for"]];
  fill("limits",
    el("div", {class: "card"}, el("h2", {}, "Limits"), data.models.length > 1 ? brokenLimits() : null,
      m.limits.length === 0 ?
        el("p", {class: "quiet"}, `None is about ${m.name}.`) :
        el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Limits of this model"},
          el("table", {},
            el("thead", {}, el("tr", {}, head.map(([kind, text]) => el("th", {class: kind, scope: "col"}, text)))),
            el("tbody", {}, m.limits.map(row))))));
}

function drawChanges(m) {
  const a = m.advice, most = 4;
  const largest = Math.max(...a.items.map(i => i.saves[0]), 1);
  const c = m.coverage;
  const sure = [!m.sure ? `No: ${m.lacks || "it was disturbed while measured"}` : `${percent(c.measured)} of the bound is measured`];
  if (c.modelled > 0) sure.push(`${percent(c.modelled)} is a roofline`);
  const disturbed = m.layers.filter(l => l.disturbed).length;
  if (disturbed) sure.push(disturbed === 1 ? "1 layer was disturbed" : `${disturbed} layers were disturbed`);
  const shown = a.items.filter((item, n) => a.items.slice(0, n).filter(i => i.part === item.part).length < most);
  const row = item => {
    const n = a.items.indexOf(item);
    return el("li", {}, el("span", {class: "n"}, `${n + 1}`),
      el("a", {class: "what", href: `#advice_${n}`}, item.what),
      el("span", {class: "saves", title: "of a run"},
        !m.sure ? time(item.saves[0]) : `${time(item.saves[0])} · ${percent(item.saves[0] / a.run)}`),
      bar([["run", 0, item.saves[0]]], largest),
      item.how ? el("span", {class: "how quiet"}, item.how) : null);
  };
  const parts = [...new Set(shown.map(item => item.part))];
  fill("first_changes", el("h2", {}, "Change first"),
    a.items.length === 0 ?
      el("p", {}, m.figures.bound ? "Nothing to change: no change that was looked at saves 0.5 % of a run." :
                                    "Nothing of it was measured.") :
      parts.map(part => [el("h3", {}, part),
        el("ol", {class: "changes"}, shown.filter(item => item.part === part).map(row))]),
    a.items.length > shown.length ?
      el("p", {}, el("a", {href: "#advice"}, `and ${a.items.length - shown.length} more`)) :
      null,
    m.figures.bound && el("p", {class: "quiet"},
      `Of ${time(a.run)}, ${a.of}. What changes save does not add up. Sure? ${sure.join(", ")}.`));
}

/** The steps from the compared run down: a table whose bars stand under each other. */
function drawSteps(m) {
  const framework = against(m);
  const s = framework ? framework.steps : m.steps;
  if (!s.bars.length || !(s.top > 0))
    return fill("steps_body", el("p", {class: "quiet"}, "There is no time to begin at."));
  const rewritten = s.bars.some(([id]) => id === "rewriting");
  const names = {
    layouts: "expected run",
    [rewritten ? "rewriting" : "caches"]: "lower bound",
    parallel: "lower bound, side by side",
    roofline: "the machine's limits"
  };
  const keys = {layouts: "expected", fusion: "run", caches: "expected", rewriting: "bound", parallel: "bound", roofline: "bound"};
  const scale = d3.scaleLinear().domain([0, Math.max(s.top, ...s.bars.map(b => b[3]))]).range([0, 100]);
  const cell = (key, from, to) => {
    const out = bar([[key, Math.min(from, to), Math.max(from, to)]], scale.domain()[1]);
    return el("td", {class: "bar_cell"}, out);
  };
  const total = (what, ns, key) => el("tr", {class: "total"}, el("td", {class: "n"}, time(ns)),
    el("td", {class: "n often"}, percent(ns / s.top)), el("th", {scope: "row"}, what), cell(key, 0, ns));
  const rows = [total(framework ? framework.name : "first choices of the libraries", s.top, "run")];
  let at = s.top;
  for (const [id, what, takes, left] of s.bars) {
    const up = left > at;
    rows.push(el("tr", {},
      el("td", {class: "n", title: `[${time(takes[1])}, ${time(takes[2])}] in 95 of 100 redraws`},
        `${up ? "+" : "−"}${time(Math.abs(at - left))}`),
      el("td", {class: "n often"}, percent(Math.abs(at - left) / s.top)), el("td", {}, what),
      cell(id === "layouts" ? "other" : keys[id] || "run", left, at)));
    const last = id === "kernels" && !framework ? "expected run" : names[id];
    if (last)
      rows.push(total(last, left,
        id === "layouts" || last === "expected run" ? "expected" :
          id === "roofline"                              ? "limits" :
                                                           "bound"));
    at = left;
  }
  fill("steps_body",
    el(
      "p", {class: "quiet"}, `Each step is the difference of two totals, so they add up. From ${againstName(m)} down.`),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of steps"},
      el("table", {class: "steps"},
        el("thead", {},
          el("tr", {}, el("th", {class: "n", title: "what the step takes away, or what is left"}, "time"),
            el("th", {class: "n often", title: "of the run at the top"}, "share"), el("th", {}, "step"),
            el("th", {}, "from 0 to the run at the top"))),
        el("tbody", {}, rows))),
    framework && framework.added.length ?
      el("p", {class: "quiet"},
        "Added by the framework: " +
          framework.added.map(([type, count, ns]) => `${count} ${type} ${time(ns)}`).join(", ") + ".") :
      null,
    framework ? el("p", {class: "quiet"},
                  `${framework.matched[0]} of ${
                    framework.matched[1]} nodes that compute something were matched to its operators.`) :
                null,
    framework ? framework.warnings.map(w => el("p", {class: "notice"}, w)) : null);
}

function drawKinds(m) {
  const all = sum(m.kinds.map(k => k[1]));
  if (!(all > 0)) return fill("kinds_body", el("p", {class: "quiet"}, "No layer has a time."));
  fill("kinds_body",
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of kinds"},
      el("table", {},
        el("thead", {},
          el("tr", {}, el("th", {}, "kind"), el("th", {class: "n", title: "predicted, in a run"}, "time"),
            el("th", {class: "n"}, "share"), el("th", {class: "often"}, "of the run"),
            el("th", {
              class: "n often",
              title:
                "operations as a textbook counts them, over the least time; w: the algorithm needs fewer (Winograd)"
            },
              "GFLOP/s"),
            el("th", {
              title:
                "what most of its time is limited by; its kernels: they stay more than three times above the limits"
            },
              "limited by"))),
        el("tbody", {},
          m.kinds.map(
            ([what, ns, least, most, fewer, limit]) => el("tr", {}, el("th", {scope: "row"}, what),
              el("td", {class: "n"}, time(ns)), el("td", {class: "n"}, percent(ns / all)),
              el("td", {class: "wide often"}, bar([["expected", 0, ns]], m.kinds[0][1])),
              el("td", {class: "n often"},
                most >= 1 ? `${most < 1.1 * least ? rate(most) : `${rate(least)}–${rate(most)}`}${fewer ? " w" : ""}` :
                            "–"),
              el("td", {}, limit)))))));
}

function drawAdvice(m) {
  const a = m.advice;
  fill("advice_body",
    a.items.map(
      (item, n) =>
        el("details", {class: "item", id: `advice_${n}`},
          el("summary", {}, el("span", {class: "n"}, `${n + 1}`), el("span", {class: "what"}, item.what),
            el("strong", {}, !m.sure ? time(item.saves[0]) : `${time(item.saves[0])} · ${percent(item.saves[0] / a.run)}`)),
          el("dl", {class: "facts"}, el("dt", {}, "saves"),
            el("dd", {}, `${time(item.saves[0])} [${time(item.saves[1])}, ${time(item.saves[2])}] of ${time(a.run)}`),
            item.nodes.length ?
              [
                el("dt", {}, "nodes"),
                el("dd",
                  {}, el("a", {href: `#nodes=${item.nodes.join(",")}`}, `${counted(item.nodes.length, "node")} in the graph`))
              ] :
              null,
            item.how ? [el("dt", {}, item.part), el("dd", {}, item.how)] : null,
            item.evidence.length ? [el("dt", {}, "because"), el("dd", {}, item.evidence.map(e => el("div", {}, e)))] :
                                   null,
            item.assumes ? [el("dt", {}, "assumes"), el("dd", {}, item.assumes)] : null,
            item.costs.length ? [el("dt", {}, "costs"), el("dd", {}, item.costs.map(c => el("div", {}, c)))] : null,
            item.tell ? [el("dt", {}, "a text for them"), el("dd", {}, item.tell)] : null),
          item.command ? [el("div", {class: "quiet"}, "Do it:"), command(item.command)] : null,
          el("div", {class: "quiet"}, "Check it:"), command(item.check), el("p", {class: "quiet"}, `id ${item.id}`))),
    a.items.length === 0 ? el("p", {}, m.figures.bound ? "Nothing to change." : "Nothing of it was measured.") : null,
    a.small[0] > 0 ?
      el("p", {class: "quiet"},
        a.small[0] === 1 ?
          `1 change that saves less than 0.5 % of a run, ${time(a.small[1])}.` :
          `${a.small[0]} changes that save less than 0.5 % of a run each, ${time(a.small[1])} together.`) :
      null,
    a.not_worth.length ?
      [
        el("h3", {}, "Not worth doing"),
        el("ul", {}, a.not_worth.map(([kind, what]) => el("li", {}, `${kind}: ${what}.`)))
      ] :
      null,
    a.not_measured.length ?
      [
        el("h3", {}, "Not measured"),
        a.not_measured.map(([, what, line]) => [el("p", {}, `${what}.`), line ? command(line) : null])
      ] :
      null);
}

/** A line a model, where there are several. */
function drawModels() {
  if (data.models.length < 2) return;
  byId("models").hidden = false;
  byId("models_link").hidden = false;
  byId("pick_label").hidden = false;
  const several = data.machines.length > 1, limited = data.models.some(m => m.limits.length);
  const limitsCell = limits => {
    if (!limits.length) return el("td", {}, "–");
    const {is, count} = worstOf(limits);
    return el("td", {class: `held ${is}`},
      heldIs(is, count === limits.length ? null : `${count} of ${limits.length} ${answers[is][1]}`));
  };
  // What ran and what is supposed never stand in one column.
  const ran = data.models.some(m => m.frameworks.length);
  const rows = data.models.map((raw, i) => {
    const f = raw.figures, run = !ran ? f.first : raw.frameworks.length ? raw.frameworks[0].latency[0] : 0;
    const v = x => (x ? x[0] : 0);
    const most = Math.max(run, v(f.expected), v(f.bound), 1);
    const cell = (ns, key) => el("td", {class: `n ${key}_cell`}, ns > 0 ? time(ns) : "–");
    const z = {limits: v(f.roofline), bound: v(f.bound), run: v(f.expected) || v(f.bound), now: run};
    return el("tr", {class: "row"}, el("td", {class: "name"}, el("a", {href: `#model=${i}`}, breakable(raw.name))),
      el("td", {class: "often n"}, `${raw.type}, ${raw.threads} t`),
      several ?
        el("td", {class: "rare line", title: data.machines[raw.machine].title}, data.machines[raw.machine].title) :
        null,
      limited ? limitsCell(raw.limits) : null, cell(run, "run"), cell(v(f.expected), "expected"),
      el("td", {class: "n often"}, v(f.bound) > 0 ? time(v(f.bound)) : "–"),
      el("td", {class: "n often"}, v(f.roofline) > 0 ? time(v(f.roofline)) : "–"),
      el("td", {class: "n", title: "the compared run over the expected run"},
        raw.sure && run > 0 && v(f.expected) > 0 ? (run / v(f.expected)).toFixed(2) : "–"),
      el("td", {class: "wide often"}, zoneBar(z, most)),
      el("td", {class: "rare line", title: raw.advice.items.length ? raw.advice.items[0].what : null},
        raw.advice.items.length ? raw.advice.items[0].what : v(f.bound) > 0 ? "nothing to change" : "nothing was measured"));
  });
  fill("models_body", legend(zonesShown(data.models.some(m => m.figures.roofline))),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of models"},
      el("table", {},
        el("thead", {},
          el("tr", {}, el("th", {}, "model"), el("th", {class: "often n", title: "type of the numbers, threads"}, "in"),
            several ? el("th", {class: "rare"}, "machine") : null, limited ? el("th", {}, "limits kept") : null,
            ran ? el("th", {class: "n", title: "of a framework; a dash where none ran in this setting"}, "run") :
                  el("th", {class: "n", title: "each layer by what its library offers first: nobody ran it"}, "first choices"),
            el("th", {class: "n", title: "expected run"}, "expected"), el("th", {class: "n often"}, "bound"),
            el("th", {class: "n often"}, "limits"),
            el("th", {class: "n", title: "run over the expected run"}, "times"),
            el("th", {class: "often"}, "of the run"), el("th", {class: "rare"}, "change first"))),
        el("tbody", {}, rows))));
  const pick = byId("pick");
  pick.replaceChildren(...data.models.map(
    (m, i) => el("option", {value: i},
      `${m.name}, ${m.type_shown}, ${m.threads} t${several ? ` · ${data.machines[m.machine].title}` : ""}`)));
}
