# SPDX-License-Identifier: Apache-2.0
"""How many tokens a second do language models in GGUF files make: their bound, what a run should take, our chain of
kernels, llama.cpp?"""

import itertools
import json
import sys
from pathlib import Path

from proofs.chains import plan_of, run_plan
from proofs.figures import header
from proofs.gguf_models import MODELS, bytes_of, gguf, model, write_whole
from proofs.gguf_models import header as header_of
from proofs.programs import BUILD, ROOT, WORK, analyse, any_bench, bench, run

DEPTHS = [0, 512, 2048]
FORMATS = ["q4_k"]


def room():
    """Bytes of memory that are free."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def in_llamacpp(file, dims, threads, seconds, plan=None):
    """The least time of llama.cpp in ns, with a plan in turns with our chain, and that chain's; or None, with the reason."""
    out, chain = file.with_suffix(".llamacpp.json"), file.with_suffix(".chain.json")
    words = ["--plan", plan, "--chain", chain, "--turns", 2, "--bench", BUILD / "benanza_bench"] if plan else []
    done = run([sys.executable, ROOT / "scripts" / "measure_framework", "llamacpp", file, *dims, "--threads", threads,
                "--seconds", seconds, "-o", out, *words], fine=(0, 2))
    if done.returncode:
        return None, None, done.stderr.strip().removeprefix("measure_framework: ")[:200]
    ours = min(row["min_ns"] for row in json.loads(chain.read_text())["benchmarks"]) if plan else None
    return json.loads(out.read_text())["min_ns"], ours, None


def measured(name, kind, depth, threads, machine, arguments, notes):
    """A row of the table."""
    metadata, tensors = model(name, kind)
    fits = 2 * sum(bytes_of(*t) for t in tensors.values()) < room()
    file = WORK / "tokens" / f"{name}-{kind}{'' if fits else '-header'}.gguf"
    onnx, folder = file.with_suffix(".onnx"), file.with_suffix("")
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        if fits:
            write_whole(file, metadata, tensors)
        else:  # weights are read by no one
            file.write_bytes(header_of(metadata, tensors))
    gguf.write(file, onnx)
    dims = ["--dim", "sequence=1", "--dim", f"past={depth}"]
    run([BUILD / "benanza_generate", onnx, "--no-sources", "-o", folder, *dims])
    result = WORK / "tokens" / f"{name}-{kind}-{depth}-t{threads}.json"
    theirs = [in_llamacpp(file, dims, threads, arguments.seconds)] if fits else []
    bench(BUILD / "benanza_bench", "--graphs", folder / "graphs.json", "--threads", threads, "--effort", arguments.effort,
          "--benchmark_filter=-^machine/", f"--benchmark_out={result}")
    of = json.loads((folder / "graphs.json").read_text())["graphs"][0]["name"]
    options = ["--model", of, "--threads", threads]
    chain = why = None
    if fits:
        plan, why = plan_of(f"{name}-{kind}-{depth}-t{threads}", [machine, result], *options)
        chain, why = run_plan(plan) if plan else (None, why)
        theirs.append(in_llamacpp(file, dims, threads, arguments.seconds, plan if chain else None))
        chain = min(filter(None, (chain, theirs[-1][1])), default=None)
    else:
        why = "it does not fit into this machine's memory twice: layers alone"
    a = analyse(machine, result, options=options, whole=False)[of]
    for said in {why, a.get("no_verdict"), *(t[2] for t in theirs)} - {None}:
        notes.add(f"{name}, {depth}, t{threads}: {said}")
    return {"model": name, "format": kind, "past": depth, "threads": threads, "bound": a["lower_bound"]["ns"],
            "memory": a["memory"]["ns"], "expected": (a["expected"] or {}).get("ns"), "chain": chain,
            "llamacpp": min((t[0] for t in theirs if t[0]), default=None), "partial": a["partial"]}


def tokens(arguments):
    any_bench()
    names = arguments.models or list(MODELS)
    rows, notes, beaten = [], set(), []
    depths = [int(d.removeprefix("past=")) for d in arguments.dim or []] or DEPTHS
    for threads in arguments.threads:
        machine = WORK / f"tokens_machine_t{threads}.json"
        bench(BUILD / "benanza_bench", "--threads", threads, "--effort", arguments.effort, "--types", "f32",
              "--benchmark_filter=^machine/", f"--benchmark_out={machine}")
        header(f"{'tokens a second, by least times':<32}", "past", "t", *(f"{c:>9}" for c in (
            "llama.cpp", "ours", "expected", "bound")), "of memory", "llama.cpp / bound")
        for name, kind, depth in itertools.product(names, arguments.formats or FORMATS, depths):
            row = measured(name, kind, depth, threads, machine, arguments, notes)
            rows.append(row)
            best = min(filter(None, (row["llamacpp"], row["chain"])), default=None)
            ratio = row["llamacpp"] and row["llamacpp"] / row["bound"]
            if ratio and ratio < 1:
                beaten.append(f"{name}-{kind}, {depth}, t{threads}")
            print(f"{name + ' ' + kind:<32}  {depth:>4}  {threads}  " + "  ".join(
                f"{1e9 / row[k]:9.2f}" if row[k] else f"{'-':>9}" for k in ("llamacpp", "chain", "expected", "bound")) +
                (f"  {100 * row['memory'] / best:7.1f} %" if best else f"  {'-':>9}") +
                (f"  {ratio:17.2f}" if ratio else f"  {'-':>17}") + ("  partial" if row["partial"] else ""), flush=True)
            (WORK / "tokens_table.json").write_text(json.dumps(rows, indent=1) + "\n")
    print("\nOf memory: what a step must read, at the speed of reading that was measured, to the faster of both.")
    for note in sorted(notes):
        print("  " + note)
    if beaten:
        print(f"The bound is beaten: {'; '.join(beaten)}")
    return 1 if beaten else 0
