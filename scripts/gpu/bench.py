# SPDX-License-Identifier: Apache-2.0
"""The programs: benanza_bench with a GPU or as if there were none, and benanza_analyze."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from gpu.common import GPU_BACKENDS, Refused, TimeOver, say
from gpu.files import JOURNAL, keep, kept


def library_folders():
    """Where CUDA's libraries may lie: in Python's packages, and in the toolkit."""
    folders = []
    spec = importlib.util.find_spec("nvidia")
    for package in (spec.submodule_search_locations or []) if spec else []:
        folders += sorted(Path(package).glob("*/lib"))
    folders += [Path(p) for p in ("/usr/local/cuda/lib64", "/usr/local/nvidia/lib64",
                                  "/usr/local/cuda/extras/CUPTI/lib64")]
    return [str(f) for f in folders if f.is_dir()]


class Bench:
    """The benchmark program, with a GPU or as if there were none."""

    def __init__(self, program, arguments, ends):
        self.program, self.preload, self.ends = program, arguments.preload, ends
        self.graphs = ["--graphs", arguments.graphs.absolute()] if arguments.graphs else []
        self.filter = f"--benchmark_filter={arguments.filter}"
        if not os.access(program, os.X_OK):
            raise Refused(f"no program {program}; give --program, or make one with --pack")
        known = self.run(["--backends", "?"], gpu=False, fine=(2,)).stderr
        found = re.search(r"it has ([a-z0-9_,]+)", known)
        self.backends = [b for b in (found[1].split(",") if found else []) if b in GPU_BACKENDS]
        if not self.backends:
            raise Refused(f"{program} does not start, or has no library for GPUs: {known.strip()[:200]}")

    def environment(self, gpu):
        e = dict(os.environ)
        e["LD_LIBRARY_PATH"] = ":".join(filter(None, [e.get("LD_LIBRARY_PATH"), *library_folders()]))
        e["CUDNN_LOGLEVEL_DBG"] = "0"
        if gpu and self.preload:
            e["LD_PRELOAD"] = self.preload
        if not gpu:
            e["CUDA_VISIBLE_DEVICES"] = ""
        return e

    def run(self, options, gpu=True, fine=(0, 1)):
        """Runs it; after the time is over asks it to stop, and says so by an exception."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimeOver()
        graphs = [] if "--plan" in options else self.graphs  # a plan holds its model
        words = [str(self.program), *map(str, [*graphs, *options])]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment(gpu)) as p:
            try:
                out, err = p.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGINT)
                try:
                    p.communicate(timeout=60)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.communicate()
                raise TimeOver()
            except KeyboardInterrupt:
                p.send_signal(signal.SIGINT)
                p.communicate()
                raise
        if p.returncode not in fine:
            raise Refused(f"{' '.join(words)} ended with {p.returncode}: {err.strip()[-300:]}")
        return subprocess.CompletedProcess(words, p.returncode, out, err)

    def gpu_only(self):
        return ["--backends", ",".join(self.backends)]


def unfinished_of(path):
    """What a run that was stopped leaves in place of NAME.json.gz."""
    return path.with_suffix(JOURNAL)


def measured(bench, path, options):
    """The result of a run; what a run that was stopped left is used, unless it is of another setting."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain, unfinished = path.with_suffix(""), unfinished_of(path)
    words = [*bench.gpu_only(), "--isolate", f"--benchmark_out={plain}", *options]
    try:
        try:
            bench.run(words)
        except Refused:
            if not unfinished.exists():
                raise
            unfinished.replace(unfinished.with_suffix(".old"))
            bench.run(words)
        result = json.loads(plain.read_text())
    finally:
        plain.unlink(missing_ok=True)  # of a run that was stopped, FILE.unfinished holds more
    if "interrupted" in result["context"]["benanza"]["provenance"]["measuring"]:
        raise TimeOver()
    keep(path, result)
    return result


def listed(bench, options):
    """The names of the cases that these options select."""
    return bench.run([*bench.gpu_only(), *options, "--benchmark_list_tests"]).stdout.split()


def matching(names, whole=True):
    """The filter that selects the cases of these names, or those whose names begin so."""
    escaped = (re.sub(r"([.+*?()\[\]{}|^$\\])", r"\\\1", n) for n in names)
    return "--benchmark_filter=^(" + "|".join(escaped) + (")$" if whole else ")")


def analysed(arguments, result, path):
    """Lets benanza_analyze say what it makes of a result and the GPU's ceilings, where it is at hand."""
    if arguments.analyze is None:
        return
    ceilings, beside = kept(arguments.work / "first" / "ceilings.json.gz"), path.with_name("ceilings.json")
    if ceilings is not None:
        beside.write_text(json.dumps(ceilings))
    done = subprocess.run([arguments.analyze, "--device", "gpu", "-", *([beside] if ceilings is not None else [])],
                          input=json.dumps(result), text=True, capture_output=True)
    beside.unlink(missing_ok=True)
    path.write_text(done.stdout + done.stderr)
    say(f"analysis: {path}" if done.returncode in (0, 1) else f"no analysis: {done.stderr.strip()}")
