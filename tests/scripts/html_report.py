#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the page of benanza_analyze --format html hold what it says, in a real browser?

  html_report.py <benanza_analyze> File|Browser[.case]

The browser is Chromium (Debian: chromium); what needs it is skipped by name where there is none. With axe-core at hand
(pip install axe-playwright-python, or AXE=axe.min.js) it judges the page's accessibility too. PICTURES=folder keeps
pictures of three widths and of print, to be looked at.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import chromium  # noqa: E402
from made_result import result  # noqa: E402

ANALYZE = sys.argv.pop(1) if len(sys.argv) > 1 else ""
EVIL = '</script><script>alert(1)</script>"\'\\\n\x1b[31m\u2028&amp;<img src=x onerror=alert(2)>'
WORK = tempfile.TemporaryDirectory(prefix="benanza_html_")
PICTURES = os.environ.get("PICTURES")


def page_of(name, *more, **made):
    """The path of a page of a made-up result."""
    run, out = Path(WORK.name, f"{name}.json"), Path(WORK.name, f"{name}.html")
    if not out.exists():
        run.write_text(json.dumps(result(**made)))
        done = subprocess.run([ANALYZE, str(run), "--format", "html", "-o", str(out), *more], capture_output=True, text=True)
        if "node-d3" in done.stderr:
            raise unittest.SkipTest("benanza_analyze was built without d3")
        assert done.returncode in (0, 1, 3), done.stderr
    return out


def held_page():
    """A page of two models in two batches, held to a limit that they keep and one that the larger batches break."""
    return page_of("held", "--limit", "bound<1s", "--limit", "batch=2 gap<1.01", models=2, batches=(1, 2), fails=False)


def axe():
    """The text of axe-core, or None."""
    if os.environ.get("AXE"):
        return Path(os.environ["AXE"]).read_text()
    found = importlib.util.find_spec("axe_playwright_python")
    return Path(found.origin).with_name("axe.min.js").read_text() if found else None


def of_two_machines(name):
    """The command for a page about results of One CPU and of Other CPU, and the page."""
    out, files = Path(WORK.name, name), []
    for cpu in ("One CPU", "Other CPU"):
        files.append(out.with_suffix(f".{cpu[:3]}.json"))
        files[-1].write_text(json.dumps(result(cpu=cpu)))
    return [ANALYZE, *map(str, files), "--format", "html", "-o", str(out)], out


class File(unittest.TestCase):
    """What is true without a browser."""

    def test_names_are_data_and_never_markup(self):
        text = page_of("evil", models=2, prefix=EVIL).read_text()
        self.assertNotIn("alert(1)</", text)
        self.assertNotIn("<img", text)
        self.assertEqual(len(re.findall(r"<script", text)), 4)  # data, licence, d3, ours
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
        self.assertNotIn("<", data)
        names = [m["name"] for m in json.loads(data)["models"]]
        self.assertTrue(all("<script>alert(1)</script>" in n and "\x1b" not in n and "\n" not in n for n in names), names)

    def test_nothing_is_asked_of_a_network(self):
        text = page_of("two", models=2, batches=(1, 2)).read_text()
        head = text[:text.index('id="data"')]
        self.assertIn("default-src 'none'", head)
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)[^"]*"', head), [])

    def test_thirty_models_are_small(self):
        begin = time.monotonic()
        out = page_of("thirty", models=30, nodes=150, algorithms=12)
        took, size = time.monotonic() - begin, out.stat().st_size
        print(f"30 models: {took:.2f} s, {size / 1e6:.2f} MB", flush=True)
        self.assertLess(size, 2e6)

    def test_machines_stand_beside_each_other(self):
        command, out = of_two_machines("machines.html")
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 1)  # its cases that fail
        data = json.loads(re.search(r'id="data">(.*?)</script>', out.read_text(), re.S)[1])
        self.assertEqual([m["title"] for m in data["machines"]], ["One CPU, 4 cores", "Other CPU, 4 cores"])
        self.assertEqual([m["machine"] for m in data["models"]], [0, 1])
        for more, told in ((["--plan", "plan.json"], "of one machine"), (["--limit", "nothing bound<1s"], "no model")):
            refused = subprocess.run([*command, *more], capture_output=True, text=True)
            self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1), refused.stderr)
            self.assertIn(told, refused.stderr)

    def test_frameworks_go_to_the_machine_they_were_measured_on(self):
        def run_of(processor, ms):
            path = Path(WORK.name, f"{processor}_{ms}.ort.json")
            path.write_text(json.dumps({
                "schema": "benanza-framework", "schema_version": 3, "framework": "onnxruntime", "framework_version": "1.2",
                "model": {"file": "model0.onnx"}, "options": {"threads": 1, "batch": 1, "precision": "f32"},
                "samples_ns": [1e6 * ms, 1.1e6 * ms], **({"machine": {"processor": processor, "cpus": 4}} if processor else {})}))
            return ["--framework", str(path)]

        command, out = of_two_machines("theirs.html")
        done = subprocess.run([*command, *run_of("Other CPU", 300), *run_of("One CPU", 200), "--limit", "gap<1.01"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        models = json.loads(re.search(r'id="data">(.*?)</script>', out.read_text(), re.S)[1])["models"]
        self.assertEqual([[f["least"] for f in m["frameworks"]] for m in models], [[200e6], [300e6]])
        self.assertEqual([m["steps"]["top"] == m["frameworks"][0]["steps"]["top"] for m in models], [False, False])
        self.assertEqual([[l[0] for l in m["limits"]] for m in models], [["broken"], ["broken"]])
        for one, told in (("Third CPU", "measured on Third CPU with 4 processors, which none of the results is of"), ("", "does not say on which of several machines")):
            refused = subprocess.run([*command, *run_of(one, 100)], capture_output=True, text=True)
            self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1), refused.stderr)
            self.assertIn(told, refused.stderr)
        alone = subprocess.run([*command[:2], *run_of("Third CPU", 100)], capture_output=True, text=True)
        self.assertIn("another machine than the result", alone.stdout)

    def test_what_is_no_result_is_refused(self):
        done = subprocess.run([ANALYZE, "--format", "html", "/dev/null"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Chromium().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, path, **how):
        page = self.browser.open(path, **how)
        self.addCleanup(self.quiet, page, path)
        return page

    def quiet(self, page, path):
        """No message on the console, and no request but for the file."""
        self.assertEqual(page.errors, [])
        self.assertEqual([u for u in page.requests if u.split("#")[0] != Path(path).resolve().as_uri()], [])

    def layers(self, page):
        return page.run("[...document.querySelectorAll('#layer_rows tr.row')].map(r => r.cells[0].querySelector('a').textContent)")

    def test_figures_are_those_of_the_json_report(self):
        path = page_of("two", models=2, batches=(1, 2))
        run = Path(WORK.name, "two.json")
        done = subprocess.run([ANALYZE, str(run), "--format", "json"], capture_output=True, text=True)
        models = json.loads(done.stdout)["analyses"]
        page = self.open(path)
        for i, m in enumerate(models):
            page.run(f"location.hash = 'model={i}'")
            page.settle()
            self.assertIn(m["model"], page.run("document.title"))
            shown = page.run("[...document.querySelectorAll('.figure_row')].map(r => [r.children[0].textContent, r.children[1].textContent])")
            told = dict(shown)
            self.assertEqual(told["lower bound"], page.run(f"time({m['bound']['sequential']['ns']})"))
            self.assertEqual(told["expected run"], page.run(f"time({m['expected']['ns']})"))
            self.assertEqual(told["the machine's limits"], page.run(f"time({m['roofline']['sequential']['ns']})"))
            changes = page.run("[...document.querySelectorAll('ol.changes .what')].map(a => a.textContent)")
            self.assertEqual(changes, [a["what"] for a in m["advice"]["items"]][:5])

    def test_sort_filter_search(self):
        page = self.open(page_of("two", models=2, batches=(1, 2)))
        lost = page.run("shownRows(current()).map(r => r.z.lost)")
        self.assertEqual(lost, sorted(lost, reverse=True))
        page.run("[...document.querySelectorAll('#layer_head button')].find(b => b.textContent === 'layer').click()")
        names = self.layers(page)
        self.assertEqual(names, sorted(names))
        self.assertEqual(page.run("document.querySelector('#layer_head th').getAttribute('aria-sort')"), "ascending")
        page.run("document.querySelector('#layer_head button').click()")
        self.assertEqual(self.layers(page), sorted(names, reverse=True))
        page.run("{ const s = byId('layer_search'); s.value = 'relu'; s.dispatchEvent(new Event('input')); }")
        self.assertTrue(all("Relu" in n for n in self.layers(page)))
        page.run("{ const s = byId('layer_search'); s.value = ''; s.dispatchEvent(new Event('input')); }")
        page.run("{ const s = byId('layer_kind'); s.value = 'Conv 3x3'; s.dispatchEvent(new Event('change')); }")
        self.assertTrue(self.layers(page) and all("Conv" in n for n in self.layers(page)))
        self.assertIn(f"{len(self.layers(page))} of", page.run("byId('layer_count').textContent"))

    def test_cases_are_those_of_the_result(self):
        page = self.open(page_of("two", models=2, batches=(1, 2)))
        shown = page.run("""current().layers.flatMap(l => algorithmsOf(current(), l).timed.flatMap(a => ["hot", "cold"].map(s => [
          `${l.name} ${a.library} ${a.algorithm} ${s}`, time(a[s].least), time(a[s].median), a[s].count, ...d3.extent(a[s].samples)])))""")
        run = json.loads(Path(WORK.name, "two.json").read_text())
        cases = {f"{c['family']}/{c['key']} {c['backend']} {c['algorithm']} {c['state'][:4]}": c for c in run["benchmarks"]}
        self.assertEqual(len(shown), 3 * 6 * 2)
        for name, least, median, count, low, high in shown:
            its = cases[name]
            self.assertEqual([least, median, count], [page.run(f"time({its['min_ns']})"), page.run(f"time({its['median_ns']})"), its["count"]])
            self.assertAlmostEqual(low / its["min_ns"], 1, 2)
            self.assertAlmostEqual(high / max(its["samples_ns"]), 1, 2)

    def test_links(self):
        page = self.open(page_of("two", models=2, batches=(1, 2)))
        page.run("document.querySelector('#layer_rows a').click()")
        page.settle()
        rows = page.run("[...document.querySelectorAll('.layer tbody tr')].map(r => [r.cells[0].textContent, r.querySelectorAll('circle').length])")
        self.assertEqual(len(rows), 6)
        self.assertTrue(all(dots >= 12 for _, dots in rows), rows)
        self.assertIn("it needs <another> \"layout\" & more", page.run("document.querySelector('.layer details').textContent"))
        page.run("document.querySelector('.layer dd a').click()")  # a node of it
        page.settle()
        self.assertEqual(page.run("marked.size"), 1)
        page.run("document.querySelector('#models tbody tr:nth-child(3) a').click()")
        page.settle()
        self.assertEqual(page.run("state.model"), 2)
        page.run("history.back(); history.back()")
        page.run("new Promise(done => setTimeout(done, 300))")
        self.assertEqual(page.run("table.open"), page.run("+location.hash.match(/layer=(\\d+)/)[1]"))
        straight = self.open(page_of("two"), fragment="#model=3&layer=1")
        self.assertEqual(straight.run("[state.model, table.open]"), [3, 1])
        for wild in ("#model=99&layer=1", "#layer=-1", "#nodes=1e9,x", "#model=%3Cb%3E", "#advice_999"):
            self.open(page_of("two"), fragment=wild)

    def test_limits_of_a_result_with_failed_cases_are_unsure(self):
        page = self.open(page_of("held_partial", "--limit", "bound<1s"))
        [row] = page.run("[...document.querySelectorAll('#limits tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
        self.assertEqual(row[:2], ["? unsure", "bound\npartial: 3 cases failed"])

    def test_limits_are_told_without_colour(self):
        page = self.open(held_page())
        rows = "[...document.querySelectorAll('#limits tbody tr')].map(r => [...r.cells].map(c => c.innerText))"
        [kept] = page.run(rows)  # of the first model, at batch 1
        self.assertEqual([kept[0], kept[1], *kept[3:]], ["✓ kept", "bound", "<1s", "bound<1s"])
        self.assertEqual(kept[2], page.run("time(current().figures.unfused[0])"))
        self.assertIn("limits broken, over all models: model0@batch=2: gap ", page.run("byId('limits').innerText"))
        page.run("document.querySelector('#limits a').click()")
        page.settle()
        broken = page.run(rows)[1]
        self.assertEqual([broken[0], broken[1], *broken[3:]], ["✗ BROKEN", "gap", "<1.01", "batch=2 gap<1.01"])
        self.assertGreater(float(broken[2]), 1.01)
        self.assertIn("✗ 1 of 2 BROKEN", page.run("document.querySelector('#models tbody tr:nth-child(2)').innerText"))
        said = [n.get("name", {}).get("value") for n in page.call("Accessibility.getFullAXTree")["nodes"]
                if n.get("role", {}).get("value") in ("cell", "gridcell")]
        self.assertIn("BROKEN", said)
        page.call("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertGreater(page.run("byId('limits').offsetHeight"), 40)
        self.assertEqual(self.open(page_of("two", models=2, batches=(1, 2))).run("byId('limits').childNodes.length"), 0)

    def test_layers_without_a_model(self):
        run, out = Path(WORK.name, "layers.json"), Path(WORK.name, "layers.html")
        made = result(models=2)
        made["context"]["benanza"]["graphs"] = []
        run.write_text(json.dumps(made))
        subprocess.run([ANALYZE, str(run), "--format", "html", "-o", str(out)], capture_output=True)
        page = self.open(out)
        self.assertEqual(len(self.layers(page)), 6)
        shown = page.run("[...document.querySelectorAll('main > section')].filter(s => s.offsetHeight > 0).map(s => s.id)")
        self.assertEqual(shown, ["figures", "layers", "roofline", "sources"])

    def test_hostile_names(self):
        page = self.open(page_of("evil", models=2, prefix=EVIL))
        page.run("document.querySelector('#layer_rows a').click(); drawnGraph.showNodes([0])")
        page.settle()
        self.assertEqual(page.run("document.querySelectorAll('img, iframe, object, embed').length"), 0)
        self.assertIn("<img src=x onerror=alert(2)>", page.run("byId('title').textContent"))

    def test_keyboard_and_screen_reader(self):
        page = self.open(page_of("two", models=2, batches=(1, 2)))
        page.key("Tab")
        self.assertIn("Skip", page.run("document.activeElement.textContent"))
        page.run("document.querySelector('#graph canvas').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            page.key(key)
        self.assertIn("Node 3 of 30", page.run("byId('graph_told').textContent"))
        page.key("Enter")
        page.settle()
        self.assertIn("layer=", page.run("location.hash"))
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
        said = [(n.get("role", {}).get("value"), n.get("name", {}).get("value")) for n in nodes if not n.get("ignored")]
        nameless = [r for r, n in said if r in ("button", "link", "combobox", "searchbox", "checkbox", "img", "image") and not n]
        self.assertEqual(nameless, [])
        for heading in ("Layers by lost time", "Roofline", "Graph", "Timeline"):
            self.assertIn(("heading", heading), said)

    def test_accessibility_by_axe(self):
        program = axe()
        if program is None:
            self.skipTest("there is no axe-core here (pip install axe-playwright-python, or AXE=axe.min.js)")
        for dark in (False, True):
            page = self.open(held_page(), dark=dark, fragment="#model=1")
            page.run("document.querySelector('#layer_rows a').click()")
            page.run(program + "; 0")
            found = page.run("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map("
                             "v => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map(n => n.target).join(' ')}`))")
            self.assertEqual(found, [])

    def test_widths_and_print(self):
        path = held_page()
        for name, width, how in (("wide", 1280, {}), ("tablet", 820, {}), ("phone", 390, {"mobile": True}), ("dark", 1280, {"dark": True})):
            page = self.open(path, width=width, **how)
            page.run("document.querySelector('#layer_rows a').click()")
            page.settle()
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width, name)
            if PICTURES:
                page.picture(f"{PICTURES}/{name}.png", whole=True)
        page = self.open(path, dark=True)
        out = Path(PICTURES or WORK.name, "print.pdf")
        page.print(out)
        self.assertGreater(out.stat().st_size, 20000)
        self.assertNotIn("paper", page.run("Object.keys(document.documentElement.dataset)"))

    def test_a_large_graph_stays_usable(self):
        begin = time.monotonic()
        page = self.open(page_of("large", nodes=5000))
        opened = time.monotonic() - begin
        frame = page.run("(() => { const begin = performance.now(); for (let i = 0; i < 10; ++i) { drawnGraph.transform = "
                         "drawnGraph.transform.translate(1, 0); drawGraphCanvas(); } return (performance.now() - begin) / 10; })()")
        laid = page.run("(() => { const begin = performance.now(); layout(current().nodes, 1200, 520); return performance.now() - begin; })()")
        print(f"5,000 nodes: open after {opened:.2f} s, laid out in {laid:.0f} ms, a frame in {frame:.0f} ms", flush=True)
        self.assertLess(opened, 20)
        self.assertLess(frame, 200)
        self.assertEqual(page.run("new Set(drawnGraph.places.map(p => `${p.x} ${p.y}`)).size"), 5000)

    def test_schedules_keep_what_they_promise(self):
        page = self.open(page_of("two", models=2, batches=(1, 2)))
        told = page.run("""[1, 2, 3].map(k => { const nodes = tasksOf(current(), k), s = schedule(nodes, k), end = new Map(s.map(x => [x.node, x.end]));
          const path = sum(nodes.filter(n => n.onPath).map(n => n.bound)), all = sum(nodes.map(n => n.bound)), last = Math.max(...s.map(x => x.end));
          return { all: s.length === nodes.length, waits: s.every(x => nodes[x.node].inputs.every(i => end.get(i) <= x.start + 1e-6)),
            alone: [...d3.range(k)].every(w => { const its = s.filter(x => x.worker === w).sort((a, b) => a.start - b.start || a.end - b.end); return its.every((x, i) => i === 0 || its[i - 1].end <= x.start + 1e-6); }),
            least: last >= Math.max(path, all / k) - 1e-3, one: k > 1 || Math.abs(last - all) < 1e-3 }; })""")
        for one in told:
            self.assertTrue(all(one.values()), told)


def lacking():
    """Why nothing can be tried; None: it can."""
    try:
        page_of("two", models=2, batches=(1, 2))
    except unittest.SkipTest:
        return "benanza_analyze was built without d3 (Debian: node-d3)"
    if "Browser" in " ".join(sys.argv) and not chromium.found():
        return "there is no Chromium here (Debian: chromium)"
    return None


if __name__ == "__main__":
    if lacking():
        print(f"skipped: {lacking()}")
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=1)
