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

import gc
import math
import resource
import statistics
import time

from frameworks.common import Refused
from frameworks.layer_rows import failed_row, row_of, timed_row
from frameworks.layer_sessions import FRAMEWORKS
from frameworks.memory import Caches, aligned, copied, numbers, numpy_type

STATES = ("hot", "llcw", "coldw")
CLEAR = 5  # times what a call costs: what takes less is not distinguished from it
LEAST_SLICE_NS = 100_000  # short runs are timed together
FEWEST, MOST = 15, 200  # samples of a state
PROFILED, MOST_PROFILED = 30, 2000  # runs each time
RESOLUTION_NS = 1000  # of both profilers
PREFIX = {"onnxruntime": "ort", "openvino": "ov"}  # of what they call their kernels


class Wrong(Exception):
    """What a framework computes is not right."""


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
