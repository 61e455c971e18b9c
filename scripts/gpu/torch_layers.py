# SPDX-License-Identifier: Apache-2.0
"""How long does PyTorch take for the layers of a result of ours? Each layer alone: as a program of PyTorch calls
it, and compiled where the compiler makes a kernel of its own.

What is found is told line by line in JSON, so that what was measured is there whatever happens to the process:
{"begin": LAYER, "way": WAY}, then {"rows": [...]} or {"why": TEXT}; at the end {"left": [...]}. The rows are those
of a result of ours (frameworks/layer_rows.py): kernels.json is made of them (gpu/torch_rivals.py)."""

import json
import signal
import time

from frameworks.layer_rows import row_of, timed_row
from gpu.torch_check import Wrong, check
from gpu.torch_operators import Absent, operator_of
from gpu.torch_timing import cold_samples, hot_samples, kernels_of

DTYPES = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}
OUR_DEVICE = {"cuda": "gpu", "cpu": "cpu"}  # as results call them
SECONDS = 0.15  # of samples in each state
MOST_S = 60  # of a layer in one way
# The ways to run a layer, in the order in which they are tried: every layer in the first, then in the next.
WAYS = ("eager", "compiled", "autotuned")


def wanted(operator, way, device):
    """Whether that way may mean other kernels. Choosing among Triton's products takes long, and is for GPUs."""
    if way == "compiled":
        return not operator.library or "+" in operator.name
    return way == "eager" or device == "cuda" and operator.name.split("+")[0] in ("linear", "matmul", "mm", "addmm")


def settle(torch, t, device):
    """Sums of products are kept in f32, as our classes of types say; TF32 is a class of its own."""
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = t == "tf32"
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cudnn.benchmark = True
    if device == "cpu":
        torch.set_num_threads(1)  # as the rows say


def drawn(torch, operator, t, device):
    """Operands of their type and layout."""
    out = []
    for o in operator.operands:
        x = torch.rand(o.dims) + 0.5 if o.positive else torch.rand(o.dims) * 2 - 1
        x = (x * o.scale).to(device, getattr(torch, DTYPES[t]))
        out.append(x.to(memory_format=torch.channels_last) if operator.layout == "channels_last" and x.dim() == 4 else x)
    return out


def made(torch, operator, way):
    """What is called."""
    if way == "eager":
        return operator.run
    torch._dynamo.reset()
    modes = {"autotuned": {"mode": "max-autotune-no-cudagraphs"}}
    return torch.compile(operator.run, dynamic=False, **modes.get(way, {}))


def measure(torch, facts, way, t, device, states):
    """The rows of a layer in one way. `facts`: its family, key, flops and bytes."""
    operator = operator_of(torch, f"{facts['family']}/{facts['key']}")
    started = time.perf_counter_ns()
    tensors = drawn(torch, operator, t, device)
    run = made(torch, operator, way)
    for _ in range(3):
        got = run(*tensors)
    setup_ns = time.perf_counter_ns() - started
    check(torch, operator, t, got, operator.right(*(x.to("cpu", torch.float64) for x in tensors)))
    kernels = kernels_of(torch, lambda: run(*tensors)) if device == "cuda" else []
    algorithm = f"torch-{operator.name}" + (f":{way}" if way != "eager" else "")
    rows = []
    for state in states:
        started = time.perf_counter_ns()
        if state == "hot":
            samples, times = hot_samples(torch, device, lambda: run(*tensors), SECONDS)
        else:
            samples, times = cold_samples(torch, run, operator, tensors, SECONDS)
        row = row_of(facts, "pytorch", algorithm, state, 1, t, OUR_DEVICE[device], operator.layout)
        notes = f"a CUDA graph of {times} calls" if device == "cuda" else f"{times} calls one after the other"
        row = timed_row(row, samples, notes, 0, "", setup_ns, time.perf_counter_ns() - started)
        rows.append(row | ({"kernels": kernels} if kernels else {}))
    return rows


def too_long(*_):
    raise TimeoutError(f"it took longer than {MOST_S} s")


def say(what):
    print(json.dumps(what), flush=True)


def measure_layers(torch, asked):
    """Tells of every layer in every way, until `seconds` are over; what is among `done` is not begun again."""
    t, device, ends = asked["type"], asked["device"], time.monotonic() + asked["seconds"]
    states = ["hot", "coldw"] if device == "cuda" else ["hot"]
    if t not in DTYPES:
        return say({"absent": f"PyTorch's operators are not measured in {t}"})
    signal.signal(signal.SIGALRM, too_long)
    settle(torch, t, device)
    done, left = {tuple(d) for d in asked["done"]}, []
    for way in WAYS:
        for facts in asked["layers"]:
            name = f"{facts['family']}/{facts['key']}"
            if (name, way) in done:
                continue
            try:
                if not wanted(operator_of(torch, name), way, device):
                    continue
            except Absent as e:
                if way == "eager":
                    say({"begin": name, "way": way}), say({"absent": str(e)})
                continue
            if time.monotonic() > ends:
                left.append([name, way])
                continue
            say({"begin": name, "way": way})
            signal.alarm(MOST_S)
            try:
                with torch.inference_mode():
                    say({"rows": measure(torch, facts, way, t, device, states)})
            except Wrong as e:
                say({"why": str(e)})
            except Exception as e:  # PyTorch's own words, whatever it throws
                say({"why": " ".join(f"{type(e).__name__}: {e}".split())[:300]})
                if device == "cuda" and "CUDA error" in str(e):
                    raise SystemExit("the GPU failed; a new process goes on")
            finally:
                signal.alarm(0)
    say({"left": left})
