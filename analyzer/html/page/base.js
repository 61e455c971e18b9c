// SPDX-License-Identifier: Apache-2.0
// The data of the page, units, and how elements are made: always of text, never of markup.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const licence = JSON.parse(document.getElementById("licence").textContent);
const words = n => data.texts[n];
const state = {
  model: 0,
  against: -1,
  workers: 0,
  colour: "lost"
};

/** Makes an element: el("td", {class: "n"}, "text", another). */
function el(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on"))
      out.addEventListener(key.slice(2), value);
    else
      out.setAttribute(key, value === true ? "" : value);
  }
  out.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== ""));
  return out;
}
const byId = id => document.getElementById(id);
/** Puts these into the element of that id, in place of what is there. */
const fill = (id, ...children) => byId(id).replaceChildren(...children.flat(Infinity).filter(c => c));

// ---- units: three significant digits, as in the text report ----
function scaleOf(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
    if (Math.abs(ns) >= 0.9995 * size) return {unit, size};
  return {unit: "ns", size: 1};
}
const digits = v => (Math.abs(v) < 9.995 ? 2 : Math.abs(v) < 99.95 ? 1 : 0);
function time(ns) {
  if (ns === null || ns === undefined || !isFinite(ns)) return "–";
  if (ns === 0) return "0 ns";
  const s = scaleOf(ns);
  return `${(ns / s.size).toFixed(digits(ns / s.size))} ${s.unit}`;
}
const rate = v => (v >= 1000 ? Math.round(v).toLocaleString("en") : v.toFixed(digits(v)));
function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return `${(100 * share).toFixed(1)} %`;
}
function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; ++i) n /= 1024;
  return `${n.toFixed(n === Math.round(n) ? 0 : digits(n))} ${units[i]}`;
}
function joules(nj) {
  const units = ["nJ", "µJ", "mJ", "J", "kJ"];
  let i = 0;
  for (; nj >= 999.5 && i + 1 < units.length; ++i) nj /= 1000;
  return `${nj.toFixed(digits(nj))} ${units[i]}`;
}
function metric(n, unit) {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let i = 0;
  for (; n >= 1000 && i + 1 < prefixes.length; ++i) n /= 1000;
  return `${i === 0 ? n : n.toFixed(digits(n))} ${prefixes[i]}${unit}`;
}
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const sum = values => values.reduce((a, b) => a + b, 0);

// ---- models ----
const decoded = new Map();
const shortName = a => (a.includes(":") ? a.slice(0, a.lastIndexOf(":")) : a);

function layerOf(machine, number, index, [uses, runs, inRun, by]) {
  const [table, basis, kind, prediction, bound, roofline, byMemory, chosen, best, first, firstTakes, flops, moved, fewer,
    remark, disturbed, energy] = machine.layers[number];
  const t = machine.tables[table];
  return {
    index,
    table,
    uses,
    runs,
    inRun,
    prediction,
    bound,
    roofline,
    flops,
    fewer: !!fewer,
    byMemory: !!byMemory,
    bytes: moved,
    name: t[0],
    type: words(t[1]),
    threads: t[2],
    basis: words(basis),
    kind: words(kind),
    remark: words(remark),
    disturbed: words(disturbed),
    energy,
    chosen: wayOf(chosen),
    by: wayOf(by),
    best: wayOf(best),
    first: first < 0 ? null : {...wayOf(first), ns: firstTakes || prediction},
    gflops: bound > 0 ? flops / bound : 0,
    limit: roofline <= 0         ? "–" :
      bound > 3 * roofline + 500 ? "its kernels" :
      byMemory                   ? "memory" :
                                   "arithmetic",
  };
}

/** The nodes that take longest one behind the other, by their bounds. */
function longestPath(nodes) {
  const ends = [], before = [];
  let last = -1;
  for (const n of nodes) {
    const from = n.inputs.reduce((a, b) => (a < 0 || ends[b] > ends[a] ? b : a), -1);
    before.push(from);
    ends.push((from < 0 ? 0 : ends[from]) + n.bound);
    if (last < 0 || ends[n.index] >= ends[last]) last = n.index;
  }
  const out = [];
  for (; last >= 0; last = before[last]) out.unshift(last);
  return out;
}

/** A model with its layers and nodes as objects. */
function modelOf(i) {
  if (decoded.has(i)) return decoded.get(i);
  const raw = data.models[i];
  const machine = data.machines[raw.machine];
  const [numbers, ...inModel] = raw.layers;
  const layers = numbers.map((number, n) => layerOf(machine, number, n, inModel.map(values => values[n])));
  const names = namesOf(raw.graph.names);
  const nodes = raw.graph.layers.map((of, n) => {
    const layer = of >= 0 ? layers[of] : null;
    const value = key => (layer ? layer[key] : 0);
    return {
      index: n,
      name: names[n],
      op: words(raw.graph.ops[n]),
      layer,
      inputs: [].concat(raw.graph.reads[n]).map(back => n - back),
      onPath: false,
      prediction: value("prediction"),
      bound: value("bound"),
      roofline: value("roofline"),
      first: layer && layer.first ? layer.first.ns : value("prediction"),
    };
  });
  for (const n of nodes)
    if (n.layer) (n.layer.nodes = n.layer.nodes || []).push(n);
  const path = longestPath(nodes);
  for (const n of path) nodes[n].onPath = true;
  const frameworks = raw.frameworks.map(f => ({
    ...f,
    ofLayer: new Map(f.layers.map(([l, ns, best, count, kernel]) => [l, {ns, best, count, kernel: words(kernel)}])),
    ofNode: new Map(f.nodes.map(([n, ns, best]) => [n, {ns, best}])),
  }));
  const out = {...raw, index: i, machine, machineIndex: raw.machine, layers, nodes, path, frameworks};
  decoded.set(i, out);
  return out;
}
const current = () => modelOf(state.model);
const against = m => (state.against >= 0 && state.against < m.frameworks.length ? m.frameworks[state.against] : null);
const againstName = m => (against(m) ? against(m).name : "first choices of the libraries");
const settingOf = m => `batch ${m.batch}${m.dims && ", " + m.dims}, ${m.type_shown}, ${counted(m.threads, "thread")}`;

/** What a layer takes in a run, in the four zones that the page's colours stand for. */
function zones(m, l) {
  const framework = against(m);
  const limits = l.runs * l.roofline, bound = l.runs * l.bound, run = l.inRun;
  let above = 0, its = null;
  if (framework) {
    its = framework.ofLayer.get(l.index) || null;
    if (its) above = Math.max(0, its.ns - its.best);
  } else if (l.first) {
    above = l.runs * Math.max(0, l.first.ns - l.prediction);
  }
  const floor = limits > 0 ? limits : bound;
  return {
    limits,
    bound: Math.max(bound, floor),
    run: Math.max(run, bound),
    now: run + above,
    above,
    its,
    lost: Math.max(0, run - floor) + above
  };
}
/** The same of one node. */
function nodeZones(m, n) {
  const framework = against(m);
  const its = framework ? framework.ofNode.get(n.index) : null;
  const above = framework ? (its ? Math.max(0, its.ns - its.best) : 0) : Math.max(0, n.first - n.prediction);
  const floor = n.roofline > 0 ? n.roofline : n.bound;
  return {time: n.prediction + above, above, lost: Math.max(0, n.prediction - floor) + above};
}

// ---- a tip beside the pointer; what it says stands in tables too ----
function showTip(event, lines) {
  const tip = byId("tip");
  tip.replaceChildren(
    ...lines.filter((t, i) => t && lines.indexOf(t) === i).map((t, i) => el(i === 0 ? "strong" : "div", {}, t)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - box.width - 8);
  const top =
    event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}
const hideTip = () => {
  byId("tip").hidden = true;
};

/** A colour of the style sheet. */
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const dark = () => !("paper" in document.documentElement.dataset) && matchMedia("(prefers-color-scheme: dark)").matches;
const reduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** A text that may break behind the signs of a layer's name. */
function breakable(text) {
  const out = [];
  for (const part of text.split(/(?<=[/+\-_:.])/)) out.push(part, el("wbr"));
  return out;
}
/** A command in a box, with a button that copies it. */
function command(text) {
  if (!text) return null;
  const button = el("button", {type: "button", class: "copy"}, "Copy");
  button.setAttribute("aria-label", `Copy the command ${text.slice(0, 60)}`);
  button.addEventListener("click", () => {
    const told = ok => {
      button.textContent = ok ? "Copied" : "Select it";
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    };
    if (navigator.clipboard)
      navigator.clipboard.writeText(text).then(() => told(true), () => told(false));
    else
      told(false);
  });
  return el("div", {class: "command"}, el("code", {tabindex: "0"}, text), button);
}
const layerLink = (m, l, ...children) => el("a", {href: `#model=${m.index}&layer=${l.index}`}, ...children);
/** A drawing for eyes, with a text for ears. */
function figure(label, drawing, ...below) {
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  return el("figure", {}, drawing, below.length ? el("figcaption", {}, ...below) : null);
}
