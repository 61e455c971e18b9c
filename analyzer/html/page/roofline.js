// SPDX-License-Identifier: Apache-2.0
// The roofline plot: each layer by its arithmetic a byte and what its best kernel reaches, under
// the measured ceilings of the machine.
"use strict";

function drawRoofline(m) {
  const layers = m.layers.filter(l => l.runs > 0 && l.flops > 0 && l.bytes > 0 && l.bound > 0 && l.best);
  const without = m.layers.filter(l => l.runs > 0 && l.bound > 0 && !(l.flops > 0)).length;
  if (!layers.length) return fill("roofline_body", el("p", {class: "quiet"}, "No layer with arithmetic was measured."));
  const peak = m.machine.peaks.find(p => p.type === m.type && p.threads === m.threads);
  const bandwidth = m.machine.bandwidth.find(b => b.threads === m.threads);
  const levels = peak && bandwidth ? bandwidth.levels : [];
  const width = byId("roofline_body").clientWidth, narrow = width < 560;
  const height = narrow ? 320 : 420, left = 52, right = narrow ? 8 : 16, top = 14, bottom = 42;
  const intensity = l => l.flops / l.bytes;
  const xs = layers.map(intensity), ys = layers.map(l => l.gflops);
  const x = d3.scaleLog()
              .domain([
                Math.min(...xs) / 1.6,
                Math.max(...xs, peak && levels.length ? 2 * peak.gflops / levels[levels.length - 1].gb_per_s : 1) * 1.6
              ])
              .range([left, width - right]);
  const y = d3.scaleLog().domain([Math.min(...ys) / 2, Math.max(...ys, peak ? peak.gflops : 1) * 1.6]).range([
    height - bottom, top
  ]);
  const svg = d3.create("svg").attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  const number = v => (v >= 1 ? `${v}` : `${+ v.toPrecision(1)}`);
  const few = scale =>
    scale.ticks().filter(v => /^[125]/.test(v.toExponential()) && (!narrow || /^1/.test(v.toExponential())));
  svg.append("g")
    .attr("class", "grid")
    .attr("transform", `translate(0,${height - bottom})`)
    .call(d3.axisBottom(x).tickValues(few(x)).tickFormat(number).tickSize(-(height - top - bottom)));
  svg.append("g")
    .attr("class", "grid")
    .attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).tickValues(few(y)).tickFormat(number).tickSize(-(width - left - right)));
  svg.append("text")
    .attr("class", "quiet")
    .attr("x", width - right)
    .attr("y", height - 6)
    .attr("text-anchor", "end")
    .text("arithmetic a byte: FLOP/B");
  svg.append("text").attr("class", "quiet").attr("x", 4).attr("y", 10).text("GFLOP/s");
  if (peak) {
    const line = (x0, y0, x1, y1) => svg.append("line")
                                       .attr("x1", x(x0))
                                       .attr("y1", y(y0))
                                       .attr("x2", x(x1))
                                       .attr("y2", y(y1))
                                       .attr("stroke", colour("limits"))
                                       .attr("stroke-width", 2);
    const [x0, x1] = x.domain(), low = y.domain()[0];
    const ridge = levels.length ? peak.gflops / Math.max(...levels.map(l => l.gb_per_s)) : x0;
    line(Math.max(x0, ridge), peak.gflops, x1, peak.gflops);
    svg.append("text")
      .attr("x", width - right - 4)
      .attr("y", y(peak.gflops) - 6)
      .attr("text-anchor", "end")
      .text(`${rate(peak.gflops)} GFLOP/s ${peak.type}`);
    levels.forEach((level, i) => {
      const from = Math.max(x0, low / level.gb_per_s), to = Math.min(x1, peak.gflops / level.gb_per_s);
      if (!(to > from)) return;
      line(from, from * level.gb_per_s, to, to * level.gb_per_s);
      const at = Math.exp(Math.log(from) + (Math.log(to) - Math.log(from)) * (narrow ? 0.3 : 0.1 + 0.22 * i));
      const angle = (-180 / Math.PI) * Math.atan2(y(from * level.gb_per_s) - y(to * level.gb_per_s), x(to) - x(from));
      svg.append("text")
        .attr("transform", `translate(${x(at)},${y(at * level.gb_per_s) - 5}) rotate(${angle})`)
        .text(narrow ? level.name : `${level.name} ${rate(level.gb_per_s)} GB/s`);
    });
  }
  const most = Math.max(...layers.map(l => l.inRun));
  const fills = {arithmetic: "bound", memory: "expected", "its kernels": "run", "–": "bound"};
  svg.append("g")
    .selectAll("circle")
    .data(layers.slice().sort((a, b) => b.inRun - a.inRun))
    .join("circle")
    .attr("cx", l => x(intensity(l)))
    .attr("cy", l => y(l.gflops))
    .attr("r", l => 3 + 13 * Math.sqrt(l.inRun / most))
    .attr("fill", l => (l.fewer ? "none" : colour(fills[l.limit])))
    .attr("fill-opacity", 0.55)
    .attr("stroke", l => colour(fills[l.limit]))
    .attr("stroke-width", l => (l.fewer ? 2.5 : 1.2))
    .attr("pointer-events", "all")
    .style("cursor", "pointer")
    .on("click", function() { location.hash = `model=${m.index}&layer=${d3.select(this).datum().index}`; })
    .on("mouseleave", hideTip)
    .nodes()
    .forEach(node => node.addEventListener("mousemove", e => {
      const l = d3.select(node).datum();
      showTip(e, [
        l.name,
        `${rate(l.gflops)} GFLOP/s at ${rate(intensity(l))} FLOP/B${l.fewer ? ", fewer operations than counted" : ""}`,
        `${time(l.inRun)} in a run, ${counted(l.runs, "node")}`,
        l.roofline > 0 ? `${percent(l.roofline / l.bound)} of its roofline` : ""
      ].filter(t => t));
    }));
  const at = layers.filter(l => l.roofline > 0 && l.roofline / l.bound >= 0.7).length;
  fill("roofline_body",
    peak ?
      null :
      el("p", {class: "notice"},
        "The machine's ceilings were not measured on this many threads in this type. This measures them: benanza_bench --benchmark_filter=^machine/"),
    legend([
      ["bound", "limited by arithmetic", ""], ["expected", "limited by memory", ""],
      ["run", "its kernels: more than three times above the limits", ""]
    ].slice(0, peak ? 3 : 0)),
    figure(`Roofline plot of ${counted(layers.length, "layer")}${
             peak ? `: ${at} reach 70 % of their roofline or more; the peak is ${rate(peak.gflops)} GFLOP/s` :
                    ""}. The table of layers holds the same figures.`,
      svg.node(),
      `A dot is a layer: its area is the time of all its nodes in a run, a ring needs fewer operations than are counted (Winograd) and may lie above the roof. Bytes are those of its operands, each once.${
        without ? ` ${counted(without, "layer")} without arithmetic (copies, changes of layout) ${
                    without === 1 ? "is" : "are"} not shown.` :
                  ""} A dot opens its layer.`));
}
