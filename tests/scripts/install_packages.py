#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/install_packages install what is missing and can be had, and name what it leaves out?

  install_packages.py <source folder>

Stand-ins for apt and pip say what they were asked for; they install nothing.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(sys.argv[1]) / "scripts" / "install_packages"

# As apt-cache does, it goes on writing when its reader has left, and fails then.
APT_CACHE = """#!/usr/bin/env python3
import sys
from pathlib import Path
here = Path(sys.argv[0]).parent
if any(sys.argv[2] in (here / f).read_text().split() for f in ("unknown", "unlisted")):
    sys.exit()
for i in range(20000):
    print("  Candidate: 1.0" if i == 2 else f"  line {i}")
"""


class Install(unittest.TestCase):
    def run_script(self, *words, unknown=(), unlisted=(), missing=None, update=0, pip=0):
        """What it said, and what apt-get and pip were asked for. What is unlisted is known once lists were fetched.
        `missing`: nothing else is."""
        with tempfile.TemporaryDirectory() as folder:
            programs = Path(folder, "programs")
            programs.mkdir()
            (programs / "unknown").write_text(" ".join(unknown))
            (programs / "unlisted").write_text(" ".join(unlisted))
            asked = Path(folder, "asked")
            asked.touch()
            for name, text in (("apt-cache", APT_CACHE), ("dpkg-query", "#!/bin/sh\nexit 1\n" if missing is None else
                                f'#!/bin/sh\ncase "$3" in {missing}) exit 1;; esac\necho "install ok installed"\n'),
                               ("apt-get", f'#!/bin/sh\necho "apt-get $*" >>{asked}\n'
                                           f'[ "$1" != update ] || {{ : >{programs}/unlisted; exit {update}; }}\n'),
                               ("sudo", '#!/bin/sh\nexec "$@"\n')):
                (programs / name).write_text(text)
                (programs / name).chmod(0o755)
            python = Path(folder, "benanza/tests/bin/python3")
            python.parent.mkdir(parents=True)
            python.write_text(f'#!/bin/sh\n[ "$2" = pip ] || exit 1\n[ "$3" = install ] || exit 0\n'
                              f'echo "pip $*" >>{asked}\necho "no network" >&2\nexit {pip}\n')
            python.chmod(0o755)
            done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, env=dict(
                os.environ, PATH=f"{programs}:{os.environ['PATH']}", XDG_CACHE_HOME=folder))
            return done, asked.read_text()

    def test_what_the_release_has_is_installed(self):
        done, asked = self.run_script("test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("left out", done.stdout)
        for package in ("cmake", "node-d3", "cmark-gfm", "libonnx-testdata"):
            self.assertRegex(asked, rf"apt-get install .* {package}\b")
        self.assertRegex(asked, "pip .* perfetto==")

    def test_what_the_release_lacks_is_named(self):
        done, asked = self.run_script("test", unknown=["node-d3", "cmark-gfm"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out, as this release does not have it: node-d3 cmark-gfm", done.stdout)
        self.assertNotIn("node-d3", asked)

    def test_nothing_is_called_absent_before_its_list_was_fetched(self):
        done, asked = self.run_script("build", unlisted=["node-d3"])  # cmake was installed, and its list deleted since
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("left out", done.stdout)
        self.assertRegex(asked, r"^apt-get update.*\napt-get install .* node-d3\b")

    def test_no_network_is_needed_for_what_can_be_done_without(self):
        done, asked = self.run_script("build", unknown=["node-d3"], missing="node-d3", update=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out, as no list that could be fetched has it: node-d3", done.stdout)
        self.assertNotIn("install", asked)
        done, _ = self.run_script("build", missing="cmake", update=100)
        self.assertEqual(done.returncode, 2)
        self.assertIn("apt-get update failed, see above; missing: cmake", done.stderr)

    def test_what_pip_does_not_bring_is_named(self):
        done, _ = self.run_script("test", pip=1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"left out, as pip did not install it: perfetto==.* onnx==.* \(no network\)")
        done, asked = self.run_script("cuda", pip=1)
        self.assertEqual(done.returncode, 1)
        self.assertIn("downloading it from PyPI, 0.9 GB", done.stdout)
        self.assertRegex(done.stdout, r"left out, as pip did not install it: .*nvidia-cudnn-cu13==[0-9.]+ \(no network\)")
        self.assertNotIn("apt-get", asked)

    def test_the_list_has_all_that_it_installs(self):
        done, asked = self.run_script("test", "--list")
        self.assertEqual((done.returncode, asked), (0, ""))
        for line in ("Debian node-d3", "Debian graphviz", "PyPI perfetto", "PyPI protobuf", "PyPI nvidia-cudnn-cu13"):
            self.assertIn(line + "\n", done.stdout)
        self.assertNotIn("PyPI", self.run_script("build", "--list")[0].stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
