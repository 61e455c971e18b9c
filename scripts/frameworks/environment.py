# SPDX-License-Identifier: Apache-2.0
"""Which Python has a framework, and where is one installed that lacks it?"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from frameworks.common import Refused, one_line


PACKAGES = {"onnxruntime": ("numpy", "onnx", "onnxruntime"), "openvino": ("numpy", "onnx", "openvino"),
            "pytorch": ("numpy", "onnx", "torch", "onnx2torch"), "llamacpp": ("numpy", "llama_cpp"),
            "onnxruntime-genai": ("numpy", "onnx", "onnxruntime_genai"), "openvino-genai": ("numpy", "openvino_genai")}
AT_PIP = {"llama_cpp": "llama-cpp-python"}  # where it has another name; compiled there, which takes minutes


def has_package(name):
    """A folder of its name alone is none: Debian's libonnx-testdata leaves one called onnx."""
    return getattr(importlib.util.find_spec(name), "origin", None) is not None


def missing_packages(needed):
    return [p for p in needed if not has_package(p)]


def run_elsewhere(framework, needed):
    """Makes or completes the virtual environment, and goes on in its Python."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        raise Refused(f"there is no home for {framework}: set HOME or XDG_CACHE_HOME") from None
    folder = cache / "benanza" / "frameworks"
    python = folder / "bin" / "python3"
    if Path(sys.prefix).resolve() == folder.resolve():
        raise Refused(f"{framework} cannot be imported from {folder}; remove that folder and try again")

    def call(*command, what):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode:
            said = [l for l in done.stderr.splitlines() if l.strip()]
            raise Refused(f"{what} failed: {one_line(said[-1] if said else done.returncode)}")

    if not python.exists():
        print(f"measure_framework: making a virtual environment in {folder}", file=sys.stderr, flush=True)
        call(sys.executable, "-m", "venv", folder, what="python3 -m venv (Debian: python3-venv)")
    find = f"import importlib.util as u; print(*(p for p in {tuple(needed)} if not getattr(u.find_spec(p), 'origin', None)))"
    missing = subprocess.run([str(python), "-c", find], capture_output=True, text=True).stdout.split()
    if missing:
        print(f"measure_framework: pip installs {', '.join(missing)} in {folder}", file=sys.stderr, flush=True)
        wanted = [AT_PIP.get(p, p) for p in missing]
        call(python, "-m", "pip", "install", "-q", *wanted, what=f"pip install {' '.join(wanted)}")
    os.execv(python, [str(python), *sys.argv])
