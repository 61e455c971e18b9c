# SPDX-License-Identifier: Apache-2.0
"""The first stage: does anything run, are its algorithms those that are listed without a GPU, and what can it do
at most?"""

import ctypes
import importlib.util
import os
import platform
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from gpu.bench import listed, matching, measured
from gpu.common import GPU_BACKENDS, Refused
from gpu.files import keep
from gpu.units import Unit, measuring

MOVED = "copy|read|triad|write"  # whose keys go on with bytes
ONCE = "graph_gap|graph_launch|event_pair|kernel_launch"
# Of convolutions those with channels last, which have the highest rates. Not by default: copies between host and
# card, managed memory, other processes.
CEILINGS = (f"^machine/(conv/[^/]*/(cudnn|cublas)/nhwc:|(matmul|({MOVED})-[0-9]+|{ONCE})/[^/]*/"
            f"({'|'.join(GPU_BACKENDS)})/)")
ALL_CEILINGS = f"^machine/.*/({'|'.join(GPU_BACKENDS)})/"
CEILING_S = 1.2  # where the host is slow to check large products; on a card far less
MORE_TYPES = ("e4m3",)  # of ceilings, besides those of layers


def nvml_costs():
    """How long single questions to NVML take, in us; empty where it is not there."""
    out = {}
    try:
        library = ctypes.CDLL(os.environ.get("BENANZA_NVML") or "libnvidia-ml.so.1")
        if library.nvmlInit_v2() != 0:
            return out
        gpu, number, wide = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_ulonglong()
        held = (ctypes.c_ulonglong * 2)()
        if library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)) != 0:
            return out
        for what, ask in (
                ("clock", lambda: library.nvmlDeviceGetClockInfo(gpu, 1, ctypes.byref(number))),
                ("power", lambda: library.nvmlDeviceGetPowerUsage(gpu, ctypes.byref(number))),
                ("limits", lambda: library.nvmlDeviceGetCurrentClocksThrottleReasons(gpu, ctypes.byref(wide))),
                ("energy", lambda: library.nvmlDeviceGetTotalEnergyConsumption(gpu, ctypes.byref(wide))),
                ("held", lambda: library.nvmlDeviceGetViolationStatus(gpu, 0, held))):
            if ask() != 0:
                continue
            took = []
            for _ in range(50):
                started = time.perf_counter()
                ask()
                took.append((time.perf_counter() - started) * 1e6)
            out[what] = round(statistics.median(took), 1)
    except (OSError, AttributeError):
        pass
    return out


def facts(arguments, bench, unit):
    folder = unit.path(arguments).parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "device.json").write_text(bench.run(["--describe-device"]).stdout)
    found = {"machine": platform.platform(), "python": platform.python_version()}
    driver = Path("/proc/driver/nvidia/version")
    if driver.is_file():
        found["kernel driver"] = driver.read_text().splitlines()[0]
    smi = shutil.which("nvidia-smi")
    if smi:
        (folder / "nvidia-smi.txt").write_text(
            subprocess.run([smi, "-q"], capture_output=True, text=True).stdout)
    for package in ("torch", "triton", "onnxruntime", "tensorrt"):
        spec = importlib.util.find_spec(package)
        found[package] = str(Path(spec.origin).parent) if spec and spec.origin else "not here"
    for what, us in nvml_costs().items():
        found[f"NVML {what}"] = f"{us} us a question"
    keep(unit.path(arguments), found)
    return found


def network_words(arguments):
    """The network, of all that there is to measure: it has convolutions, and something for each library."""
    return ["--model", f"{arguments.resnet}@batch={arguments.batches[0]}"]


def names_listed(names):
    """Algorithms by layer and type: {"Conv/...": {"nhwc:eng1_k2=0", ...}}."""
    out = {}
    for name in names:
        parts = name.rsplit("/", 5)
        if len(parts) == 6:
            out.setdefault(parts[0], set()).add(parts[3])
    return out


def only_on_a_gpu(algorithm):
    """What the library lists only where it sees a GPU: legacy calls, cublasLt, recurrent layers."""
    return re.search(r"^legacy|(^|:)(lt|rnn):", algorithm) is not None


def lists_unit(arguments, bench, t):
    """What is listed here against what is listed without a GPU."""

    def find(unit):
        device = unit.path(arguments).with_name("device.json")
        device.parent.mkdir(parents=True, exist_ok=True)
        device.write_text(bench.run(["--describe-device"]).stdout)
        found = {}
        for model in (network_words(arguments), *(["--model", m] for m in arguments.layer_models)):
            options = [*model, "--states", "hot", "--types", t, bench.filter]
            here = names_listed(listed(bench, options))
            without = names_listed(bench.run([*bench.gpu_only(), *options, "--benchmark_list_tests", "--target",
                                              device], gpu=False).stdout.split())
            for layer in sorted(set(here) | set(without)):
                a, b = here.get(layer, set()), without.get(layer, set())
                needs_gpu = {n for n in a if only_on_a_gpu(n)}
                found[layer] = {"both": sorted(a & b), "needs a GPU": sorted(needs_gpu - b),
                                "only here": sorted(a - b - needs_gpu), "only without GPU": sorted(b - a)}
        keep(unit.path(arguments), found)
        return found

    return Unit("first", f"lists_{t}", find, 40)


def first_stage(arguments, bench):
    chosen = [*network_words(arguments), "--types", arguments.types[0]]
    names, chosen_layer = [], []

    def hot_names():
        if not names:
            names.extend(listed(bench, [*chosen, "--states", "hot", bench.filter]))
            if not names:
                raise Refused("no case is listed for this GPU")
        return names

    def of_each_library(unit):
        """With the look at what ran: the names of kernels, and counters."""
        cases = [next((n for n in hot_names() if f"/{b}/" in n), None) for b in bench.backends]
        return measured(bench, unit.path(arguments), [*chosen, "--states", "hot", *arguments.pace, "--kernels", "winners",
                                                      matching([c for c in cases if c])])

    def convolution():
        if not chosen_layer:  # there are thousands of names
            layers = list(dict.fromkeys("/".join(n.split("/")[:2]) + "/" for n in hot_names()))
            chosen_layer.append(min(layers, key=lambda l: (not l.startswith("Conv/"), "3x3-s1" not in l)))
        return chosen_layer[0]

    def every_algorithm(unit):
        return measured(bench, unit.path(arguments),
                        [*chosen, *arguments.sampling, "--kernels", "none", "--algorithms", arguments.algorithms or "all",
                         matching([convolution()], whole=False)])

    yield Unit("first", "facts", lambda unit: facts(arguments, bench, unit), 20)
    yield Unit("first", "libraries", of_each_library, 30)
    yield lists_unit(arguments, bench, arguments.types[0])
    types = ",".join(dict.fromkeys([*arguments.types, *MORE_TYPES]))
    unasked = ["--all"] if arguments.ceilings == ALL_CEILINGS else []  # managed memory, other processes
    ceilings = Unit("first", "ceilings", *measuring(arguments, bench, [
        "--types", types, *arguments.pace, *unasked, "--kernels", "none", f"--benchmark_filter={arguments.ceilings}"]))
    ceilings.case_s = CEILING_S
    yield ceilings
    yield Unit("first", "convolution", every_algorithm,
               cases=lambda: 2 * [n for n in hot_names() if n.startswith(convolution())],
               of=("", arguments.types[0]))
