// SPDX-License-Identifier: Apache-2.0
// How a model behaves at other batches, on more threads, in other types, by other versions of a
// library and on other machines, where the data hold that; and where each figure comes from.
"use strict";

/** One framework's runs, where any ran; else what is supposed. Never both on one line. */
function runSeries(models) {
  const first = models.find(m => m.frameworks.length);
  if (!first) return ["run", "by first choices, supposed", m => (m.figures.first > 0 ? [m.figures.first] : null)];
  const name = first.frameworks[0].name;
  return ["run", name, m => m.frameworks.filter(c => c.name === name).map(c => c.latency)[0]];
}
const seriesOf = models => [
  runSeries(models), ["expected", "expected run", m => m.figures.expected], ["bound", "lower bound", m => m.figures.bound],
  ["limits", "the machine's limits", m => m.figures.roofline]
];

/** Lines over a number; below them the same as a table. */
function lineChart(title, xName, yName, models, xOf, yOf, show) {
  const series = seriesOf(models)
                   .map(([key, name, of]) => ({
                     key,
                     name,
                     points: models.map(m => [xOf(m), of(m)])
                               .filter(p => p[1] && p[1][0] > 0)
                               .map(([x, f], i) => ({x, y: yOf(f[0], x), f}))
                   }))
                   .filter(s => s.points.length > 1);
  if (!series.length) return null;
  const room = byId("curves_body").clientWidth, width = Math.min(room > 700 ? room / 2 - 46 : room - 36, 540),
        height = 230, left = 56, bottom = 38;
  const xs = [...new Set(models.map(xOf))];
  const x = d3.scaleLog().base(2).domain(d3.extent(xs)).range([left + 8, width - 14]);
  const y = d3.scaleLinear().domain([0, 1.05 * Math.max(...series.flatMap(s => s.points.map(p => p.y)))]).range([
    height - bottom, 12
  ]);
  const svg = d3.create("svg").attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  svg.append("g")
    .attr("class", "grid")
    .attr("transform", `translate(0,${height - bottom})`)
    .call(d3.axisBottom(x).tickValues(xs).tickFormat(v => `${v}`));
  svg.append("g")
    .attr("class", "grid")
    .attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickFormat(v => v.toLocaleString("en")).tickSize(-(width - left - 14)));
  svg.append("text")
    .attr("class", "quiet")
    .attr("x", width - 14)
    .attr("y", height - 4)
    .attr("text-anchor", "end")
    .text(xName);
  const line = d3.line().x(p => x(p.x)).y(p => y(p.y));
  const dash = {run: "", expected: "", bound: "6 3", limits: "2 3"};
  for (const s of series) {
    svg.append("path")
      .attr("d", line(s.points))
      .attr("fill", "none")
      .attr("stroke", colour(s.key))
      .attr("stroke-width", 2.2)
      .attr("stroke-dasharray", dash[s.key]);
    svg.append("g")
      .selectAll("circle")
      .data(s.points)
      .join("circle")
      .attr("cx", p => x(p.x))
      .attr("cy", p => y(p.y))
      .attr("r", 3.4)
      .attr("fill", colour(s.key));
  }
  return el("div", {class: "card"}, el("h3", {}, title), legend(series.map(s => [s.key, s.name, ""])),
    figure(
      `${title}: ${series.map(s => `${s.name} ${s.points.map(p => `${show(p.y)} at ${p.x}`).join(", ")}`).join("; ")}`,
      svg.node()),
    el("details", {}, el("summary", {}, "As a table"),
      el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, table`},
        el("table", {},
          el("thead", {},
            el("tr", {}, el("th", {}, xName), series.map(s => el("th", {class: "n"}, `${s.name}, ${yName}`)))),
          el("tbody", {}, xs.map(v => el("tr", {}, el("th", {scope: "row"}, `${v}`), series.map(s => {
            const p = s.points.find(q => q.x === v);
            return el("td", {class: "n"}, p ? show(p.y) : "–");
          }))))))));
}

/** Rows of zones, one a model. */
function barChart(title, models, nameOf, note) {
  const v = f => (f ? f[0] : 0);
  const [, compared, runOf] = runSeries(models);
  const rows = models.map(m => ({
    m,
    run: v(runOf(m)),
    z: {limits: v(m.figures.roofline), bound: v(m.figures.bound), run: v(m.figures.expected) || v(m.figures.bound)}
  }));
  const most = Math.max(...rows.map(r => Math.max(r.run, r.z.run)), 1);
  return el("div", {class: "card"}, el("h3", {}, title), legend(zonesShown(models.some(m => m.figures.roofline))),
    el("table", {},
      el("thead", {},
        el("tr", {}, el("th", {}, title === "Machines" ? "machine" : "type"), el("th", {class: "n"}, "expected"),
          el("th", {class: "n"}, "bound"), el("th", {}, `to the run: ${compared}`))),
      el("tbody", {},
        rows.map(r => el("tr", {}, el("th", {scope: "row"}, nameOf(r.m)),
                   el("td", {class: "n"}, v(r.m.figures.expected) > 0 ? time(v(r.m.figures.expected)) : "–"),
                   el("td", {class: "n"}, time(r.z.bound)),
                   el("td", {class: "wide"}, zoneBar({...r.z, now: Math.max(r.run, r.z.run)}, most)))))),
    note ? el("p", {class: "quiet"}, note) : null);
}

/** Versions of a library that a machine's results hold: the sum of least times by each of them. */
function versionCharts(m) {
  const base = name => name.replace(/-\d[\w.]*$/, "");
  const names = new Set(), used = m.layers.filter(l => l.runs > 0 && l.basis === "measured");
  const ofLayer = used.map(l => {
    const found = algorithmsOf(m, l).timed.filter(a => a.hot);
    found.forEach(a => names.add(a.library));
    return found;
  });
  const byLibrary = new Map();
  for (const n of names) byLibrary.set(base(n), [...(byLibrary.get(base(n)) || []), n]);
  const facts = new Map((m.machine.facts.software || []).map(([k, v]) => [k, v]));
  return [...byLibrary].filter(([, all]) => all.length > 1).map(([library, all]) => {
    const rows = all
                   .map(name => {
                     let ns = 0, lacking = 0;
                     used.forEach((l, i) => {
                       const least = ofLayer[i]
                                       .filter(a => a.library === name || base(a.library) !== library)
                                       .reduce((b, a) => Math.min(b, a.hot.least), Infinity);
                       if (isFinite(least))
                         ns += l.runs * least;
                       else
                         ++lacking;
                     });
                     return {name: facts.get(`${name}_version`) || name, ns, lacking};
                   })
                   .sort((a, b) => a.name.localeCompare(b.name, "en", {numeric: true}));
    const most = Math.max(...rows.map(r => r.ns), 1);
    return el("div", {class: "card"}, el("h3", {}, `Versions of ${library}`),
      el("table", {},
        el("thead", {},
          el("tr", {}, el("th", {}, "version"),
            el("th", {class: "n", title: "least times of all layers, one after the other"}, "bound by it alone"),
            el("th", {}, "as a bar"))),
        el("tbody", {},
          rows.map(r => el("tr", {}, el("th", {scope: "row"}, r.name), el("td", {class: "n"}, time(r.ns)),
                     el("td", {class: "wide"}, bar([["bound", 0, r.ns]], most)))))),
      el("p", {class: "quiet"},
        `The other libraries compete in each row.${
          rows.some(r => r.lacking) ?
            ` Without the layers that a version does not run: ${
              rows.filter(r => r.lacking).map(r => `${r.lacking} by ${r.name}`).join(", ")}.` :
            ""}`));
  });
}

/** What queries of a scenario saw, where whole models were run under load. */
function loadTable(m) {
  if (!m.scenarios.length) return null;
  return el("div", {class: "card"}, el("h3", {}, "Under load"),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Under load, table"},
      el("table", {},
        el("thead", {},
          el("tr", {}, el("th", {}, "scenario"), el("th", {class: "n"}, "latency"), el("th", {class: "n"}, "items/s"))),
        el("tbody", {},
          m.scenarios.map(
            s => el("tr", {},
              el("th", {scope: "row"},
                `${s.scenario}, ${{first: "first choices", named: "named choices"}[s.algorithm] || s.algorithm}`,
                s.disturbed ? el("span", {class: "tag", title: s.disturbed}, "disturbed") : null),
              el("td", {class: "n"},
                s.percentile > 0 ? `p${s.percentile} ${time(s.percentile_ns)}` : `median ${time(s.median_ns)}`),
              el("td", {class: "n"}, rate(s.items_per_s))))))));
}

/** The measured ceilings of a machine. */
function ceilingTable(machine) {
  const rows = machine.peaks.map(p => [`arithmetic, ${p.type}`, p.threads, `${rate(p.gflops)} GFLOP/s`, p.by])
                 .concat(machine.bandwidth.flatMap(
                   b => b.levels.map(l => [`bandwidth, ${l.name}`, b.threads, `${rate(l.gb_per_s)} GB/s`, ""])));
  if (!rows.length)
    return el(
      "p", {class: "quiet"}, "The machine's ceilings were not measured: benanza_bench --benchmark_filter=^machine/");
  return el("details", {}, el("summary", {}, "measured ceilings"),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Measured ceilings"},
      el("table", {},
        el("thead", {},
          el("tr", {}, el("th", {}, "ceiling"), el("th", {class: "n"}, "threads"), el("th", {class: "n"}, "at most"),
            el("th", {class: "often"}, "by"))),
        el("tbody", {},
          rows.map(
            ([what, threads, most, by]) => el("tr", {}, el("th", {scope: "row"}, what),
              el("td", {class: "n"}, `${threads}`), el("td", {class: "n"}, most), el("td", {class: "often"}, by)))))));
}

function drawCurves(m) {
  const all = data.models.map((raw, i) => ({...raw, index: i}));
  const same = all.filter(o => o.model === m.model && o.model !== "" && o.machine === m.machineIndex);
  const by = (key, list) => list.slice().sort((a, b) => a[key] - b[key]);
  const batches = by("batch", same.filter(o => o.type === m.type && o.threads === m.threads));
  const threads = by("threads", same.filter(o => o.type === m.type && o.batch === m.batch));
  const types = same.filter(o => o.batch === m.batch && o.threads === m.threads);
  const machines =
    all.filter(o => o.model === m.model && o.batch === m.batch && o.type === m.type && o.threads === m.threads);
  const several = (list, key) => new Set(list.map(o => o[key])).size > 1;
  const unit = list => scaleOf(Math.max(...list.map(o => (o.figures.expected || o.figures.bound || [1])[0])));
  const ms = (list, f) => {
    const u = unit(list);
    return {of: ns => ns / u.size, show: v => rate(v), name: u.unit, ...f};
  };
  const charts = [];
  if (several(batches, "batch")) {
    const u = ms(batches);
    charts.push(
      lineChart("Items a second by batch", "batch", "items/s", batches, o => o.batch, (ns, b) => (1e9 * b) / ns, rate));
    charts.push(lineChart(`Latency by batch, ${u.name}`, "batch", u.name, batches, o => o.batch, u.of, u.show));
  }
  if (several(threads, "threads")) {
    const u = ms(threads);
    charts.push(lineChart(`Latency by threads, ${u.name}`, "threads", u.name, threads, o => o.threads, u.of, u.show));
  }
  if (several(types, "type")) charts.push(barChart("Types of the numbers", types, o => o.type));
  if (several(machines, "machine")) charts.push(barChart("Machines", machines, o => data.machines[o.machine].title));
  charts.push(...versionCharts(m), loadTable(m));
  const shown = charts.filter(c => c);
  fill("curves_body",
    shown.length ?
      el("div", {class: "small_multiples"}, shown) :
      el("p", {class: "quiet"},
        `The results hold ${m.name} in one setting: ${
          settingOf(
            m)}. Further ones are drawn here: benanza_generate --batch 1,2,4,8, benanza_bench --threads 1,2 --types f32,bf16, or results of other machines.`));
}

function drawSources(m) {
  const facts = (title, list) =>
    (list && list.length ? el("details", {open: title === "machine"}, el("summary", {}, title),
                             el("dl", {class: "facts"}, list.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]))) :
                           null);
  const disturbed = m.layers.filter(l => l.disturbed);
  const c = m.coverage;
  const shares = [
    ["optimised kernels in the asked type", c.native], ["reference loops of a library", c.reference],
    ["our own kernels", c.host], ["kernels for an older instruction set", c.old_isa],
    ["in the model's own type", c.other_type], ["rooflines", c.modelled]
  ].filter(s => s[1] > 0);
  const tables = m.layers.map(l => algorithmsOf(m, l));
  const taken = sum(tables.flatMap(t => t.timed.flatMap(a => [a.hot, a.cold].map(c => (c ? c.count : 0))))),
        thrown = sum(tables.map(t => t.thrown));
  const source = m.machine.source || "run.json";
  fill("sources_body",
    el("h3", {}, "What the figures are"),
    el("dl", { class: "facts" },
      [["run", "what a framework took, median of runs without a profiler; without such a run, each layer by the algorithm that its library offers first"],
        ["expected run", "each layer by its best algorithm (median), caches as a run of the model finds them, and changes of memory layout paid for"],
        ["lower bound", "the least sample of every layer, caches hot, fused where that is faster: no run of these layers is faster"],
        ["the machine's limits", "the layers' arithmetic at the measured peak, or their bytes at the measured bandwidth, whichever takes longer (roofline)"],
        ["lost", "what the compared run takes above the machine's limits; above the lower bound where these were not measured"],
        ["[a, b]", "where the figure lies in 95 of 100 redraws of all samples (bootstrap)"]].map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
    el("h3", {}, "What they rest on"),
    el("p", {}, `${counted(taken, "sample")} of this model's layers, ${counted(thrown, "sample")} thrown away as disturbed. Of the bound: ${shares.map(([what, s]) => `${percent(s)} ${what}`).join(", ") || "nothing"}. ${counted(c.nodes, "node")}, ${c.views} of them views that cost nothing, ${c.unmeasured} not measured.`),
    m.remarks.map(r => el("p", { class: "notice" }, r)),
    disturbed.length ? el("details", {}, el("summary", {}, `Noise: ${counted(disturbed.length, "layer")} disturbed`), el("ul", {}, disturbed.map(l => el("li", {}, layerLink(m, l, breakable(l.name)), `: ${l.disturbed}`)))) : el("p", { class: "quiet" }, "No deciding measurement was disturbed."),
    el("h3", {}, "Commands that repeat them"),
    el("p", { class: "quiet" }, "The measurements:"), command(`${m.measure} --benchmark_out=run.json`),
    m.missing ? [el("p", { class: "quiet" }, "What is missing:"), command(m.missing)] : null,
    el("p", { class: "quiet" }, "This page:"), command(`benanza_analyze ${/^[\w@%+=:,./-]+$/.test(source) ? source : `'${source.replace(/'/g, "'\\''")}'`} --format html -o report.html`),
    el("h3", {}, "Where they were measured"),
    data.machines.length > 1 ? el("p", {}, m.machine.title) : null,
    ceilingTable(m.machine), facts("machine", m.machine.facts.machine), facts("software", m.machine.facts.software), facts("measuring", m.machine.facts.measuring),
    Object.entries(m.machine.facts).filter(([k]) => !["machine", "software", "measuring"].includes(k)).map(([k, v]) => facts(k, v)),
    el("h3", {}, "This page"),
    el("p", { class: "quiet" }, `One file that asks for nothing from a network. Drawn with d3 ${d3.version}.`),
    licence ? el("details", { class: "no_print" }, el("summary", {}, "The licence of d3"), el("pre", { tabindex: "0" }, licence)) : null);
}
