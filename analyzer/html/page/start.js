// SPDX-License-Identifier: Apache-2.0
// Which model and layer does the address name? Draws the page, and again when the window, the
// colours or the choice change.
"use strict";

const drawn = {
  model: -1,
  against: null,
  width: 0
};
const parts = [
  drawHead, drawSteps, drawKinds, drawAdvice, drawLayers, drawRoofline, drawGraph, drawTimeline, drawCurves, drawSources
];
const sized = [drawRoofline, drawGraph, drawTimeline, drawCurves];
/** Of layers without a model no sum says anything. */
const ofModels = new Map([
  [drawSteps, "steps"], [drawKinds, "kinds"], [drawAdvice, "advice"], [drawGraph, "graph"], [drawTimeline, "timeline"],
  [drawCurves, "curves"]
]);
function drawParts(some) {
  const m = current(), loose = m.model === "";
  for (const part of some) {
    if (ofModels.has(part)) byId(ofModels.get(part)).hidden = loose;
    if (!loose || !ofModels.has(part)) part(m);
  }
}

function drawAll() {
  const m = current();
  document.title = `${m.name}, ${m.type_shown}: Benanza`;
  byId("pick").value = `${m.index}`;
  const select = byId("against");
  select.replaceChildren(
    ...m.frameworks.map((f, i) => el("option", {value: i}, f.name)), el("option", {value: -1}, "first choices"));
  if (state.against >= m.frameworks.length) state.against = -1;
  select.value = `${state.against}`;
  byId("against_label").hidden = m.frameworks.length === 0;
  drawParts(parts);
  Object.assign(drawn, {model: state.model, against: state.against, width: document.documentElement.clientWidth});
}
/** Shows a model; a run of a framework is compared first. */
function showModel(i) {
  state.model = i;
  state.workers = 0;
  state.against = modelOf(i).frameworks.length ? 0 : -1;
  Object.assign(table, {open: null, kind: "", limit: ""});
  marked = new Set();
  drawAll();
}
/** What an address such as #model=2&layer=7 or #nodes=3,4 names. */
function follow() {
  const told = new URLSearchParams(location.hash.slice(1));
  const whole = (text, end) => (text !== null && /^\d+$/.test(text) && +text < end ? +text : -1);
  const model = whole(told.get("model"), data.models.length);
  if (model >= 0 && model !== state.model) showModel(model);
  const m = current(), layer = whole(told.get("layer"), m.layers.length);
  if (layer >= 0)
    openLayer(layer, true);
  else if (model >= 0)
    window.scrollTo(0, byId("figures").offsetTop - 80);
  if (told.has("nodes")) {
    const nodes = told.get("nodes").split(",").map(n => whole(n, m.nodes.length)).filter(n => n >= 0);
    byId("graph").scrollIntoView();
    if (drawnGraph) drawnGraph.showNodes(nodes);
  }
  const item = /^#advice_\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
  if (item) {
    item.open = true;
    item.scrollIntoView();
  }
}

byId("pick").addEventListener("change", e => {
  location.hash = `model=${e.target.value}`;
});
byId("against").addEventListener("change", e => {
  state.against = +e.target.value;
  drawAll();
  byId("against").focus();
});
window.addEventListener("hashchange", follow);
let waiting = 0;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {  // a phone's bars come and go: only the width matters
    if (document.documentElement.clientWidth !== drawn.width) {
      drawn.width = document.documentElement.clientWidth;
      drawParts(sized);
      drawRows();
    }
  }, 120);
});
const redraw = () => {
  drawParts(sized);
  drawRows();
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.paper = "";
  for (const d of document.querySelectorAll("details.item")) d.open = true;
  redraw();
});
window.addEventListener("afterprint", () => {
  delete document.documentElement.dataset.paper;
  redraw();
});

if (data.models.length) {
  drawModels();
  showModel(0);
  if (location.hash) follow();
} else {
  fill("notices", el("p", {class: "notice"}, "The results hold no model."));
}
