# SPDX-License-Identifier: Apache-2.0
"""What of PyTorch is found out beside ours: whole models with a trace, and the layers that we measured."""

import time

from gpu.common import COMMAND, Refused, TimeOver
from gpu.files import keep
from gpu.torch_case import MODES, TOOK_TOO_LONG, run_case
from gpu.torch_layers import DTYPES
from gpu.torch_models import MODELS
from gpu.torch_rivals import measure
from gpu.units import Unit

LEAST_S = 5  # for a process
MOST_LAYERS_S = 150


def why_none(arguments):
    """Why PyTorch is not there; "" if it is."""
    try:
        import torch
        if arguments.torch_device == "cuda" and not torch.cuda.is_available():
            return "torch sees no GPU"
    except Exception as e:  # an installation that is broken counts as none
        return f"torch cannot be imported ({type(e).__name__}: {e})"[:300]
    return ""


def left_s(bench):
    left = bench.ends - time.monotonic()
    if left <= LEAST_S:
        raise TimeOver()
    return left


def trace_path(path):
    return path.with_name(path.name.replace(".json.gz", ".trace.json.gz"))


def pytorch_unit(arguments, bench, stage, model, t):
    """The same model in PyTorch, in each of its ways to run it, in a process of its own for each; then its trace."""
    name = model.label.split("_")[0]

    def find(unit):
        found, path = {}, unit.path(arguments)
        why = why_none(arguments) if name in MODELS else f"{name} is not written for PyTorch here"
        asked = {"model": name, "batch": model.batch, "type": t, "device": arguments.torch_device}
        if why:
            found["skipped"] = why
        for mode in () if why else (*MODES, "trace"):
            more = {"what": "trace", "file": str(trace_path(path))} if mode == "trace" else {"what": "model", "mode": mode}
            lines, why_ended = run_case(COMMAND, {**asked, **more}, left_s(bench), path)
            if why_ended == TOOK_TOO_LONG:
                raise TimeOver()
            found[mode] = {"error": why_ended} if why_ended else lines[-1]
        keep(path, found)
        return found

    made = Unit(stage, f"pytorch_{model.label}_{t}", find, 100)
    made.beside = model, t
    return made


def rivals_unit(arguments, bench, stage, model, t, ours):
    """PyTorch's own times of our layers. `ours` gives the result that has them."""

    def find(unit):
        why = why_none(arguments) or ("" if t in DTYPES else f"PyTorch's operators are not measured in {t}")
        result = None if why else ours(arguments, model, t)
        if not why and result is None:
            raise TimeOver()  # our layers are not measured yet
        try:
            document, told = (None, None) if why else measure(
                COMMAND, result, t, arguments.torch_device, min(left_s(bench) - LEAST_S, MOST_LAYERS_S), unit.path(arguments))
        except Refused as e:
            why = str(e)
        if why:
            keep(unit.path(arguments), {"skipped": why})
            return None
        keep(unit.path(arguments), {**document, "not_measured": told.skipped, "left": told.left})
        return None

    made = Unit(stage, f"rivals_{model.label}_{t}", find, 75)
    made.beside = model, t
    return made


def rival_rows(result, rivals, t):
    """Of each layer our least hot time, PyTorch's, and by what, the worst for us first: [layer, us, us, "x", by]."""
    def best(document):
        out = {}
        for b in document["benchmarks"]:
            if b.get("state") != "hot" or b.get("type") != t or b.get("error_occurred") or b.get("equivalence") != t:
                continue
            if b["family"] in ("machine", "model", "reorder"):
                continue
            at = f"{b['family']}/{b['key']}"
            one = b["min_ns"], f"{b['backend']} {b['algorithm']}"
            out[at] = min(out.get(at, one), one)
        return out

    mine, theirs = best(result), best(rivals)
    rows = sorted((theirs[at][0] / mine[at][0], at) for at in theirs if at in mine)
    return [[at, f"{mine[at][0] / 1000:.2f}", f"{theirs[at][0] / 1000:.2f}", f"{ratio:.2f}x", theirs[at][1].removeprefix(
        "pytorch ")] for ratio, at in rows]
