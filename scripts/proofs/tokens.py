# SPDX-License-Identifier: Apache-2.0
"""How many tokens a second do language models in GGUF files make: their bound, what a run should take, our chain of
kernels, llama.cpp and OpenVINO GenAI; and of the same models as ONNX Runtime's builder writes them, ONNX Runtime, ONNX
Runtime GenAI and OpenVINO?"""

import itertools
import json
import sys
from pathlib import Path

from proofs.chains import plan_of, run_plan
from proofs.figures import header
from proofs.gguf_models import MODELS, Error, bytes_of, gguf, gguf_for_onnxruntime, model, write_whole
from proofs.gguf_models import header as header_of
from proofs.programs import BUILD, ROOT, WORK, analyse, any_bench, bench, run, stop

DIMS = {"sequence": [1], "past": [0, 512, 2048, 8192]}
AS_ONNX = "onnx"
OF_OPENVINO = ("llama", "qwen2", "qwen3")  # which it reads of GGUF files
FORMATS = ["q4_k", AS_ONNX]
FRAMEWORKS = {"llamacpp": "llama.cpp", "openvino-genai": "OpenVINO GenAI", "onnxruntime": "ONNX Runtime",
              "openvino": "OpenVINO", "onnxruntime-genai": "ORT GenAI"}
COLUMNS = FRAMEWORKS | {"chain": "ours", "expected": "expected", "bound": "bound"}


def room():
    """Bytes of memory that are free."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def in_framework(framework, file, dims, threads, seconds, turns, plan=None):
    """The least time of a framework in ns, with a plan in turns with our chain, and that chain's; or None, with the reason."""
    out, chain = file.with_suffix(f".{framework}.json"), file.with_suffix(".chain.json")
    words = ["--plan", plan, "--chain", chain, "--turns", turns, "--bench", BUILD / "benanza_bench"] if plan else []
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
        return file.with_suffix(".onnx"), file.with_suffix(".onnx"), ("onnxruntime", "openvino", "onnxruntime-genai"), fits
    if not file.exists():
        if fits:
            write_whole(file, metadata, tensors)
        else:  # weights are read by no one
            file.write_bytes(header_of(metadata, tensors))
    gguf.write(file, file.with_suffix(".onnx"))
    both = metadata["general.architecture"] in OF_OPENVINO
    return file, file.with_suffix(".onnx"), ("llamacpp", *(["openvino-genai"] if both else [])), fits


def graph_of(onnx, dims):
    """The name of a model at some dims."""
    graphs = json.loads((onnx.with_suffix("") / "graphs.json").read_text())["graphs"]
    return next(g["name"] for g in graphs if g["dims"] == dims and "unfused" not in g)


def layers_measured(onnx, every, threads, effort):
    """The result of a model's layers at all dims: most do not depend on them."""
    folder, result = onnx.with_suffix(""), onnx.with_suffix(f".t{threads}.json")
    options = [word for name in DIMS for word in ("--dim", f"{name}={','.join(map(str, every[name]))}")]
    run([BUILD / "benanza_generate", onnx, "--no-sources", "-o", folder, *options])
    bench(BUILD / "benanza_bench", "--graphs", folder / "graphs.json", "--threads", threads, "--effort", effort,
          "--benchmark_filter=-^machine/", f"--benchmark_out={result}")
    return result


def row_of(case, threads, dims, results, arguments, notes):
    """A row of the table."""
    name, kind, file, onnx, frameworks, fits = case
    graph, words = graph_of(onnx, dims), [f"--dim={name}={value}" for name, value in dims.items()]
    options = ["--model", graph, "--threads", threads]
    theirs, chain, why = {}, None, "it does not fit into this machine's memory: layers alone"
    if fits:
        plan, why = plan_of(f"{onnx.stem}-{'-'.join(map(str, dims.values()))}-t{threads}", results, *options)
        theirs = {f: in_framework(f, file, words, threads, arguments.seconds, arguments.turns, plan)
                  for f in frameworks if f in (arguments.frameworks or FRAMEWORKS)}
        chain = min((t[1] for t in theirs.values() if t[1]), default=None)
        if plan and not chain:  # both by themselves: there may be no memory for both at once
            chain, why = run_plan(plan)
            theirs = {f: in_framework(f, file, words, threads, arguments.seconds, 1) for f in theirs}
    a = analyse(*results, options=options, whole=False)[graph]
    for said in {why, a.get("no_verdict"), *(t[2] for t in theirs.values())} - {None}:
        notes.add(f"{graph}, t{threads}: {said}")
    return {"model": name, "format": kind, **dims, "threads": threads, "bound": a["lower_bound"]["ns"],
            "memory": a["memory"]["ns"], "expected": (a["expected"] or {}).get("ns"), "chain": chain,
            **{f: t[0] for f, t in theirs.items()}, "partial": a["partial"]}


def shown(row):
    """Prints a row; the ratio of the best framework to the bound, if there is one."""
    theirs = min(filter(None, (row.get(f) for f in FRAMEWORKS)), default=None)
    best = min(filter(None, (theirs, row["chain"])), default=None)
    ratio = theirs and theirs / row["bound"]
    print(f"{row['model'] + ' ' + row['format']:<24}  {row['sequence']:>4}  {row['past']:>5}  {row['threads']}  " + "  ".join(
        (f"{1e9 * row['sequence'] / row[k]:.2f}" if row.get(k) else "-").rjust(max(8, len(said)))
        for k, said in COLUMNS.items()) + (f"  {100 * row['memory'] / best:7.1f} %" if best else f"  {'-':>9}") +
        (f"  {ratio:12.2f}" if ratio else f"  {'-':>12}") + ("  partial" if row["partial"] else ""), flush=True)
    return ratio


def dims_of(asked):
    """The values of each dim."""
    given = dict(word.split("=", 1) for word in asked or [])
    if given.keys() - DIMS.keys() or not all(n.isdigit() for v in given.values() for n in v.split(",")):
        stop(f"tokens: --dim takes {' and '.join(f'{name}=N,N' for name in DIMS)}")
    return {name: [int(n) for n in given[name].split(",")] if name in given else usual for name, usual in DIMS.items()}


def tokens(arguments):
    if unknown := set(arguments.frameworks or []) - FRAMEWORKS.keys():
        stop(f"tokens: --frameworks {','.join(sorted(unknown))}: there are {', '.join(FRAMEWORKS)}")
    any_bench()
    rows, notes, beaten, every = [], set(), [], dims_of(arguments.dim)
    for threads in arguments.threads:
        machine = WORK / f"tokens_machine_t{threads}.json"
        bench(BUILD / "benanza_bench", "--threads", threads, "--effort", arguments.effort, "--types", "f32,u8s8u8",
              "--benchmark_filter=^machine/", f"--benchmark_out={machine}")
        header(f"{'tokens a second, by least times':<24}", "seq.", " past", "t", *(f"{c:>8}" for c in COLUMNS.values()),
               "of memory", "best / bound")
        for name, kind in itertools.product(arguments.models or list(MODELS), arguments.formats or FORMATS):
            try:
                case = name, kind, *files_of(name, kind)
            except Error as problem:  # a form that such a model does not have
                notes.add(f"{name} {kind}: not measured: {problem}")
                continue
            result = layers_measured(case[3], every, threads, arguments.effort)
            for values in itertools.product(*every.values()):
                rows.append(row_of(case, threads, dict(zip(DIMS, values)), [machine, result], arguments, notes))
                ratio = shown(rows[-1])
                if ratio and ratio < 1:
                    beaten.append(f"{name}-{kind}, {values}, t{threads}")
                (WORK / "tokens_table.json").write_text(json.dumps(rows, indent=1) + "\n")
    print("\nOf memory: what a step must read, at the speed of reading that was measured, to the fastest.")
    for note in sorted(notes):
        print("  " + note)
    if beaten:
        print(f"The bound is beaten: {'; '.join(beaten)}")
    return 1 if beaten else 0
