#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does tests/summary.py count what ran, name what was skipped and why, and require what must run?

  summary.py <source folder> <a doctest program> <library to preload into it>
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, PROGRAM, FAKE = sys.argv[1:4]


def summary(tests, *options, installs="", known=(), pip=()):
    """Runs some tests through ctest, and then the summary, where apt knows some packages and pip brought some."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for name, command, properties in tests:
            lines.append(f'add_test({name} {command})')
            if properties:
                lines.append(f'set_tests_properties({name} PROPERTIES {properties})')
        (Path(folder) / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        results = options[options.index("--results") + 1] if "--results" in options else "tests.xml"
        subprocess.run(["ctest", "--test-dir", folder, "--output-junit", results,
                        "--test-output-size-passed", "8192", "--test-output-truncation", "head"],
                       capture_output=True, check=False)
        apt = Path(folder) / "bin" / "apt-cache"
        apt.parent.mkdir()
        apt.write_text("#!/bin/sh\ncase $2 in " + "".join(f"{k}) echo '  Candidate: 1.0';; " for k in known) + "esac\n")
        apt.chmod(0o755)
        for package in pip:
            (Path(folder) / "benanza/tests/lib/python3.11/site-packages" / f"{package}-1.0.dist-info").mkdir(parents=True)
        (Path(folder) / "installs").write_text(installs)
        options = [*options, "--installs", f"{folder}/installs"]
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        environment.update(PATH=f"{apt.parent}:{os.environ['PATH']}", XDG_CACHE_HOME=folder)
        return subprocess.run([sys.executable, f"{SOURCE}/tests/summary.py", folder, *options],
                              capture_output=True, text=True, env=environment)


CASE = f'{PROGRAM} "--test-case=cuda: there is one GPU*"'  # one will do
PRELOADED = f'ENVIRONMENT "LD_PRELOAD={FAKE}"'
SKIPPED = 'SKIP_REGULAR_EXPRESSION "skipped: "'


class Summary(unittest.TestCase):
    def test_what_ran_and_what_was_skipped(self):
        done = summary([("cuda", CASE, PRELOADED), ("other", "/bin/true", ""),
                        ("bad", "/bin/false", ""), ("none", "/bin/echo \"skipped: no luck\"", SKIPPED)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"cuda +passed, [0-9]+ ran, 0 skipped")
        self.assertRegex(done.stdout, r"other +passed, 1 ran")
        self.assertRegex(done.stdout, r"bad +failed, 1 ran")
        self.assertRegex(done.stdout, r"none +skipped: no luck")

    def test_cases_that_a_script_left_out(self):
        done = summary([("script", '/bin/echo "left out: Models.test_one: PyTorch is missing"', "")])
        self.assertRegex(done.stdout, r"script +passed, 1 ran\n +left out: Models.test_one: PyTorch is missing")

    def test_another_run_is_named(self):
        page = [("page", '/bin/echo "skipped: no notebooks here (Debian: python3-nbclient)"', SKIPPED)]
        done = summary(page, "--results", "long.xml", installs="Debian python3-nbclient", known=["python3-nbclient"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("Debian's python3-nbclient: page", done.stderr)

    def test_skipped_cases_are_named_with_their_reason(self):
        done = summary([("cuda", CASE, "")])  # without the fake there is no GPU
        self.assertRegex(done.stdout, r"cuda +passed, [0-9]+ ran, [1-9][0-9]* skipped")
        self.assertIn("skipped: cuda: there is one GPU for all, as long as the process lives: "
                      "not on the fake GPU", done.stdout)

    def test_groups_for_gpus_can_be_required(self):
        both = [("cuda", CASE, PRELOADED), ("cudnn", CASE, PRELOADED)]
        self.assertEqual(summary(both, "--require-cuda").returncode, 0)
        for tests in (both[:1], [both[0], ("cudnn", '/bin/echo "skipped: no cuDNN"', SKIPPED)],
                      [both[0], ("cudnn", f"{PROGRAM} -tc=nothing-is-called-so", PRELOADED)]):
            done = summary(tests, "--require-cuda")
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn("cudnn did not run", done.stderr)
        self.assertEqual(summary([("op", "/bin/true", "")]).returncode, 0)

    def test_what_could_be_installed_is_not_skipped(self):
        page = ("page", '/bin/echo "skipped: built without d3 (Debian: node-d3)"', SKIPPED)
        gpu = ("gpu", '/bin/echo "skipped: no cuDNN (PyPI: nvidia-cudnn-cu13)"', SKIPPED)
        installs = "Debian node-d3\nDebian g++\nPyPI nvidia-cudnn-cu13\n"
        for had in ({"known": ["node-d3"]}, {"pip": ["nvidia_cudnn_cu13"]}):
            done = summary([page, gpu], installs=installs, **had)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(done.stderr.count("\n"), 1)
            what = "Debian's node-d3: page" if "known" in had else "PyPI's nvidia-cudnn-cu13: gpu"
            self.assertIn(f"skipped for lack of it: {what};", done.stderr)
        # What a release lacks, pip did not bring, or is not to be installed is named, and no fault.
        done = summary([page, gpu], installs=installs, known=["g++"], pip=["perfetto"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("not tested for lack of Debian's node-d3: page\n", done.stdout)
        self.assertIn("not tested for lack of PyPI's nvidia-cudnn-cu13: gpu\n", done.stdout)
        self.assertEqual(summary([page], installs="Debian g++\n", known=["node-d3"]).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
