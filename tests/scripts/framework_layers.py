#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework measure single layers in a framework: which are asked for, what is taken off a time, is
each result held to ours?

  framework_layers.py <source folder> [<benanza_generate> [full]]

With `full` in an environment that it makes, with ONNX Runtime in it.
"""

import json
import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path

from framework_script import SOURCE, WITH_ONNX, run, there
from frameworks import layer_rows, layer_runs, layer_sessions, layers, memory
from frameworks.common import Refused
from frameworks.timing import emulated, processor


def result_of(machine, rows):
    return {"context": {"benanza": {"schema": 1, "graphs": [], "provenance": {
        "machine": machine, "software": {"benanza": "0.1"}, "measuring": {}}}}, "benchmarks": rows}


class Layers(unittest.TestCase):
    """What is measured of layers, without any framework."""

    def written(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "in"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def test_the_generator_is_that_of_this_tree(self):
        built = SOURCE / "build" / "benanza_generate"
        if built.exists():
            self.assertEqual(layers.generator(None), built.resolve())
        else:
            self.assertEqual(layers.generator(Path(sys.executable)), Path(sys.executable).resolve())
        self.assertEqual(layers.TREE, SOURCE.resolve())

    def test_which_are_asked_for(self):
        keys = self.written("# mine\nRelu/1x8\n\nRelu/1x8/f32/onednn/jit/hot/t1  # again\nAdd/2x2\n")
        self.assertEqual(layers.asked_layers(keys), (["Relu/1x8", "Add/2x2"], None))
        case = {"family": "Conv", "key": "1x3x8x8-4x3x3-s1", "type": "f32", "state": "coldw"}
        rows = [case, case | {"state": "hot"}, case | {"family": "machine", "key": "copy-8"},
                case | {"key": "1x3x9x9-4x3x3-s1", "type": "bf16"}, case | {"family": "reorder", "key": "1x8-a-b"},
                case | {"key": "1x3x7x7-4x3x3-s1", "device": "gpu"}]
        self.assertEqual(layers.asked_layers(self.written(result_of({}, rows))),
                         (["Conv/1x3x8x8-4x3x3-s1"], ["hot", "coldw"]))
        for bad in result_of({}, rows[2:]), {"context": {}}, "{ not JSON":
            with self.assertRaises(Refused):
                layers.asked_layers(self.written(bad))

    def test_the_machine_is_this_one(self):
        here = layers.host_facts() | {"llc_bytes": "33554432"}
        self.assertEqual(layers.facts_of(self.written(result_of(here, [])))["machine"], here)
        with self.assertRaisesRegex(Refused, "another machine: cpu is Z80"):
            layers.facts_of(self.written(result_of(here | {"cpu": "Z80"}, [])))

    def test_a_processor_without_a_name_has_that_of_its_cores(self):  # as in tests/machine/facts.cpp
        core = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n"
        self.assertEqual(processor(self.written("processor\t: 0\n" + core + "\nprocessor\t: 1\n" + core)), "0x41.0xd40 r1p1")
        self.assertEqual(processor(self.written("model name\t: Z80\n" + core)), "Z80")
        self.assertEqual(processor(self.written("nonsense")), "unknown")
        self.assertFalse(emulated())  # as scripts/arm64 leaves this group out

    def test_no_time_is_too_short(self):
        # 50 us, of which a call is 4 to 5: the least that one took comes off.
        net, notes = layer_runs.settled([50e3, 52e3], [5e3, 4e3, 4.5e3], 40e3)
        self.assertEqual(net, [46e3, 48e3])
        self.assertIn("less the 4.00 us", notes)
        # A call's share is too large to be separated: nothing comes off, and the interval is said.
        net, notes = layer_runs.settled([19e3, 21e3], [4e3, 5e3], 10e3)
        self.assertEqual(net, [19e3, 21e3])
        self.assertIn("between 14.50 and 19.00 us", notes)
        # The profiler saw 49 us of kernels: not more than 1 us comes off.
        net, notes = layer_runs.settled([50e3], [4e3], 49e3)
        self.assertEqual(net, [49e3])
        self.assertIn("less 1.00 of the 4.00 us", notes)
        # A noisy profile makes no time longer than it was.
        self.assertEqual(layer_runs.settled([50e3], [4e3], 70e3)[0], [50e3])

    def test_samples_in_turns(self):
        order = []
        samples, costs, rejected, disturbed = layer_runs.sampled(
            lambda: order.append("layer"), lambda: order.append("empty"), lambda: order.append("|"), 0.001)
        self.assertGreaterEqual(len(samples), layer_runs.FEWEST)
        self.assertTrue(costs)
        self.assertIn("| empty | layer | empty | layer", " ".join(order))
        self.assertEqual((disturbed == "", rejected >= 0), (True, True))

    def test_kernels_of_a_profile(self):
        def event(name, ts, dur, op=None):
            return {"name": name, "ts": ts, "dur": dur, "cat": "Node" if op else "Session",
                    "args": {"op_name": op} if op else {}}
        events = [event("model_run", 0, 100), event("a_nchwc_kernel_time", 10, 60, "Conv"),  # the first is cold
                  event("model_run", 200, 50), event("r_kernel_time", 240, 5, "ReorderOutput"),
                  event("a_nchwc_kernel_time", 210, 20, "Conv"), event("a_nchwc_fence_before", 209, 0, "Conv"),
                  event("model_run", 300, 60), event("a_nchwc_kernel_time", 310, 30, "Conv"),
                  event("r_kernel_time", 345, 6, "ReorderOutput")]
        self.assertEqual(layer_sessions.nodes_of_profile(events), (["Conv.nchwc", "ReorderOutput"], 25_000))

    def test_a_row_has_all_that_a_result_asks_for(self):
        layer = {"family": "Relu", "key": "1x8", "flops": 8, "algorithm_flops": 8, "bytes": 64, "weight_bytes": 0}
        row = layer_rows.row_of(layer, "onnxruntime", "ort-Relu", "hot", 1)
        self.assertEqual(row["name"], "Relu/1x8/f32/onnxruntime/ort-Relu/hot/t1")
        samples = [float(100 + (i * 37) % 101) for i in range(200)]
        made = layer_rows.timed_row(row, samples, "n", 1, "", 5, 6)
        self.assertEqual((made["min_ns"], made["median_ns"], made["count"]), (min(samples), 150, 200))
        self.assertLessEqual(len(made["samples_ns"]), layer_rows.KEPT_SAMPLES + 1)
        self.assertIn(min(samples), made["samples_ns"])
        self.assertNotIn("disturbed", made)
        self.assertTrue(layer_rows.failed_row(row, "why")["error_occurred"])

    def test_a_crash_costs_one_layer(self):
        self.assertEqual(layers.apart(lambda: [1]), [1])
        with self.assertRaisesRegex(Refused, "no such kernel"):
            layers.apart(lambda: 1 / 0 if False else (_ for _ in ()).throw(ValueError("no such\nkernel")))
        with self.assertRaisesRegex(Refused, "signal 11"):
            layers.apart(lambda: os.kill(os.getpid(), signal.SIGSEGV))

    @unittest.skipUnless(there("numpy"), "NumPy is missing")
    def test_a_result_is_held_to_ours(self):
        import numpy as np
        layer = {"positions": [0, 3], "expected": [1.0, 2.0], "limits": [0.1, 0.1]}
        layer_runs.check(layer, [np.array([1.05, 9, 9], "f4"), np.array([1.95], "f4")])
        for wrong in [1.2, 9, 9, 2], [1, 9, 9, float("nan")], [1, 9]:
            with self.assertRaises(layer_runs.Wrong):
                layer_runs.check(layer, [np.array(wrong, "f4")])
        outputs = [np.ones(4, "f4")]
        layer_runs.poison(outputs)
        with self.assertRaises(layer_runs.Wrong):
            layer_runs.check(layer | {"positions": [0, 3]}, outputs)

    @unittest.skipUnless(there("numpy"), "NumPy is missing")
    def test_caches_keep_what_they_hold(self):
        import numpy as np
        x, y = np.arange(1000, dtype="f4"), np.ones((3, 5), bool)
        caches = memory.Caches({"l2_bytes": 4096, "llc_bytes": 8192}, [x, y], [np.zeros(7, "i8")])
        twin = []
        caches.prepare("llcw", None)
        caches.prepare("coldw", lambda: twin.append(1))
        self.assertEqual((x.tolist(), y.all(), twin), (list(range(1000)), True, [1]))


@unittest.skipUnless(WITH_ONNX and there("onnxruntime") and any(sys.argv[2:]), "ONNX Runtime is missing")
class WithOnnxRuntime(unittest.TestCase):
    def test_layers_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            keys, facts, out = (Path(folder) / n for n in ("keys.txt", "facts.json", "out.json"))
            keys.write_text("MatMul/32x64-64x48-w\nConv+Relu/1x16x14x14-16x3x3-s1-p1-b\nNonZero/4x4\n")
            facts.write_text(json.dumps(result_of(layers.host_facts() | {"l2_bytes": "1048576",
                                                                         "llc_bytes": "4194304"}, [])))
            done = run("onnxruntime", "--layers", keys, "--facts", facts, "--generate", sys.argv[2], "--seconds", 0.01,
                       "-o", out)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("NonZero/4x4: no ONNX model is written", done.stderr)
            self.assertIn("2 of 3 layers", done.stdout)
            result = json.loads(out.read_text())
            rows = result["benchmarks"]
            self.assertEqual([r["state"] for r in rows], ["hot", "llcw", "coldw"] * 2)
            self.assertEqual(rows[0]["algorithm"], "ort-MatMul")
            self.assertIn("Conv", rows[3]["algorithm"])
            self.assertTrue(all(r["min_ns"] > 0 for r in rows))
            self.assertIn("onnxruntime", result["context"]["benanza"]["provenance"]["frameworks"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
