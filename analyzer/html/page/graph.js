// SPDX-License-Identifier: Apache-2.0
// The graph of a model on a canvas: nodes by depth in lines that turn at their ends, laid out in
// linear time; coloured by lost time, the longest path bold.
"use strict";

const cell = {
  width: 96,
  height: 26,
  gap: 22,
  lane: 36,
  line: 30
};
let drawnGraph = null;  // of the current model
let marked = new Set();

/** The event of d3's behaviours: an argument since d3 6, before that d3.event. */
const eventOf = e => (e && (e.transform || e.type) ? e : d3.event);
/** Plain turns of the wheel scroll the page, unless the drawing was entered. */
function zoomFilter(e) {
  const event = eventOf(e);
  if (event.type === "wheel")
    return event.ctrlKey || event.metaKey || document.activeElement === event.currentTarget ||
      document.activeElement === event.target;
  return !event.button;
}
function canvasContext(canvas, height) {
  const scale = window.devicePixelRatio || 1, width = canvas.parentElement.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  return {context: canvas.getContext("2d"), width, height, scale};
}

/** Depth and lane of each node; a lane is near those of the nodes that it reads. */
function depthsAndLanes(nodes) {
  const depth = new Array(nodes.length).fill(0), lane = new Array(nodes.length).fill(0), levels = [];
  for (const n of nodes) {
    for (const from of n.inputs) depth[n.index] = Math.max(depth[n.index], depth[from] + 1);
    (levels[depth[n.index]] = levels[depth[n.index]] || []).push(n.index);
  }
  for (const level of levels) {
    const wish = new Map(level.map(i => {
      const from = nodes[i].inputs;
      return [i, nodes[i].onPath ? -1 : from.length ? sum(from.map(f => lane[f])) / from.length : level.length];
    }));
    level.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
    let free = 0;
    for (const i of level) {
      lane[i] = Math.max(free, Math.min(Math.round(wish.get(i)), free + 2));
      free = lane[i] + 1;
    }
  }
  return {depth, lane, lanes: levels.map(level => 1 + Math.max(...level.map(i => lane[i])))};
}

/** Places of all nodes in lines of so many depths that the graph is as large as the canvas lets it. */
function layout(nodes, width, height) {
  const {depth, lane, lanes} = depthsAndLanes(nodes);
  const linesOf = columns => {
    const lines = [];
    for (let d = 0; d < lanes.length; d += columns) lines.push(Math.max(...lanes.slice(d, d + columns)));
    return lines;
  };
  const step = cell.width + cell.gap;
  let best = {scale: 0, columns: lanes.length};
  for (let columns = Math.min(4, lanes.length);; columns = Math.min(lanes.length, Math.ceil(columns * 1.12))) {
    const tall = sum(linesOf(columns).map(l => l * cell.lane + cell.line));
    const scale = Math.min(width / (columns * step + cell.gap), height / (tall + cell.line));
    if (scale > best.scale) best = {scale, columns};
    if (columns === lanes.length) break;
  }
  const tops = [];
  let y = cell.line;
  for (const l of linesOf(best.columns)) {
    tops.push(y);
    y += l * cell.lane + cell.line;
  }
  const places = nodes.map(n => {
    const line = Math.floor(depth[n.index] / best.columns), at = depth[n.index] % best.columns;
    const column = line % 2 === 0 ? at : best.columns - 1 - at;  // back again in every second line
    return {
      x: cell.gap + column * step + cell.width / 2,
      y: tops[line] + lane[n.index] * cell.lane + cell.height / 2,
      line,
      column
    };
  });
  return {places, width: best.columns * step + cell.gap, height: y};
}

const kindColours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442", "#8a93a1"];
/** How nodes are coloured: by a time, or by their kind. */
function painter(m) {
  const kinds = m.kinds.map(k => k[0]).filter(k => k !== "changes of layout");
  if (state.colour === "kind")
    return {
      of: n => (n.layer && kinds.includes(n.layer.kind) ? kindColours[Math.min(kinds.indexOf(n.layer.kind), 7)] :
                                                          kindColours[7]),
      legend: kinds.slice(0, 7)
                .map((k, i) => [kindColours[i], k])
                .concat(kinds.length > 7 ? [[kindColours[7], "others"]] : [])
    };
  const value = n => nodeZones(m, n)[state.colour];
  const most = Math.max(...m.nodes.map(value), 1);
  const shade = v => (v < 0.002 * most ?
      colour("none") :
      d3.interpolateViridis(dark() ? 0.12 + 0.88 * Math.sqrt(v / most) : 1 - 0.95 * Math.sqrt(v / most)));
  return {of: n => shade(Math.max(0, value(n))), shade, most};
}
/** Black or white, whichever is read better on a colour. */
function inkOn(fill) {
  const c = d3.rgb(fill);
  return 0.299 * c.r + 0.587 * c.g + 0.114 * c.b > 140 ? "#000" : "#fff";
}

function drawGraphCanvas() {
  const g = drawnGraph, {context: c, scale} = g, t = g.transform, m = g.model;
  const ink = colour("text"), faint = colour("other");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, g.width, g.height);
  c.setTransform(scale * t.k, 0, 0, scale * t.k, scale * t.x, scale * t.y);
  const [x0, y0] = t.invert([-60, -60]), [x1, y1] = t.invert([g.width + 60, g.height + 60]);
  const inside = p => p.x > x0 && p.x < x1 && p.y > y0 && p.y < y1;
  const edge = (from, to) => {
    const a = g.places[from], b = g.places[to];
    if (!inside(a) && !inside(b) && Math.abs(a.line - b.line) < 2) return;
    c.moveTo(a.x, a.y);
    if (a.line === b.line && Math.abs(a.column - b.column) > 1) {
      const up = Math.min(a.y, b.y) - 10 - Math.min(26, 5 * Math.abs(a.column - b.column));
      c.bezierCurveTo(a.x, up, b.x, up, b.x, b.y);
    } else
      c.lineTo(b.x, b.y);
  };
  const thin = Math.min(Math.max(1, 0.7 / t.k), 5),
        bold = Math.min(Math.max(3, 2.2 / t.k), 7);  // at most a part of a node
  c.lineWidth = thin;
  c.strokeStyle = faint;
  c.beginPath();
  for (const n of m.nodes)
    for (const from of n.inputs) edge(from, n.index);
  c.stroke();
  c.lineWidth = bold;
  c.strokeStyle = ink;
  c.beginPath();
  m.path.forEach((n, i) => {
    if (i > 0) edge(m.path[i - 1], n);
  });
  c.stroke();
  const labels = cell.height * t.k > 8;
  c.font = "13px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const n of m.nodes) {
    const p = g.places[n.index];
    if (!inside(p)) continue;
    const fill = g.fills[n.index], left = p.x - cell.width / 2, top = p.y - cell.height / 2;
    c.fillStyle = fill;
    c.fillRect(left, top, cell.width, cell.height);
    if (n.onPath) {
      c.lineWidth = bold;
      c.strokeStyle = ink;
      c.strokeRect(left, top, cell.width, cell.height);
    }
    if (marked.has(n.index) || g.at === n.index) {
      c.lineWidth = Math.max(5, 3 / t.k);
      c.strokeStyle = colour("run");
      c.strokeRect(left - c.lineWidth, top - c.lineWidth, cell.width + 2 * c.lineWidth, cell.height + 2 * c.lineWidth);
    }
    if (labels) {
      c.fillStyle = inkOn(fill);
      c.fillText(n.layer ? n.layer.kind : n.op, p.x, p.y, cell.width - 8);
    }
  }
}
function redrawGraph() {
  if (!drawnGraph || drawnGraph.pending) return;
  drawnGraph.pending = true;
  requestAnimationFrame(() => {
    drawnGraph.pending = false;
    drawGraphCanvas();
  });
}

function nodeLines(m, n) {
  const z = nodeZones(m, n);
  return [
    n.name || `node ${n.index}`, n.layer ? n.layer.name : n.op,
    `in a run ${time(n.prediction)}, bound ${time(n.bound)}${n.roofline > 0 ? `, limits ${time(n.roofline)}` : ""}`,
    `lost ${time(z.lost)}${n.onPath ? "; on the longest path" : ""}`
  ];
}
const openNode = (m, n) => {
  if (n.layer) location.hash = `model=${m.index}&layer=${n.layer.index}`;
};

function drawGraph(m) {
  const canvas = el("canvas", {
    tabindex: "0",
    role: "application",
    "aria-roledescription": "graph",
    "aria-describedby": "graph_told",
    "aria-label": `Graph of ${m.name}: ${counted(m.nodes.length, "node")}, ${
      m.path
        .length} on the longest path. Arrow keys go from node to node, Enter opens its layer, plus, minus and 0 zoom.`
  });
  const told = el("p", {id: "graph_told", class: "quiet", "aria-live": "polite"},
    "Drag to move; the wheel zooms once the graph was clicked, or with Ctrl. Arrow keys go from node to node, Enter opens its layer.");
  const colours = el("select", {
    id: "graph_colour",
    onchange: e => {
      state.colour = e.target.value;
      paint();
      redrawGraph();
    }
  },
    [["lost", "lost time"], ["time", "time in the compared run"], ["kind", "kind of operator"]].map(
      ([v, t]) => el("option", {value: v}, t)));
  colours.value = state.colour;
  const key = el("ul", {class: "legend"});
  const button = (text, label, action) => el("button", {type: "button", "aria-label": label, onclick: action}, text);
  fill("graph_body",
    el("div", {class: "controls"}, el("label", {}, "Colour ", colours), button("+", "Zoom in", () => zoomBy(1.6)),
      button("−", "Zoom out", () => zoomBy(1 / 1.6)), button("Fit", "Show all of the graph", () => show(fit()))),
    key, el("div", {}, canvas), told);
  const wide = canvas.parentElement.clientWidth;
  const g = drawnGraph = {model: m, at: -1, ...canvasContext(canvas, wide < 560 ? 380 : 520)};
  Object.assign(g, {places: null, layoutSize: null});
  const laid = layout(m.nodes, g.width, g.height);
  g.places = laid.places;
  const tree = d3.quadtree().x(i => g.places[i].x).y(i => g.places[i].y).addAll(m.nodes.map(n => n.index));
  const fit = () => {
    const k = Math.min(g.width / laid.width, g.height / laid.height, 1.6);
    return d3.zoomIdentity.translate((g.width - k * laid.width) / 2, (g.height - k * laid.height) / 2).scale(k);
  };
  const paint = () => {
    const p = painter(m);
    g.fills = m.nodes.map(p.of);
    const swatch = (fill, text) => {
      const i = el("i", {});
      i.style.background = fill;
      return el("li", {}, i, text);
    };
    key.replaceChildren(...(p.legend ? p.legend.map(([f, t]) => swatch(f, t)) : [0, 0.1, 0.3,
      1].map(v => swatch(p.shade(v * p.most), v === 0 ? "nothing" : time(v * p.most)))),
      el("li", {}, "bold: the longest path of the bounds"),
      ...(marked.size ? [el("li", {}, el("i", {class: "run"}), counted(marked.size, "node"), " marked")] : []));
  };
  paint();
  const zoom = d3.zoom().scaleExtent([fit().k / 1.2, 6]).filter(zoomFilter).on("zoom", e => {
    g.transform = eventOf(e).transform;
    redrawGraph();
  });
  const selection = d3.select(canvas).call(zoom);
  const show = t => selection.call(zoom.transform, t);
  const zoomBy = f => selection.call(zoom.scaleBy, f);
  g.transform = fit();
  show(g.transform);
  canvas.style.touchAction = "pan-y";
  drawGraphCanvas();  // at once: a printer does not wait for frames
  g.showNodes = indices => {
    marked = new Set(indices);
    paint();
    const all = indices.map(i => g.places[i]).filter(p => p);
    if (all.length) {
      const [xa, xb] = d3.extent(all, p => p.x), [ya, yb] = d3.extent(all, p => p.y);
      const k = Math.min(
        1.4, Math.max(fit().k, Math.min(g.width / (xb - xa + 4 * cell.width), g.height / (yb - ya + 6 * cell.lane))));
      show(d3.zoomIdentity.translate(g.width / 2 - (k * (xa + xb)) / 2, g.height / 2 - (k * (ya + yb)) / 2).scale(k));
    }
    redrawGraph();
  };
  const nodeAt = event => {
    const box = canvas.getBoundingClientRect(),
          [x, y] = g.transform.invert([event.clientX - box.left, event.clientY - box.top]);
    const i = tree.find(x, y, cell.width);
    return i !== undefined && Math.abs(g.places[i].x - x) <= cell.width / 2 &&
        Math.abs(g.places[i].y - y) <= cell.height / 2 + 4 ?
      m.nodes[i] :
      null;
  };
  canvas.addEventListener("mousemove", e => {
    const n = nodeAt(e);
    canvas.style.cursor = n ? "pointer" : "grab";
    if (n)
      showTip(e, nodeLines(m, n));
    else
      hideTip();
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", e => {
    canvas.focus({preventScroll: true});
    const n = nodeAt(e);
    if (n) openNode(m, n);
  });
  const consumers = m.nodes.map(() => -1);
  for (const n of m.nodes)
    for (const from of n.inputs)
      if (consumers[from] < 0) consumers[from] = n.index;
  canvas.addEventListener("keydown", e => {
    const steps = {
      ArrowRight: g.at + 1,
      ArrowLeft: g.at - 1,
      ArrowDown: g.at >= 0 ? consumers[g.at] : 0,
      ArrowUp: g.at >= 0 && m.nodes[g.at].inputs.length ? m.nodes[g.at].inputs[0] : -1
    };
    if (e.key === "+" || e.key === "=")
      zoomBy(1.6);
    else if (e.key === "-")
      zoomBy(1 / 1.6);
    else if (e.key === "0")
      show(fit());
    else if (e.key === "Enter" && g.at >= 0)
      openNode(m, m.nodes[g.at]);
    else if (e.key in steps) {
      if (steps[e.key] >= 0 && steps[e.key] < m.nodes.length) {
        g.at = steps[e.key];
        told.textContent = `Node ${g.at + 1} of ${m.nodes.length}: ${nodeLines(m, m.nodes[g.at]).join(". ")}.`;
        const p = g.places[g.at];
        selection.call(zoom.translateTo, p.x, p.y);
        redrawGraph();
      }
    } else
      return;
    e.preventDefault();
  });
}
