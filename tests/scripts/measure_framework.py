#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework fill what a model lacks with numbers that its readers can take, and
refuse what it cannot measure in one line?

  measure_framework.py <source folder>
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1])
SCRIPT = SOURCE / "scripts" / "measure_framework"


def there(*packages):
    return all(importlib.util.find_spec(p) for p in packages)


WITH_ONNX = there("onnx", "numpy")
script = types.ModuleType("measure_framework")
exec(compile(SCRIPT.read_text(), str(SCRIPT), "exec"), script.__dict__)


def run(*words, cwd=None):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, cwd=cwd)


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
            self.refused(run("onnxruntime", there, "--dim", "sequence"), "--dim sequence", "NAME=N")
            self.refused(run("onnxruntime", there, "--batch", 0), "--batch 0")
            self.refused(run("onnxruntime", there, "--seconds", "nan"), "--seconds")
            self.refused(run("onnxruntime", there, "-o", folder + "/no/out.json"), "folder")

    @unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
    def test_models(self):
        from onnx import TensorProto, helper
        with tempfile.TemporaryDirectory() as folder:
            for name, bytes_of in ("empty.onnx", b""), ("text.onnx", b"<html>not found</html>"):
                path = Path(folder) / name
                path.write_bytes(bytes_of)
                with self.assertRaisesRegex(script.Refused, "not an ONNX model"):
                    script.load(path)
        node = helper.make_node("Relu", ["x"], ["y"])
        symbolic = lambda: model_of([node], [], [("x", ["batch", "past + 1"], TensorProto.FLOAT)])
        for given, said in ({}, "--dim 'past . 1=N'"), ({"sequence": 3, "past": 2}, "no such symbol.*past . 1"):
            with self.assertRaisesRegex(script.Refused, said):
                script.fix_dims(symbolic(), 1, given)
        fixed = model_of([node], [], [("x", [2, 3], TensorProto.FLOAT)])
        with self.assertRaisesRegex(script.Refused, "batch is fixed, 2"):
            script.fix_dims(fixed, 4, {})
        self.assertEqual(script.fix_dims(fixed, None, {})[0], {"x": [2, 3]})
        self.assertEqual(script.fix_dims(symbolic(), 4, {"past": 6})[0], {"x": [4, 7]})


@unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
class Weights(unittest.TestCase):
    def filled(self, nodes, tensors, **options):
        import onnx
        model = model_of(nodes, tensors, [("x", ["batch", 8], onnx.TensorProto.FLOAT)], **options)
        with tempfile.TemporaryDirectory() as folder:
            filler = script.fill_weights(model, Path(folder))
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
            script.fill_weights(model, Path("/nonexistent"))
            self.assertEqual(len(model.graph.node), 1 if producer == "benanza" else 2)
            self.assertEqual(numpy_helper.to_array(model.graph.initializer[0]).tolist(), [8, 64])
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "nowhere.data").write_bytes(numpy.arange(4, dtype="f4").tobytes())
            model = model_of([helper.make_node("Add", ["x", "w"], ["y"])], [("w", [4], TensorProto.FLOAT)],
                             [("x", [2, 4], TensorProto.FLOAT)])
            self.assertEqual(script.fill_weights(model, Path(folder)).tensors, 0)
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
        dims, known = script.fix_dims(model, 2, {"sequence": 50, "past": 6})
        of = script.make_inputs(model, dims, known)
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
            self.assertEqual(result["schema_version"], 1)
            self.assertEqual(result["count"], len(result["samples_ns"]))
            self.assertEqual(result["min_ns"], min(result["samples_ns"]))
            self.assertEqual(result["inputs"][0]["dims"], [2, 300])
            self.assertEqual((result["filled_tensors"], result["finite"]), (1, True))


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False)
    if program.result.wasSuccessful() and not WITH_ONNX:
        print("skipped: onnx for Python is missing: how weights are filled was not tried")
    sys.exit(not program.result.wasSuccessful())
