# SPDX-License-Identifier: Apache-2.0
"""Which Python here has what a test needs: this one, the system's, or that of the tests' own environment?"""

import os
import subprocess
import sys
from pathlib import Path

SYSTEMS = Path("/usr/bin/python3")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benanza" / "tests"  # see install_packages


def go_on_with(*modules):
    """Goes on, from the start, in the first Python that has all of these modules; false if none has."""
    has = f"import {', '.join(modules)}"
    for python in Path(sys.executable), SYSTEMS, CACHE / "bin" / "python3":
        if python.exists() and subprocess.run([python, "-c", has], capture_output=True).returncode == 0:
            if python != Path(sys.executable):
                os.execv(python, [str(python), *sys.argv])
            return True
    return False
