#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the ground stand alone? A program that takes a model's file to its bound is compiled against the headers of the
ground, with no wing among them, nor a file that may include one, and run.

  ground_alone.py <source folder> <benanza_generate> <compiler>
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, GENERATE, COMPILER = Path(sys.argv[1]), *sys.argv[2:4]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from checks.wings import wing_of, wings  # noqa: E402: it is there


def ground():
    """The headers that are of no wing, and no door to one."""
    rows = wings()
    doors = {door for w in rows for door in w.doors}
    for path in sorted((SOURCE / "include" / "benanza").rglob("*.hpp")):
        name = str(path.relative_to(SOURCE))
        if not wing_of(name, rows) and name.removesuffix(".hpp") not in doors:
            yield name


class GroundAlone(unittest.TestCase):
    def test_from_a_file_to_its_bound(self):
        names = list(ground())
        self.assertNotIn("include/benanza/bench/main.hpp", names)
        self.assertIn("include/benanza/bound/model.hpp", names)
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                to = Path(folder) / name
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes((SOURCE / name).read_bytes())
            loops, program = Path(folder) / "ceilings.cpp", Path(folder) / "file_to_bound"
            loops.write_text((SOURCE / "cmake" / "ceilings.cpp.in").read_text())
            words = [COMPILER, "-std=c++20", "-O2", "-march=native", "-fopenmp", "-DFMT_HEADER_ONLY", "-DONNX_ML=1",
                     "-DONNX_NAMESPACE=onnx", f"-I{folder}/include", SOURCE / "tests" / "examples" / "file_to_bound.cpp", loops,
                     "-o", program, "-lonnx", "-lonnx_proto", "-lprotobuf", "-ldl", "-lrt"]
            done = subprocess.run([*map(str, words)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[:4000])
            subprocess.run([GENERATE, "zoo", "lenet", "-q", "-o", folder], check=True)
            done = subprocess.run([program, f"{folder}/lenet.onnx"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            said = re.fullmatch(r"lenet@batch=1: 9 layers measured, roofline ([\d.]+) ms, bound ([\d.]+) ms\n", done.stdout)
            self.assertTrue(said, done.stdout)
            self.assertTrue(0 < float(said[1]) <= float(said[2]), done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
