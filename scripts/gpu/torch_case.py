# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side, in a process of its own (`run_case` starts it): what is asked comes as JSON, what is found is told
line by line in JSON, first the versions.

  {"what": "model", "model": "encoder", "mode": "graph", "batch": 1, "type": "f16", "device": "cuda"}
  {"what": "trace", "model": "encoder", "batch": 1, "type": "f16", "device": "cuda", "file": "x.trace.json.gz"}
  {"what": "layers", "layers": [...], ...}     # gpu/torch_layers.py

A whole model is run as it is (eager), by torch.compile, whose mode reduce-overhead makes Triton's kernels one CUDA
graph, and as a CUDA graph of the eager run, which costs no calls."""

import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from frameworks.traces import slim_torch
from gpu.torch_layers import DTYPES, measure_layers
from gpu.torch_models import MODELS

MODES = ("eager", "compile", "graph")
STEPS = 6  # that are profiled, the first of them left out by who reads it
MOST_TRACE_BYTES = 300_000  # packed


def run_case(command, asked, seconds, scratch):
    """Runs a case in a process of its own: the lines that it told, and why it ended; "" if as it should."""
    out = scratch.with_suffix(".told")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(out, "wb") as file:
            done = subprocess.run([sys.executable, str(command), "--torch-case", "-"], input=json.dumps(asked).encode(),
                                  stdout=file, stderr=subprocess.PIPE, timeout=seconds)
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1][:200]
        why = "" if done.returncode == 0 else said or (
            f"signal {-done.returncode} ended it" if done.returncode < 0 else f"it ended with {done.returncode}")
    except subprocess.TimeoutExpired:
        why = TOOK_TOO_LONG
    lines = [line for line in map(parsed, out.read_text(errors="replace").splitlines()) if line]
    out.unlink()
    return lines, why


TOOK_TOO_LONG = "its time was over"


def parsed(line):
    """A line that was told; None of what others print, and what was cut off."""
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def graph_of(torch, model, x):
    """Replays what the model does with this input."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)

    def replay(_):
        graph.replay()
        return y

    return replay


def sampled(torch, run, x, device):
    """Milliseconds of each run, sorted."""

    def once():
        if device == "cpu":
            started = time.perf_counter()
            run(x)
            return (time.perf_counter() - started) * 1e3
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        run(x)
        last.record()
        last.synchronize()
        return first.elapsed_time(last)

    samples, ends = [], time.monotonic() + (5 if device == "cuda" else 2)
    for _ in range(5):
        once()
    while len(samples) < 200 and (len(samples) < 5 or time.monotonic() < ends):
        samples.append(once())
    return sorted(samples)


def prepared(torch, asked):
    """The model with its input."""
    kind, device = asked["type"], asked["device"]
    if asked["model"] not in MODELS or kind not in DTYPES:
        raise SystemExit(f"{asked['model']} is not written for PyTorch here, or not in {kind}")
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "tf32"
    torch.backends.cudnn.benchmark = True
    dtype = getattr(torch, DTYPES[kind])
    shape, model = MODELS[asked["model"]](torch, asked["batch"])
    model, x = model.eval().to(device, dtype), torch.rand(*shape, device=device).to(dtype)
    if len(shape) == 4 and kind != "f32":
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    return model, x


def time_model(torch, asked):
    """A model in one way. What gives other results than eager does is refused."""
    mode, kind, device = asked["mode"], asked["type"], asked["device"]
    if mode == "graph" and device != "cuda":
        raise SystemExit("a CUDA graph wants a GPU")
    model, x = prepared(torch, asked)
    with torch.inference_mode():
        run = (torch.compile(model, mode="reduce-overhead") if mode == "compile"
               else graph_of(torch, model, x) if mode == "graph" else model)
        samples = sampled(torch, run, x, device)
        got, expected = run(x).float(), model(x).float()
        finite = bool(torch.isfinite(got).all())
        apart = float((got - expected).abs().max() / expected.abs().max())
    if not finite or not apart <= (0.05 if kind in ("f16", "bf16") else 0.01):
        raise SystemExit(f"its result is {'not finite' if not finite else f'{apart:.3g} of the largest off eager'}")
    return {"model": asked["model"], "mode": mode, "batch": asked["batch"], "type": kind,
            "median_ms": statistics.median(samples), "min_ms": samples[0], "count": len(samples), "apart": apart,
            "torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}


def trace_model(torch, asked):
    """Eager runs, and some more that PyTorch's profiler looks at; writes what benanza_analyze --framework reads, in the
    form of frameworks/whole.py."""
    from torch.profiler import ProfilerActivity, profile, record_function
    model, x = prepared(torch, asked)
    gpu = asked["device"] == "cuda"
    with torch.inference_mode():
        took = [ms * 1e6 for ms in sampled(torch, model, x, asked["device"])]
        with profile(activities=[ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * gpu, record_shapes=True) as seen:
            for step in range(STEPS):
                with record_function(f"ProfilerStep#{step}"):
                    model(x)
                    if gpu:
                        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(whole))
        trace = json.loads(whole.read_text())
    told = {"schema": "benanza-framework", "schema_version": 3, "framework": "pytorch",
            "framework_version": torch.__version__, "model": {"file": f"{asked['model']}.onnx"},
            "options": {"threads": 0, "batch": asked["batch"], "precision": asked["type"],
                        "device": "gpu" if gpu else "cpu"},
            "count": len(took), "min_ns": took[0], "median_ns": statistics.median(took), "samples_ns": took}
    most = 1 << 23
    while True:
        told["traces"] = [{"format": "pytorch-trace", "json": slim_torch(trace, most)}]
        packed = gzip.compress(json.dumps(told, separators=(",", ":")).encode(), 9, mtime=0)
        if len(packed) <= MOST_TRACE_BYTES or most < 1 << 16:
            break
        most //= 2
    Path(asked["file"]).write_bytes(packed)
    return {"trace": os.path.basename(asked["file"]), "bytes": len(packed)}


def torch_case(text):
    """What main does of --torch-case: "-" is standard input."""
    asked = json.loads(sys.stdin.read() if text == "-" else text)
    import torch
    gpu = torch.cuda.get_device_name(0) if asked["device"] == "cuda" else ""
    print(json.dumps({"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(), "gpu": gpu}), flush=True)
    if asked["what"] == "layers":
        measure_layers(torch, asked)
    else:
        print(json.dumps((time_model if asked["what"] == "model" else trace_model)(torch, asked)), flush=True)
    return 0
