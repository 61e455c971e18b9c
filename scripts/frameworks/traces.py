# SPDX-License-Identifier: Apache-2.0
"""Which form does a profiler's file have, and what of it is worth keeping?

Nothing here needs a framework, nor NumPy or onnx.
"""

import gzip
import json
import xml.etree.ElementTree as ElementTree
import zlib
from collections import Counter

from frameworks.common import Refused, one_line
from frameworks.graphs import Node

MOST_TEXT = 1 << 30  # bytes of a file, unpacked; as benanza_analyze
MOST_BYTES = 8_000_000  # of a trace of which runs can be left out
STORED = {"Const", "Input", "Output"}  # layers of an execution graph that run nothing
TYPES = {"float": "f32", "float16": "f16", "bfloat16": "bf16", "double": "f64"}


def within_room(events, most_bytes, is_run):
    """Events of the first runs that take no more, at least of three."""
    def end(e):
        return e.get("ts", 0) + e.get("dur", 0)

    ends = sorted(end(e) for e in events if is_run(e))
    while len(ends) > 3 and (size := len(json.dumps(events, separators=(",", ":")))) > most_bytes:
        ends = ends[:max(3, min(len(ends) - 1, int(len(ends) * most_bytes / size)))]
        events = [e for e in events if end(e) <= ends[-1]]
    return events


# ---- ONNX Runtime ---------------------------------------------------------------------------------

def slim_events(events, most_bytes, dropped=("mem_", "thread_scheduling_stats")):
    """Events without unused fields, of so many whole runs as have room: the first is the cold one."""
    kept = [{**e, "args": {k: v for k, v in e.get("args", {}).items() if not k.startswith(dropped)}}
            for e in events if not e.get("name", "").endswith(("_fence_before", "_fence_after"))]
    return within_room(kept, most_bytes, lambda e: e.get("name") == "model_run")


# ---- OpenVINO -------------------------------------------------------------------------------------

def graph_of_xml(text):
    """The operators of an execution graph. Results are called after their layer and place, inputs as the model's."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as e:
        raise Refused(f"not an execution graph of OpenVINO: {one_line(e)}") from None
    layers = {layer.get("id"): layer for layer in root.iter("layer")}
    ports = {i: [p.get("id") for p in layer.findall("output/port")] for i, layer in layers.items()}
    read = {}
    for e in root.iter("edge"):
        read.setdefault(e.get("to-layer"), []).append((int(e.get("to-port")), e.get("from-layer"), e.get("from-port")))
    still = set()  # what depends on constants alone

    def tensor(layer, port):
        name = layers[layer].get("name")
        return name if layers[layer].get("type") == "Input" else f"{name}:{ports[layer].index(port)}"

    def order(layer):
        data = layers[layer].find("data")
        return int(data.get("execOrder", 0)) if data is not None else 0

    operators = []
    for i in sorted(layers, key=order):
        layer, sources = layers[i], [(s, p) for _, s, p in sorted(read.get(i, [])) if s in layers]
        if layer.get("type") == "Const" or sources and all(s in still for s, _ in sources):
            still.add(i)
            continue
        if layer.get("type") in STORED:
            continue
        data = layer.find("data")
        told = data.get("originalLayersNames", "") if data is not None else ""
        operators.append(Node(layer.get("name"), layer.get("type"), [tensor(*s) for s in sources if s[0] not in still],
                              [f"{layer.get('name')}:{place}" for place in range(len(ports[i]))],
                              [n for n in told.split(",") if n]))
    return operators


# ---- PyTorch --------------------------------------------------------------------------------------

def is_step(event):
    return event.get("ph") == "X" and event.get("name", "").startswith("ProfilerStep#")


OF_GPUS = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCHES = ("cuda_runtime", "cuda_driver")


def slim_torch(trace, most_bytes):
    """Operators and named ranges, of so many whole runs as have room; of a GPU its kernels and what launched them."""
    events = [e for e in trace.get("traceEvents", []) if e.get("ph") == "X"]
    launched = {e.get("args", {}).get("correlation") for e in events if e.get("cat") in OF_GPUS}
    fields = {"Input Dims", "Input type", *(("External id", "correlation", "stream", "device") if launched else ())}
    kept = [{**e, "args": {k: v for k, v in e.get("args", {}).items() if k in fields}} for e in events
            if e.get("cat") in ("cpu_op", "user_annotation", *OF_GPUS)
            or e.get("cat") in LAUNCHES and e.get("args", {}).get("correlation") in launched]
    kept = within_room(kept, most_bytes, is_step)
    return {**{k: v for k, v in trace.items() if k != "traceEvents"}, "traceEvents": kept}


# ---- files ----------------------------------------------------------------------------------------

KINDS = {"onnxruntime": "a profile of ONNX Runtime (enable_profiling)",
         "openvino": "an execution graph of OpenVINO (-exec_graph_path), its counters (-report_type detailed_counters "
                     "-pc), or what this script wrote of them",
         "pytorch": "a trace of PyTorch's profiler (export_chrome_trace)"}


def text_of(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if packed else open)(path, "rb") as file:
            data = file.read(MOST_TEXT + 1)
        if len(data) > MOST_TEXT:
            raise Refused(f"{path}: more than {MOST_TEXT >> 20} MiB of text; profile fewer runs")
        return data.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error):
        raise Refused(f"{path}: neither text nor packed text") from None


def counters_of_table(text):
    """benchmark_app's table of counters as runs: a block begins with the first layer's name again."""
    runs, first = [], None
    for line in text.splitlines()[1:]:
        fields = line.split(";")
        if len(fields) < 6 or not fields[0] or fields[0] in ("Total", "layerName"):
            continue
        name, status, kind, kernel = fields[:4]
        first = first or name
        if name == first:
            runs.append([])
        status = status.removeprefix("Status.")
        try:
            real = round(float(fields[4]) * 1000)
        except ValueError:
            raise Refused(f"no time: {one_line(line)}") from None
        if status != "NOT_RUN":
            runs[-1].append({"name": name, "type": kind, "exec_type": kernel, "status": status, "real_us": real})
    return {"runs": runs, "run_ns": []}


def read_trace(path, framework):
    """A file's trace as framework.json keeps it; refuses another framework's."""
    text = text_of(path)
    start = text.lstrip()[:64]
    found = None
    if start.startswith("<") and "<net" in text[:4096]:
        graph_of_xml(text)
        found = "openvino", {"format": "openvino-exec-graph", "text": text}
    elif start.startswith("layerName;"):
        found = "openvino", {"format": "openvino-profiling", "json": counters_of_table(text.lstrip())}
    elif start.startswith(("[", "{")):
        try:
            value = json.loads(text)
        except json.JSONDecodeError as e:
            if not start.startswith("[") or '"op_name"' not in text:
                raise Refused(f"{path}: no valid JSON ({e})") from None
            found = "onnxruntime", {"format": "onnxruntime-profile", "text": text}  # of 1.30 or older: unescaped names
        else:
            found = trace_of_value(value)
    if found is None or found[0] != framework:
        raise Refused(f"{path}: {f'of {found[0]}, ' if found else ''}not {KINDS[framework]}")
    return found[1]


def trace_of_value(value):
    """The framework of a JSON value, and its trace with all that a reader may ask for."""
    if isinstance(value, list) and any(isinstance(e, dict) and e.get("cat") == "Node" for e in value):
        events = [e for e in value if isinstance(e, dict) and isinstance(e.get("ts"), (int, float))]
        return "onnxruntime", {"format": "onnxruntime-profile", "json": slim_events(events, MOST_BYTES, ("mem_",))}
    if not isinstance(value, dict):
        return None
    events = value.get("traceEvents")
    if isinstance(events, list) and any(isinstance(e, dict) and e.get("cat") == "cpu_op" for e in events):
        timed = all(isinstance(e.get("ts", 0), (int, float)) for e in events)
        kept = within_room(events, MOST_BYTES, is_step) if timed else events
        return "pytorch", {"format": "pytorch-trace", "json": {**value, "traceEvents": kept}}
    if isinstance(value.get("runs"), list):
        return "openvino", {"format": "openvino-profiling", "json": value}
    return None


def precision_of(trace):
    """In which type most of the time of a trace was spent, where it tells; "" elsewhere."""
    kind, spent = trace["format"], Counter()
    if kind == "openvino-exec-graph":
        for data in ElementTree.fromstring(trace["text"]).iter("data"):
            time = data.get("execTimeMcs", "")
            spent[data.get("runtimePrecision", "")] += int(time) if time.isdigit() else 0
    elif kind == "openvino-profiling":
        for node in (n for run in trace["json"]["runs"] for n in run):
            spent[node["exec_type"].rpartition("_")[2].lower()] += node["real_us"]
    elif kind == "onnxruntime-profile":
        for e in trace.get("json", []):
            shapes = e.get("args", {}).get("output_type_shape")
            if isinstance(shapes, list) and shapes:
                spent[next(iter(shapes[0]), "")] += e.get("dur", 0)
    most = max(spent, key=spent.get, default="") if any(spent.values()) else ""
    return TYPES.get(most, most)
