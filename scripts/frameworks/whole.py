# SPDX-License-Identifier: Apache-2.0
"""What is in framework.json, and how is it measured of a whole model, or made of traces that are there?

  {"schema": "benanza-framework", "schema_version": 3,
   "framework": "onnxruntime" | "openvino" | "pytorch", "framework_version": "1.32.0" | "unknown",
   "model": {"file", "sha256", "bytes", "structure"},      the last as structure.py has it, where it was read
   "options": {"threads", "batch", "dims": {symbol: n}, "seconds", "cpus": [...],     0: not told
               "precision": "f32" | ... | "", "device": "gpu"},   the processor where none is told
   "inputs", "filled_tensors", "filled_bytes", "finite", "machine", "started",        of what was run here
   "count", "min_ns", "median_ns", "samples_ns": [...],    whole runs, unprofiled; none where none were told
   "chain": "chain.json",                                  our run of the same model, in turns with these; or none
   "traces": [{"format": "onnxruntime-profile", "json": [events]}, or "text" of what is no valid JSON
              {"format": "openvino-exec-graph", "text": "<net ..."},
              {"format": "openvino-profiling", "json": {"runs": [[{"name", "type", "exec_type", "status",
                                                                   "real_us"}, ...], ...], "run_ns": [...]}},
              {"format": "pytorch-trace", "json": {"traceEvents": [...]}}],
   "empty_operator": {"profiled_ns", "ns"},     one that does nothing: what the profiler says, what it takes without; or none
   "graph": {"inputs": [...],                    the model's, without what it stores
             "nodes": [{"name", "type", "inputs", "outputs"}, ...],              its own, producers first
             "operators": [{..., "originals": [nodes], "activation"}, ...]}}     of the optimized graph; or none

Profiled runs follow the unprofiled ones in a session of their own; the
first of them is cold. Unused fields of events are left out, of runs all but 6 to 30 so that a file stays below
10 MB; OpenVINO's are the first one, and means of the runs between two reads of its counters. PyTorch's runs are
within `ProfilerStep#n`, and each node's module within a range of its name. Nodes without a name are called by their
first result. benanza_analyze finds in `graph` which nodes an operator stands for.
"""

import datetime
import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from frameworks.common import Refused, bind, one_line, printable
from frameworks.empty import empty_operator
from frameworks.environment import has_package
from frameworks.graphs import graph_of, nodes_of, told
from frameworks.inputs import fix_dims, make_inputs
from frameworks.models import checksum, element_types, load, name_nodes, save
from frameworks.partner import partner
from frameworks.running import FRAMEWORKS
from frameworks.settings import chosen
from frameworks.structure import structure_of
from frameworks.timing import finite, processor, sample
from frameworks.traces import graph_of_xml, precision_of, read_trace
from frameworks.turns import in_turns
from frameworks.weights import fill_weights

SCHEMA = "benanza-framework"
SCHEMA_VERSION = 3


def file_of(arguments, version, cpus, precision, structure):
    """What every file begins with."""
    return {
        "schema": SCHEMA, "schema_version": SCHEMA_VERSION,
        "framework": arguments.framework, "framework_version": version,
        "model": {"file": str(arguments.model), "sha256": checksum(arguments.model),
                  "bytes": arguments.model.stat().st_size, **({"structure": structure} if structure else {})},
        "options": {"threads": arguments.threads or 0, "batch": arguments.batch or 0, "dims": arguments.dims,
                    "seconds": arguments.seconds, "cpus": cpus, "precision": precision, "set": dict(chosen)},
    }


def latency_of(samples):
    return {"count": len(samples), "min_ns": min(samples), "median_ns": statistics.median(samples),
            "samples_ns": samples}


def began(text):
    """A step that takes seconds, for whoever waits at a terminal."""
    if sys.stderr.isatty():
        print(f"measure_framework: {printable(text)}", file=sys.stderr, flush=True)


def sampled(some, arguments, processors):
    """Times of single runs, as some seconds give them, and the result of our chain where that takes turns with them."""
    if arguments.take_turns:
        partner.begin(*arguments.take_turns)
    if arguments.plan:
        return in_turns(some, arguments, processors)
    began(f"runs of {arguments.seconds * 1.25:g} s, the first to warm up")
    return some(arguments.seconds), None


def ran_here(arguments, started, healthy, samples, chain):
    """What a file has of runs on this machine."""
    if not healthy:
        print("measure_framework: some results are infinite or not a number", file=sys.stderr)
    return {"finite": healthy,
            "machine": {"processor": processor(), "cpus": os.cpu_count(), "python": sys.version.split()[0]},
            "started": started, **latency_of(samples), **({"chain": str(arguments.chain)} if chain else {})}


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def measure(arguments):
    """The file; and, with --plan, the result of the chain that took turns."""
    model = load(arguments.model)
    structure = structure_of(model)
    name_nodes(model)
    graph = graph_of(model)
    dims, known, arguments.batch = fix_dims(model, arguments.batch, arguments.dims, arguments.shapes)
    types = element_types(model)
    processors = os.sched_getaffinity(0)
    cpus = bind(arguments.threads)
    filler = fill_weights(model, arguments.model.parent)
    feeds = make_inputs(model, dims, known)
    started = now()
    with tempfile.TemporaryDirectory(prefix="benanza-framework-") as folder:
        path = save(model, Path(folder))
        del model
        made = FRAMEWORKS[arguments.framework]
        try:
            began(f"{arguments.framework} makes {arguments.model.name} ready")
            framework = made(path, feeds, arguments.threads)
            framework.run()
            healthy = finite(framework.results())
            samples, chain = sampled(partial(sample, framework.run), arguments, processors)
            version, precision = framework.version, framework.precision
            del framework
            traces, operators, empty = [], [], None
            if not arguments.no_profile:
                began("runs with its profiler")
                traces, operators = made.profiled(path, feeds, arguments.threads, arguments.seconds)
                empty = empty_operator(made, Path(folder), arguments.threads)
        except Refused:
            raise
        except Exception as e:  # the framework's own words, whatever it throws
            raise Refused(f"{arguments.framework} cannot run {arguments.model}: {one_line(e)}") from None
    # None turns integers into floats; ONNX Runtime and PyTorch keep every type, OpenVINO takes that asked for.
    if not precision or "int8" in types:
        precision = types
    if precision != "f32" and "INFERENCE_PRECISION_HINT" not in chosen:
        print(f"measure_framework: {arguments.framework} computes in {printable(precision)}, not in f32", file=sys.stderr)
    return {
        **file_of(arguments, version, cpus, precision, structure),
        "inputs": [{"name": n, "dims": list(a.shape), "type": str(a.dtype)} for n, a in feeds.items()],
        "filled_tensors": filler.tensors, "filled_bytes": filler.bytes,
        **ran_here(arguments, started, healthy, samples, chain),
        "traces": traces, **({"empty_operator": empty} if empty else {}),
        **({"graph": {**graph, "operators": told(operators)}} if operators else {}),
    }, chain


# ---- traces that are there ------------------------------------------------------------------------

def imported(arguments):
    """The same of traces in files, without running anything."""
    traces = [read_trace(file, arguments.framework) for file in arguments.trace]
    graphs = [t["text"] for t in traces if t["format"] == "openvino-exec-graph"]
    operators = graph_of_xml(graphs[0]) if graphs else None
    if arguments.optimized:
        operators = nodes_of(load(arguments.optimized).graph)
    elif operators and not has_package("onnx"):
        print("measure_framework: which nodes the operators stand for is left out: onnx for Python is missing",
              file=sys.stderr)
        operators = None
    graph = {**graph_of(load(arguments.model)), "operators": told(operators)} if operators else None
    precision = next(filter(None, map(precision_of, traces)), "")
    if precision not in ("f32", ""):
        print(f"measure_framework: {arguments.framework} computed in {printable(precision)}, not in f32", file=sys.stderr)
    latency = {} if arguments.latency_ms is None else latency_of([arguments.latency_ms * 1e6])
    structure = structure_of(load(arguments.model)) if has_package("onnx") else None
    return {**file_of(arguments, "unknown", [], precision, structure), **latency, "traces": traces,
            **({"graph": graph} if graph else {})}
