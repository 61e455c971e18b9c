#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the package for pip bring all that it needs to a Python that has nothing else, and take it away again?

  wheel.py <source folder> <folder to build in>
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, OUT = Path(sys.argv[1]), Path(sys.argv[2])
OF_EVERY_LINUX = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.")


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([SOURCE / "scripts" / "wheel", OUT], check=True)
        (cls.wheel,) = OUT.glob("benanza-*.whl")
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        cls.environment = cls.folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", cls.environment], check=True)
        # Nothing of this machine's own: no program on the path but the package's, no settings, a home that is empty.
        cls.variables = {"PATH": f"{cls.environment}/bin:/usr/bin:/bin", "HOME": str(cls.folder), "LANG": "C.UTF-8"}
        cls.pip("install", "-q", "--no-index", cls.wheel)
        (cls.package,) = cls.environment.glob("lib/python3*/site-packages/benanza")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def pip(cls, *words):
        subprocess.run([cls.environment / "bin" / "pip", *words], check=True, env=cls.variables, cwd=cls.folder)

    def call(self, *words, status=(0, 1), **variables):
        done = subprocess.run([self.environment / "bin" / str(words[0]), *map(str, words[1:])], cwd=self.folder,
                              env={**self.variables, **variables}, capture_output=True, text=True)
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return done

    def bench(self, *words, status=(0, 1), **variables):
        layers = self.folder / "layers.txt"
        layers.write_text("Relu/1x64x56x56\nConv/1x64x14x14-64x3x3-s1-p1\n")
        return self.call("benanza_bench", "--layers", layers, "--effort", "quick", "--states", "hot", "--quiet",
                         "--benchmark_filter=^(Relu|Conv)", *words, status=status, **variables)

    def software(self, **variables):
        """The software that a result of two layers names."""
        self.bench("--benchmark_out=out.json", **variables)
        result = json.loads((self.folder / "out.json").read_text())
        return result["context"]["benanza"]["provenance"]["software"]

    def test_a_model_comes_to_its_page(self):
        done = self.call("benanza", "lenet", "--quick")
        self.assertIn("expected run", done.stdout)
        self.assertTrue((self.folder / "benanza-results" / "lenet" / "page.html").exists())
        self.assertIn("onnxruntime", self.call("benanza_measure_framework", "--help").stdout)

    def test_kernels_of_every_level_that_runs_here(self):
        refused = self.bench(status=(2,), BENANZA_LEVEL="x86-64-v9").stderr
        self.assertEqual(refused.count("\n"), 1)
        levels = refused.split("there are x86")[1].split(" (")[0].split(", ")
        instructions = [self.software(BENANZA_LEVEL=level)["host_instructions"]
                        for level in ["x86" + levels[0], *levels[1:]]]
        self.assertEqual(instructions, ["SSE", "AVX2", "AVX-512", "AVX-512 with VNNI and bf16"][:len(levels)])
        self.assertEqual(self.software()["host_instructions"], instructions[-1])

    def test_both_versions_of_onednn_are_inside(self):
        said = self.software()
        self.assertEqual((said["onednn-2.6.0_version"], said["onednn-3.2.0_version"]), ("2.6.0", "3.2.0"))

    def test_libraries_come_from_the_package_alone_and_with_their_licences(self):
        programs = self.package / "programs"
        for file in programs.iterdir():
            needs = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
            for line in needs.splitlines():
                name, _, path = line.strip().partition(" => ")
                if path and not name.startswith(OF_EVERY_LINUX):
                    self.assertIn(str(programs), path, f"{file.name} needs {line.strip()}")
        self.assertGreater(len(list((self.package / "licenses").iterdir())), 12)

    def test_from_python(self):
        done = self.call("python", "-c", "import benanza; r = benanza.measure('lenet', quick=True, progress=False);"
                         "print(r.bound.ns > 0, r.settings[0].model)")
        self.assertEqual(done.stdout.split(), ["True", "lenet@batch=1"])

    def test_z_what_is_left_behind(self):
        self.pip("uninstall", "-q", "-y", "benanza")
        self.assertEqual([str(f) for f in self.environment.rglob("*benanza*")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
