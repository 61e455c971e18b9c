#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can what benanza_analyze writes be read by whom it is for, whatever a model's names are?

  formats.py <source folder> <benanza_analyze> [<part>]

Without a part: what Python alone can read, limits and refusals. Parts, each with a tool of its own
and skipped without it: schema, pandas, latex, dot, markdown.
"""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from pythons import go_on_with

SOURCE, PROGRAM = Path(sys.argv[1]), sys.argv[2]
PART = sys.argv[3] if len(sys.argv) > 3 else ""
FORMATS = {"text": "txt", "md": "md", "json": "json", "csv": "csv", "csv-models": "models.csv",
           "latex": "tex", "dot": "dot", "trace": "trace.json", "model-explorer": "explorer.json", "junit": "junit.xml"}

# What a stranger may call a node: markup, formulas, commands, escape sequences of every format.
HOSTILE = ["<script>alert(1)</script>", "=HYPERLINK(\"http://x\")", "+1", "-1", "@user", "\x1b[31mred\x07",
           "a\nb\rc\td", "\\end{document}\\input{/etc/passwd}", "%$#_^~{}&|", "`code` **b** [l](http://x) |x|",
           "]]>&lt;", "\"];x->y[label=\"", "\\N\\G\\l", "日本 \u202e", "$(touch x)", "", "''``--?`!`", "\ufffe",
           "# head", "[*]"]
CONV, POINT, RELU, ADD = ("Conv/1x8x16x16-8x3x3-s1-p1", "Conv/1x8x16x16-8x1x1-s1", "Relu/1x8x16x16",
                          "Add/1x8x16x16")
FUSED = "Conv+Relu/1x8x16x16-8x3x3-s1-p1"


def row(layer, algorithm, ns, state="hot", **more):
    """A case that was measured."""
    family, key = layer.split("/", 1)
    samples = [ns * (1 + i / 100) for i in range(5)]
    name = f"{layer}/f32/onednn/{algorithm}/{state}/t1"
    out = {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
           "threads": 1, "iterations": 5, "real_time": samples[2], "cpu_time": samples[2], "time_unit": "ns",
           "family": family, "key": key, "type": "f32", "backend": "onednn", "algorithm": algorithm,
           "algorithm_index": 0, "state": state, "device": "cpu", "layouts": "any", "operand_layouts": "any",
           "result_layout": "any", "equivalence": "f32", "min_ns": ns, "p10_ns": ns, "median_ns": samples[2],
           "p90_ns": samples[4], "mad_ns": ns / 100, "samples_ns": samples, "count": 5, "stop_reason": "spread",
           "rejected": 0, "clock_ns": 0, "min_clock_ns": 0, "workspace_bytes": 0, "weight_bytes": 0, "pool_bytes": 0,
           "setup_ns": 1, "sampling_ns": 1, "flops": 1000, "algorithm_flops": 1000,
           "bytes": 1000}
    return {**out, **more}


def graph(name, layers, nodes, **more):
    """A graph of (name, layer, operands, parts) nodes."""
    unique = sorted(set(layers), key=lambda l: l.split("/"))
    rows = [[n, l.split("/")[0], unique.index(l), ins] + (["", parts] if parts else [])
            for n, l, ins, parts in nodes]
    return {"name": name, "model": name.split("@batch")[0], "batch": 1, "type": "f32", "parameters": 0,
            "parameter_bytes": 0, "folded": 0, "repairs": [], "layers": [l.split("/") for l in unique],
            "nodes": rows, **more}


def result(model="fork@batch=1", names=("first", "relu", "left", "right", "joined"), algorithm="jit", lacking=()):
    """Two branches behind a convolution, fused with what follows it."""
    unfused = [(names[0], CONV, [-1, -2], None), (names[1], RELU, [0], None), (names[2], POINT, [1, -2], None),
               (names[3], CONV, [1, -2], None), (names[4], ADD, [2, 3], None)]
    fused = [(names[0], FUSED, [-1, -2], [0, 1]), (names[2], POINT, [0, -2], [2]),
             (names[3], CONV, [0, -2], [3]), (names[4], ADD, [1, 2], [4])]
    rows = [row(CONV, algorithm, 4e6), row(CONV, algorithm, 4.2e6, "coldw"), row(CONV, "slow", 9e6),
            row(POINT, algorithm, 1e6), row(POINT, algorithm, 1.1e6, "coldw"), row(RELU, algorithm, 2e5),
            row(ADD, algorithm, 3e5), row(FUSED, algorithm, 4.1e6), row(FUSED, algorithm, 4.3e6, "coldw")]
    parts = [{"name": f"onednn/{algorithm} {n[0]}", "ns": ns} for n, ns in zip(fused, (4.5e6, 1.2e6, 4.3e6, 3e5))]
    rows.append(row("model/" + model + ",fused", "plan", 10.5e6, state="cold", parts=parts))
    return {"context": {"date": "2026-01-01", "benanza": {
        "schema": 1, "provenance": {"machine": {"cpu": "made up", "cores": "2"}, "software": {"onednn_version": "3.7"},
                                    "measuring": {"samples": "5"}},
        "graphs": [graph(model, [n[1] for n in unfused], unfused),
                   graph(model + ",fused", [n[1] for n in fused], fused, unfused=model)]}},
        "benchmarks": [r for r in rows if r["family"] + "/" + r["key"] not in lacking]}


def hostile(i):
    """A result in which everything that has a name is called the i-th hostile one."""
    one = HOSTILE[i]
    return result(f"{one}@batch=1", [one + "0", one + "1", one + "2", one + "3", one + "4"], one or "jit")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = Path(self.folder.name)

    def analyze(self, what, *options, status=0, command=()):
        """Runs the program, or a command of it, on a result; what it wrote to standard output."""
        (self.here / "run.json").write_text(json.dumps(what))
        done = subprocess.run([PROGRAM, *command, "run.json", *options], cwd=self.here, capture_output=True)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(said.count("\n"), 1 if status else 0, said)
        self.assertNotIn("\x1b", said + done.stdout.decode())
        self.said = said
        return done.stdout.decode()

    def all_formats(self, what, *options, status=0):
        self.analyze(what, "--format", ",".join(FORMATS), "-o", "out", *options, status=status)
        return {f: (self.here / "out" / f"report.{s}").read_text() for f, s in FORMATS.items()}


class Plain(Case):
    def test_all_formats_say_the_same(self):
        said = self.all_formats(result())
        parsed = json.loads(said["json"])["analyses"][0]
        bound = parsed["fused"]["bound"]["sequential"]["ns"]
        self.assertAlmostEqual(bound, 4.1e6 + 1e6 + 4e6 + 3e5)
        for f in ("text", "md", "latex", "dot"):
            self.assertIn("9.40 ms", said[f], f)
        rows = list(csv.DictReader(io.StringIO(said["csv"])))
        self.assertEqual({(r["layer"], r["algorithm"]) for r in rows},
                         {(CONV, "jit"), (CONV, "slow"), (POINT, "jit"), (RELU, "jit"), (ADD, "jit"), (FUSED, "jit")})
        best = [r for r in rows if r["sets_bound"] == "1" and r["layer"] == CONV]
        self.assertEqual([(float(r["bound_ns"]), r["uses"]) for r in best], [(4e6, "2")])
        # The longest path, and no other edge, is red.
        self.assertEqual(re.findall(r"n\d -> n\d \[color=red", said["dot"]),
                         ["n0 -> n2 [color=red", "n2 -> n3 [color=red"])
        node_data = json.loads(said["model-explorer"])["results"]
        self.assertEqual(set(node_data), {"first", "relu", "left", "right", "joined"})
        self.assertEqual(node_data["relu"]["value"], 0)
        self.assertAlmostEqual(sum(v["value"] for v in node_data.values()),
                               parsed["fused"]["prediction"]["sequential"]["ns"] / 1e3)

    def test_hostile_names_are_text_everywhere(self):
        for i, name in enumerate(HOSTILE):
            with self.subTest(name=name):
                self.hostile_name_is_text(name, self.all_formats(hostile(i)))

    def hostile_name_is_text(self, name, said):
        for f, text in said.items():
            self.assertIsNone(re.search("[\x00-\x1f\x7f\u202e]", text.replace("\n", "")), f)
            if f in ("md", "junit", "latex"):
                self.assertNotIn("<script", text.replace("`<script", ""), f)
        names = set(json.loads(said["model-explorer"])["results"])
        self.assertIn(name + "4", names)  # the very name: a program looks it up
        json.loads(said["trace"])
        xml.fromstring(said["junit"])
        for f in ("csv", "csv-models"):
            for r in csv.DictReader(io.StringIO(said[f])):
                for cell in r.values():
                    self.assertNotRegex(cell or "", r"^\s*[=+@|%-]")
        self.assertEqual(len(said["csv"].splitlines()), 7)

    def test_limits(self):
        # Prediction 10.1 ms, bound 9.4 ms.
        held = ("prediction<60ms", "fork.*prediction < 10200us", "^fork@batch=1$ bound>=9ms", "gap<110%", "run<1s",
                "coverage>=100%", "unmeasured<=0", "rate>50/s", "fork: error<0.1", "parallel<8.41ms", "saves<50%")
        words = [w for l in held for w in ("--limit", l)]
        page = self.analyze(result(), *words)
        self.assertEqual(page.count("\n  kept    "), len(held), page)
        broken = self.analyze(result(), "--format", "junit", "--limit", "gap<1.01", "--limit", "bound<1s", status=3)
        root = xml.fromstring(broken)
        self.assertEqual((root.get("tests"), root.get("failures"), root.get("skipped")), ("4", "1", "0"))
        failed = [c for c in root.iter("testcase") if c.find("failure") is not None]
        self.assertEqual([c.get("name") for c in failed], ["gap<1.01"])
        self.assertIn("broken: 1 of 2 limits, such as gap<1.01 by fork@batch=1", self.said)

    def test_a_limit_never_passes_in_silence(self):
        for figure in ("roofline<1s", "framework<1s"):  # the result has none
            self.analyze(result(), "--limit", figure, status=3)
        # What is not measured makes a bound too low: it is not shown to be kept.
        partly = result(lacking=(POINT,))
        page = self.analyze(partly, "--limit", "bound<1s", status=1)
        self.assertIn("  unsure  bound<1s", page)
        self.analyze(partly, "--limit", "bound<1ms", status=3)
        said = xml.fromstring(self.analyze(partly, "--limit", "bound<1s", "--format", "junit", status=1))
        self.assertEqual((said.get("failures"), said.get("skipped")), ("0", "2"))
        self.assertEqual(json.loads(self.analyze(partly, "--limit", "bound<1s", "--format", "json", status=1))
                         ["limits"][0]["is"], "unsure")

    def test_what_is_no_limit_or_format_is_refused(self):
        for limit in ("", "bound", "bound<", "bound<60", "bound<60%", "gap<1.3ms", "bound<-1ms", "bound<nanms",
                      "bund<60ms", "<60ms", "(bound<60ms", "(fork bound<60ms", "vgg bound<60ms", "unmeasured<1%",
                      "bound=60ms", "bound<60msx", "rate<3s", "resnetbound<1ms"):
            with self.subTest(limit=limit):
                self.assertEqual(self.analyze(result(), "--limit", limit, status=2), "")
        for words in (("--limit", "gap<2", "--models"), ("--limit", "gap<2", "--machine"), ("--format", "pdf"), ("--format", "md,md", "-o", "x"), ("--format", "md,json"),
                      ("--format", "csv", "--machine"), ("--format", "md,json", "-o", "x", "--models"),
                      ("--format", "md,json", "-o", "run.json"), ("--format", "md,json", "-o", "/proc/x/y")):
            with self.subTest(words=words):
                self.assertEqual(self.analyze(result(), *words, status=2), "")
        self.assertFalse((self.here / "x").exists())

    def test_a_result_is_not_written_over(self):
        (self.here / "out").mkdir()
        (self.here / "out" / "report.json").write_text(json.dumps(result()))
        self.analyze(result(), "--merge", "out/report.json", "--format", "json,md", "-o", "out", status=2)

    def test_one_format_goes_where_o_says(self):
        self.analyze(result(), "--format", "md", "-o", "page.txt")
        self.analyze(result(), "--format", "md", "-o", "new/")
        self.assertEqual((self.here / "page.txt").read_text(), (self.here / "new" / "report.md").read_text())


class Schema(Case):
    def test_reports_are_as_the_schema_says(self):
        import jsonschema
        schema = json.loads((SOURCE / "analyzer/report/report.schema.json").read_text())
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        check = kind(schema)
        for what, words, status in (
                (result(), ("--limit", "bound<1s"), 0), (result(lacking=(POINT,)), (), 1), (hostile(0), (), 0),
                (result(lacking=(FUSED,)), ("--limit", "roofline<1ms"), 3)):
            said = json.loads(self.analyze(what, "--format", "json", *words, status=status))
            self.assertEqual([e.message for e in check.iter_errors(said)], [])
        for spoil in (lambda r: r["analyses"][0]["bound"]["sequential"].pop("ns"), lambda r: r.pop("schema"),
                      lambda r: r["analyses"][0]["layers"][0].update(basis="guessed"),
                      lambda r: r["analyses"][0].update(new_figure=1)):
            said = json.loads(self.analyze(result(), "--format", "json"))
            spoil(said)
            self.assertFalse(check.is_valid(said))


    def test_other_answers_are_as_theirs_says(self):
        import jsonschema
        schema = json.loads((SOURCE / "analyzer/report/answers.schema.json").read_text())
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        check = kind(schema)
        file = self.here / "a.json"
        file.write_text(json.dumps(result()))
        for name, words in (("models", (file, "--models")), ("compare", ("compare", file, file)),
                            ("sweep", ("sweep", file, "--over", "threads"))):
            done = subprocess.run([PROGRAM, *words, "--format", "json"], capture_output=True, text=True)
            said = json.loads(done.stdout)
            self.assertEqual([e.message for e in check.iter_errors({name: said})], [], done.stderr)
            said["new"] = 1
            self.assertFalse(check.is_valid({name: said}))
        self.assertFalse(check.is_valid({"no command": {}}))


class Pandas(Case):
    def test_a_table_of_numbers_and_texts(self):
        import pandas
        for i, name in [(None, "")] + list(enumerate(HOSTILE)):
            with self.subTest(name=name):
                text = self.analyze(result() if i is None else hostile(i), "--format", "csv")
                table = pandas.read_csv(io.StringIO(text))
                read = list(csv.reader(io.StringIO(text)))
                self.assertEqual(list(table.columns), read[0])
                self.assertEqual(len(table), 6)
                self.assertTrue(pandas.api.types.is_numeric_dtype(table["bound_ns"]))
                self.assertAlmostEqual(table[table.sets_bound == 1].groupby("layer").bound_ns.first()[CONV], 4e6)


class Latex(Case):
    def compiled(self, tex):
        (self.here / "t.tex").write_text(tex)
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"],
                              cwd=self.here, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout[-1500:].decode(errors="replace"))
        self.assertIn(b"Output written on t.pdf", done.stdout)

    def test_it_compiles_alone_and_in_a_paper(self):
        self.analyze(result(), "--format", "latex", "-o", "report.tex")
        self.compiled((self.here / "report.tex").read_text())
        self.compiled("\\documentclass{article}\\usepackage{array,booktabs,longtable}\\begin{document}"
                      "\\def\\benanzainput{}\\input{report.tex}behind it\\end{document}")

    def test_hostile_names_compile(self):
        texts = []
        for i in range(len(HOSTILE)):
            text = self.analyze(hostile(i), "--format", "latex")
            texts.append(text.split("\\small\n\\fi\n")[1].split("\\ifdefined")[0])
        head = text.split("\\small\n\\fi\n")[0] + "\\fi\n"
        self.compiled(head + "\n".join(texts) + "\\end{document}")


class Dot(Case):
    def rendered(self, text):
        done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return xml.fromstring(done.stdout)

    def test_graphs_are_drawn_with_their_names(self):
        space = "{http://www.w3.org/2000/svg}"
        for i, name in [(None, "")] + list(enumerate(HOSTILE)):
            with self.subTest(name=name):
                root = self.rendered(self.analyze(result() if i is None else hostile(i), "--format", "dot"))
                groups = [g.get("class") for g in root.iter(space + "g")]
                self.assertEqual((groups.count("node"), groups.count("edge")), (4, 4))
                self.assertEqual({e.tag.replace(space, "") for e in root.iter()} -
                                 {"svg", "g", "title", "text", "a", "path", "polygon"}, set())
                texts = " ".join(t.text or "" for t in root.iter(space + "text"))
                if name in ("<script>alert(1)</script>", "\\N\\G\\l", "]]>&lt;", "\"];x->y[label=\""):
                    self.assertIn(name.split(" ")[0] + "4", texts)


class Markdown(Case):
    def test_github_shows_names_as_they_are(self):
        for i, name in [(None, "fork")] + list(enumerate(HOSTILE)):
            with self.subTest(name=name):
                text = self.analyze(result() if i is None else hostile(i), "--format", "md")
                done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "-e", "strikethrough"],
                                      input=text.encode(), capture_output=True, check=True)
                page = xml.fromstring("<x>" + re.sub("<!--.*?-->", "", done.stdout.decode()) + "</x>")
                self.assertEqual({e.tag for e in page.iter()} - {
                    "x", "h1", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "blockquote"},
                    set())
                codes = [e.text for e in page.iter("code")]
                shown = re.sub("[\x00-\x1f\x7f\u202e\ufffe]", "?", name)
                self.assertIn(shown + "@batch=1" if name else "@batch=1" if i is not None else "fork@batch=1", codes)
                for table in page.iter("table"):
                    widths = {len(list(r)) for r in table.iter("tr")}
                    self.assertEqual(len(widths), 1)


# A module of Python or a program, and the Debian package that brings it.
NEEDED = {"schema": ("jsonschema", None, "python3-jsonschema"), "pandas": ("pandas", None, "python3-pandas"),
          "latex": (None, "pdflatex", "texlive-latex-base"), "dot": (None, "dot", "graphviz"),
          "markdown": (None, "cmark-gfm", "cmark-gfm")}


def main():
    if PART:
        module, program, package = NEEDED[PART]
        if not (shutil.which(program) if program else go_on_with(module)):
            print(f"skipped: there is no {program or module} here (Debian: {package})")
            return
    suite = {"": Plain, "schema": Schema, "pandas": Pandas, "latex": Latex, "dot": Dot, "markdown": Markdown}[PART]
    unittest.main(argv=[sys.argv[0], suite.__name__])


if __name__ == "__main__":
    main()
