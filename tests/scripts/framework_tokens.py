#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework measure steps of language models: of GGUF files, and of the same as ONNX?

  framework_tokens.py <source folder> [<benanza_generate> [full]]

With `full` in an environment that it makes.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from framework_script import WITH_ONNX, main, run, there


class FromGguf(unittest.TestCase):
    @unittest.skipUnless(WITH_ONNX and there("openvino"), "OpenVINO is missing")
    def test_a_token_behind_others(self):
        """OpenVINO refuses a cache whose dims say that it has no room for what is added."""
        from gguf_files import header, llama
        from benanza import gguf_for_onnxruntime
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "tiny.gguf", Path(folder) / "out.json"
            path.write_bytes(header(*llama()))
            gguf_for_onnxruntime.write(path, path.with_suffix(".onnx"))
            for past in 0, 40:
                done = run("openvino", path.with_suffix(".onnx"), "--dim", "sequence=1", "--dim", f"past={past}", "--seconds",
                           0.05, "--no-profile", "-o", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(out.read_text())["options"]["dims"], {"past": past, "sequence": 1})

    @unittest.skipUnless(WITH_ONNX and there("onnxruntime"), "ONNX Runtime is missing")
    def test_experts(self):
        from proofs import gguf_models
        for more in ({}, {"architecture": "qwen2moe", "shared": 512}, {"architecture": "gpt-oss", "head": 64, "window": 64}):
            gguf_models.MODELS["tiny"] = 256, 1, 4, 2, 512, 1000, {"experts": (4, 2), **more}
            with tempfile.TemporaryDirectory() as folder:
                path, out = Path(folder) / "tiny.gguf", Path(folder) / "out.json"
                path.write_bytes(gguf_models.header(*gguf_models.model("tiny", "q4_k")))
                gguf_models.gguf_for_onnxruntime.write(path, path.with_suffix(".onnx"))
                done = run("onnxruntime", path.with_suffix(".onnx"), "--dim", "sequence=3", "--dim", "past=4", "--seconds", 0.05,
                           "--no-profile", "-o", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(json.loads(out.read_text())["finite"])


class LlamaCpp(unittest.TestCase):
    @unittest.skipUnless(there("llama_cpp"), "llama-cpp-python is missing")
    def test_a_run_of_llama_cpp(self):
        from gguf_files import llama
        from proofs.gguf_models import write_whole
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "tiny.gguf", Path(folder) / "out.json"
            write_whole(path, *llama())
            for words, batch, dims in (
                    (("--dim", "past=40"), 1, {"past": 40, "sequence": 1}),
                    (("--dim", "past=0", "--dim", "sequence=64", "--set", "cache_type=f32"), 1, {"past": 0, "sequence": 64}),
                    (("--dim", "past=300", "--batch", 3), 3, {"past": 300, "sequence": 1})):  # most of it are copies
                done = run("llamacpp", path, *words, "--seconds", 0.05, "-o", out)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                result = json.loads(out.read_text())
                self.assertEqual((result["framework"], result["options"]["dims"]), ("llamacpp", dims))
                self.assertEqual(result["options"]["batch"], batch)
                self.assertEqual((result["options"]["precision"], result["finite"]), ("f16 and f32", True))
                self.assertGreaterEqual(result["count"], 10)
                trace, = result["traces"]
                nodes, runs = trace["json"]["nodes"], trace["json"]["runs"]
                self.assertEqual({len(run) for run in runs}, {len(nodes)})
                self.assertEqual([n["name"] for n in nodes if not n["stands_for"] and n["type"] != "GET_ROWS"], [])
                named = {name for n in nodes for name in n["stands_for"]}
                for layer in 0, 1:
                    for node in ("attn_norm", "attn_q", "attn_q.rotated", "key.new", "value.new", "attention", "ffn_down"):
                        self.assertIn(f"blk.{layer}.{node}", named)
                self.assertIn("output", named)
                self.assertGreater(result["empty_operator"]["profiled_ns"], 0)
            path.write_bytes(path.read_bytes()[:-50_000])
            done = run("llamacpp", path, "-o", out)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn("cannot read", done.stderr)


class GenAI(unittest.TestCase):
    def setUp(self):
        from gguf_files import llama
        from proofs.gguf_models import gguf_for_onnxruntime, write_whole
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.gguf, self.onnx, self.out = (Path(folder.name) / name for name in ("tiny.gguf", "tiny.onnx", "out.json"))
        write_whole(self.gguf, *llama(one_kind=True))
        gguf_for_onnxruntime.write(self.gguf, self.onnx)

    def measured(self, framework, path, precision):
        for past, sequence in (40, 1), (0, 1), (0, 20), (40, 20):
            done = run(framework, path, "--dim", f"past={past}", "--dim", f"sequence={sequence}", "--seconds", 0.05, "-o",
                       self.out)
            self.assertEqual((done.returncode, done.stderr), (0, precision))
            result = json.loads(self.out.read_text())
            self.assertEqual((result["framework"], result["options"]["dims"], result["traces"]),
                             (framework, {"past": past, "sequence": sequence}, []))
            self.assertGreaterEqual(result["count"], 10)
            self.assertLess(result["median_ns"], 1e9)  # its clock is in another unit if not
            self.assertGreater(result["median_ns"], 1e4)

    @unittest.skipUnless(there("onnxruntime_genai", "onnx"), "onnxruntime-genai is missing")
    def test_a_run_of_onnxruntime_genai(self):
        self.measured("onnxruntime-genai", self.onnx, "")
        done = run("onnxruntime-genai", self.onnx, "--dim", "pasts=3")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("of this model there are past and sequence", done.stderr)

    @unittest.skipUnless(WITH_ONNX, "onnx for Python is missing")
    def test_caches_are_found_by_their_names(self):
        from frameworks.genai import templates_of
        from onnx import TensorProto, helper

        def found(*names, rank=4):
            return templates_of([helper.make_tensor_value_info(n, TensorProto.FLOAT, [1] * rank) for n in names])

        self.assertEqual(found("past_key_values.0.key", "past_key_values.0.value", "past_key_values.1.key",
                               "past_key_values.1.value"), (["past_key_values.%d.key", "past_key_values.%d.value"], 2))
        self.assertEqual(found("blk.0.attention.1", "blk.0.attention.2"), (["blk.%d.attention.1", "blk.%d.attention.2"], 1))
        for names in ([], ["past_0", "past_1"], ["k.0", "v.1"], ["k.0", "v.0", "k.2", "v.2"], ["k", "v"], ["k.0", "v.0", "w"]):
            self.assertIsNone(found(*names), names)
        self.assertIsNone(found("k.0", "v.0", rank=3))

    @unittest.skipUnless(there("openvino_genai"), "openvino-genai is missing")
    def test_a_run_of_openvino_genai(self):
        self.measured("openvino-genai", self.gguf, "")
        done = run("openvino-genai", self.gguf, "--set", "INFERENCE_PRECISION_HINT=f64")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("does not compute in f64", done.stderr)
        self.gguf.write_bytes(b"GGUF")
        done = run("openvino-genai", self.gguf, "-o", self.out)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("cannot run", done.stderr)


if __name__ == "__main__":
    passed = main()
    if passed and not WITH_ONNX:
        print("skipped: files of ONNX were not tried: there is no onnx for Python (PyPI: onnx numpy)")
    sys.exit(not passed)
