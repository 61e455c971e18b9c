# SPDX-License-Identifier: Apache-2.0
"""What does a result say of its layers?"""

import re
import statistics

from gpu.common import VIEWS


def layer_cases(result):
    return [b for b in result["benchmarks"]
            if b.get("run_type", "iteration") == "iteration" and b["family"] not in ("machine", "model")]


def best_times(result, wanted):
    """Per layer and state the best case: of the wanted type where there is one, else of another."""
    best = {}
    for b in layer_cases(result):
        if b.get("error_occurred") or b.get("equivalence") != b["type"]:
            continue
        ns = b["min_ns"] if b["state"] == "hot" else b["median_ns"]
        at = ((b["family"], b["key"]), b["state"])
        rank = (b["type"] != wanted, ns)
        if at not in best or rank < best[at][0]:
            best[at] = (rank, b)
    return {at: b for at, (_, b) in best.items()}


def sums(result, model, wanted):
    """Per state the sum over the model's layers in ms; and the layers without a time."""
    graphs = [g for g in result["context"]["benanza"]["graphs"]
              if g["name"].startswith(model) and not g.get("unfused") and not g.get("original")]
    best = best_times(result, wanted)
    total, missing, others = {"hot": 0.0, "coldw": 0.0}, set(), set()
    for g in graphs[:1]:
        for node in g["nodes"]:
            layer = tuple(g["layers"][node[2]]) if node[2] >= 0 else (node[1], "")
            hot = best.get((layer, "hot"))
            if hot is None:
                if layer[0] not in VIEWS:
                    missing.add("/".join(layer))
                continue
            if hot["type"] != wanted:
                others.add("/".join(layer))
            total["hot"] += hot["min_ns"] * 1e-6
            total["coldw"] += best.get((layer, "coldw"), hot)["median_ns"] * 1e-6
    return total, sorted(missing), sorted(others)


def row_of(name, result, model, wanted):
    cases = layer_cases(result)
    failed = [b for b in cases if b.get("error_occurred")]
    if model:
        total, missing, _ = sums(result, model, wanted)
    else:  # of one layer
        best = best_times(result, wanted)
        total, missing = {s: sum(b[f] for (_, state), b in best.items() if state == s) * 1e-6
                          for s, f in (("hot", "min_ns"), ("coldw", "median_ns"))}, []
    return [name, len({(b["family"], b["key"]) for b in cases}), len(cases), len(failed),
            sum("wrong result" in b.get("error_message", "") for b in failed),
            sum(bool(b.get("disturbed")) for b in cases), f"{total['hot']:.3f}",
            f"{total['coldw']:.3f}", len(missing)]


HEADER = ["run", "layers", "cases", "failed", "wrong", "disturbed", "hot ms", "coldw ms", "no time"]


def reasons(result):
    """The reasons why cases failed, with how many each."""
    counts = {}
    for b in layer_cases(result):
        if b.get("error_occurred"):
            why = re.sub(r"\d+", "#", b.get("error_message", ""))[:100]
            counts[why] = counts.get(why, 0) + 1
    return sorted(counts.items(), key=lambda c: -c[1])


def spread(first, second):
    """By how much two runs' figures of the same cases differ, as shares: median, p90, most."""
    of = [{b["name"]: b for b in layer_cases(r) if not b.get("error_occurred")} for r in (first, second)]
    out = {}
    for state, figure in (("hot", "min_ns"), ("coldw", "median_ns")):
        apart = sorted(abs(of[1][n][figure] / b[figure] - 1) for n, b in of[0].items()
                       if n in of[1] and b["state"] == state and b["min_ns"] > 0)
        if apart:
            out[state] = (statistics.median(apart), apart[int(0.9 * (len(apart) - 1))], apart[-1],
                          len(apart))
    return out
