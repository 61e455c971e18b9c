# SPDX-License-Identifier: Apache-2.0
"""Is every source formatted?"""

import re
import shutil
import subprocess
import sys

from checks.common import ROOT, violation


def clang_format():
    """The clang-format of the version that the style file is for, or None."""
    for name in ("clang-format-14", "clang-format"):
        program = shutil.which(name)
        if program:
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(r"\bversion 14\.", said):
                return program
    return None


def check_format(sources, fix):
    program = clang_format()
    if program is None:
        print("check: formatting is not checked: clang-format 14 is not installed"
              " (Debian: clang-format-14)", file=sys.stderr)
        return
    if fix:
        subprocess.run([program, "-i", "--style=file", *sources], cwd=ROOT, check=True)
        return
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file", *sources], cwd=ROOT,
                          capture_output=True, text=True)
    first = {}
    for line in done.stderr.splitlines():
        found = re.match(r"(.+?):(\d+):\d+: error:", line)
        if found:
            first.setdefault(found[1], found[2])
    for path, line in first.items():
        violation(f"{path}:{line}", "not formatted; run scripts/check --fix")
    if done.returncode != 0 and not first:
        violation("clang-format", (done.stderr.strip().splitlines() or ["failed"])[0])
