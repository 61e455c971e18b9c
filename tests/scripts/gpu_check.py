#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every stage of scripts/gpu_check on the fake GPU, with a small model and few samples.

  gpu_check.py <source folder> <benanza_bench> <benanza_analyze> <fake GPU library>
"""

import gzip
import json
import os
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
         "--min-time", "0.002", "--filter", "^(Conv|MaxPool)/.*/(eng[0-9]|legacy:.*)/"]


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

    def kept(self, name):
        with gzip.open(self.out / name) as f:
            return json.loads(f.read())

    def test_describe(self):
        said = self.check("describe").stdout
        self.assertIn("cudnn_version", said)
        self.assertIn("Fake", said)
        self.assertEqual(json.loads((self.out / "describe" / "device.json").read_text())["deviceVer"], 900)
        self.assertIn("us", self.kept("describe/facts.json.gz")["its time"])
        self.assertTrue((self.out / "describe.tar").is_file())

    def test_lists(self):
        self.check("lists")
        layers = self.kept("lists/lenet_f32.json.gz")["layers"]
        self.assertEqual(len(layers), 4)
        self.assertTrue(any(layer.startswith("Conv/") for layer in layers))
        both = sum(len(l["both"]) for l in layers.values())
        self.assertGreater(both, 4)
        # The fake is the GPU that it describes: what both list is the same, but for what needs a handle.
        real = [a for l in layers.values() for a in l["real"]]
        self.assertTrue(all(a.startswith("legacy") for a in real), real)

    def test_resnet_and_what_it_leaves(self):
        said = self.check("resnet", "--analyze", ANALYZE).stdout
        result = self.kept("resnet/lenet_b1_f32.json.gz")
        timed = [b for b in result["benchmarks"] if not b.get("error_occurred")]
        self.assertEqual({b["state"] for b in timed}, {"hot", "coldw"})
        self.assertEqual({b["backend"] for b in timed}, {"cudnn"})
        self.assertIn("two runs of the same cases differ by", said)
        row = next(l for l in said.split("\n") if l.startswith("lenet_b1_f32 "))
        best = {}
        for b in timed:
            if b["state"] == "hot":
                best[b["key"]] = min(best.get(b["key"], 1e18), b["min_ns"])
        self.assertIn(min(best.values()), (4000, 10000))
        self.assertIn("analysis:", said)
        self.assertIn("lenet@batch=1", (self.out / "resnet" / "lenet_b1_f32.analysis.txt").read_text())
        self.assertFalse(list((self.out / "resnet").glob("*.unfinished")))
        self.assertIn("0.0", row)  # the sum, in ms

        # What is there is not measured again; what is damaged is.
        files = [self.out / "resnet" / n for n in ("lenet_b1_f32.json.gz", "lenet_b1_f32_again.json.gz")]
        before = [f.stat().st_mtime_ns for f in files]
        files[1].write_bytes(files[1].read_bytes()[:100])
        again = self.check("resnet").stdout
        self.assertEqual(files[0].stat().st_mtime_ns, before[0])
        self.assertGreater(files[1].stat().st_mtime_ns, before[1])
        self.assertIn("kept", again)
        self.kept("resnet/lenet_b1_f32_again.json.gz")

        # The archive is enough to go on elsewhere, without a GPU.
        other = self.folder / "elsewhere"
        other.mkdir()
        shutil.copy(self.out / "resnet.tar", other)
        there = self.check("resnet", out=other, preload=False).stdout
        self.assertEqual(there.count("kept"), 2)

    def test_pytorch_is_skipped_by_name(self):
        said = self.check("pytorch").stdout
        self.assertIn("skipped: torch cannot be imported (ImportError: no such luck)", said)

    def test_pytorch_where_it_is(self):
        package = self.folder / "stand_in"
        package.mkdir()
        (package / "torch.py").write_text(STAND_IN)
        environment, other = self.environment, self.folder / "torch"
        try:
            self.__class__.environment = dict(environment, PYTHONPATH=str(package))
            self.assertIn("skipped: torch sees no GPU", self.check("pytorch", out=other).stdout)
            said = self.check("pytorch", "--torch-device", "cpu", status=1, out=other).stdout
        finally:
            self.__class__.environment = environment
        self.assertIn("compile, batch 1, f32: RuntimeError: no compiler here", said)
        with gzip.open(other / "pytorch" / "eager_b1_f32.json.gz") as f:
            eager = json.loads(f.read())
        self.assertGreaterEqual(eager["count"], 5)
        self.assertEqual(eager["torch"], "0.stand-in")
        self.assertRegex(said, r"1 +f32 +[0-9.]+ +- ")

    def test_a_stage_whose_time_is_over_goes_on_later(self):
        other = self.folder / "slow"
        said = self.check("resnet", "--minutes", "0.0001", status=1, out=other).stdout
        self.assertIn("the time is over", said)
        # In the middle of a run, or behind it: both are left so that the next can go on.
        self.check("resnet", "--minutes", "0.02", status=None, out=other)
        self.assertIn("complete", self.check("resnet", out=other).stdout)
        self.assertTrue((other / "resnet" / "lenet_b1_f32.json.gz").is_file())

    def test_failures_are_counted_and_named(self):
        (self.folder / "wrong").write_text("cost 10us\nengine 0 wrong\n")
        other = self.folder / "failing"
        environment = self.environment
        try:
            self.__class__.environment = dict(environment, BENANZA_FAKE_GPU_SCRIPT=str(self.folder / "wrong"))
            said = self.check("transformer", status=1, out=other).stdout
        finally:
            self.__class__.environment = environment
        self.assertIn("wrong result", said)
        self.assertTrue((other / "transformer" / "lenet_f32.json.gz").is_file())

    def test_refusals_are_one_line(self):
        for options in ([], ["--stage", "resnet", "--program", "/no/such"],
                        ["--stage", "describe", "--program", "/bin/true"],
                        ["--stage", "resnet", "--program", BENCH, *SMALL, "--models", "vgg"]):
            done = subprocess.run([sys.executable, SCRIPT, "--out", self.folder / "refused",
                                   *map(str, options)], capture_output=True, text=True,
                                  env=self.environment)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("gpu_check: "), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
