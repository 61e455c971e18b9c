// SPDX-License-Identifier: Apache-2.0
// A schedule of the bound on k workers: of all layers that can start, the one goes first behind
// which most is to come. No schedule is shorter than the longest path, or than the sum over k.
"use strict";

/** A heap; `before(a, b)`: a comes out first. */
function heap(before) {
  const all = [];
  return {
    size: () => all.length,
    push(v) {
      let i = all.push(v) - 1;
      for (let up; i > 0 && before(all[i], all[(up = (i - 1) >> 1)]); i = up) [all[i], all[up]] = [all[up], all[i]];
    },
    pop() {
      const out = all[0], last = all.pop();
      if (all.length) {
        all[0] = last;
        for (let i = 0, down; (down = 2 * i + 1) < all.length; i = down) {
          if (down + 1 < all.length && before(all[down + 1], all[down])) ++down;
          if (!before(all[down], all[i])) break;
          [all[i], all[down]] = [all[down], all[i]];
        }
      }
      return out;
    },
  };
}

/** [{node, worker, start, end}] of a model's bounds. */
function schedule(nodes, workers) {
  const behind = new Array(nodes.length).fill(0), waits = nodes.map(n => n.inputs.length),
        readers = nodes.map(() => []);
  for (const n of nodes)
    for (const from of n.inputs) readers[from].push(n.index);
  for (let i = nodes.length - 1; i >= 0; --i)
    behind[i] = nodes[i].bound + readers[i].reduce((most, r) => Math.max(most, behind[r]), 0);
  const ready = heap((a, b) => behind[a] > behind[b] || (behind[a] === behind[b] && a < b));
  const running = heap((a, b) => a.end < b.end || (a.end === b.end && a.node < b.node));
  const free = heap((a, b) => a < b), out = [];
  for (let w = 0; w < workers; ++w) free.push(w);
  nodes.forEach((n, i) => {
    if (waits[i] === 0) ready.push(i);
  });
  let now = 0;
  while (ready.size() || running.size()) {
    while (ready.size() && free.size()) {
      const node = ready.pop(), worker = free.pop(), one = {node, worker, start: now, end: now + nodes[node].bound};
      running.push(one);
      out.push(one);
    }
    const done = running.pop();
    now = done.end;
    free.push(done.worker);
    for (const r of readers[done.node])
      if (--waits[r] === 0) ready.push(r);
  }
  return out;
}

/** What runs on so many workers, each with the node of the graph that it belongs to. */
function tasksOf(m, workers) {
  const all = workers > 1 && m.tasks ?
    m.tasks.map(([node, layer, inputs], index) => ({
      index,
      node: m.nodes[node],
      layer: layer < 0 ? null : m.layers[layer],
      inputs,
      bound: layer < 0 ? 0 : m.layers[layer].bound
    })) :
    m.nodes.map(n => ({index: n.index, node: n, layer: n.layer, inputs: n.inputs, bound: n.bound}));
  for (const i of longestPath(all)) all[i].onPath = true;
  return all;
}

function drawTimeline(m) {
  const most = 16;
  if (state.workers < 1) state.workers = Math.min(most, m.workers);
  const pick = el("select", {
    id: "workers",
    onchange: e => {
      state.workers = +e.target.value;
      drawTimeline(current());
      byId("workers").focus();
    }
  },
    d3.range(1, most + 1).map(k => el("option", {value: k}, `${k}`)));
  pick.value = `${state.workers}`;
  const k = state.workers, tasks = tasksOf(m, k), slots = schedule(tasks, k);
  const end = Math.max(...slots.map(s => s.end), 1), total = sum(m.nodes.map(n => n.bound));
  const path = sum(tasks.filter(t => t.onPath).map(t => t.bound)), least = Math.max(path, total / k);
  const canvas = el("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": `Schedule of ${m.name} on ${counted(k, "worker")}: ${
      time(end)}. Each worker's bars are layers; the busy shares are told below.`
  });
  const busy = d3.range(k).map(w => sum(slots.filter(s => s.worker === w).map(s => s.end - s.start)) / end);
  const button = (text, label, action) => el("button", {type: "button", "aria-label": label, onclick: action}, text);
  fill("timeline_body",
    el("div", {class: "controls"}, el("label", {}, "Workers ", pick),
      button("+", "Zoom in", () => selection.call(zoom.scaleBy, 2)),
      button("−", "Zoom out", () => selection.call(zoom.scaleBy, 0.5)),
      button("Fit", "Show all of the timeline", () => selection.call(zoom.transform, d3.zoomIdentity))),
    el("p", {},
      `On ${counted(k, "worker")} of ${counted(m.threads, "thread")} this schedule of the lower bounds takes `,
      el("strong", {}, time(end)),
      `. No schedule takes less than ${time(least)}: ${
        path >= total / k ? "the longest path" : `the sum over ${k}`}. One worker takes ${time(total)}.`),
    el("div", {}, canvas),
    el("p", {class: "quiet"},
      `Busy: ${
        busy.map((b, w) => `worker ${w + 1} ${percent(b)}`)
          .join(
            ", ")}. Framed: the longest path. Layers side by side are taken as fast as alone. The colours are those of the graph.`));
  const row = 30, axis = 26, left = 28;
  const g = {...canvasContext(canvas, k * row + axis + 6), transform: d3.zoomIdentity};
  const base = d3.scaleLinear().domain([0, end]).range([left, g.width - 10]);
  const paint = painter(m), fills = slots.map(s => paint.of(tasks[s.node].node));
  canvas.style.touchAction = "pan-y";
  const draw = () => {
    const c = g.context, x = g.transform.rescaleX(base), unit = scaleOf(end);
    c.setTransform(g.scale, 0, 0, g.scale, 0, 0);
    c.clearRect(0, 0, g.width, g.height);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "center";
    for (const tick of x.ticks(g.width < 560 ? 4 : 9)) {
      c.fillStyle = colour("line");
      c.fillRect(x(tick), 0, 1, k * row + 4);
      c.fillStyle = colour("quiet");
      c.fillText(`${+ (tick / unit.size).toPrecision(4)} ${unit.unit}`,
        Math.min(Math.max(x(tick), left + 12), g.width - 26), k * row + axis / 2 + 6);
    }
    slots.forEach((s, i) => {
      const x0 = Math.max(left, x(s.start)), x1 = Math.min(g.width, x(s.end)), top = s.worker * row + 4,
            n = tasks[s.node];
      if (x1 < left || x0 > g.width || !(s.end > s.start)) return;
      const wide = Math.max(0.7, x1 - x0 - 0.6);
      c.fillStyle = fills[i];
      c.fillRect(x0, top, wide, row - 6);
      if (n.onPath && wide > 2) {
        c.strokeStyle = colour("text");
        c.lineWidth = 1.6;
        c.strokeRect(x0 + 0.8, top + 0.8, wide - 1.6, row - 7.6);
      }
      if (wide > 46) {
        c.fillStyle = inkOn(fills[i]);
        c.fillText(n.layer ? n.layer.kind : n.node.op, x0 + wide / 2, top + row / 2 - 3, wide - 8);
      }
    });
    c.fillStyle = colour("ground");
    c.fillRect(0, 0, left - 2, k * row + 4);
    c.fillStyle = colour("quiet");
    for (let w = 0; w < k; ++w) c.fillText(`${w + 1}`, left / 2, w * row + row / 2 + 1);
  };
  const zoom = d3.zoom()
                 .scaleExtent([1, 400])
                 .translateExtent([[0, 0], [g.width, g.height]])
                 .extent([[0, 0], [g.width, g.height]])
                 .filter(zoomFilter)
                 .on("zoom", e => {
                   g.transform = eventOf(e).transform;
                   requestAnimationFrame(draw);
                 });
  const selection = d3.select(canvas).call(zoom);
  draw();
  const at = event => {
    const box = canvas.getBoundingClientRect(), t = g.transform.rescaleX(base).invert(event.clientX - box.left),
          w = Math.floor((event.clientY - box.top - 4) / row);
    return slots.find(s => s.worker === w && s.start <= t && t < s.end);
  };
  canvas.addEventListener("mousemove", e => {
    const s = at(e);
    if (s)
      showTip(e, [
        ...nodeLines(m, tasks[s.node].node), tasks[s.node].layer ? tasks[s.node].layer.name : "",
        `from ${time(s.start)} to ${time(s.end)}`
      ]);
    else
      hideTip();
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", e => {
    canvas.focus({preventScroll: true});
    const s = at(e);
    if (s) openNode(m, tasks[s.node]);
  });
}
