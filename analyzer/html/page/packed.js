// SPDX-License-Identifier: Apache-2.0
// How does the page read what benanza_analyze packed (numbers.hpp, cases.hpp)? Figures of cases are
// letters, names share their beginnings, and what occurs again and again is told once.
"use strict";
const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
const valueOf = new Map([...letters].map((letter, n) => [letter, n]));

/** The number whose three letters begin there; 0: there is none. */
function numberAt(text, at) {
  const code = 4096 * valueOf.get(text[at]) + 64 * valueOf.get(text[at + 1]) + valueOf.get(text[at + 2]) - 1;
  return code < 0 ? 0 : (1000 + (code % 9000)) * 10 ** (Math.floor(code / 9000) - 5);
}

/** By what a layer may run: a library and its algorithm. */
function wayOf(n) {
  if (n < 0) return null;
  const [library, algorithm, remark, layouts] = data.ways[n].map(words);
  return {library, algorithm, remark, layouts};
}

/** The times of one case, of those that stand one behind the other; null: there are none. */
function timesOf(cases, row) {
  const at = row * (10 + data.dots), least = numberAt(cases, at);
  if (least === 0) return null;
  const range = (valueOf.get(cases[at + 9]) / 16) ** 2;
  return {
    least,
    median: numberAt(cases, at + 3),
    count: numberAt(cases, at + 6),
    disturbed: "",
    samples: [...cases.substr(at + 10, data.dots).trimEnd()].map(
      letter => least * Math.exp((range * valueOf.get(letter)) / 63))
  };
}

/** All algorithms of a layer: those with a time, fastest first, and why others have none. */
function algorithmsOf(m, l) {
  const [, , , timed, hot, cold, thrown, disturbed, others] = m.machine.tables[l.table];
  const all = timed.map((way, n) => ({...wayOf(way), hot: timesOf(hot, n), cold: timesOf(cold, n)}));
  for (const [what, ...places] of disturbed)
    for (const place of places) all[place >> 1][place & 1 ? "cold" : "hot"].disturbed = words(what);
  const by = a => (a.hot ? a.hot.least : a.cold.median);
  all.sort((a, b) => by(a) - by(b));
  return {timed: all, by, thrown, others: others.map(wayOf)};
}

/** Names, each of which begins like the one before as far as its first letter says. */
function namesOf(told) {
  let before = "";
  return told.map(text => (before = before.slice(0, valueOf.get(text[0])) + text.slice(1)));
}
