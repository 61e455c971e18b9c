# SPDX-License-Identifier: Apache-2.0
"""How many tokens a second do language models in GGUF files make: their bound, what a run should take, our chain of
kernels, llama.cpp; and of the same models as ONNX Runtime's builder writes them, ONNX Runtime and OpenVINO?"""

import itertools
import json
import sys
from pathlib import Path

from proofs.chains import plan_of, run_plan
from proofs.figures import header
from proofs.gguf_models import MODELS, Error, bytes_of, gguf, gguf_for_onnxruntime, model, write_whole
from proofs.gguf_models import header as header_of
from proofs.programs import BUILD, ROOT, WORK, analyse, any_bench, bench, run

DEPTHS = [0, 512, 2048]
AS_ONNX = "onnx"
FORMATS = ["q4_k", AS_ONNX]
FRAMEWORKS = {"llamacpp": "llama.cpp", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
COLUMNS = FRAMEWORKS | {"chain": "ours", "expected": "expected", "bound": "bound"}


def room():
    """Bytes of memory that are free."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def in_framework(framework, file, dims, threads, seconds, plan=None):
    """The least time of a framework in ns, with a plan in turns with our chain, and that chain's; or None, with the reason."""
    out, chain = file.with_suffix(f".{framework}.json"), file.with_suffix(".chain.json")
    words = ["--plan", plan, "--chain", chain, "--turns", 2, "--bench", BUILD / "benanza_bench"] if plan else []
    if framework != "llamacpp":
        words.append("--no-profile")
    done = run([sys.executable, ROOT / "scripts" / "measure_framework", framework, file, *dims, "--threads", threads,
                "--seconds", seconds, "-o", out, *words], fine=(0, 2))
    if done.returncode:
        return None, None, f"{framework}: " + done.stderr.strip().removeprefix("measure_framework: ")[:200]
    ours = min(row["min_ns"] for row in json.loads(chain.read_text())["benchmarks"]) if plan else None
    return json.loads(out.read_text())["min_ns"], ours, None


def files_of(name, kind):
    """The file that frameworks read, the ONNX file that we read, the frameworks, and whether the model fits here."""
    metadata, tensors = model(name, "q4_k" if kind == AS_ONNX else kind)
    fits = 2 * sum(bytes_of(*t) for t in tensors.values()) < room()
    file = WORK / "tokens" / f"{name}-{kind}{'' if fits else '-header'}.gguf"
    file.parent.mkdir(parents=True, exist_ok=True)
    if kind == AS_ONNX:
        file.write_bytes(header_of(metadata, tensors))
        gguf_for_onnxruntime.write(file, file.with_suffix(".onnx"))
        # The table of words is in f32 there; a session keeps weights as they are, and as its kernels want them.
        words, width = tensors["token_embd.weight"][0]
        fits = 3 * (sum(bytes_of(*t) for t in tensors.values()) + 4 * words * width) < room()
        return file.with_suffix(".onnx"), file.with_suffix(".onnx"), ("onnxruntime", "openvino"), fits
    if not file.exists():
        if fits:
            write_whole(file, metadata, tensors)
        else:  # weights are read by no one
            file.write_bytes(header_of(metadata, tensors))
    gguf.write(file, file.with_suffix(".onnx"))
    return file, file.with_suffix(".onnx"), ("llamacpp",), fits


def measured(name, kind, depth, threads, machine, arguments, notes):
    """A row of the table."""
    file, onnx, frameworks, fits = files_of(name, kind)
    folder = onnx.with_suffix("")
    dims = ["--dim", "sequence=1", "--dim", f"past={depth}"]
    run([BUILD / "benanza_generate", onnx, "--no-sources", "-o", folder, *dims])
    result = WORK / "tokens" / f"{name}-{kind}-{depth}-t{threads}.json"
    theirs = {f: [in_framework(f, file, dims, threads, arguments.seconds)] if fits else [] for f in frameworks}
    bench(BUILD / "benanza_bench", "--graphs", folder / "graphs.json", "--threads", threads, "--effort", arguments.effort,
          "--benchmark_filter=-^machine/", f"--benchmark_out={result}")
    of = json.loads((folder / "graphs.json").read_text())["graphs"][0]["name"]
    options = ["--model", of, "--threads", threads]
    chain = why = None
    if fits:
        plan, why = plan_of(f"{name}-{kind}-{depth}-t{threads}", [machine, result], *options)
        chain, why = run_plan(plan) if plan else (None, why)
        for f in frameworks:
            theirs[f].append(in_framework(f, file, dims, threads, arguments.seconds, plan if chain else None))
        chain = min((c for c in (chain, *(t[-1][1] for t in theirs.values())) if c), default=None)
    else:
        why = "it does not fit into this machine's memory: layers alone"
    a = analyse(machine, result, options=options, whole=False)[of]
    for said in {why, a.get("no_verdict"), *(t[2] for runs in theirs.values() for t in runs)} - {None}:
        notes.add(f"{name} {kind}, {depth}, t{threads}: {said}")
    return {"model": name, "format": kind, "past": depth, "threads": threads, "bound": a["lower_bound"]["ns"],
            "memory": a["memory"]["ns"], "expected": (a["expected"] or {}).get("ns"), "chain": chain,
            **{f: min((t[0] for t in theirs.get(f, []) if t[0]), default=None) for f in FRAMEWORKS},
            "partial": a["partial"]}


def tokens(arguments):
    any_bench()
    names = arguments.models or list(MODELS)
    rows, notes, beaten = [], set(), []
    depths = [int(d.removeprefix("past=")) for d in arguments.dim or []] or DEPTHS
    for threads in arguments.threads:
        machine = WORK / f"tokens_machine_t{threads}.json"
        bench(BUILD / "benanza_bench", "--threads", threads, "--effort", arguments.effort, "--types", "f32,u8s8u8",
              "--benchmark_filter=^machine/", f"--benchmark_out={machine}")
        header(f"{'tokens a second, by least times':<32}", "past", "t", *(f"{c:>9}" for c in COLUMNS.values()),
               "of memory", "best / bound")
        for name, kind, depth in itertools.product(names, arguments.formats or FORMATS, depths):
            try:
                row = measured(name, kind, depth, threads, machine, arguments, notes)
            except Error as problem:  # a form that such a model does not have
                notes.add(f"{name} {kind}: not measured: {problem}")
                continue
            rows.append(row)
            theirs = min(filter(None, (row[f] for f in FRAMEWORKS)), default=None)
            best = min(filter(None, (theirs, row["chain"])), default=None)
            ratio = theirs and theirs / row["bound"]
            if ratio and ratio < 1:
                beaten.append(f"{name}-{kind}, {depth}, t{threads}")
            print(f"{name + ' ' + kind:<32}  {depth:>4}  {threads}  " + "  ".join(
                (f"{1e9 / row[k]:.2f}" if row[k] else "-").rjust(max(9, len(said))) for k, said in COLUMNS.items()) +
                (f"  {100 * row['memory'] / best:7.1f} %" if best else f"  {'-':>9}") +
                (f"  {ratio:12.2f}" if ratio else f"  {'-':>12}") + ("  partial" if row["partial"] else ""), flush=True)
            (WORK / "tokens_table.json").write_text(json.dumps(rows, indent=1) + "\n")
    print("\nOf memory: what a step must read, at the speed of reading that was measured, to the fastest.")
    for note in sorted(notes):
        print("  " + note)
    if beaten:
        print(f"The bound is beaten: {'; '.join(beaten)}")
    return 1 if beaten else 0
