# SPDX-License-Identifier: Apache-2.0
"""Which files belong to the repository, and does each that is at its top belong there?"""

import fnmatch
import os
import pathlib
import subprocess

from checks.common import ROOT, violation

TOP_LEVEL = {
    "CMakeLists.txt", "include", "generator", "generated", "analyzer", "cmake", "scripts", "tests",
    "README.md", "LICENSE",
}
IGNORED_WITHOUT_GIT = ["build*", "models", "*.onnx", "run*.json", "compile_commands.json"]


def repository_files():
    """Paths of all files that belong to the repository, tracked or about to be, relative to its root."""
    git = ["git", "-C", str(ROOT)]
    try:
        top = subprocess.run(git + ["rev-parse", "--show-toplevel"], capture_output=True, text=True)
        if top.returncode == 0 and pathlib.Path(top.stdout.strip()).resolve() == ROOT:
            listed = subprocess.run(git + ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                    capture_output=True, text=True, check=True).stdout
            return sorted(p for p in set(listed.split("\0")) if p and (ROOT / p).is_file())
    except OSError:
        pass  # no git on this machine
    found = []
    for folder, folders, files in os.walk(ROOT):
        here = pathlib.Path(folder).relative_to(ROOT)
        ours = lambda name: not any(fnmatch.fnmatch(name, p) for p in IGNORED_WITHOUT_GIT)
        folders[:] = [d for d in folders if not d.startswith(".") and (here.parts or ours(d))]
        found += [(here / f).as_posix() for f in files if here.parts or ours(f)]
    return sorted(found)


def check_top_level(files):
    for entry in sorted({f.split("/")[0] for f in files}):
        if entry not in TOP_LEVEL and not entry.startswith("."):
            violation(entry, "does not belong at the top of the repository")
