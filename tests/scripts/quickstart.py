#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/quickstart build all that cmake --install needs, and refuse what it cannot do before it builds?

  quickstart.py <source folder> <build folder>
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])


def ninja(*words):
    return subprocess.run(["ninja", "-C", BUILD, "-t", *words], capture_output=True, text=True, check=True).stdout


class Quickstart(unittest.TestCase):
    def test_what_it_builds_can_be_installed(self):
        targets = " ".join(re.findall(r"--target (.*)", (SOURCE / "scripts" / "quickstart").read_text())).split()
        done = ninja("commands", *targets)
        made = {BUILD / line.split(":")[0] for line in ninja("targets", "all").split("\n")}
        installed = {Path(p) for p in re.findall(r'"([^"\n]*)"', (BUILD / "cmake_install.cmake").read_text())}
        wanted = {str(p.relative_to(BUILD)) for p in installed & made if BUILD in p.parents}
        self.assertLessEqual({"install/benanza_analyze.1.gz", "benanza_generate"}, wanted)
        self.assertEqual([p for p in wanted if p not in done], [])

    def test_what_cannot_be_done_is_refused_before_anything_is_installed(self):
        for words, said in (["squeezenet"], "there are squeezenet-v1.1;"), (["no/such.onnx"], "cannot be read"), (
                ["--threads"], "--threads needs a value"), (["--thread", "2"], 'unknown option "--thread"'), (
                ["lenet", "vgg16"], "one model at a time"):
            done = subprocess.run([SOURCE / "scripts" / "quickstart", *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
