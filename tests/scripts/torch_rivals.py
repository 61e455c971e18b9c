#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does gpu_check know the operators of PyTorch for our layers, what does it make of their times, and does the analyzer
let them compete? Nothing here needs PyTorch.

  torch_rivals.py <source folder> <benanza_analyze>
"""

import itertools
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

SOURCE, ANALYZE = Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from frameworks.layer_rows import row_of, timed_row  # noqa: E402
from frameworks.layers import host_facts  # noqa: E402
from frameworks.traces import slim_torch  # noqa: E402
from gpu import torch_case, torch_layers, torch_rivals, torch_timing, torch_units  # noqa: E402
from gpu.common import Refused  # noqa: E402
from gpu.layers import LISTS  # noqa: E402
from gpu.torch_check import tolerance  # noqa: E402
from gpu.torch_operators import Absent, operator_of  # noqa: E402

RESNET = """Conv/1x3x224x224-64x7x7-s2-p3 Conv/1x64x56x56-64x3x3-s1-p1-b BatchNormalization/1x64x112x112
Relu/1x64x112x112 MaxPool/1x64x112x112-3x3-s2-p1 Conv+Add+Relu/1x64x56x56-256x1x1-s1-b Add/1x256x56x56
GlobalAveragePool/1x2048x7x7 Gemm/1x1000x2048-tb-c1x1000-w Conv+Relu/1x64x56x56-64x3x3-s1-p1-b"""


class AnyFunction:
    """Functions by any name, that note how they were called."""

    def __init__(self):
        self.called = []

    def __getattr__(self, name):
        def function(*words, **options):
            self.called.append((name, words, options))
            return name
        function.__name__ = name
        return function


def torch_that_computes_nothing():
    made = AnyFunction()
    made.nn = SimpleNamespace(functional=AnyFunction())
    made.broadcast_shapes = lambda *shapes: [max(d) for d in reversed(list(itertools.zip_longest(
        *(reversed(s) for s in shapes), fillvalue=1)))]
    return made



class Operators(unittest.TestCase):
    def of(self, layer):
        return operator_of(torch_that_computes_nothing(), layer)

    def test_every_layer_of_the_lists_and_of_resnet_has_one(self):
        for layer in dict.fromkeys(" ".join([*LISTS.values(), RESNET]).split()):
            found = self.of(layer)
            self.assertTrue(found.operands and found.result, layer)
            self.assertEqual(found.library, layer.startswith(("MatMul", "Attention", "Conv", "Gemm")), layer)

    def test_weights_lie_as_modules_keep_them(self):
        found = self.of("MatMul/1x128x768-768x2304-w")
        self.assertEqual([o.dims for o in found.operands], [[1, 128, 768], [2304, 768]])
        self.assertEqual((found.name, found.result, found.length), ("linear", [1, 128, 2304], 768))
        self.assertEqual([o.weight for o in found.operands], [False, True])
        found = self.of("Gemm/1x1000x2048-tb-c1x1000-w")
        self.assertEqual([o.dims for o in found.operands], [[1, 2048], [1000, 2048], [1000]])
        # A bias goes with its product; another addend does not.
        self.assertEqual(self.of("MatMul+Add+Gelu/1x8x16-16x4-w-w4").name, "linear+gelu")
        self.assertEqual(self.of("MatMul+Add/1x8x16-16x4-w").name, "linear+add")
        self.assertEqual(self.of("MatMul/8x128x64-8x64x128").operands[1].dims, [8, 64, 128])

    def test_keys_are_read_as_they_are_written(self):
        functional = torch_that_computes_nothing()
        conv = operator_of(functional, "Conv/1x64x17x17-64x1x7-s1-p0x3")
        conv.run("x", "w")
        self.assertEqual(functional.nn.functional.called, [("conv2d", ("x", "w", None, [1, 1], [0, 3], [1, 1], 1), {})])
        self.assertEqual(conv.result, [1, 64, 17, 17])
        functional = torch_that_computes_nothing()
        operator_of(functional, "Conv/1x16x100-32x3-s2-p1x0").run("x", "w")  # more before than behind: it is padded first
        self.assertEqual(functional.nn.functional.called[0], ("pad", ("x", [1, 0]), {"value": 0}))
        self.assertEqual(functional.nn.functional.called[1][1][4], [0])
        attention = self.of("Attention/1x32x1x128-kv8-k4096")
        self.assertEqual([o.dims for o in attention.operands], [[1, 32, 1, 128], [1, 8, 4096, 128], [1, 8, 4096, 128]])
        self.assertEqual(self.of("Add+RMSNormalization/1x128x2048-a2").operands[-1].dims, [1, 128, 2048])

    def test_what_is_not_known_is_no_operator(self):
        for layer, word in (("LRN/1x96x55x55-n5", "LRN"), ("MaxPool/1x64x112x112-3x3-s2-p1-indices", "-indices"),
                            ("Attention/1x8x4x64-k64-causal-p60", "-p"), ("Not/1x8-bool", "Not"),
                            ("Relu/1x8-s32", "-s"), ("MaxPool/1x64x112x112-3x3-s2-p0x0x1x1-ceil", "pad"),
                            ("QLinearConv/1x64x56x56-64x3x3-s1-p1-b-u8s8u8", "u8s8u8")):
            with self.assertRaisesRegex(Absent, word, msg=layer):
                self.of(layer)

    def test_results_are_held_to_what_ours_are(self):
        product = self.of("MatMul/1x128x768-768x2304-w")
        relative, rounding, _ = tolerance(product, "f16")
        self.assertAlmostEqual(relative, 2e-5 + 1e-6 * math.sqrt(768) + 2 ** -10)
        self.assertEqual(rounding, 2 ** -11)
        self.assertEqual(tolerance(self.of("Relu/1x8"), "f16"), (0, 0, 0))
        self.assertGreater(tolerance(product, "tf32")[0], 2 ** -8)

    def test_the_compiler_is_tried_where_it_makes_kernels(self):
        ways = lambda layer, device: [w for w in torch_layers.WAYS if torch_layers.wanted(self.of(layer), w, device)]
        self.assertEqual(ways("Gelu/1x128x3072", "cuda"), ["eager", "compiled"])
        self.assertEqual(ways("Conv/1x3x224x224-64x7x7-s2-p3", "cuda"), ["eager"])
        self.assertEqual(ways("Conv+Relu/1x64x56x56-64x3x3-s1-p1-b", "cuda"), ["eager", "compiled"])
        self.assertEqual(ways("MatMul/1x128x768-768x2304-w", "cuda"), ["eager", "autotuned"])
        self.assertEqual(ways("MatMul/1x128x768-768x2304-w", "cpu"), ["eager"])


class Timing(unittest.TestCase):
    def test_calls_are_counted(self):
        calls = []
        before = torch_timing.MOST, torch_timing.WARM_S
        torch_timing.MOST, torch_timing.WARM_S = 20, 0
        try:
            samples, times = torch_timing.hot_samples(None, "cpu", lambda: calls.append(1), 0.01)
        finally:
            torch_timing.MOST, torch_timing.WARM_S = before
        self.assertGreaterEqual(len(samples), torch_timing.FEWEST)
        self.assertGreater(times, 8)  # one takes less than a microsecond
        self.assertGreaterEqual(len(calls), times * len(samples))


def our_result():
    """A result of a GPU, with one layer of two."""
    def row(family, key, backend, state, ns):
        facts = {"family": family, "key": key, "flops": 1000, "algorithm_flops": 1000, "bytes": 1 << 20,
                 "weight_bytes": 0}
        made = timed_row(row_of(facts, backend, "a", state, 1, "f16", "gpu"), [ns] * 15, "", 0, "", 1, 1)
        return made | {"algorithm_index": 0}

    rows = [row(*at, state, ns) for at, ns in ((("Gelu", "1x128x3072", "cuda"), 9000.0), (("Relu", "1x8", "cuda"), 3000.0))
            for state in ("hot", "coldw")]
    graph = {"name": "m@batch=1", "model": "m", "batch": 1, "type": "f16", "parameters": 0, "parameter_bytes": 0,
             "folded": 0, "repairs": [], "layers": [["Gelu", "1x128x3072"], ["Relu", "1x8"]],
             "nodes": [["g", "Gelu", 0, [-1]], ["r", "Relu", 1, [-1]]]}
    machine = {**host_facts(), "cores": "2"}
    provenance = {"machine": machine, "software": {"cuda_gpu": "NVIDIA H100", "cuda_version": "13.0"}, "measuring": {}}
    return {"context": {"date": "2026-11-27T12:00:00+0000", "benanza": {
        "schema": 1, "provenance": provenance, "graphs": [graph]}}, "benchmarks": rows}


def their_row(facts, way, ns, t="f16"):
    name = "torch-gelu" + (f":{way}" if way != "eager" else "")
    return [timed_row(row_of(facts, "pytorch", name, state, 1, t, "gpu"), [ns] * 15, "a CUDA graph of 500 calls", 0, "",
                      1, 1) | {"kernels": [{"name": "triton_poi_fused_gelu_0", "ns": ns}]} for state in ("hot", "coldw")]


class Rivals(unittest.TestCase):
    VERSIONS = {"torch": "2.11.0+cu130", "cudnn": 91900, "gpu": "NVIDIA H100"}

    def measured(self, processes, result=None, t="f16"):
        """What `measure` makes of processes that tell these lines, and why each ended."""
        self.asked = []

        def run_case(command, asked, seconds, scratch):
            self.asked.append(asked)
            return processes[len(self.asked) - 1]

        before, torch_rivals.run_case = torch_rivals.run_case, run_case
        try:
            return torch_rivals.measure("gpu_check", result or our_result(), t, "cuda", 60, Path("x"))
        finally:
            torch_rivals.run_case = before

    def test_a_process_that_ends_is_followed_by_one_that_goes_on_behind(self):
        facts = torch_rivals.layers_of(our_result(), "f16", "cuda")
        self.assertEqual([f["family"] for f in facts], ["Gelu", "Relu"])
        document, told = self.measured([
            ([self.VERSIONS, {"begin": "Gelu/1x128x3072", "way": "eager"}, {"rows": their_row(facts[0], "eager", 5000.0)},
              {"begin": "Relu/1x8", "way": "eager"}], "signal 11 ended it"),
            ([self.VERSIONS, {"begin": "Gelu/1x128x3072", "way": "compiled"}, {"why": "wrong result: output 3"},
              {"left": [["Relu/1x8", "compiled"]]}], "")])
        self.assertEqual(self.asked[1]["done"], [("Gelu/1x128x3072", "eager"), ("Relu/1x8", "eager")])
        self.assertEqual(len(document["benchmarks"]), 2)
        self.assertEqual(told.skipped, ["Relu/1x8, eager: signal 11 ended it",
                                        "Gelu/1x128x3072, compiled: wrong result: output 3"])
        self.assertEqual(told.left, ["Relu/1x8 (compiled)"])

    def test_what_cannot_be_beside_ours_is_refused(self):
        with self.assertRaisesRegex(Refused, "PyTorch does not start: ImportError: none"):
            self.measured([([], "ImportError: none")])
        done = [([{**self.VERSIONS, "gpu": "NVIDIA H200"}, {"left": []}], "")]
        with self.assertRaisesRegex(Refused, "another GPU: NVIDIA H100, here is NVIDIA H200"):
            self.measured(done)
        elsewhere = our_result()
        elsewhere["context"]["benanza"]["provenance"]["machine"]["memory_bytes"] = "1"
        with self.assertRaisesRegex(Refused, "another machine: memory_bytes is 1 there"):
            self.measured([([self.VERSIONS, {"left": []}], "")], elsewhere)
        with self.assertRaisesRegex(Refused, "no layer was measured in bf16"):
            self.measured([], t="bf16")

    def test_the_analyzer_lets_them_compete_on_a_gpu(self):
        facts = torch_rivals.layers_of(our_result(), "f16", "cuda")
        document, _ = self.measured([([self.VERSIONS, {"begin": "Gelu/1x128x3072", "way": "compiled"},
                                       {"rows": their_row(facts[0], "compiled", 5000.0)}, {"left": []}], "")])
        rows = torch_units.rival_rows(our_result(), document, "f16")
        self.assertEqual(rows, [["Gelu/1x128x3072", "9.00", "5.00", "0.56x", "torch-gelu:compiled"]])
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = Path(folder) / "run.json", Path(folder) / "kernels.json"
            ours.write_text(json.dumps(our_result()))
            theirs.write_text(json.dumps({**document, "not_measured": [], "left": []}))

            def bound(*files):
                done = subprocess.run([ANALYZE, *map(str, files), "--device", "gpu", "--format", "json"],
                                      capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                return done.stdout
            alone, beside = bound(ours), bound(ours, theirs)
        self.assertNotIn("torch-gelu", alone)
        self.assertIn("torch-gelu:compiled", beside)
        self.assertIn("2.11.0+cu130", beside)


class Traces(unittest.TestCase):
    def test_a_gpus_kernels_and_their_launches_are_kept(self):
        def event(category, name, ts, **more):
            return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 1, "args": more}

        kernel = event("kernel", "k", 5, **{"correlation": 7, "External id": 3, "stream": 7, "device": 0, "grid": [1]})
        events = [event("user_annotation", "ProfilerStep#0", 0), event("cpu_op", "aten::relu", 1, **{"External id": 3}),
                  event("cuda_runtime", "cudaLaunchKernel", 2, correlation=7, cbid=1),
                  event("cuda_runtime", "cudaDeviceSynchronize", 3, correlation=8),
                  event("gpu_user_annotation", "ProfilerStep#0", 5), kernel, event("overhead", "o", 6)]
        slim = slim_torch({"schemaVersion": 1, "traceEvents": events}, 1 << 20)["traceEvents"]
        self.assertEqual([e["cat"] for e in slim], ["user_annotation", "cpu_op", "cuda_runtime", "kernel"])
        self.assertEqual(slim[-1]["args"], {"correlation": 7, "External id": 3, "stream": 7, "device": 0})
        # On a processor nothing launches.
        slim = slim_torch({"traceEvents": events[:2]}, 1 << 20)["traceEvents"]
        self.assertEqual(slim[1]["args"], {})


class Cases(unittest.TestCase):
    def test_lines_that_others_print_are_left_out(self):
        self.assertEqual(torch_case.parsed('{"left": []}'), {"left": []})
        for line in "AUTOTUNE linear", '{"rows": [', "3":
            self.assertIsNone(torch_case.parsed(line))

    def test_a_case_tells_why_it_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "case.py"
            for text, lines, why in (
                    ("print('{\"a\": 1}'); raise SystemExit('no such model')", [{"a": 1}], "no such model"),
                    ("import os; print('{\"a\": 1}', flush=True); os.kill(os.getpid(), 9)", [{"a": 1}],
                     "signal 9 ended it"),
                    ("print('{\"a\": 1}', flush=True); import time; time.sleep(9)", [{"a": 1}], torch_case.TOOK_TOO_LONG),
                    ("import sys, json; print(json.dumps(json.load(sys.stdin)))", [{"what": "x"}], "")):
                script.write_text(text)
                self.assertEqual(torch_case.run_case(script, {"what": "x"}, 2, Path(folder) / "n.json.gz"), (lines, why))
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["case.py"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
