# SPDX-License-Identifier: Apache-2.0
"""How far are our own kernels from their rooflines, from the first cache to memory?"""

import json
import math
import statistics

from proofs.figures import header
from proofs.programs import BUILD, WORK, analyse, bench, build, run, stop

SIZES = {"16 KiB": 1 << 14, "256 KiB": 1 << 18, "4 MiB": 1 << 22, "64 MiB": 1 << 26}

# Vector instructions of arithmetic for each vector of results, of which a processor does as many as
# half its peak of multiply-adds; a division counts as twenty. Only where memory may not decide.
OWN_ARITHMETIC = {
    "Exp": 15, "Log": 28, "Sigmoid": 21, "Tanh": 18, "Erf": 19, "Gelu": 22, "FastGelu": 23, "Softplus": 38,
    "Mish": 24, "Elu": 18, "Selu": 20, "Celu": 18, "Sin": 17, "Cos": 18, "Sqrt": 12, "Reciprocal": 20,
    "Softsign": 22, "Div": 20, "Pow": 55, "Softmax": 19, "LogSoftmax": 18, "LRN": 30,
    "ReduceLogSumExp": 17,
}


def kernel_keys(size):
    """The kernels, each as a layer that moves about as many bytes."""
    n, rows = size // 8, max(size // 8 // 768, 1)
    channels, side = max(size // 8 // 196, 2) // 2 * 2, round((size / 8) ** 0.5)
    functions = ["Relu", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish", "Abs", "Neg", "Floor", "Round", "Sign",
                 "Square", "Cube", "Sqrt", "Reciprocal", "Softsign", "Exp", "Log", "Sigmoid", "Tanh", "Erf",
                 "Gelu", "FastGelu", "Softplus", "Mish", "Elu", "Selu", "Sin", "Cos"]
    keys = {f: f"{f}/{n}" for f in functions}
    keys |= {f: f"{f}/{size // 12}" for f in ("Add", "Sub", "Mul", "Div", "Max", "Less", "PRelu", "Pow")}
    keys |= {
        "Add of a row": f"Add/{rows}x768-768",
        "Div by a column": f"Div/{rows}x768-{rows}x1",
        "Mul by channels": f"Mul/1x{channels}x14x14-{channels}x1x1",
        "Sum of three": f"Sum/{size // 16}-n3",
        "Softmax of 197": f"Softmax/{max(n // 197, 1)}x197-a1",
        "Softmax of 49": f"Softmax/{max(n // 49, 1)}x49-a1",
        "Softmax of 2048": f"Softmax/{max(n // 2048, 1)}x2048-a1",
        "Softmax of channels": f"Softmax/1x21x{max(n // 21, 16)}-a1",
        "LogSoftmax": f"LogSoftmax/{max(n // 1000, 1)}x1000-a1",
        "LayerNormalization": f"LayerNormalization/{rows}x768-a1-b",
        "RMSNormalization": f"RMSNormalization/{rows}x768-a1",
        "GroupNormalization": f"GroupNormalization/1x{channels}x14x14-g2",
        "InstanceNormalization": f"InstanceNormalization/1x{channels}x14x14",
        "BatchNormalization": f"BatchNormalization/1x{channels}x14x14",
        "LRN": f"LRN/1x{channels}x14x14-n5",
        "ReduceMean": f"ReduceMean/{2 * rows}x768-a1",
        "ReduceMean of rows": f"ReduceMean/{2 * rows}x768-a0",
        "ReduceMax": f"ReduceMax/{2 * rows}x768-a1",
        "ReduceLogSumExp": f"ReduceLogSumExp/{2 * rows}x768-a1",
        "GlobalAveragePool": f"GlobalAveragePool/1x{max(size // 196, 1)}x7x7",
        "Concat": f"Concat/1x{channels}x14x14-a1-n2",
        "Split": f"Split/{rows}x768-a1-n3",
        "Slice": f"Slice/{rows}x1536-{rows}x768",
        "Pad": f"Pad/1x{channels}x14x14-b0x0x1x1-e0x0x1x1",
        "Transpose": f"Transpose/{side}x{side}-o1x0",
        "Transpose of heads": f"Transpose/1x{rows}x12x64-o0x2x1x3",
        "Gather": f"Gather/{rows}x768-{rows}",
        "DepthToSpace": f"DepthToSpace/1x{2 * channels}x14x14-k2",
        "Resize": f"Resize/1x{max(channels * 2 // 5, 1)}x14x14-1x{max(channels * 2 // 5, 1)}x28x28",
        "Resize, linear": f"Resize/1x{max(channels * 2 // 5, 1)}x14x14-1x{max(channels * 2 // 5, 1)}x28x28-linear",
        "Attention": f"Attention/1x{max(size // 4 // 4 // 197 // 64, 1)}x197x64",
    }
    return keys


def kernels(arguments):
    keys = {size: kernel_keys(count) for size, count in SIZES.items()}
    chosen = [k for k in keys["16 KiB"] if not arguments.models or k in arguments.models]
    program, _ = build([], "kernels", sorted({of[k] for of in keys.values() for k in chosen}))
    file = WORK / "kernels.json"
    bench(program, "--types", "f32", "--states", "hot", "--effort", arguments.effort,
          "--benchmark_filter=/host/|^machine/(fma|read|write|copy|triad|stream_copy)", f"--benchmark_out={file}")
    machine = run([BUILD / "benanza_analyze", file, "--machine", "--format", "json"], fine=(0, 1))
    peaks = [p for p in json.loads(machine.stdout)["peaks"] if p["type"] == "f32" and p["threads"] == 1]
    instructions = max(p["flops_per_ns"] for p in peaks) / 2
    found = {l["layer"]: l for l in analyse(file, whole=False)["kernels@layers"]["layers"]}
    ratios = []
    header(f"{'f32: time / roofline':<24}", *(f"{size:>8}" for size in SIZES))
    for kernel in chosen:
        line = f"{kernel:<24}"
        for size in SIZES:
            layer = keys[size][kernel]
            l = found.get(layer, {})
            if not l.get("bound") or not l.get("roofline_ns"):
                line += f"{'-':>10}"
                continue
            family, dims = layer.split("/")
            count = math.prod(int(d) for d in dims.split("-")[0].split("x"))
            own = OWN_ARITHMETIC.get(family, 0) * count / instructions
            ratios.append((l["bound"]["ns"] / max(l["roofline_ns"], own), kernel, size))
            line += f"{ratios[-1][0]:10.2f}"
        print(line, flush=True)
    if not ratios:
        stop("no kernel was measured")
    ratios.sort()
    over = [r for r in ratios if r[0] > 2]
    print(f"\n{len(ratios)} of them: median {statistics.median(r[0] for r in ratios):.2f}, worst "
          f"{ratios[-1][0]:.2f} ({', '.join(ratios[-1][1:])}); {len(over)} over 2")
