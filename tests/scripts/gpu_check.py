#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every stage of scripts/gpu_check on the fake GPU, with a small model and few samples.

  gpu_check.py <source folder> <benanza_bench> <benanza_analyze> <fake GPU library>
"""

import argparse
import gzip
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
SMALL = ["--models", "lenet", "--types", "f32", "--batches", "1", "--effort", "quick", "--min-time", "0.002",
         "--ceilings", "^machine/((copy|write)-[1248][0-9]{6}/f32/cuda|read-134217728/f32/cuda|graph_gap/f32/cuda|matmul/f32/cublas/gemm)",
         "--filter", "^(Conv|MaxPool)/.*/(eng[0-9]|legacy:.*)/"]
sys.path.insert(0, str(SOURCE / "scripts"))
from gpu import files, first, pack, report, stages, units  # noqa: E402
from gpu.common import Refused  # noqa: E402


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
    "Module Sequential Conv2d BatchNorm2d Identity ReLU MaxPool2d AdaptiveAvgPool2d Flatten Linear LayerNorm "
    "RMSNorm").split()})
cuda = SimpleNamespace(is_available=lambda: False)
backends = MagicMock()
backends.cudnn.version = lambda: 91900
manual_seed = isfinite = inference_mode = MagicMock()
def rand(*shape, **options): return Same()
class Same:
    def to(self, *how, **options): return self
    def float(self): return self
    abs = max = float
    def __sub__(self, other): return Zero()
    def __truediv__(self, other): return self
    def __float__(self): return 1.0
class Zero(Same):
    def __float__(self): return 0.0
    def __truediv__(self, other): return self
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
        said = self.check("first", "--analyze", ANALYZE, out=out).stdout
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
        self.assertIn("the machine's limits",
                      (out.with_name("out.work") / "first" / "convolution.analysis.txt").read_text())
        # The ceilings in the order in which they are asked for, with their units.
        rows = [line.split()[0] for line in said[said.index("ceiling  "):].split("\n")[2:7]]
        self.assertEqual(rows, ["matmul", "copy", "read", "write", "graph_gap"])
        self.assertRegex(said, r"matmul f32 +[0-9.]+ +TFLOP/s +cublas gemm")
        self.assertRegex(said, r"read +[0-9.]+ +GB/s")
        self.assertRegex(said, r"graph_gap +[0-9.]+ +us")
        # The fake is the GPU that it describes: what both list is the same, but for what needs a handle.
        layers = self.kept("first/lists_f32.json.gz", out)
        self.assertEqual(len(layers), 4)
        self.assertGreater(sum(len(l["both"]) for l in layers.values()), 4)
        self.assertFalse([a for l in layers.values() for a in l["only here"] + l["only without GPU"]])
        # Names of kernels are looked for in one case of each library alone, whose seconds are announced.
        self.assertFalse([b for b in cases if "kernels" in b])
        self.assertIn(f"next: gpu_check --stage second --out {out}", said)
        self.assertEqual((out / "summary.txt").read_text(), said[said.index("fact "):])
        self.check_report(out)
        self.assertEqual(sorted(p.name for p in out.iterdir()), ["first.tar.0", "summary.txt"])

    def check_report(self, out):
        """A page and data of what came home, the same each time, elsewhere too."""
        texts = []
        for place in out, self.folder / "home" / "out":
            if place != out:
                place.mkdir(parents=True)
                shutil.copy(out / "first.tar.0", place)
            done = subprocess.run([sys.executable, SCRIPT, "--report", place], capture_output=True, text=True,
                                  env=self.environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            made = place.with_name("out.report")
            texts.append({f.name: f.read_bytes() for f in made.iterdir()})
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(sorted(texts[0]), ["device.json", "lists_f32.json", "page.md", "result.json"])
        page = texts[0]["page.md"].decode()
        self.assertTrue(page.startswith("# Measured on h200\n"))
        self.assertIn("\n| ceiling | at most | unit | by |\n|---|---|---|---|\n| matmul f32 | ", page)
        self.assertIn("\n| convolution | 1 | ", page)
        said = subprocess.run([ANALYZE, "--device", "gpu"], input=texts[0]["result.json"], capture_output=True)
        self.assertEqual(said.returncode, 1, said.stderr)  # a few cases of one layer
        self.assertIn(b"lenet@batch=1", said.stdout)

    def test_ceilings_are_those_that_are_asked_for_first(self):
        words = ["--types", "f16,bf16,tf32,f32,e4m3", "--backends", "cuda,cudnn,cublas",
                 "--benchmark_list_tests"]
        listed = [subprocess.run([BENCH, *words, f"--benchmark_filter={f}"], capture_output=True, text=True,
                                 env={**self.environment, "LD_PRELOAD": str(FAKE)}).stdout.split()
                  for f in (first.CEILINGS, first.ALL_CEILINGS)]
        self.assertLess(set(listed[0]), set(listed[1]))
        kinds = {n.split("/")[1].split("-")[0] for n in listed[0]}
        self.assertEqual(kinds, {"matmul", "conv", *first.MOVED.split("|"), *first.ONCE.split("|")})
        for t in "f16", "bf16", "tf32", "f32", "e4m3":
            self.assertTrue([n for n in listed[0] if n.startswith(f"machine/matmul/{t}/")], t)

    def test_what_tells_most_comes_first(self):
        asked = argparse.Namespace(models=None, types=["f16", "tf32", "bf16", "f32"], batches=[1, 32], algorithms=None,
                                   resnet="resnet50-v1", layer_models=["encoder@layers"], more_layers=["llm@layers"],
                                   more_types=("e4m3",), torch_device="cuda", ceilings="", pace=[], sampling=[])
        names = [[u.name for u in stages.STAGES[s](asked, report.NoProgram())] for s in ("first", "second", "third")]
        self.assertEqual(names[0], ["facts", "libraries", "lists_f16", "ceilings", "convolution"])
        self.assertEqual(names[1], ["encoder_f16", "pytorch_encoder_f16", "rivals_encoder_f16", "resnet50-v1_b1_f16",
                                    "plan_resnet50-v1_b1_f16", "pytorch_resnet50-v1_b1_f16", "rivals_resnet50-v1_b1_f16"])
        self.assertEqual(names[2][:4], ["llm_f16", "rivals_llm_f16", "llm_e4m3", "encoder_tf32"])
        more = [u.name for u in stages.STAGES["more"](asked, report.NoProgram())]
        self.assertEqual(more[:len(sum(names, []))], sum(names, []))
        self.assertEqual(more[len(sum(names, []))], "encoder_f16_all")
        self.assertIn("resnet50-v1_b32_f16", more)
        self.assertEqual(len(more), len(set(more)))

    def test_a_journal_travels_compressed(self):
        work, out, there = (self.folder / "journal" / name for name in ("work", "out", "there"))
        (work / "second").mkdir(parents=True)
        out.mkdir()
        (work / "second" / "a.json.unfinished").write_text("one line\n" * 100000)
        files.pack_up(out, work, "second")
        self.assertLess((out / "second.tar.0").stat().st_size, 20000)
        files.unpack(out, there, "second")
        self.assertEqual((there / "second" / "a.json.unfinished").read_text(), "one line\n" * 100000)

    def test_lists_are_compared_but_for_what_only_a_gpu_can_list(self):
        for name in "legacy:implicit_gemm:fma", "lt:algo1", "nhwc:lt:algo1", "wt:lt:algo1", "rnn:standard":
            self.assertTrue(first.only_on_a_gpu(name), name)
        for name in "eng1_k2=0", "nhwc:eng1", "kernel:v8", "gemm", "wt:gemm":
            self.assertFalse(first.only_on_a_gpu(name), name)

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
        script = units
        arguments = type("Arguments", (), {"work": self.folder / "pace", "effort": "quick", "preload": None})
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
        # Operands of large layers are made by the processor, and go to the card.
        large = script.Unit("third", "large", None, cases=lambda: ["MatMul/1x1x4096-4096x14336-w/f16/cudnn/1/hot/t1"])
        small = script.Unit("third", "small", None, cases=lambda: ["MatMul/1x1x4096-4096x16-w/f16/cudnn/1/hot/t1"])
        self.assertAlmostEqual(pace.seconds(large) - pace.seconds(small), 5e-8 * 4096 * 14320, places=6)

    def test_a_pack_is_light_enough_to_be_carried(self):
        script, folder = pack, self.folder / "pack"
        folder.mkdir()
        with open(folder / "benanza_bench", "wb") as f:
            f.truncate(16 << 20)
        self.assertEqual(script.weight_of(folder), 16 << 20)
        (folder / "pack.json").write_text("{}")
        with self.assertRaisesRegex(Refused, "16777218 bytes, more than 16777216"):
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
        self.assertIn(round(min(best.values())), (4000, 10000))
        work = self.out.with_name("out.work")
        self.assertIn("analysis:", said)
        self.assertIn("pytorch_lenet_b1_f32: skipped: lenet is not written for PyTorch here", said)
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
        self.check("third", out=out)
        said = self.check("more", out=out).stdout
        self.assertIn("two runs of the same cases differ by", said)
        self.assertIn("next: nothing, all is there", said)
        self.assertLessEqual(len(list(out.iterdir())), 8)

    def test_pytorch_where_it_is(self):
        package = self.folder / "stand_in"
        package.mkdir()
        (package / "torch.py").write_text(STAND_IN)
        # A small model by the name of one that is written for PyTorch.
        graphs = self.folder / "resnet.json"
        text = (SOURCE / "generated" / "sample" / "graphs.json").read_text()
        graphs.write_text(text.replace('"lenet', '"resnet50-v1'))
        whole = ["--graphs", graphs, "--models", "resnet50-v1", "--analyze", ANALYZE, "--algorithms", "all",
                 "--filter", "^(Add|Relu)/.*/kernel:v1/|^MatMul/.*/gemm/|^(Conv|MaxPool)/.*/eng1/"]
        environment, other = self.environment, self.folder / "torch"
        try:
            self.assertIn("skipped: torch cannot be imported (ImportError: no such luck)",
                          self.check("second", *whole, out=self.folder / "broken torch").stdout)
            self.__class__.environment = dict(environment, PYTHONPATH=str(package))
            self.assertIn("skipped: torch sees no GPU",
                          self.check("second", *whole, out=self.folder / "torch without").stdout)
            said = self.check("second", "--torch-device", "cpu", *whole, status=1, out=other).stdout
        finally:
            self.__class__.environment = environment
        name = "resnet50-v1_b1_f32"
        self.assertIn(f"pytorch_{name}, compile: RuntimeError: no compiler here", said)
        self.assertIn(f"pytorch_{name}, graph: a CUDA graph wants a GPU", said)
        eager = self.kept(f"second/pytorch_{name}.json.gz", other)["eager"]
        self.assertGreaterEqual(eager["count"], 5)
        self.assertEqual(eager["torch"], "0.stand-in")
        # The whole model is next to it: its ten layers of 10 us and more, one after the other.
        runs = self.kept(f"second/plan_{name}.json.gz", other)["benchmarks"]
        self.assertEqual([b["algorithm"] for b in runs], ["plan"])
        self.assertGreater(runs[0]["median_ns"], 80000)
        self.assertRegex(said, rf"plan_{name} +0[.][01][0-9]+ +-")
        self.assertRegex(said, rf"pytorch_{name} +[0-9.]+ +- +- +0[.0-9]+ +0[.0-9]+ ")  # next to our sums

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
        (self.folder / "wrong").write_text("cost 10us\nengine 1 wrong\n")
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
