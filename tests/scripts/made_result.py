# SPDX-License-Identifier: Apache-2.0
"""Results as benanza_bench writes them, made up for tests of reports: chains of Conv, Relu and Add with branches,
any number of models and nodes, the same at every call.

  json.dump(result(models=2, nodes=60), open("run.json", "w"))
"""

import random

FLOPS_PER_NS, BYTES_PER_NS = 100.0, {"L1": 300.0, "L2": 150.0, "L3": 80.0, "memory": 20.0}


def layer(kind, channels, side):
    """[family, key], its flops and bytes."""
    elements = channels * side * side
    if kind == "Conv":
        return ["Conv", f"1x{channels}x{side}x{side}-{channels}x3x3-s1-p1"], 18 * channels * elements, \
            4 * (2 * elements + 9 * channels * channels)
    return [kind, f"1x{channels}x{side}x{side}"], elements, 4 * elements * (3 if kind == "Add" else 2)


def case(family, key, backend, algorithm, state, median, chance, **more):
    samples = [round(median * (0.97 + chance.expovariate(30)), 1) for _ in range(16)]
    least = min(samples)
    threads = more.pop("threads", 1)
    name = f"{family}/{key}/f32/{backend}/{algorithm}/{state}/t{threads}"
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
            "threads": 1, "iterations": 16, "real_time": median, "cpu_time": median, "time_unit": "ns",
            "family": family, "key": key, "type": "f32", "backend": backend, "algorithm": algorithm,
            "algorithm_index": 0, "state": state, "device": "cpu", "layouts": "plain",
            "operand_layouts": "plain", "result_layout": "plain", "equivalence": "f32", "fallback": "",
            "min_ns": least, "p10_ns": least, "median_ns": median, "p90_ns": max(samples), "mad_ns": 1.0,
            "samples_ns": samples, "count": 16, "stop_reason": "minimum settled", "rejected": 0, "threads_": threads,
            "workspace_bytes": 0, "weight_bytes": 0, "pool_bytes": 0, "setup_ns": 1.0, "flops": 0,
            "algorithm_flops": 0, "bytes": 0, **more}


def graph(name, nodes, channels, side, batch=1, prefix=""):
    """A model of blocks: Conv, Relu, Conv, Add of both, Relu."""
    layers = sorted(layer(kind, channels, side)[0] for kind in ("Add", "Conv", "Relu"))
    number = {family: i for i, (family, _) in enumerate(layers)}
    out, block = [], -1
    for i in range(nodes):
        kind = ("Conv", "Relu", "Conv", "Add", "Relu")[i % 5]
        inputs = [i - 1] if i else [-1]
        if kind == "Conv":
            inputs.append(-2)
        if kind == "Add":
            inputs.append(block if block >= 0 else -1)
        if i % 5 == 4:
            block = i
        out.append([f"{prefix}block{i // 5}/{kind.lower()}{i}", kind, number[kind], inputs])
    return {"name": f"{name}@batch={batch}", "model": name, "batch": batch, "type": "f32", "parameters": 1000,
            "parameter_bytes": 4000, "folded": 0, "repairs": [], "layers": layers, "nodes": out}


def result(models=1, nodes=30, algorithms=6, prefix="", batches=(1,), cpu="Made-up CPU", ceilings=True, layers_each=1,
           fails=True):
    chance = random.Random(1)
    benchmarks, graphs, seen = [], [], set()
    for m in range(models):
        for batch in batches:
            channels, side = 16 + 8 * m, 14 * batch
            g = graph(f"{prefix}model{m}", nodes, channels, side, batch, prefix)
            graphs.append(g)
            for kind in ("Conv", "Relu", "Add"):
                (family, key), flops, size = layer(kind, channels, side)
                if key in seen and (family, key) in seen:
                    continue
                seen.add((family, key))
                best = max(flops / FLOPS_PER_NS, size / 60) * 1.3
                for a in range(algorithms):
                    for state, times in (("hot", 1.0), ("coldw", 1.25)):
                        c = case(family, key, "onednn", f"way{a}:avx2", state,
                                 round(best * times * (1 + 0.4 * ((a + 3) % algorithms)), 1), chance,
                                 algorithm_index=a, flops=flops, algorithm_flops=flops, bytes=size)
                        benchmarks.append(c)
                if fails:
                    benchmarks.append({**case(family, key, "onednn", "refusing:avx2", "hot", 1.0, chance), "error_occurred": True,
                                       "error_message": f"{prefix}it needs <another> \"layout\" & more"})
    if ceilings:
        benchmarks.append(case("machine", "fma", "machine", "fma_avx2", "hot", 1e5, chance,
                               flops=int(1e5 * FLOPS_PER_NS), algorithm_flops=int(1e5 * FLOPS_PER_NS)))
        for size in (2 ** n for n in range(12, 28)):
            speed = BYTES_PER_NS["L1" if size <= 2 ** 15 else "L2" if size <= 2 ** 20 else "L3" if size <= 2 ** 24 else "memory"]
            benchmarks.append(case("machine", f"read-{size}", "machine", "avx2", "hot", size / speed, chance, bytes=size))
    for c in benchmarks:
        c["threads"] = c.pop("threads_", 1)
    facts = {"machine": {"cpu": cpu, "cores": "4", "l1d_bytes": "32768", "l2_bytes": "1048576", "llc_bytes": "33554432"},
             "software": {"benanza": "0.3.0", "onednn_version": "2.6.3"},
             "measuring": {"date": "2026-01-01T00:00:00+0000", "effort": "quick"}}
    return {"context": {"date": "2026-01-01", "benanza": {"schema": 1, "provenance": facts, "graphs": graphs}},
            "benchmarks": benchmarks}
