# SPDX-License-Identifier: Apache-2.0
"""What the tests of scripts/measure_framework have in common: its folder, which is then where modules are found, and
what this Python has; with `full` among the words of the test that is what an environment of its own has: all but
PyTorch, which is some GB.
"""

import subprocess
import sys
import unittest
from pathlib import Path

from pythons import go_on_with

SOURCE = Path(sys.argv[1])
SCRIPT = SOURCE / "scripts" / "measure_framework"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
from frameworks.environment import PACKAGES, missing_packages, run_elsewhere  # noqa: E402: it is next to the script

if "full" in sys.argv:
    needed = {p for name in PACKAGES if name != "pytorch" for p in PACKAGES[name]}
    if missing_packages(needed):
        run_elsewhere("ONNX Runtime", sorted(needed))
else:
    go_on_with("onnx.helper", "numpy")


def there(*packages):
    return not missing_packages(packages)


WITH_ONNX = there("onnx", "numpy")


def main():
    """All cases; those that are left out are named, with the reason."""
    result = unittest.main(module="__main__", argv=sys.argv[:1], exit=False).result
    for case, reason in result.skipped:
        print(f"left out: {case.id().removeprefix('__main__.')}: {reason}")
    return result.wasSuccessful()


def run(*words, cwd=None):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, cwd=cwd)
