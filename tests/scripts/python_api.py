#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do notebooks get from Python what the programs say, and their refusals as errors?

  python_api.py <source folder> <build folder>
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts" / "python"))
import benanza  # noqa: E402: it is in the tree
from benanza import answer, exporting, programs, tools  # noqa: E402


def rows(of):
    """A list of dicts, also where pandas is there."""
    return of if isinstance(of, list) else of.to_dict("records")


class Measure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        cls.answer = benanza.measure("lenet", threads=[1], quick=True, folder=cls.folder, programs=BUILD, progress=False)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_figures_are_those_of_the_json(self):
        r = self.answer
        self.assertEqual([(s.model, s.batch, s.type, s.threads) for s in r.settings], [("lenet@batch=1", 1, "f32", 1)])
        said = r.json["analyses"][0]
        self.assertEqual(r.bound.ns, said["lower_bound"]["ns"])
        self.assertAlmostEqual(r.prediction.ms, said["expected"]["ns"] * 1e-6)
        self.assertLessEqual(r.bound.low_ns, r.bound.high_ns)
        self.assertLessEqual(r.bound.ns, r.prediction.ns)
        self.assertIn("lenet@batch=1 f32 t1: bound", repr(r))
        self.assertEqual(r.complete, r.json["status"] == "complete")

    def test_tables_have_a_row_each(self):
        r = self.answer
        layers = rows(r.layers)
        self.assertEqual(len(layers), len(r.json["analyses"][0]["layers"]))
        conv = next(l for l in layers if l["layer"].startswith("Conv/"))
        self.assertGreater(conv["bound_ns"], 0)
        self.assertGreaterEqual(conv["prediction_ns"], conv["bound_ns"])
        cases = rows(r.cases)
        self.assertTrue({c["layer"] for c in cases} <= {l["layer"] for l in layers})
        self.assertTrue(all(isinstance(c["threads"], int) for c in cases))
        self.assertEqual([a["id"] for a in rows(r.advice)],
                         [a["id"] for a in r.json["analyses"][0]["advice"]["items"]])

    def test_a_notebook_shows_the_page(self):
        shown = self.answer._repr_html_()
        if (self.folder / "lenet" / "page.html").exists():
            self.assertIn("srcdoc=", shown)
            self.assertNotIn("<script>", shown)  # inside of the frame alone
        else:
            self.assertIsNone(shown)

    def test_a_store_is_asked_again(self):
        kept = benanza.store(self.folder / "results.db", programs=BUILD)
        self.assertTrue(kept.whole)
        runs = rows(kept.runs)
        self.assertEqual(runs[0]["effort"], "quick")
        self.assertIn("lenet@batch=1", runs[0]["models"])
        again = kept.analyze(model="lenet", threads=1)
        self.assertEqual(again.bound, self.answer.bound)
        self.assertEqual(again.json["analyses"][0]["model"], "lenet@batch=1")
        self.assertEqual(again.page is None, self.answer.page is None)
        (point,) = rows(kept.sweep("threads", figure="bound"))
        self.assertEqual((point["threads"], point["value"]), (1, self.answer.bound.ns))

    def test_a_result_compared_with_itself_is_not_slower(self):
        result = self.folder / "a.json"
        subprocess.run([BUILD / "benanza_analyze", self.folder / "results.db", "--export", result], check=True)
        same = benanza.compare(result, result, programs=BUILD)
        self.assertFalse(same.slower)
        layers = rows(same.rows("layers"))
        self.assertTrue(layers)
        self.assertEqual(len(layers), len(same.json["layers"]))

    def test_another_program_gets_short_answers_that_agree_with_the_page(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{BUILD}:{os.environ['PATH']}"}):
            said = []
            q = tools.Question("lenet", str(self.folder), told=said.append)
            self.assertIn("the page", "".join(said))
            r = q.setting
            bound, where, advice = tools.bound(q), tools.where_time_goes(q), tools.advise(q)
            for a in bound, where, advice:
                self.assertEqual((a["model"], a["type"], a["threads"]), ("lenet@batch=1", "f32", 1))
                self.assertEqual("doubts" in a, bool(r.doubts))
                self.assertLess(len(json.dumps(a)), 8000)
                self.assertTrue(a["repeat"].startswith("benanza lenet -o "), a["repeat"])
            self.assertAlmostEqual(bound["lower_bound"]["ms"], r.bound.ms, delta=1e-3 * r.bound.ms)
            self.assertLessEqual(bound["lower_bound"]["from_ms"], bound["lower_bound"]["to_ms"])
            self.assertAlmostEqual(sum(k["share"] for k in where["kinds"]), 1, delta=0.02)
            self.assertAlmostEqual(sum(k["ms"] for k in where["kinds"]), r.prediction.ms, delta=0.01 * r.prediction.ms)
            self.assertEqual([i["id"] for i in advice["advice"]], [i["id"] for i in r.data["advice"]["items"]])
            layer = where["layers"][0]
            one = tools.explain_layer(q, layer["layer"])
            self.assertIn(layer["by"], [a["by"] for a in one["algorithms"]])
            self.assertGreater(one["machine_limit_ms"], 0)
            for i in advice["advice"]:
                done = tools.apply(q, i["id"], str(self.folder / "new.onnx"))
                self.assertEqual(done["applied"], i["way"] == "rewrite")
            for ask, says in ((lambda: tools.apply(q, "magic", "x.onnx"), "no such advice"),
                              (lambda: tools.explain_layer(q, "Conv/1"), "Conv/1"),
                              (lambda: tools.Question("lenet", str(self.folder), batch=0), "--batch 0")):
                with self.assertRaisesRegex(benanza.Error, says):
                    ask()
            store = self.folder / "results.db"
            same = tools.compare(str(store), str(store), str(self.folder / "compared"))
            self.assertEqual((same["slower"], same["changed"]), (False, []))
            self.assertIn("benanza_analyze compare", same["repeat"])

    def test_who_is_told_what_happens_can_end_it(self):
        class Enough(Exception):
            pass

        def told(_):
            raise Enough

        with tempfile.TemporaryDirectory() as place:
            script = Path(place) / "slow"
            script.write_text("#!/bin/sh\ntrap 'echo kept > \"$1\"; exit 130' INT\necho begun >&2\nsleep 60 & wait\n")
            script.chmod(0o755)
            with self.assertRaises(Enough):
                programs.ask([script, Path(place) / "said"], told)
            self.assertEqual((Path(place) / "said").read_text(), "kept\n")

    def test_refusals_are_errors_of_one_line(self):
        for call, says in (
                (lambda: benanza.measure("nothing.onnx", programs=BUILD, folder=self.folder), "nothing.onnx: no such file"),
                (lambda: benanza.measure("lenet", threads=0, programs=BUILD, folder=self.folder), "--threads 0"),
                (lambda: benanza.measure("lenet", framework="caffe", programs=BUILD, folder=self.folder), "caffe"),
                (lambda: benanza.measure("lenet", shapes={"nobody": [1, 2]}, programs=BUILD, folder=self.folder), "nobody"),
                (lambda: benanza.measure("lenet", programs=self.folder), "benanza_generate"),
                (lambda: benanza.compare("nowhere.json", "nowhere.json", programs=BUILD), "nowhere.json"),
                (lambda: benanza.store("no.db"), "no.db: no such file"),
                (lambda: benanza.analyze("no.json", programs=BUILD), "no.json"),
                (lambda: benanza.sweep("no.json", over="batch", programs=BUILD), "no.json"),
                (lambda: benanza.compare("a", "b", programs=self.folder), "scripts/quickstart")):
            with self.subTest(says=says):
                with self.assertRaises(benanza.Error) as refused:
                    call()
                self.assertIn(says, str(refused.exception))
                self.assertNotIn("\n", str(refused.exception))

    def test_ctrl_c_reaches_the_programs(self):
        with tempfile.TemporaryDirectory() as place:
            script = Path(place) / "slow"
            script.write_text("#!/usr/bin/env python3\nimport sys, time\ntry:\n    time.sleep(60)\n"
                              "except KeyboardInterrupt:\n    open(sys.argv[1], 'w').write('kept')\n    sys.exit(130)\n")
            script.chmod(0o755)
            timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                programs.ask([script, Path(place) / "said"])
            self.assertEqual((Path(place) / "said").read_text(), "kept")


class Values(unittest.TestCase):
    def test_the_machines_limit_is_of_the_graph_that_the_bound_is_of(self):
        time = {"ns": 2e6, "low_ns": 1e6, "high_ns": 3e6}
        own, fused = ({"roofline": {"sequential": {"ns": ns}}} for ns in (1.5e6, 1e6))
        for forms, limit in (({**own, "fused": None, "rewritten": None}, 1.5), ({**own, "fused": fused, "rewritten": None}, 1),
                             ({**own, "fused": fused, "rewritten": {"roofline_ns": 8e5}}, 0.8),
                             ({"roofline": None, "fused": None, "rewritten": None}, None)):
            data = {"model": "m", "type": "f32", "threads": 1, "batch": 1, "partial": False, "lower_bound": time,
                    "expected": time, **forms}
            asked = types.SimpleNamespace(setting=answer.Setting(data), repeat=lambda: "")
            self.assertEqual(tools.bound(asked)["machine_limit_ms"], limit)

    def test_a_model_of_the_zoo_is_a_file_after_the_first_question(self):
        self.assertEqual(tools.file_of("a/m.onnx", "kept"), "a/m.onnx")
        self.assertEqual(tools.file_of("lenet", "kept"), "kept/zoo/lenet.onnx")

    def test_cells_have_types(self):
        self.assertEqual([answer.typed(t) for t in ("", "3", "0.5", "1e-3", "f32", "nan?")],
                         [None, 3, 0.5, 1e-3, "f32", "nan?"])

    def test_units(self):
        t = benanza.Interval(2.5e6, 2e6, 3e6)
        self.assertEqual((t.us, t.ms, t.s), (2500, 2.5, 2.5e-3))

    def test_an_answer_without_figures_has_none(self):
        nothing = {"model": "m@batch=1", "batch": 1, "type": "f32", "threads": 1, "lower_bound": None, "expected": None,
                   "partial": True, "layers": [], "advice": {"run_ns": None, "items": []}}
        r = benanza.Answer({"analyses": [nothing]}, "layer\n", None, False)
        self.assertIsNone(r.bound)
        self.assertIsNone(r.prediction)
        self.assertIsNone(r._repr_html_())
        self.assertEqual(repr(r), "m@batch=1 f32 t1: nothing measured PARTIAL")
        self.assertEqual(rows(r.layers), [])

    def test_what_only_nodes_name_becomes_a_weight_without_values(self):
        class Weights(list):
            def add(self, **fields):
                self.append(types.SimpleNamespace(**fields, external_data=Weights()))
                return self[-1]

        def value(name, *dims):
            shape = types.SimpleNamespace(dim=[types.SimpleNamespace(dim_value=d) for d in dims])
            return types.SimpleNamespace(name=name, type=types.SimpleNamespace(
                tensor_type=types.SimpleNamespace(shape=shape, elem_type=16)))

        def graph(*known):
            nodes = [types.SimpleNamespace(input=["x", "w", ""], output=["y"]),
                     types.SimpleNamespace(input=["y", "w", "b"], output=["z"])]
            given = Weights([types.SimpleNamespace(name="b")])
            return types.SimpleNamespace(graph=types.SimpleNamespace(
                node=nodes, input=[value("x", 1, 8)], value_info=[*known, value("y", 1, 4)], initializer=given))

        model, saved = graph(value("w", 8, 4)), []
        fake = types.ModuleType("onnx")
        fake.load, fake.save = (lambda file, load_external_data: model), (lambda m, file: saved.append(file))
        fake.TensorProto = types.SimpleNamespace(EXTERNAL=1)
        with unittest.mock.patch.dict(sys.modules, {"onnx": fake}):
            exporting.with_named_weights(Path("m.onnx"))
            (_, weight), = [model.graph.initializer]
            self.assertEqual((weight.name, weight.dims, weight.data_type, weight.data_location), ("w", [8, 4], 16, 1))
            self.assertEqual([(e.key, e.value) for e in weight.external_data], [("location", "not-written")])
            self.assertEqual(saved, [Path("m.onnx")])
            for unknown in graph(), graph(value("w", 8, 0)):
                model = unknown
                with self.assertRaisesRegex(benanza.Error, "w: the exporter says neither"):
                    exporting.with_named_weights(Path("m.onnx"))

    def test_importing_is_fast_and_needs_nothing(self):
        done = subprocess.run([sys.executable, "-X", "importtime", "-c", "import benanza"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "scripts" / "python"),
                                   "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        loaded = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
        self.assertFalse(loaded & {"pandas", "numpy", "onnx"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
