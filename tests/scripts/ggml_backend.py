#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do ggml's kernels compete where a benchmark program is built with a ggml, each with a right result?

  ggml_backend.py <source folder> <folder to build in> [<root of a ggml>]

Without a root pip compiles llama-cpp-python there, which takes minutes.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
GGML = f"-DBENANZA_GGML_ROOT={sys.argv[3]}" if len(sys.argv) > 3 else "-DBENANZA_GGML_PYPI=ON"
FORMATS = ("f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs", "mxfp4")
TOKENS = (1, 3, 40)


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


class Ggml(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for words in (("cmake", "-S", SOURCE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", GGML,
                       f"-DBENANZA_GENERATED={SOURCE}/generated/sample"),
                      ("cmake", "--build", BUILD, "--parallel", "2", "--target", "benanza_bench", "benanza_analyze")):
            done = run(*words)
            if done.returncode:
                raise AssertionError(f"{words[:2]}: {(done.stdout + done.stderr)[-3000:]}")
        layers, cls.result = BUILD / "layers.txt", BUILD / "result.json"
        layers.write_text("".join(f"MatMulGgml/1x{t}x512-n96-{f}\n" for t in TOKENS for f in FORMATS) +
                          "MatMulGgml/4x1x256-n64-q4_k-e2\nRelu/1x8\n")
        done = run(BUILD / "benanza_bench", "--layers", layers, "--effort", "quick", "--threads", "1",
                   "--benchmark_filter=-^machine/", f"--benchmark_out={cls.result}")
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.rows = json.loads(cls.result.read_text())["benchmarks"]

    def test_every_format_is_right(self):
        self.assertEqual([r["name"] for r in self.rows if r.get("error_occurred")], [])
        its = [r for r in self.rows if r["backend"] == "ggml"]
        self.assertEqual({r["equivalence"] for r in its}, {"f32-rounded"})
        for state in "hot", "coldw":
            self.assertEqual({r["key"] for r in its if (r["algorithm"], r["state"]) == ("mul_mat", state)},
                             {f"1x{t}x512-n96-{f}" for t in TOKENS for f in FORMATS})
        self.assertTrue(all(r["min_ns"] > 0 for r in its))

    def test_no_bound_rests_on_them(self):
        for key in {r["key"] for r in self.rows if r["backend"] == "ggml"}:
            done = run(BUILD / "benanza_analyze", self.result, "--algorithms", f"MatMulGgml/{key}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("other results: f32-rounded", done.stdout)

    def test_a_root_that_is_none(self):
        done = run("cmake", "-S", SOURCE, "-B", BUILD / "none", "-DBENANZA_GGML_ROOT=/nowhere",
                   f"-DBENANZA_GENERATED={SOURCE}/generated/sample")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("BENANZA_GGML_ROOT: /nowhere has no include/ggml.h", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
