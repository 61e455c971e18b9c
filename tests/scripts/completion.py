#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a shell complete options, commands, and the values of options, one or several?

  completion.py <source folder> <cmake> <program...>
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, CMAKE, PROGRAMS = Path(sys.argv[1]), sys.argv[2], [Path(p) for p in sys.argv[3:]]


class Completion(unittest.TestCase):
    def complete(self, name, *words):
        """What bash offers for the last word."""
        line = " ".join(f"'{w}'" for w in (name, *words))
        script = (f"source {self.folder}/bash/{name}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _{name}; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_values_options_and_commands(self):
        wanted = {
            "benanza_analyze": [(["--format", "j"], ["json", "junit"]), (["--format", "md,ht"], ["md,html"]),
                                (["--type", "bf"], ["bf16"]), (["--device", ""], ["cpu", "gpu"]),
                                (["--frame"], ["--framework"]), (["swe"], ["sweep"]), (["zzz"], [])],
            "benanza_bench": [(["--effort", "q"], ["quick"]), (["--states", "hot,c"], ["hot,coldw", "hot,cold"]),
                              (["--types", "bf"], ["bf16"])],
            "benanza_generate": [(["--effort", "t"], ["thorough"]), (["stats", "--format", "c"], ["csv"]),
                                 (["z"], ["zoo"])],
        }
        if not shutil.which("bash"):
            self.skipTest("bash is missing")
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            for program in PROGRAMS:
                subprocess.run([CMAKE, f"-DPROGRAM={program}", f"-DNAME={program.name}", f"-DOUT={folder}", "-P",
                                SOURCE / "cmake" / "benanza_completion.cmake"], check=True)
                for words, offered in wanted[program.name]:
                    self.assertEqual(sorted(self.complete(program.name, *words)), sorted(offered), words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
