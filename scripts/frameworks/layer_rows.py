# SPDX-License-Identifier: Apache-2.0
"""What does a result of ours say of a layer that a framework ran?"""

import statistics

KEPT_SAMPLES = 50  # in the result


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


def row_of(layer, framework, algorithm, state, threads, kind="f32", device="cpu", layout="plain"):
    """A row of the result, without times."""
    name = f"{layer['family']}/{layer['key']}/{kind}/{framework}/{algorithm}/{state}/t{threads}"
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
            "family": layer["family"], "key": layer["key"], "type": kind, "backend": framework,
            "algorithm": algorithm, "algorithm_index": 1, "state": state, "threads": threads, "device": device,
            "layouts": layout, "operand_layouts": layout, "result_layout": layout, "equivalence": kind,
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
