# SPDX-License-Identifier: Apache-2.0
"""How long does a framework take for a layer? What measure_framework --layers does.

benanza_generate writes each layer as an ONNX model with its numbers and the right results. The framework
runs it on our operands, into our memory; its result is checked as our own are. A call costs something that
is no kernel's: what a model that reads the same inputs and computes one number takes, measured in turns, is
taken off. Wherever that could make a time too short, it is left longer:

  - the least that such a call took is taken off, not its median
  - of what takes less than five times that nothing is taken off: the row says between what it lies
  - no time is less than what the framework's own profiler says of the nodes, less what it cannot resolve and
    what it says of the empty model's node

With cold weights (coldw) all caches are swept; then a twin of the model, with weights and memory of its own,
runs once, as another layer would that leaves the framework's code in the last cache.

Each layer is measured in a process of its own.
"""

import bisect
import gc
import json
import math
import mmap
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCHEMA_VERSION = 1  # of include/benanza/result/schema.hpp
STATES = ("hot", "llcw", "coldw")
CLEAR = 5  # times what a call costs: what takes less is not told apart from it
LEAST_SLICE_NS = 100_000  # short runs are timed together
FEWEST, MOST = 15, 200  # samples of a state
KEPT_SAMPLES = 50  # in the result
PROFILED, MOST_PROFILED = 30, 2000  # runs each time
RESOLUTION_NS = 1000  # of both profilers
TIME_LIMIT_S = 300  # of a layer's process
PREFIX = {"onnxruntime": "ort", "openvino": "ov"}  # of what they call their kernels


class Refused(Exception):
    """What cannot be measured, in one line."""


class Wrong(Exception):
    """What a framework computes is not right."""


def one_line(text):
    return " ".join(str(text).split())[:400]


def bind(threads):
    allowed = sorted(os.sched_getaffinity(0))
    if threads < 1 or threads > len(allowed):
        raise Refused(f"--threads {threads}: this process may use {len(allowed)} processors")
    os.sched_setaffinity(0, allowed[:threads])
    return allowed[:threads]


# ---- which layers, on which machine --------------------------------------------------------------

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
    return {"cpu": info.get("model name", "unknown"),
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
    built = Path(__file__).resolve().parent.parent / "build" / "benanza_generate"
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


# ---- memory ---------------------------------------------------------------------------------------

def aligned(shape, kind):
    """Zeros that begin a page; large ones in large pages where Linux grants them."""
    import numpy as np
    count = math.prod(shape)
    size = max(count * kind.itemsize, 1)
    memory = mmap.mmap(-1, (size + 4095) // 4096 * 4096 + (1 << 21))
    if size >= 1 << 21 and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind, count).reshape(shape)


def numpy_type(onnx_type):
    import numpy as np
    import onnx
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(onnx_type))


def copied(array):
    out = aligned(array.shape, array.dtype)
    out[...] = array
    return out


def numbers(folder, name, shape, kind):
    import numpy as np
    out = aligned(shape, kind)
    out[...] = np.fromfile(folder / f"{name}.bin", kind).reshape(shape)
    return out


class Caches:
    """Puts them into a state of ours: what a network leaves (include/benanza/measure/README.md)."""

    def __init__(self, machine, inputs, outputs):
        import numpy as np
        self.np = np
        self.l2 = max(int(machine.get("l2_bytes", 0)), 1 << 18)
        self.llc = max(int(machine.get("llc_bytes", 0)), self.l2)
        self.others = aligned((2 * self.l2,), np.dtype("u1"))
        self.others[...] = 1
        self.rest = None
        self.inputs = [self.lines(a) for a in inputs]
        self.outputs = [self.lines(a if a.nbytes <= self.l2 else a.reshape(-1)[: a.size // 2]) for a in outputs]

    def lines(self, array):
        """A byte of each of its lines."""
        return array.reshape(-1).view("u1")[::64] if array.size else array

    def touch(self, arrays):
        for a in arrays:
            self.np.add(a, 0, out=a, casting="unsafe")

    def prepare(self, state, twin):
        if state == "coldw":
            if self.rest is None:
                self.rest = aligned((3 * self.llc // 8,), self.np.dtype("u8"))
                self.rest[...] = 1
            self.rest.sum()
            twin()
            self.touch(self.outputs)  # of large ones a half is in memory
        self.others.sum()
        self.touch(self.inputs)


# ---- the frameworks -------------------------------------------------------------------------------

def onnxruntime_session(path, threads, profile=None):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, str(profile)
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class OnnxRuntime:
    """A model in ONNX Runtime, bound to memory of ours."""

    def __init__(self, path, inputs, outputs, threads, profile=None):
        self.session = onnxruntime_session(path, threads, profile)
        binding = self.session.io_binding()
        known = {i.name for i in self.session.get_inputs()}
        for name, a in inputs.items():
            if name in known:
                binding.bind_input(name, "cpu", 0, a.dtype.type, a.shape, a.ctypes.data)
        for name, a in outputs.items():
            binding.bind_output(name, "cpu", 0, a.dtype.type, a.shape, a.ctypes.data)
        self.kept = (inputs, outputs)
        session, ours = getattr(self.session, "_sess", None), getattr(binding, "_iobinding", None)
        if session is not None and ours is not None:  # what the public call does, with less of Python
            self.run = lambda: session.run_with_iobinding(ours, None)
        else:
            self.run = lambda: self.session.run_with_iobinding(binding)

    @staticmethod
    def version():
        import onnxruntime
        return onnxruntime.__version__

    def nodes(self):
        """Of a model that was made with a profile, once and at the end: names of what ran, and the least time
        in ns of all of it together in a run."""
        return nodes_of_profile(json.loads(Path(self.session.end_profiling()).read_text()))


def nodes_of_profile(events):
    """Of ONNX Runtime's events: the nodes of a run in order, and the least sum of their times in ns."""
    begins = sorted(e["ts"] for e in events if e.get("name") == "model_run")
    runs = [[] for _ in begins]
    nodes = (e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time"))
    for e in sorted(nodes, key=lambda e: e["ts"]):
        run = bisect.bisect_right(begins, e["ts"]) - 1
        if run >= 0:
            runs[run].append(e)
    # In steps of a microsecond a node may seem to be the next run's.
    usual = statistics.mode(map(len, runs)) if runs else 0
    whole = [r for r in runs[1:] or runs if len(r) == usual]
    best = min(whole, key=lambda nodes: sum(e["dur"] for e in nodes), default=[])
    names = [e["args"]["op_name"] + (".nchwc" if "_nchwc" in e["name"] else "") for e in best]
    return names, sum(e["dur"] for e in best) * 1000


class OpenVino:
    """The same in OpenVINO."""

    def __init__(self, path, inputs, outputs, threads, profile=None):
        import openvino as ov
        core = ov.Core()
        wanted = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
                  "INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY", "PERF_COUNT": profile is not None}
        self.compiled = core.compile_model(core.read_model(str(path)), "CPU", wanted)
        element = self.compiled.get_property("INFERENCE_PRECISION_HINT")
        precision = element.get_type_name() if hasattr(element, "get_type_name") else str(element)
        if precision not in ("f32", "float32"):
            raise Refused(f"OpenVINO takes {precision} where f32 is asked for")
        self.request = self.compiled.create_infer_request()
        self.kept = []
        for ports, arrays in (self.compiled.inputs, inputs), (self.compiled.outputs, outputs):
            for port in ports:
                name = next((n for n in port.get_names() if n in arrays), None)
                if name is None:
                    raise Refused(f"OpenVINO has a value of its own, {one_line(port)}")
                a = arrays[name]
                if port.get_element_type().to_dtype() != a.dtype:
                    raise Refused(f"OpenVINO has {name} as {port.get_element_type().get_type_name()}")
                tensor = ov.Tensor(a, shared_memory=True)
                self.kept.append(tensor)
                self.request.set_tensor(port, tensor)
        self.least, self.ran = None, []
        self.run = self.profiled_run if profile else lambda: self.request.infer(share_outputs=True)

    @staticmethod
    def version():
        import openvino
        return openvino.__version__.split("-")[0]

    def nodes(self):
        for name in self.ran:
            if name.lower().endswith(("bf16", "f16")):
                raise Refused(f"OpenVINO computes it in another type than f32, {name}")
        return self.ran, (self.least or 0) * 1e9

    def profiled_run(self):
        self.request.infer(share_outputs=True)
        nodes = [n for n in self.request.get_profiling_info()
                 if n.node_type not in ("Parameter", "Result", "Constant") and n.status != n.Status.OPTIMIZED_OUT]
        total = sum(n.real_time.total_seconds() for n in nodes)
        if self.least is None or total < self.least:
            self.least, self.ran = total, [openvino_name(n) for n in nodes]


def openvino_name(node):
    """What ran; of what takes less than a microsecond, or happens where tensors are handed over, the operator."""
    if node.node_type == "Reorder":
        return "reorder"
    return node.node_type if node.exec_type.startswith(("unknown", "undef")) else node.exec_type


FRAMEWORKS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}


# ---- a layer --------------------------------------------------------------------------------------

def empty_model(layer, path):
    """A model that reads the inputs of a layer, and makes one number of another one."""
    from onnx import TensorProto, helper
    inputs = [helper.make_tensor_value_info(i["name"], i["type"], i["dims"]) for i in layer["inputs"]]
    inputs.append(helper.make_tensor_value_info("one", TensorProto.FLOAT, [1]))
    graph = helper.make_graph([helper.make_node("Relu", ["one"], ["y0"])], "empty", inputs,
                              [helper.make_tensor_value_info("y0", TensorProto.FLOAT, [1])])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)],
                                       ir_version=8).SerializeToString())
    return path


def filled_model(layer, where, save):
    """The model of a layer with its weights in place, in a folder that is made in the layer's own."""
    import onnx
    folder = where.parent
    model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
    weights = set(layer["weights"])
    for t in model.graph.initializer:
        if t.name in weights:
            t.ClearField("external_data")
            t.data_location = onnx.TensorProto.DEFAULT
            t.raw_data = (folder / f"{t.name}.bin").read_bytes()
    where.mkdir()
    return save(model, where)


def check(layer, outputs):
    """Refuses a result that is not ours, by the tolerance that ours are held to."""
    import numpy as np
    got = np.concatenate([np.asarray(o, "f8").reshape(-1) for o in outputs])
    place = np.array(layer["positions"], "i8")
    want = np.array([np.nan if v is None else v for v in layer["expected"]], "f8")
    limit = np.array([np.nan if v is None else v for v in layer["limits"]], "f8")
    told = np.isfinite(want)
    if not place.size or place[-1] >= got.size or not told.any():
        raise Wrong(f"the result has {got.size} elements")
    off = np.abs(got[place] - want)
    bad = told & ~(off <= limit)
    if bad.any():
        k = int(np.argmax(np.where(bad, np.nan_to_num(off, nan=np.inf), -1)))
        raise Wrong(f"wrong result: output {place[k]} is {got[place[k]]:.9g} and should be {want[k]:.9g}")


def poison(outputs):
    for o in outputs:
        o.reshape(-1).view("u1")[...] = 0x7f


def timed(run, times):
    """Nanoseconds of one of so many runs, and whether nothing came between."""
    before, cpu = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw, time.thread_time_ns()
    start = time.perf_counter_ns()
    for _ in range(times):
        run()
    took = time.perf_counter_ns() - start
    away = took - (time.thread_time_ns() - cpu)
    switched = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw - before
    return took / times, not switched and away < took / 50 + 1000


def sampled(run, empty, prepare, seconds):
    """Times of a layer's runs and of the empty model's, in turns: clean ones, and how many were not."""
    run(), empty()
    once = min(timed(run, 1)[0] for _ in range(3))
    times = 1 if prepare else max(1, min(1000, math.ceil(LEAST_SLICE_NS / once)))
    samples, costs, dirty, rejected = [], [], [], 0
    until = time.perf_counter() + seconds
    while len(samples) < MOST and (time.perf_counter() < until or len(samples) < FEWEST):
        if len(samples) < FEWEST and time.perf_counter() > until + 4 * seconds + 20 * once / 1e9:
            break
        for of, into in (empty, costs), (run, samples):
            if prepare:
                prepare()
            ns, clean = timed(of, times)
            if clean:
                into.append(ns)
            elif into is samples:
                rejected += 1
                dirty.append(ns)
    disturbed = ""
    if len(samples) < FEWEST:
        disturbed = f"others ran on its processor in {rejected} of {rejected + len(samples)} samples"
        samples += dirty
    return samples, costs, rejected, disturbed


def settled(samples, costs, least_ns):
    """What the kernels took, and what a reader should know of it."""
    least, cost = min(samples), min(costs) if costs else 0
    if least < CLEAR * cost:
        low = min(max(least - statistics.median(costs), least_ns, 0), least)
        return samples, (f"a call's {cost / 1000:.2f} us are not taken off, of which this is less than {CLEAR} times: "
                         f"between {low / 1000:.2f} and {least / 1000:.2f} us")
    off = min(cost, max(least - least_ns, 0))
    notes = f"less the {off / 1000:.2f} us of a call"
    if off < cost:
        notes = (f"less {off / 1000:.2f} of the {cost / 1000:.2f} us of a call: the framework's profiler says no less "
                 "of its kernels")
    return [s - off for s in samples], notes


def quantile(ordered, q):
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def thinned(samples):
    """Some of them, evenly, the least one among them."""
    if len(samples) <= KEPT_SAMPLES:
        return samples
    kept = {round(i * (len(samples) - 1) / (KEPT_SAMPLES - 1)) for i in range(KEPT_SAMPLES)}
    kept.add(samples.index(min(samples)))
    return [samples[i] for i in sorted(kept)]


def row_of(layer, framework, algorithm, state, threads):
    """A row of the result, without times."""
    name = f"{layer['family']}/{layer['key']}/f32/{framework}/{algorithm}/{state}/t{threads}"
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
            "family": layer["family"], "key": layer["key"], "type": "f32", "backend": framework,
            "algorithm": algorithm, "algorithm_index": 1, "state": state, "threads": threads, "device": "cpu",
            "layouts": "plain", "operand_layouts": "plain", "result_layout": "plain", "equivalence": "f32",
            "flops": layer["flops"], "algorithm_flops": layer["algorithm_flops"], "bytes": layer["bytes"],
            "workspace_bytes": 0, "weight_bytes": layer["weight_bytes"], "pool_bytes": 0}


def failed_row(row, why):
    return row | {"error_occurred": True, "error_message": why}


def timed_row(row, samples, notes, rejected, disturbed, setup_ns, sampling_ns):
    ordered = sorted(samples)
    middle = quantile(ordered, 0.5)
    out = row | {"iterations": len(samples), "real_time": middle, "cpu_time": middle, "time_unit": "ns",
                 "notes": notes, "min_ns": ordered[0], "p10_ns": quantile(ordered, 0.1), "median_ns": middle,
                 "p90_ns": quantile(ordered, 0.9), "mad_ns": statistics.median(abs(s - middle) for s in samples),
                 "samples_ns": thinned(samples), "count": len(samples), "stop_reason": "time limit",
                 "rejected": rejected, "setup_ns": setup_ns, "sampling_ns": sampling_ns}
    return out | ({"disturbed": disturbed} if disturbed else {})


def measure_layer(layer, folder, framework, threads, states, seconds, machine, save):
    """The rows of a layer. Throws what the framework throws."""
    made = FRAMEWORKS[framework]
    inputs = {i["name"]: numbers(folder, i["name"], i["dims"], numpy_type(i["type"])) for i in layer["inputs"]}
    outputs = {r["name"]: aligned(r["dims"], numpy_type(r["type"])) for r in layer["results"]}
    path, empty_path = filled_model(layer, folder / "filled", save), empty_model(layer, folder / "empty.onnx")
    nothing = (inputs | {"one": aligned((1,), numpy_type(1))}, {"y0": aligned((1,), numpy_type(1))})
    profiles = [made(path, inputs, outputs, threads, folder / "profile"),
                made(empty_path, *nothing, threads, folder / "profile_of_nothing")]
    start = time.perf_counter_ns()
    model = made(path, inputs, outputs, threads)
    setup_ns = time.perf_counter_ns() - start
    empty = made(empty_path, *nothing, threads)
    twin = None
    if "coldw" in states: # a file of its own: frameworks share the memory of one
        twin = made(filled_model(layer, folder / "twin", save),
                    {n: copied(a) for n, a in inputs.items()}, {n: copied(a) for n, a in outputs.items()}, threads)

    def look():
        """Runs under the profiler, some in each quiet or busy moment."""
        for profiled in profiles:
            until = time.perf_counter() + seconds / 4
            for n in range(MOST_PROFILED):
                profiled.run()
                if n >= PROFILED and time.perf_counter() > until:
                    break

    def checked():
        poison(outputs.values())
        model.run()
        check(layer, outputs.values())

    wrong, measured = "", []
    try:
        checked()
        caches = Caches(machine, inputs.values(), outputs.values())
        gc.collect()
        gc.disable()
        for state in states:
            look()
            prepare = None if state == "hot" else lambda: caches.prepare(state, twin and twin.run)
            start = time.perf_counter_ns()
            measured.append((*sampled(model.run, empty.run, prepare, seconds), time.perf_counter_ns() - start))
        look()
        checked()  # still, at the end
    except Wrong as e:
        wrong = str(e)
        look()
    (ran, least_ns), (_, nothing_ns) = (p.nodes() for p in profiles)
    if not ran:
        raise Refused("it runs no node of its own for it")
    algorithm = PREFIX[framework] + "-" + "+".join(n.replace("/", "|").replace(" ", "_") for n in ran)
    least_ns -= len(ran) * (nothing_ns + RESOLUTION_NS)
    rows = [row_of(layer, framework, algorithm, s, threads) for s in states]
    if wrong:
        return [failed_row(row, wrong) for row in rows]
    return [timed_row(row, *settled(samples, costs, least_ns), rejected, disturbed, setup_ns, took)
            for row, (samples, costs, rejected, disturbed, took) in zip(rows, measured)]


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
    import re
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
    # Facts of the measuring are joined with those of the result beside which this is analysed.
    measuring = {f"{framework}_run": f"{started}, processors {','.join(map(str, cpus))}, load {os.getloadavg()[0]:.2f}, "
                                     f"numpy {numpy.__version__}, onnx {onnx.__version__}, "
                                     f"Python {sys.version.split()[0]}"}
    provenance = facts | {"measuring": measuring, "frameworks": {framework: version}}
    document = {"context": {"date": started, "benanza": {"schema": SCHEMA_VERSION, "provenance": provenance,
                                                         "graphs": []}},
                "benchmarks": rows}
    return document, skipped, len(names)
