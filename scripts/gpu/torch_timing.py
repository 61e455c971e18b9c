# SPDX-License-Identifier: Apache-2.0
"""How long does a call take? On a GPU many calls are one CUDA graph, which is replayed between two events: what
PyTorch takes to launch is not in it. What the graph's own launch takes on the GPU is left in."""

import math
import time

LEAST_NS = {"cuda": 1e6, "cpu": 1e5}  # of a sample
MOST_CALLS = 1000  # of a sample
FEWEST, MOST = 15, 200  # samples
WARM_S = 0.03  # a GPU's clock falls while the processor checks a result
MOST_COPIES, MOST_COPIED_BYTES = 32, 2 << 30  # of operands, for calls that find them cold


def captured(torch, calls, keep):
    """A graph of these calls, one after the other. Their results are kept apart, or each is where the last was."""
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for call in calls:
            made = call()
            if keep:
                results.append(made)
    return graph


def replayed(torch, graph):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    graph.replay()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) * 1e6


def run_all(call, times):
    started = time.perf_counter_ns()
    for _ in range(times):
        call()
    return time.perf_counter_ns() - started


def repeated(sample, seconds):
    """Samples, after some that warm up."""
    warm = time.monotonic() + WARM_S
    while time.monotonic() < warm:
        sample()
    samples, ends = [], time.monotonic() + seconds
    while len(samples) < MOST and (len(samples) < FEWEST or time.monotonic() < ends):
        samples.append(sample())
    return samples


def hot_samples(torch, device, call, seconds):
    """Samples in ns of one call, and of how many calls each is."""
    def made(times):
        if device == "cpu":
            return lambda: run_all(call, times) / times
        graph = captured(torch, [call] * times, keep=False)
        return lambda: replayed(torch, graph) / times

    sample = made(8)
    once = max(min(sample() for _ in range(3)), 1)
    times = max(1, min(MOST_CALLS, math.ceil(LEAST_NS[device] / once)))
    return repeated(made(times), seconds), times


class Flush:
    """What empties a GPU's last cache: it is written over, and then read over, so that nothing is left to write."""

    def __init__(self, torch):
        count = 2 * torch.cuda.get_device_properties(0).L2_cache_size // 4
        self.written, self.read = (torch.zeros(count, device="cuda") for _ in range(2))

    def __call__(self):
        self.written.zero_()
        self.read.sum()


def cold_samples(torch, run, operator, tensors, seconds):
    """The same of calls that find their weights in no cache, as ours are: after the cache was emptied, each call has
    a copy of its own, the first not timed. Where there are no weights, of all operands and of the result."""
    weights = [o.weight for o in operator.operands]
    chosen = weights if any(weights) else [True] * len(tensors)
    each = sum(x.numel() * x.element_size() for x, c in zip(tensors, chosen) if c)
    count = 1 + max(1, min(MOST_COPIES, MOST_COPIED_BYTES // each))
    copies = [tensors] + [[x.clone() if c else x for x, c in zip(tensors, chosen)] for _ in range(count - 1)]
    first, *others = (lambda of=of: run(*of) for of in copies)
    flush = Flush(torch)
    before, graph = captured(torch, [first], keep=True), captured(torch, others, keep=not any(weights))

    def sample():
        flush()
        before.replay()
        return replayed(torch, graph) / len(others)

    return repeated(sample, seconds), len(others)


def kernels_of(torch, call):
    """The kernels that a call runs, [{"name", "ns"}], as PyTorch's profiler tells them; empty where it does not."""
    try:
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA]) as seen:
            call()
            torch.cuda.synchronize()
        found = [(e.time_range.start, e.name, e.time_range.elapsed_us()) for e in seen.events()
                 if "CUDA" in str(e.device_type)]
        return [{"name": name[:300], "ns": us * 1e3} for _, name, us in sorted(found)
                if not name.startswith(("Memcpy", "Memset", "ProfilerStep"))][:20]
    except Exception:  # the profiler is no part of what is asked
        return []
