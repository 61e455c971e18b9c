// SPDX-License-Identifier: Apache-2.0
// The table of layers: sorted, filtered, searched; and behind each row every algorithm of the layer
// with its samples, and why others have no time.
"use strict";

const table = {
  sort: "lost",
  down: true,
  text: "",
  kind: "",
  limit: "",
  all: false,
  unused: false,
  open: null
};
const firstRows = 25;

/** The columns: name, title, class, value to sort by, and cell. */
const columns = [
  [
    "layer", "operator, dims, kernel, stride, pads: all that decides the cost", "name", r => r.l.name,
    (m, r) => el("td", {class: "name"}, layerLink(m, r.l, breakable(r.l.name)),
      r.l.disturbed ? el("span", {class: "tag", title: r.l.disturbed}, "disturbed") : null,
      r.l.basis !== "measured" ? el("span", {class: "tag", title: r.l.remark}, r.l.basis.replace("_", " ")) : null)
  ],
  [
    "nodes", "nodes of the model that are this layer, in the form that should run", "n often", r => r.l.runs,
    (m, r) => `${r.l.runs}`
  ],
  [
    "lost",
    "what all its nodes take above the machine's limits, or above their bound where these were not measured, by the compared run",
    "n", r => r.z.lost, (m, r) => time(r.z.lost)
  ],
  [
    "limits to run",
    "in all its nodes: the machine's limits, kernels above them, caches as in a run, lost by the choice", "wide often",
    r => r.z.now, (m, r, most) => el("td", {class: "wide often"}, zoneBar(r.z, most))
  ],
  [
    "in a run", "what all its nodes should take in the best run; with the changes of layout they add up to it", "n",
    r => r.l.inRun, (m, r) => time(r.l.inRun)
  ],
  [
    "share", "of the expected run", "n rare", r => r.l.inRun, (m, r, most, all) => percent(r.l.inRun / all)
  ],
  [
    "compared",
    "what the compared run takes for the same work; where it is faster than all that was measured, nothing counts as lost",
    "n rare", r => r.z.now,
    (m, r) => (r.z.its ? time(r.z.its.ns) :
        r.z.above > 0  ? time(r.z.now) :
                         "same")
  ],
  [
    "energy", "of all its nodes in a run; idle power is in it", "n rare", r => r.l.runs * r.l.energy,
    (m, r) => (r.l.energy > 0 ? joules(r.l.runs * r.l.energy) : "–")
  ],
  ["bound", "least time of one node, caches hot", "n rare", r => r.l.bound, (m, r) => time(r.l.bound)],
  [
    "limits", "roofline of one node", "n rare", r => r.l.roofline,
    (m, r) => (r.l.roofline > 0 ? time(r.l.roofline) : "–")
  ],
  [
    "GFLOP/s", "operations as a textbook counts them over the least time; w: the algorithm needs fewer (Winograd)",
    "n often", r => r.l.gflops, (m, r) => (r.l.gflops >= 0.05 ? `${rate(r.l.gflops)}${r.l.fewer ? " w" : ""}` : "–")
  ],
  [
    "limited by", "arithmetic or memory by its roofline; its kernels: they stay more than three times above it", "rare",
    r => r.l.limit, (m, r) => r.l.limit
  ],
  [
    "best algorithm", "in the best run; of several the one that takes longest", "rare",
    r => (r.l.by ? r.l.by.algorithm : ""), (m, r) => (r.l.by ? shortName(r.l.by.algorithm) : "–")
  ],
];

/** Without the machine's limits, what is about them says nothing. */
const columnsOf = m => columns.filter(c => (m.figures.roofline || !["limits", "limited by"].includes(c[0])) &&
  (c[0] !== "energy" || m.layers.some(l => l.energy > 0)));

function rowsOf(m) {
  return m.layers.map(l => ({l, z: zones(m, l)})).filter(r => r.l.basis !== "view" || table.unused);
}

function shownRows(m) {
  const needle = table.text.toLowerCase();
  const rows = rowsOf(m).filter(r => (table.unused || r.l.runs > 0 || r.z.above > 0) &&
      (!table.kind || r.l.kind === table.kind) && (!table.limit || r.l.limit === table.limit) &&
      (!needle ||
        `${r.l.name} ${r.l.by ? r.l.by.algorithm : ""} ${r.l.remark} ${
          (r.l.nodes || []).map(n => n.name).join(" ")}`
          .toLowerCase()
          .includes(needle)));
  const value = columns.find(c => c[0] === table.sort)[3];
  const order = (a, b) => {
    const x = value(a), y = value(b);
    return (x < y ? -1 : x > y ? 1 : 0) * (table.down ? -1 : 1);
  };
  return rows.sort((a, b) => order(a, b) || a.l.index - b.l.index);
}

function drawRows() {
  const m = current();
  const rows = shownRows(m);
  const limit = table.all ? rows.length : firstRows;
  const shown = rows.slice(0, limit);
  const open = rows.find(r => r.l.index === table.open);
  if (open && !shown.includes(open)) shown.push(open);
  const most = Math.max(...rows.map(r => r.z.now), 1);
  const all = sum(m.layers.map(l => l.inRun)) + (m.changes ? m.changes[1] : 0) || 1;
  const body = byId("layer_rows");
  body.replaceChildren(...shown.flatMap(r => {
    const row = el("tr", {class: `row${r.l.index === table.open ? " open" : ""}`, id: `layer_${r.l.index}`},
      columnsOf(m).map(([, , kind, , cell]) => {
        const made = cell(m, r, most, all);
        return made instanceof Element ? made : el("td", {class: kind}, made);
      }));
    return r.l.index === table.open ?
      [row, el("tr", {class: "open"}, el("td", {colspan: columnsOf(m).length}, layerDetails(m, r)))] :
      [row];
  }));
  const lost = sum(rows.map(r => r.z.lost));
  byId("layer_count").textContent =
    `${shown.length} of ${counted(rows.length, "layer")}; all of these lose ${time(lost)} in a run.`;
  byId("layer_more").hidden = rows.length <= firstRows;
  byId("layer_more").textContent = table.all ? `Only the first ${firstRows}` : `All ${rows.length}`;
  for (const th of document.querySelectorAll("#layer_head th"))
    th.setAttribute("aria-sort", th.dataset.column === table.sort ? (table.down ? "descending" : "ascending") : "none");
}

function drawLayers(m) {
  const choices = (label, key, values) => {
    const select = el("select", {
      id: `layer_${key}`,
      onchange: e => {
        table[key] = e.target.value;
        drawRows();
      }
    },
      el("option", {value: ""}, "all"), values.map(v => el("option", {value: v}, v)));
    select.value = table[key] = values.includes(table[key]) ? table[key] : "";
    return el("label", {}, `${label} `, select);
  };
  const rows = rowsOf(m);
  const kinds = [...new Set(rows.map(r => r.l.kind))].sort(),
        limits = [...new Set(rows.map(r => r.l.limit))].filter(l => l !== "–").sort();
  const search = el("input", {
    type: "search",
    id: "layer_search",
    placeholder: "layer, algorithm or node",
    value: table.text,
    oninput: e => {
      table.text = e.target.value;
      drawRows();
    }
  });
  const unused = el("input", {
    type: "checkbox",
    id: "layer_unused",
    onchange: e => {
      table.unused = e.target.checked;
      drawRows();
    }
  });
  unused.checked = table.unused;
  const sortBy = key => {
    table.down = table.sort === key ? !table.down : !["layer", "limited by", "best algorithm"].includes(key);
    table.sort = key;
    drawRows();
  };
  fill("layers_body",
    el("p", {class: "quiet"},
      `Lost: what a layer takes above the machine's limits, in all its nodes, against ${
        againstName(m)}. A layer's name opens all its algorithms.`),
    legend(zonesShown(m.figures.roofline)),
    el("div", {class: "controls"}, el("label", {}, "Search ", search), choices("Kind", "kind", kinds),
      limits.length ? choices("Limited by", "limit", limits) : null,
      el("label", {}, unused, " also layers that the best run does not use, and views")),
    el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of layers"},
      el("table", {}, el("caption", {id: "layer_count", "aria-live": "polite"}),
        el("thead", {id: "layer_head"},
          el("tr", {},
            columnsOf(m).map(([key, title, kind]) => el("th", {class: kind, title, "data-column": key, scope: "col"},
                               el("button", {type: "button", onclick: () => sortBy(key)}, key))))),
        el("tbody", {id: "layer_rows"}))),
    el("p", {class: "no_print"}, el("button", {
      type: "button",
      id: "layer_more",
      onclick: () => {
        table.all = !table.all;
        drawRows();
      }
    })),
    el("details", {class: "no_print"}, el("summary", {}, "What the columns mean"),
      el("dl", {class: "facts"}, columnsOf(m).map(([key, title]) => [el("dt", {}, key), el("dd", {}, title)]))));
  drawRows();
}

/** Opens the details of a layer. */
function openLayer(index, focus) {
  table.open = index;
  const l = current().layers[index];
  if (l && (l.basis === "view" || l.runs === 0)) {
    table.unused = true;
    byId("layer_unused").checked = true;
  }
  if (!shownRows(current()).some(r => r.l.index === index)) {
    Object.assign(table, {text: "", kind: "", limit: ""});
    drawLayers(current());
  } else
    drawRows();
  const row = byId(`layer_${index}`);
  if (!row || !focus) return;
  row.scrollIntoView({block: "center"});
  const link = row.querySelector("a");
  if (link) link.focus({preventScroll: true});
}

// ---- one layer ----
/** Samples as a strip of dots: hot ones full, those with cold weights as rings. */
function strip(a, x, width) {
  const height = 22;
  const svg = d3.create("svg")
                .attr("width", width)
                .attr("height", height)
                .attr("class", "dots")
                .attr("viewBox", `0 0 ${width} ${height}`);
  for (const tick of x.ticks)
    svg.append("line").attr("x1", x(tick)).attr("x2", x(tick)).attr("y1", 0).attr("y2", height);
  const jitter = i => ((i * 7) % 5) - 2;
  const add = (t, key, full, y) => {
    if (!t) return;
    svg.append("g")
      .selectAll("circle")
      .data(t.samples)
      .join("circle")
      .attr("cx", v => x(v))
      .attr("cy", (v, i) => y + 0.8 * jitter(i))
      .attr("r", 2.4)
      .attr("fill", full ? colour(key) : "none")
      .attr("stroke", colour(key))
      .attr("stroke-width", full ? 0 : 1.1)
      .attr("fill-opacity", 0.65);
  };
  add(a.hot, "bound", true, 7);
  add(a.cold, "expected", false, 15);
  const node = svg.node();
  node.setAttribute("role", "img");
  const told = (t, what) =>
    (t ? `${what}: least ${time(t.least)}, median ${time(t.median)}, ${counted(t.count, "sample")}` : "");
  node.setAttribute("aria-label", [told(a.hot, "caches hot"), told(a.cold, "weights cold")].filter(t => t).join("; "));
  node.append(document.createElementNS("http://www.w3.org/2000/svg", "title"));
  node.querySelector("title").textContent = node.getAttribute("aria-label");
  return node;
}

function layerDetails(m, r) {
  const l = r.l, found = algorithmsOf(m, l);
  const best = found.timed.length ? found.by(found.timed[0]) : 0;
  const largest = Math.max(1.2 * best,
    Math.min(
      8 * best, ...[Math.max(...found.timed.flatMap(a => [a.hot, a.cold]).flatMap(t => (t ? t.samples : [])), 0)]));
  const width = Math.max(120, Math.min(300, byId("layers_body").clientWidth / 3.2));
  const x = d3.scaleLog().domain([0.93 * (best || 1), 1.05 * (largest || 2)]).range([4, width - 4]).clamp(true);
  x.ticks = [1, 2, 4, 8].map(f => f * best).filter(v => v <= x.domain()[1]);
  const is = (a, c) => c && c.library === a.library && c.algorithm === a.algorithm;
  const tags = a => [is(a, l.best) ? el("span", { class: "tag", title: "its least time is the lower bound" }, "bound") : null,
    is(a, l.chosen) ? el("span", { class: "tag", title: "fastest as a run finds the caches" }, "prediction") : null,
    is(a, l.first) ? el("span", { class: "tag", title: "what the library offers first" }, "first choice") : null];
  const nodes = l.nodes || [];
  const pattern = l.name.replace(/[.+*?()[\]{}|^$\\]/g, "\\$&");
  return el("div", {class: "layer"}, el("h3", {}, breakable(l.name)),
    el("dl", {class: "facts"}, el("dt", {}, "work of one node"),
      el("dd", {},
        `${metric(l.flops, "FLOP")}, ${bytes(l.bytes)} moved at least${
          l.bytes > 0 && l.flops > 0 ? `, ${rate(l.flops / l.bytes)} FLOP a byte` : ""}`),
      el("dt", {}, "one node takes"),
      el("dd", {},
        `${l.roofline > 0 ? `limits ${time(l.roofline)} · ` : ""}bound ${time(l.bound)} · in a run ${
          time(l.prediction)}${
          r.z.its ? ` · ${againstName(m)} ${time(r.z.its.ns / r.z.its.count)} (${r.z.its.count} × ${r.z.its.kernel})` :
                    ""}`),
      l.remark ? [el("dt", {}, "note"), el("dd", {}, l.remark)] : null,
      l.disturbed ? [el("dt", {}, "disturbed"), el("dd", {}, l.disturbed)] : null,
      nodes.length ?
        [
          el("dt", {}, "nodes"),
          el("dd", {},
            nodes.slice(0, 12)
              .map((n, i) => [i ? ", " : "", el("a", {href: `#nodes=${n.index}`}, n.name || `node ${n.index}`)])
              .flat(),
            nodes.length > 12 ?
              [" ", el("a", {href: `#nodes=${nodes.map(n => n.index).join(",")}`}, `and ${nodes.length - 12} more`)] :
              null)
        ] :
        null),
    found.timed.length ?
      el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Algorithms of ${l.name}`},
        el("table", {},
          el("caption", {},
            `${counted(found.timed.length, "algorithm")} in ${l.type} on ${
              counted(l.threads,
                "thread")}. Dots are samples: full with caches hot, rings with weights cold; lines at 1, 2, 4 and 8 times the best.`),
          el("thead", {},
            el("tr", {}, el("th", {}, "algorithm"), el("th", {class: "n", title: "least sample, caches hot"}, "least"),
              el("th", {class: "n often", title: "median sample, weights as cold as in a run"}, "cold weights"),
              el("th", {class: "n", title: "times the best algorithm"}, "× best"), el("th", {}, "samples"),
              el("th", {class: "rare", title: "of source, weights and result"}, "layouts"))),
          el("tbody", {},
            found.timed.map(
              a => el("tr", {},
                el("td", {class: "name"}, `${a.library} `, breakable(a.algorithm), " ", tags(a),
                  a.remark ? el("span", {class: "quiet"}, ` (${a.remark})`) : null,
                  [a.hot, a.cold].some(t => t && t.disturbed) ?
                    el("span", {class: "tag", title: (a.hot && a.hot.disturbed) || a.cold.disturbed}, "disturbed") :
                    null),
                el("td", {class: "n"}, a.hot ? time(a.hot.least) : "–"),
                el("td", {class: "n often"}, a.cold ? time(a.cold.median) : "–"),
                el("td", {class: "n"}, (found.by(a) / best).toFixed(2)), el("td", {}, strip(a, x, width)),
                el("td", {class: "rare"}, breakable(a.layouts))))))) :
      el("p", {}, "No algorithm of it has a time."),
    found.others.length ?
      el("details", {open: found.others.length <= 6},
        el("summary", {}, `Why not: ${counted(found.others.length, "algorithm")} without a time`),
        el("ul", {}, found.others.map(o => el("li", {}, `${o.library} ${o.algorithm}: ${o.remark}`)))) :
      null,
    el("p", {class: "quiet"}, "Measure it again:"), command(`${m.measure} --benchmark_filter='^${pattern}/'`));
}
