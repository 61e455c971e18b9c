# SPDX-License-Identifier: Apache-2.0
"""PyTorch's times of our layers as a result that benanza_analyze reads beside ours: kernels.json. They are taken in
a process of their own (gpu/torch_layers.py); one that ends is followed by another, which goes on behind the layer
that it ended at."""

import time

from frameworks.layers import SCHEMA_VERSION, host_facts
from gpu.common import GPU_BACKENDS, Refused
from gpu.torch_case import TOOK_TOO_LONG, run_case
from gpu.torch_layers import OUR_DEVICE

FACTS = ("family", "key", "flops", "algorithm_flops", "bytes", "weight_bytes")
MOST_ENDS = 5  # of processes
GRACE_S = 20  # for what is under way when the time is over


def layers_of(result, t, device):
    """What our result says of each layer that it measured in a type; weights are those that most say."""
    found = {}
    for b in result["benchmarks"]:
        if b.get("family") in ("machine", "model", "sequence", "reorder") or b.get("type") != t:
            continue
        if b.get("error_occurred") or b.get("device", "cpu") != OUR_DEVICE[device]:
            continue
        known = found.setdefault((b["family"], b["key"]), {f: b[f] for f in FACTS})
        known["weight_bytes"] = max(known["weight_bytes"], b["weight_bytes"])
    return list(found.values())


def same_machine(result, gpu):
    """Refuses times of another machine than that of the result beside which they are analysed."""
    provenance = result["context"]["benanza"]["provenance"]
    for fact, here in host_facts().items():
        there = provenance["machine"].get(fact)
        if there != here:
            raise Refused(f"the layers were measured on another machine: {fact} is {there} there, {here} here")
    theirs = {provenance["software"].get(f"{b}_gpu") for b in GPU_BACKENDS} - {None}
    if gpu and gpu not in theirs:
        raise Refused(f"the layers were measured on another GPU: {', '.join(sorted(theirs)) or 'none'}, here is {gpu}")


def document_of(result, rows, version, told):
    """A result of the same machine, which benanza_analyze merges with ours."""
    provenance = {s: result["context"]["benanza"]["provenance"][s] for s in ("machine", "software")}
    started = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    provenance |= {"measuring": {"pytorch_run": f"{started}, {told}"}, "frameworks": {"pytorch": version}}
    return {"context": {"date": started, "benanza": {"schema": SCHEMA_VERSION, "provenance": provenance, "graphs": []}},
            "benchmarks": rows}


class Told:
    """What the processes told of layers, together."""

    def __init__(self):
        self.rows, self.skipped, self.left, self.done, self.facts = [], [], [], [], {}

    def take(self, lines, ended):
        """Whether all was done; `ended`: why the process did, empty if it came to its end."""
        begun, whole = None, False
        for line in lines:
            if "begin" in line:
                begun = line["begin"], line["way"]
                self.done.append(begun)
            elif "torch" in line:
                self.facts = line
            elif "left" in line:
                self.left, whole = [f"{name} ({way})" for name, way in line["left"]], True
            elif begun is None:
                self.skipped.append(line.get("absent") or line.get("why", ""))
            else:
                self.rows += line.get("rows", [])
                if "rows" not in line:
                    self.skipped.append(f"{begun[0]}, {begun[1]}: {line.get('why') or line.get('absent')}")
                begun = None
        if begun:
            self.skipped.append(f"{begun[0]}, {begun[1]}: {ended or 'nothing was told'}")
        return whole


def measure(command, result, t, device, seconds, scratch):
    """PyTorch's times of the layers of a result: the document, what could not be measured, and what is left."""
    layers, told, ends = layers_of(result, t, device), Told(), time.monotonic() + seconds
    if not layers:
        raise Refused(f"no layer was measured in {t} on a {OUR_DEVICE[device]}")
    for _ in range(MOST_ENDS):
        asked = {"what": "layers", "type": t, "device": device, "seconds": ends - time.monotonic(),
                 "layers": layers, "done": list(told.done)}
        if asked["seconds"] <= 0:
            break
        lines, ended = run_case(command, asked, asked["seconds"] + GRACE_S, scratch)
        if told.take(lines, ended):
            break
        if not told.facts:
            raise Refused(f"PyTorch does not start: {ended}")
        if ended == TOOK_TOO_LONG:
            break
    gpu = told.facts.get("gpu", "")
    same_machine(result, gpu if device == "cuda" else "")
    return document_of(result, told.rows, told.facts.get("torch", "unknown"),
                       f"{gpu or 'processor'}, cuDNN {told.facts.get('cudnn')}"), told
