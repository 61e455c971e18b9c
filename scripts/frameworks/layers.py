# SPDX-License-Identifier: Apache-2.0
"""Which layers does a framework run as one more backend, and what is written of them?"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from frameworks.common import Refused, bind, one_line
from frameworks.layer_runs import FRAMEWORKS, STATES, measure_layer
from frameworks.timing import processor

SCHEMA_VERSION = 1  # of include/benanza/result/run.hpp
TREE = Path(__file__).resolve().parents[2]
TIME_LIMIT_S = 300  # of a layer's process


def read_result(path):
    """The document of a result of benanza_bench, and its provenance."""
    try:
        document = json.loads(path.read_text())
        own = document["context"]["benanza"]
        if own["schema"] != SCHEMA_VERSION or not isinstance(document["benchmarks"], list):
            raise Refused(f"{path}: a result of another version")
        return document, {s: dict(own["provenance"][s]) for s in ("machine", "software")}
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{path}: not a result of benanza_bench; give what --benchmark_out wrote") from None


def is_result(path):
    with open(path, "rb") as file:
        return file.read(64).lstrip()[:1] == b"{"


def asked_layers(path):
    """The names of the layers of a result, or of a file of keys, and the result's states; none of the keys'."""
    if not is_result(path):
        lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
        return list(dict.fromkeys("/".join(line.split("/")[:2]) for line in lines if line)), None
    names, states = {}, set()
    for row in read_result(path)[0]["benchmarks"]:
        family = row.get("family", "machine")
        if family in ("machine", "model", "reorder") or row.get("type") != "f32" or row.get("device") == "gpu":
            continue
        names[f"{family}/{row['key']}"] = True
        states.add(row.get("state"))
    if not names:
        raise Refused(f"{path}: no layer was measured in f32")
    return list(names), [s for s in STATES if s in states]


def host_facts():
    """What benanza_bench says of this machine in its own words, as far as a script can tell."""
    info = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, colon, value = line.partition(":")
        if colon:
            info.setdefault(name.strip(), value.strip())
    return {"cpu": processor(),
            "cpu_family": info.get("cpu family", "unknown") + "." + info.get("model", "unknown"),
            "processors_online": str(os.sysconf("SC_NPROCESSORS_ONLN")),
            "memory_bytes": str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))}


def facts_of(path):
    """Machine and software of a result of this machine: what ours must share to be analysed beside it."""
    _, provenance = read_result(path)
    for fact, here in host_facts().items():
        there = provenance["machine"].get(fact)
        if there != here:
            raise Refused(f"{path} was measured on another machine: {fact} is {there} there, {here} here")
    return provenance


def generator(asked):
    """The program that writes layers as models."""
    built = TREE / "build" / "benanza_generate"
    found = asked or (built if built.exists() else shutil.which("benanza_generate"))
    if not found or not Path(found).exists():
        raise Refused("benanza_generate is not built: cmake --build build, or say --generate PROGRAM")
    return Path(found).resolve()


def write_layer(program, name, folder):
    """Has a layer's files written; what they say of it, or why there are none."""
    done = subprocess.run([program, "onnx", name, "-q", "-o", folder], capture_output=True, text=True)
    if done.returncode == 2:
        raise Refused(one_line(done.stderr).removeprefix("benanza_generate: "))
    if done.returncode:
        return None, one_line(done.stderr).partition(" is not written: ")[2] or f"status {done.returncode}"
    return json.loads((folder / "0" / "layer.json").read_text()), ""


def apart(work):
    """What `work` returns in a process of its own; what it throws, or ends it, as Refused."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(TIME_LIMIT_S)
        try:
            said = {"done": work()}
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException as e:  # the framework's own words, whatever it throws
            said = {"why": one_line(e) or type(e).__name__}
        with os.fdopen(write, "w") as out:
            out.write(json.dumps(said))
        os._exit(0)  # what a framework would still tidy up is the process's
    os.close(write)
    with os.fdopen(read) as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    if not text:
        ended = os.waitstatus_to_exitcode(status)
        if ended == 130:
            raise KeyboardInterrupt
        if ended == -signal.SIGALRM:
            raise Refused(f"it took longer than {TIME_LIMIT_S} s")
        raise Refused(f"it ended its process with signal {-ended}" if ended < 0 else f"it ended with status {ended}")
    said = json.loads(text)
    if "why" in said:
        raise Refused(said["why"])
    return said["done"]


def measure_layers(arguments, save):
    """A result of ours for the layers that were asked for, and what could not be measured of them."""
    names, states = asked_layers(arguments.layers)
    if arguments.only:
        names = [n for n in names if re.search(arguments.only, n)]
        if not names:
            raise Refused(f"--only {arguments.only}: no layer's name has that")
    states = arguments.states or states or list(STATES)
    facts = facts_of(arguments.facts or arguments.layers)
    program = generator(arguments.generate)
    cpus = bind(arguments.threads)
    framework = arguments.framework
    version = FRAMEWORKS[framework].version()  # imports it, once for all processes
    import numpy
    import onnx
    started = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    rows, skipped = [], []
    for number, name in enumerate(names, 1):
        if sys.stderr.isatty():
            print(f"\r\033[K{number}/{len(names)} {name[:60]}", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="benanza-layer-") as folder:
            layer, why = write_layer(program, name, Path(folder))
            if layer is None:
                skipped.append(f"{name}: {why}")
                continue
            try:
                made = apart(lambda: measure_layer(layer, Path(folder) / "0", framework, arguments.threads, states,
                                                   arguments.seconds, facts["machine"], save))
            except Refused as e:
                skipped.append(f"{name}: {e}")
                continue
            rows += made
            skipped += [f"{name}: {r['error_message']}" for r in made[:1] if "error_message" in r]
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    # Facts of the measuring are joined with those of the result with which this is analysed.
    measuring = {f"{framework}_run": f"{started}, processors {','.join(map(str, cpus))}, load {os.getloadavg()[0]:.2f}, "
                                     f"numpy {numpy.__version__}, onnx {onnx.__version__}, "
                                     f"Python {sys.version.split()[0]}"}
    provenance = facts | {"measuring": measuring, "frameworks": {framework: version}}
    document = {"context": {"date": started, "benanza": {"schema": SCHEMA_VERSION, "provenance": provenance,
                                                         "graphs": []}},
                "benchmarks": rows}
    return document, skipped, len(names)
