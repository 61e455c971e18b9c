#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every stage of scripts/gpu_check on the fake GPU, with a small model and few samples.

  gpu_check.py <source folder> <benanza_bench> <benanza_analyze> <fake GPU library>
"""

import gzip
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE, BENCH, ANALYZE, FAKE = (Path(p) for p in sys.argv[1:5])
SCRIPT = SOURCE / "scripts" / "gpu_check"
SMALL = ["--models", "lenet", "--types", "f32", "--batches", "1", "--effort", "quick",
         "--min-time", "0.002", "--ceilings", "^machine/(copy|write)-[1248][0-9]{6}/f32/cuda/", "--filter", "^(Conv|MaxPool)/.*/(eng[0-9]|legacy:.*)/"]


def module():
    """The script itself, for what needs no GPU."""
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(made)
    return made


# As much of PyTorch as the stage asks for: it computes nothing, and cannot compile.
STAND_IN = """
from types import SimpleNamespace
from unittest.mock import MagicMock
__version__ = "0.stand-in"
class Module:
    def __init__(self, *parts, **options): pass
    def __call__(self, x): return x
    def eval(self): return self
    def to(self, *how, **options): return self
nn = SimpleNamespace(**{n: Module for n in (
    "Module Sequential Conv2d BatchNorm2d Identity ReLU MaxPool2d AdaptiveAvgPool2d Flatten Linear").split()})
cuda = SimpleNamespace(is_available=lambda: False)
backends = MagicMock()
backends.cudnn.version = lambda: 91900
manual_seed = rand = isfinite = inference_mode = MagicMock()
float16, bfloat16, float32, channels_last, contiguous_format = range(5)
def compile(model, mode): raise RuntimeError("no compiler here")
"""


class Stages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="benanza_gpu_check_"))
        cls.out = cls.folder / "out"
        (cls.folder / "script").write_text("cost 10us\nlegacy 1 cost 4us\n")
        broken = cls.folder / "broken"
        broken.mkdir()
        (broken / "torch.py").write_text("raise ImportError('no such luck')\n")
        cls.environment = dict(os.environ, BENANZA_FAKE_GPU_SCRIPT=str(cls.folder / "script"),
                               PYTHONPATH=str(broken), BENANZA_NVML="", PYTHONDONTWRITEBYTECODE="1")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def check(self, stage, *options, status=0, out=None, preload=True, program=BENCH):
        words = [sys.executable, SCRIPT, "--stage", stage, "--out", out or self.out, "--program", program,
                 *SMALL, *(["--preload", FAKE] if preload else []), *options]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True,
                              env=self.environment, timeout=300)
        self.assertIn(done.returncode, (0, 1) if status is None else (status,),
                      done.stdout + done.stderr)
        return done

    def kept(self, name, out=None):
        out = out or self.out
        with gzip.open(out.with_name(out.name + ".work") / name) as f:
            return json.loads(f.read())

    def test_first(self):
        out, environment = self.out, self.environment
        self.__class__.environment = dict(environment, BENANZA_CUPTI=str(FAKE))
        said = self.check("first", out=out).stdout
        self.__class__.environment = environment
        if b"cuptiActivityFlushAll" in Path(FAKE).read_bytes():  # built where CUPTI's header is
            self.assertRegex(said, r"kernels +CUPTI 13")
            self.assertRegex(said, r"cudnn ran (engine|legacy|call) ")
        self.assertIn("cudnn version", said)
        self.assertIn("Fake", said)
        self.assertRegex(said, r"convolution: [0-9]+ cases, about [0-9]+ s, [0-9]+ s are left")
        # Each library runs something, and one layer is measured by all that there is.
        backends = {b["backend"] for b in self.kept("first/libraries.json.gz", out)["benchmarks"]}
        self.assertIn("cudnn", backends)
        cases = self.kept("first/convolution.json.gz", out)["benchmarks"]
        self.assertEqual(len({b["key"] for b in cases}), 1)
        self.assertEqual({b["state"] for b in cases}, {"hot", "coldw"})
        self.assertIn("GB/s", said)
        self.assertIn(f"next: gpu_check --stage second --out {out}", said)
        self.assertEqual((out / "summary.txt").read_text(), said[said.index("fact "):])
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["first.tar.0", "summary.txt"])

    def test_a_layer_of_a_real_network_is_measured_within_what_was_announced(self):
        layer = {"name": "one@batch=1", "model": "one", "batch": 1, "type": "f32", "parameters": 36864,
                 "parameter_bytes": 147456, "folded": 0, "repairs": [],
                 "layers": [["Conv", "1x64x56x56-64x3x3-s1-p1"]], "nodes": [["conv", "Conv", 0, [-1, -2]]]}
        graphs = self.folder / "one.json"
        graphs.write_text(json.dumps({"benanza_graphs": 1, "known": [], "graphs": [layer]}))
        said = self.check("first", "--graphs", graphs, "--models", "one", "--types", "f16",
                          out=self.folder / "one").stdout
        cases, announced = map(int, re.search(r"convolution: ([0-9]+) cases, about ([0-9]+) s", said).groups())
        took = int(re.search(r"convolution: took ([0-9]+) s", said)[1])
        self.assertGreater(cases, 10)
        self.assertLessEqual(took, announced)
        # In tf32, whose numbers are f32's, layouts are changed as those of f32.
        listed = subprocess.run([BENCH, "--graphs", graphs, "--target", "h100", "--types", "tf32", "--backends",
                                 "cuda,cudnn", "--benchmark_filter=^reorder/", "--benchmark_list_tests"],
                                capture_output=True, text=True).stdout
        self.assertIn("reorder/1x64x56x56-plain-channels_last/f32/", listed)

    def test_the_pace_is_that_of_each_backend(self):
        script = module()
        arguments = type("Arguments", (), {"work": self.folder / "pace", "effort": "quick"})
        pace, cases = script.Pace(arguments), [f"Conv/k/f16/cudnn/{i}/hot/t1" for i in range(1000)]
        unit = script.Unit("second", "some", None, cases=lambda: cases)
        guess = pace.seconds(unit)
        row = {"name": cases[0], "family": "Conv", "key": "k", "type": "f16", "backend": "cudnn", "setup_ns": 5e6,
               "sampling_ns": 1e7}
        # 2000 cases of 1000 algorithms take 25 s by what they say, and 13.25 s more, most of them before.
        pace.learn(38.25, {"benchmarks": [dict(row, algorithm=str(i // 2)) for i in range(2000)]})
        learned = script.Pace(arguments).seconds(unit)  # of the next command
        self.assertLess(learned, guess / 4)
        self.assertAlmostEqual(learned, 12.25 + 1.25 * 1000 * (26 + 20 * 0.12) / 2020, places=3)
        cases += 100 * ["Conv/k/f16/cuda/1/hot/t1"]  # of which nothing is known: they are compiled
        self.assertGreater(script.Pace(arguments).seconds(unit), learned + 25)

    def test_a_pack_is_light_enough_to_be_carried(self):
        script, folder = module(), self.folder / "pack"
        folder.mkdir()
        with open(folder / "benanza_bench", "wb") as f:
            f.truncate(16 << 20)
        self.assertEqual(script.weight_of(folder), 16 << 20)
        (folder / "pack.json").write_text("{}")
        with self.assertRaisesRegex(script.Refused, "16777218 bytes, more than 16777216"):
            script.weight_of(folder)

    def test_second_and_what_it_leaves(self):
        said = self.check("second", "--analyze", ANALYZE).stdout
        result = self.kept("second/lenet_b1_f32.json.gz")
        timed = [b for b in result["benchmarks"] if not b.get("error_occurred")]
        self.assertEqual({b["state"] for b in timed}, {"hot", "coldw"})
        self.assertEqual({b["backend"] for b in timed}, {"cudnn"})
        row = next(l for l in said.split("\n") if l.startswith("lenet_b1_f32  "))
        best = {}
        for b in timed:
            if b["state"] == "hot":
                best[b["key"]] = min(best.get(b["key"], 1e18), b["min_ns"])
        self.assertIn(min(best.values()), (4000, 10000))
        work = self.out.with_name("out.work")
        self.assertIn("analysis:", said)
        self.assertIn("lenet@batch=1", (work / "second" / "lenet_b1_f32.analysis.txt").read_text())
        self.assertFalse(list((work / "second").glob("*.unfinished")))
        self.assertIn("0.0", row)  # the sum, in ms

        # What is there is not measured again; what is damaged is.
        file = work / "second" / "lenet_b1_f32.json.gz"
        before = file.stat().st_mtime_ns
        self.assertIn("lenet_b1_f32: kept", self.check("second").stdout)
        self.assertEqual(file.stat().st_mtime_ns, before)
        file.write_bytes(file.read_bytes()[:100])
        self.check("second")
        self.assertGreater(file.stat().st_mtime_ns, before)
        self.kept("second/lenet_b1_f32.json.gz")

        # The archive is enough to go on elsewhere, without a GPU; one in parts too.
        other = self.folder / "elsewhere"
        other.mkdir()
        text = (self.out / "second.tar.0").read_bytes()
        (other / "second.tar.0").write_bytes(text[:1000])
        (other / "second.tar.1").write_bytes(text[1000:])
        self.assertIn("lenet_b1_f32: kept", self.check("second", out=other, preload=False).stdout)

    def test_third_and_more(self):
        out = self.out  # what other tests have left there is kept
        said = self.check("third", out=out).stdout
        self.assertIn("pytorch_b1_f32: skipped: torch cannot be imported (ImportError: no such luck)", said)
        said = self.check("more", out=out).stdout
        self.assertIn("two runs of the same cases differ by", said)
        self.assertIn("next: nothing, all is there", said)
        # The fake is the GPU that it describes: what both list is the same, but for what needs a handle.
        layers = self.kept("more/lists_f32.json.gz", out)
        self.assertEqual(len(layers), 4)
        self.assertGreater(sum(len(l["both"]) for l in layers.values()), 4)
        self.assertFalse([a for l in layers.values() for a in l["only here"] + l["only without GPU"]])
        self.assertLessEqual(len(list(out.iterdir())), 8)

    def test_pytorch_where_it_is(self):
        package = self.folder / "stand_in"
        package.mkdir()
        (package / "torch.py").write_text(STAND_IN)
        environment, other = self.environment, self.folder / "torch"
        try:
            self.__class__.environment = dict(environment, PYTHONPATH=str(package))
            self.assertIn("skipped: torch sees no GPU",
                          self.check("third", out=self.folder / "torch without").stdout)
            whole = ["--graphs", SOURCE / "generated" / "sample" / "graphs.json", "--filter", "^(Add|Relu)/.*/kernel:v1/|^MatMul/.*/gemm/|^(Conv|MaxPool)/.*/eng1/",
                     "--analyze", ANALYZE]
            self.check("second", *whole, out=other)
            said = self.check("third", "--torch-device", "cpu", *whole, status=1, out=other).stdout
        finally:
            self.__class__.environment = environment
        self.assertIn("pytorch_b1_f32, compile: RuntimeError: no compiler here", said)
        eager = self.kept("third/pytorch_b1_f32.json.gz", other)["eager"]
        self.assertGreaterEqual(eager["count"], 5)
        self.assertEqual(eager["torch"], "0.stand-in")
        # The whole model stands beside it: its ten layers of 10 us and more, one after the other.
        runs = self.kept("third/plan_b1_f32.json.gz", other)["benchmarks"]
        self.assertEqual([b["algorithm"] for b in runs], ["plan"])
        self.assertGreater(runs[0]["median_ns"], 80000)
        self.assertRegex(said, r"plan_b1_f32 +0[.][01][0-9]+ +-")
        self.assertRegex(said, r"pytorch_b1_f32 +[0-9.]+ +- +0[.0-9]+ +0[.0-9]+ ")  # beside our sums

    def test_a_stage_whose_time_is_over_goes_on_later(self):
        other = self.folder / "slow"
        said = self.check("second", "--minutes", "0.0001", status=1, out=other).stdout
        self.assertIn("left for the next command: lenet_b1_f32", said)
        # What a run of another setting left is put aside, and the next one measures all.
        work = self.folder / "slow.work" / "second"
        work.mkdir(parents=True, exist_ok=True)
        (work / "lenet_b1_f32.json.unfinished").write_text('{"nobody": "wrote this"}\n')
        self.check("second", out=other)
        self.kept("second/lenet_b1_f32.json.gz", other)

    def test_failures_are_counted_and_named(self):
        (self.folder / "wrong").write_text("cost 10us\nengine 0 wrong\n")
        other = self.folder / "failing"
        environment = self.environment
        try:
            self.__class__.environment = dict(environment, BENANZA_FAKE_GPU_SCRIPT=str(self.folder / "wrong"))
            said = self.check("second", status=1, out=other).stdout
        finally:
            self.__class__.environment = environment
        self.assertIn("wrong result", said)
        self.kept("second/lenet_b1_f32.json.gz", other)

    def test_refusals_are_one_line(self):
        for options in ([], ["--stage", "second", "--program", "/no/such"],
                        ["--stage", "first", "--program", "/bin/true"],
                        ["--stage", "second", "--program", BENCH, *SMALL, "--models", "vgg"]):
            done = subprocess.run([sys.executable, SCRIPT, "--out", self.folder / "refused",
                                   *map(str, options)], capture_output=True, text=True,
                                  env=self.environment)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("gpu_check: "), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
