#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework fill what a model lacks with numbers that its readers can take, and
refuse what it cannot measure in one line?

  measure_framework.py <source folder> [<benanza_generate> [full]]

With `full` in an environment that it makes, with ONNX Runtime, OpenVINO and llama.cpp in it.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from functools import partial
from pathlib import Path

from framework_script import WITH_ONNX, main, run, there
from frameworks import inputs, models, turns, weights
from frameworks.common import Refused, fastest_of
from frameworks.graphs import Node, nodes_of
from frameworks.timing import sample


def model_of(nodes, tensors, inputs, opset=17, producer="pytorch"):
    """A model whose tensors (name, dims, type) are external data that is not there."""
    from onnx import TensorProto, helper
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(n, t, d) for n, d, t in inputs],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)])
    for name, dims, kind in tensors:
        t = graph.initializer.add(name=name, dims=dims, data_type=kind, data_location=TensorProto.EXTERNAL)
        t.external_data.add(key="location", value="nowhere.data")
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8,
                             producer_name=producer)


class Partners(unittest.TestCase):
    def test_two_processes_run_in_turns_and_one_alone_when_the_other_has_ended(self):
        from frameworks.partner import FEWEST, Partner
        (a_reads, b_writes), (b_reads, a_writes) = os.pipe(), os.pipe()
        ran = []

        def side(name, runs, pipes, first):
            own = Partner()
            own.begin(*pipes, first)
            for _ in range(runs):
                own.step(seconds=0)
                ran.append(name)
            for end in pipes:  # as where a process ends
                os.close(end)

        other = threading.Thread(target=side, args=("b", 8 * FEWEST, (b_reads, b_writes), False))
        other.start()
        side("a", 4 * FEWEST, (a_reads, a_writes), True)
        other.join(20)
        turns = [(name, len(list(of))) for name, of in itertools.groupby(ran)]
        self.assertEqual(turns[:6], [("a", FEWEST), ("b", FEWEST)] * 3)
        self.assertEqual(ran.count("b"), 8 * FEWEST)

    def test_time_that_the_other_took_is_no_own_time(self):
        from frameworks.partner import Partner
        own = Partner()
        before = own.now()
        own.waited_ns += 10**12
        self.assertLess(own.now(), before)


class BadInput(unittest.TestCase):
    def refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_before_anything_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder) / "m.onnx"
            there.write_bytes(b"\x08\x08")
            self.refused(run("onnxruntime", folder + "/none.onnx"), "none.onnx", "no such file")
            self.refused(run("tensorflow", there), "tensorflow", "onnxruntime", "openvino")
            self.refused(run("llamacpp", there), "llamacpp reads GGUF files")
            words = Path(folder) / "m.gguf"
            words.write_bytes(b"GGUF")
            self.refused(run("openvino", words), "GGUF files are of llamacpp and openvino-genai")
            self.refused(run("onnxruntime-genai", words), "onnxruntime-genai reads ONNX files")
            self.refused(run("openvino-genai", there), "openvino-genai reads GGUF files")
            self.refused(run("openvino-genai", words, "--batch", 2), "one sequence")
            self.refused(run("openvino-genai", words, "--trace", there), "--trace")
            self.refused(run("onnxruntime", there, "--dim", "sequence"), "--dim sequence", "NAME=N")
            self.refused(run("onnxruntime", there, "--batch", 0), "--batch 0")
            for bad in "x", "x=", "x=0x3", "x=1x?":
                self.refused(run("onnxruntime", there, "--shape", bad), f"--shape {bad}", "NAME=1x3x224x224")
            self.refused(run("onnxruntime", there, "--seconds", "nan"), "--seconds")
            self.refused(run("onnxruntime", there, "-o", folder + "/no/out.json"), "folder")
            self.refused(run("onnxruntime", there, "--turns", 2), "--turns goes with --plan")
            self.refused(run("onnxruntime", there, "--take-turns", "3,4"), "--take-turns 3,4", "R,W,N")
            plan = Path(folder) / "m.plan"
            plan.write_text('{"graph": {"model": "m", "batch": 8}, "threads": 2}')
            bench = "--bench", sys.executable
            self.refused(run("onnxruntime", there, "--plan", plan, "--batch", 1, *bench), "its batch is 8")
            self.refused(run("onnxruntime", there, "--plan", plan, *bench), "say --threads 2")
            self.refused(run("onnxruntime", there, "--plan", there, *bench), "m.onnx: no plan")
            self.refused(run("onnxruntime", there, "--plan", plan, "--bench", folder), "benanza_bench is not built")
            self.refused(run("onnxruntime", there, "--plan", plan, "--trace", there), "a model that is run")
            self.refused(run("onnxruntime"), "a model or --layers")
            self.refused(run("onnxruntime", there, "--layers", there), "a model or --layers")
            self.refused(run("onnxruntime", there, "--only", "Conv"), "--only goes with --layers")
            keys = Path(folder) / "keys.txt"
            keys.write_text("Relu/1x8\n")
            self.refused(run("onnxruntime", "--layers", keys), "--facts RUN.json")
            self.refused(run("openvino", "--layers", keys, "--facts", keys, "--states", "cold"), "--states takes hot")
            self.refused(run("openvino", "--layers", keys, "--facts", keys, "--batch", 2), "--batch")

    @unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
    def test_models(self):
        from onnx import TensorProto, helper
        with tempfile.TemporaryDirectory() as folder:
            for name, bytes_of in ("empty.onnx", b""), ("text.onnx", b"<html>not found</html>"):
                path = Path(folder) / name
                path.write_bytes(bytes_of)
                with self.assertRaisesRegex(Refused, "not an ONNX model"):
                    models.load(path)
        node = helper.make_node("Relu", ["x"], ["y"])
        symbolic = lambda: model_of([node], [], [("x", ["batch", "past + 1"], TensorProto.FLOAT)])
        for given, said in ({}, "set --dim past=N$"), ({"sequence": 3, "past": 2}, "no such symbol.*past . 1"):
            with self.assertRaisesRegex(Refused, said):
                inputs.fix_dims(symbolic(), 1, given)
        with self.assertRaisesRegex(Refused, "a batch must be 1 or more"):
            inputs.fix_dims(symbolic(), None, {"batch": 0, "past": 3})
        fixed = model_of([node], [], [("x", [2, 3], TensorProto.FLOAT)])
        with self.assertRaisesRegex(Refused, "batch is fixed, 2"):
            inputs.fix_dims(fixed, 4, {})
        self.assertEqual(inputs.fix_dims(fixed, None, {})[0], {"x": [2, 3]})
        self.assertEqual(inputs.fix_dims(symbolic(), 4, {"past": 6})[0], {"x": [4, 7]})
        self.assertEqual(inputs.fix_dims(symbolic(), 1, {"past": 0})[0], {"x": [1, 1]})  # a prompt

    @unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
    def test_weights_that_lie_outside_of_the_models_folder(self):
        from onnx import TensorProto, helper
        model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [("w", [4], TensorProto.FLOAT)],
                         [("x", [4], TensorProto.FLOAT)])
        model.graph.initializer[0].external_data[0].value = "../model.data"
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.data").write_bytes(bytes(16))
            (Path(folder) / "sub").mkdir()
            with self.assertRaisesRegex(Refused, "the tensor 'w' cannot be read"):
                weights.fill_weights(model, Path(folder) / "sub")

    @unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
    def test_dims_without_names_and_the_batch(self):
        from onnx import TensorProto, helper
        node = helper.make_node("Add", ["x", "s"], ["y"])
        make = lambda *dims: model_of([node], [], [(n, d, TensorProto.FLOAT) for n, d in zip("xs", dims)])
        with self.assertRaisesRegex(Refused, "set --shape s=2xNx128 --shape x=1xN$"):
            inputs.fix_dims(make([None, None], [2, None, 128]), None, {})
        asked = {"x": [1, 576], "s": [2, 1, 128]}
        self.assertEqual(inputs.fix_dims(make([None, None], [2, None, 128]), None, {}, asked)[0], asked)
        with self.assertRaisesRegex(Refused, "no such input; it has: s, x"):
            inputs.fix_dims(make([None, 3], [2, 3]), None, {}, {"input": [1, 3]})
        with self.assertRaisesRegex(Refused, "has 2 dims, 1 were given"):
            inputs.fix_dims(make([None, 3], [2, 3]), None, {}, {"x": [1]})
        # The model's own number is the batch where its inputs agree.
        self.assertEqual(inputs.fix_dims(make([8, 3], [8, 5]), None, {})[2], 8)
        self.assertEqual(inputs.fix_dims(make([10, 3], [2, 5]), None, {})[2], 1)
        self.assertEqual(inputs.fix_dims(make(["batch", 3], [8, 5]), None, {"batch": 4})[2], 4)

    @unittest.skipUnless(WITH_ONNX and len(sys.argv) > 2, "onnx for Python is missing, or benanza_generate is not built")
    def test_its_structure_is_that_of_benanza_generate(self):
        from onnx import TensorProto, helper
        from frameworks.structure import structure_of
        inner = helper.make_graph([helper.make_node("Identity", ["x"], ["z"])], "then", [],
                                  [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
        own = helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Elu", ["a"], ["b"], alpha=0.1)],
                                   [helper.make_opsetid("", 17)])
        nodes = [helper.make_node("F", ["x"], ["f"], domain="own"),
                 helper.make_node("If", ["c"], ["i"], then_branch=inner, else_branch=inner),
                 helper.make_node("Conv", ["f", "w"], ["v"], pads=[1, 1, 1, 1], auto_pad="NOTSET"),
                 helper.make_node("Add", ["i", "v"], ["y"])]
        model = model_of(nodes, [("w", [3, 3, 3, 3], TensorProto.FLOAT)],
                         [("x", ["batch", 3, 8, 8], TensorProto.FLOAT), ("c", [], TensorProto.BOOL)])
        model.functions.append(own)
        model.opset_import.append(helper.make_opsetid("own", 1))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.onnx"
            path.write_bytes(model.SerializeToString())
            subprocess.run([sys.argv[2], path, "--no-sources", "-o", Path(folder) / "out"], capture_output=True)
            graphs = json.loads((Path(folder) / "out" / "graphs.json").read_text())["graphs"]
            self.assertEqual({g["structure"] for g in graphs}, {structure_of(models.load(path))})


class Processors(unittest.TestCase):
    """As tests/machine/processor_kinds.cpp has it for benanza_bench."""

    def test_of_two_kinds_of_cores_the_faster_one_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            devices = Path(folder)
            self.assertEqual(fastest_of([0, 7], devices), [0, 7])
            for kind, list_of in ("cpu_core", "0-3"), ("cpu_atom", "4-7"):
                (devices / kind).mkdir()
                (devices / kind / "cpus").write_text(list_of + "\n")
            self.assertEqual(fastest_of([0, 2, 5, 7], devices), [0, 2])
            self.assertEqual(fastest_of([5, 7], devices), [5, 7])
            for p, capacity in enumerate((446, 446, 1004, 1024)):
                (devices / f"system/cpu/cpu{p}").mkdir(parents=True)
                (devices / f"system/cpu/cpu{p}/cpu_capacity").write_text(f"{capacity}\n")
            self.assertEqual(fastest_of([0, 1, 2, 3], devices), [2, 3])
            self.assertEqual(fastest_of([0, 1], devices), [0, 1])


class Turns(unittest.TestCase):
    """A program in place of benanza_bench, which writes what it was told and on which processors it ran."""
    PROGRAM = """#!{python}
import json, os, sys
out = next(w for w in sys.argv if w.startswith("--benchmark_out=")).partition("=")[2]
row = {{"min_ns": 5, "cpus": sorted(os.sched_getaffinity(0)), "plan": sys.argv[2]}}
if os.path.exists(sys.argv[2] + ".fails"):
    row = {{"error_occurred": True, "error_message": "wrong result in the chain"}}
json.dump({{"context": {{}}, "benchmarks": [row]}}, open(out, "w"))
"""

    def test_a_framework_and_a_chain_take_turns(self):
        order, allowed = [], os.sched_getaffinity(0)
        with tempfile.TemporaryDirectory() as folder:
            bench, plan = Path(folder) / "bench", Path(folder) / "m.plan"
            bench.write_text(self.PROGRAM.format(python=sys.executable))
            bench.chmod(0o755)
            asked = type("Asked", (), {"turns": 3, "seconds": 0.03, "bench": bench, "plan": plan})
            try:
                os.sched_setaffinity(0, {min(allowed)})
                samples, result = turns.in_turns(partial(sample, lambda: order.append("framework")), asked, allowed)
                self.assertEqual(os.sched_getaffinity(0), {min(allowed)})
            finally:
                os.sched_setaffinity(0, allowed)
            self.assertGreaterEqual(len(samples), 3 * 10)
            self.assertEqual(len(result["benchmarks"]), 3)
            self.assertEqual(result["benchmarks"][2], {"min_ns": 5, "cpus": sorted(allowed), "plan": str(plan)})
            (Path(folder) / "m.plan.fails").touch()
            with self.assertRaisesRegex(Refused, "m.plan: wrong result in the chain"):
                turns.in_turns(partial(sample, lambda: None), asked, allowed)


@unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
class Weights(unittest.TestCase):
    def filled(self, nodes, tensors, **options):
        import onnx
        model = model_of(nodes, tensors, [("x", ["batch", 8], onnx.TensorProto.FLOAT)], **options)
        with tempfile.TemporaryDirectory() as folder:
            filler = weights.fill_weights(model, Path(folder))
        return {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}, filler, model

    def test_real_ones_are_scaled_by_fan_in(self):
        from onnx import TensorProto, helper
        of, filler, _ = self.filled(
            [helper.make_node("Conv", ["x", "conv", "bias"], ["a"], group=2),
             helper.make_node("MatMul", ["a", "matrix"], ["b"]),
             helper.make_node("Transpose", ["wide"], ["turned"], perm=[1, 0]),
             helper.make_node("MatMul", ["b", "turned"], ["c"]),
             helper.make_node("BatchNormalization", ["c", "scale", "bias", "bias", "variance"], ["y"])],
            [("conv", [64, 16, 3, 3], TensorProto.FLOAT), ("bias", [64], TensorProto.FLOAT),
             ("matrix", [400, 100], TensorProto.FLOAT16), ("wide", [100, 400], TensorProto.FLOAT),
             ("scale", [64], TensorProto.FLOAT), ("variance", [64], TensorProto.FLOAT)])
        self.assertEqual(filler.tensors, 6)
        self.assertAlmostEqual(float(of["conv"].std()) * 12, 1, delta=0.1)
        self.assertAlmostEqual(float(of["matrix"].astype("f8").std()) * 20, 1, delta=0.1)
        self.assertEqual(of["matrix"].dtype, "float16")
        self.assertGreater(of["scale"].min(), 0)
        self.assertGreater(of["variance"].min(), 0)
        self.assertGreater(of["variance"].std(), 0)

    def test_whole_ones_are_within_what_reads_them(self):
        from onnx import TensorProto, helper
        of, _, _ = self.filled(
            [helper.make_node("Gather", ["rows", "which"], ["a"], axis=1),
             helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["w"], axis=0),
             helper.make_node("Where", ["seen", "a", "w"], ["y"])],
            [("rows", [4, 7], TensorProto.FLOAT), ("which", [1000], TensorProto.INT64),
             ("bytes", [4, 9], TensorProto.INT8), ("scale", [4], TensorProto.FLOAT),
             ("zero", [4], TensorProto.INT8), ("seen", [4, 9], TensorProto.BOOL)])
        self.assertEqual((of["which"].min(), of["which"].max()), (0, 6))
        self.assertGreater(of["bytes"].std(), 30)
        self.assertFalse(of["zero"].any())
        self.assertGreater(of["scale"].min(), 0)
        self.assertLess(of["scale"].max(), 0.01)
        self.assertTrue(of["seen"].all())

    def test_placeholders_of_our_zoo_are_replaced_and_what_is_there_is_kept(self):
        import numpy
        from onnx import TensorProto, helper, numpy_helper
        nodes = [helper.make_node("ConstantOfShape", ["shape"], ["w"],
                                  value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0.5])),
                 helper.make_node("MatMul", ["x", "w"], ["y"])]
        for producer in "benanza", "pytorch":
            model = model_of(nodes, [], [("x", [2, 8], TensorProto.FLOAT)], producer=producer)
            model.graph.initializer.append(numpy_helper.from_array(numpy.array([8, 64]), "shape"))
            weights.fill_weights(model, Path("/nonexistent"))
            self.assertEqual(len(model.graph.node), 1 if producer == "benanza" else 2)
            self.assertEqual(numpy_helper.to_array(model.graph.initializer[0]).tolist(), [8, 64])
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "nowhere.data").write_bytes(numpy.arange(4, dtype="f4").tobytes())
            model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [("w", [4], TensorProto.FLOAT)],
                             [("x", [2, 4], TensorProto.FLOAT)])
            self.assertEqual(weights.fill_weights(model, Path(folder)).tensors, 0)
            self.assertEqual(numpy_helper.to_array(model.graph.initializer[0]).tolist(), [0, 1, 2, 3])

    def test_inputs_are_valid(self):
        from onnx import TensorProto, helper
        model = model_of(
            [helper.make_node("Gather", ["words", "input_ids"], ["a"]),
             helper.make_node("Add", ["a", "a"], ["y"])],
            [("words", [11, 4], TensorProto.FLOAT)],
            [("input_ids", ["batch", "sequence"], TensorProto.INT64),
             ("attention_mask", ["batch", "past + sequence"], TensorProto.INT64),
             ("position_ids", ["batch", "sequence"], TensorProto.INT64)])
        dims, known, _ = inputs.fix_dims(model, 2, {"sequence": 50, "past": 6})
        of = inputs.make_inputs(model, dims, known)
        self.assertEqual((of["input_ids"].min(), of["input_ids"].max()), (0, 10))
        self.assertEqual(of["attention_mask"].shape, (2, 56))
        self.assertTrue((of["attention_mask"] == 1).all())
        self.assertEqual(of["position_ids"][1].tolist(), list(range(6, 56)))

    @unittest.skipUnless(there("onnxruntime"), "ONNX Runtime is missing")
    def test_a_run(self):
        from onnx import TensorProto, helper
        model = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [("w", [300, 4], TensorProto.FLOAT)],
                         [("x", ["batch", 300], TensorProto.FLOAT)])
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "m.onnx", Path(folder) / "out.json"
            path.write_bytes(model.SerializeToString())
            done = run("onnxruntime", path, "--batch", 2, "--seconds", 0.05, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(out.read_text())
            self.assertEqual(result["schema_version"], 3)
            self.assertEqual(result["count"], len(result["samples_ns"]))
            self.assertEqual(result["min_ns"], min(result["samples_ns"]))
            self.assertEqual(result["inputs"][0]["dims"], [2, 300])
            self.assertEqual((result["filled_tensors"], result["finite"]), (1, True))
            self.assertEqual(result["options"]["precision"], "f32")
            graph = result["graph"]
            self.assertEqual(graph["nodes"], [{"name": "y", "type": "MatMul", "inputs": ["x", "w"], "outputs": ["y"]}])
            self.assertEqual((graph["inputs"], graph["operators"][-1]["outputs"]), (["x"], ["y"]))
            events = result["traces"][0]["json"]
            self.assertGreaterEqual(sum(e["name"] == "model_run" for e in events), 6)
            self.check_empty_operator("onnxruntime", result)
            self.assertTrue({e["args"]["op_name"] for e in events if e["cat"] == "Node"} <=
                            {o["type"] for o in graph["operators"]})

    @unittest.skipUnless(there("openvino"), "OpenVINO is missing")
    def test_a_run_of_openvino(self):
        self.check_run("openvino", ["openvino-exec-graph", "openvino-profiling"])

    @unittest.skipUnless(there("torch", "onnx2torch"), "PyTorch or onnx2torch is missing")
    def test_a_run_of_pytorch(self):
        trace, = self.check_run("pytorch", ["pytorch-trace"])
        names = {e["name"] for e in trace["json"]["traceEvents"]}
        self.assertTrue({"ProfilerStep#0", "c"} <= names, names)

    def check_run(self, framework, formats):
        from onnx import TensorProto, helper
        model = model_of([helper.make_node("Conv", ["x", "w"], ["c"], auto_pad="SAME_UPPER", kernel_shape=[3, 3]),
                          helper.make_node("Relu", ["c"], ["y"], "after")],
                         [("w", [8, 3, 3, 3], TensorProto.FLOAT)], [("x", ["batch", 3, 9, 9], TensorProto.FLOAT)])
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "m.onnx", Path(folder) / "out.json"
            path.write_bytes(model.SerializeToString())
            done = run(framework, path, "--seconds", 0.05, "-o", out)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            result = json.loads(out.read_text())
        self.assertEqual([t["format"] for t in result["traces"]], formats)
        self.check_empty_operator(framework, result)
        self.assertEqual([n["name"] for n in result["graph"]["nodes"]], ["c", "after"])
        self.assertTrue(result["graph"]["operators"])
        return result["traces"]

    def check_empty_operator(self, framework, result):
        if framework == "pytorch":  # it runs several calls for a node
            self.assertNotIn("empty_operator", result)
        else:
            self.assertTrue(0 < result["empty_operator"]["ns"] < 1e6)
            self.assertTrue(0 <= result["empty_operator"]["profiled_ns"] < 1e6)


@unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
class Graphs(unittest.TestCase):
    def test_graphs_of_onnx(self):
        from onnx import TensorProto, helper
        body = helper.make_graph([helper.make_node("Add", ["x", "inside"], ["z"])], "b", [], [], [
            helper.make_tensor("inside", TensorProto.FLOAT, [1], [1.0])])
        graph = helper.make_graph([helper.make_node("If", ["c"], ["", "y"], then_branch=body),
                                   helper.make_node("Conv", ["y", "w", ""], ["k"], "n", activation="Relu")], "g", [], [])
        self.assertEqual(nodes_of(graph), [Node("y", "If", ["c", "x"], ["y"]),
                                           Node("n", "Conv", ["y", "w", ""], ["k"], activation="Relu")])


if __name__ == "__main__":
    passed = main()
    if passed and not WITH_ONNX:
        print("skipped: how weights are filled was not tried: there is no onnx for Python (PyPI: onnx numpy)")
    sys.exit(not passed)
