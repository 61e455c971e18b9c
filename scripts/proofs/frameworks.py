# SPDX-License-Identifier: Apache-2.0
"""Does a framework beat the bound, and how far are predictions and our chains from the faster one?"""

import itertools
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from proofs.chains import plan_of, run_plan
from proofs.figures import header, ratio_shown, sequential, shown
from proofs.models import COMPARED, SIZES_OF
from proofs.programs import BUILD, ROOT, WORK, analyse, any_bench, bench, run

FRAMEWORKS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
IN_TYPE = {("onnxruntime", "f32"): [], ("openvino", "f32"): [],
           ("openvino", "bf16"): ["--set", "INFERENCE_PRECISION_HINT=bf16"]}  # how a framework computes in a type


def clock_now(threads):
    """What the chain on registers takes now in ns, a microsecond at the clock at which all is compared: the least of
    ten, as the least of a framework's runs is compared, on as many threads as run."""
    out, clocks = WORK / "frameworks_clock.json", []
    for _ in range(10):
        with tempfile.TemporaryDirectory() as cache:  # none are kept there, which have the clock of their time
            run([BUILD / "benanza_bench", "--types", "f32", "--threads", threads, "--effort", "quick",
                 "--benchmark_filter=^machine/fma/", f"--benchmark_out={out}"],
                env={**os.environ, "XDG_CACHE_HOME": cache})
        clocks.append(json.loads(out.read_text())["benchmarks"][0].get("min_clock_ns") or 1000)
    return min(clocks)


def in_framework(framework, model, dims, threads, type_, seconds, notes, clocks, plan=None):
    """The least time of a framework for a model in ns, the same at one clock, its version, the least of the chain of
    `plan`, which takes turns with it, and its file, with a profile where there is no such plan; None where it cannot
    run the model. The last of `clocks` is that right before; it gets the one right after."""
    file = WORK / f"frameworks_{model.stem}_t{threads}_{type_}_{framework}{'_turns' if plan else ''}.json"
    chain = WORK / f"chain_{model.stem}_t{threads}_{type_}_{framework}.json"
    options = [o for d in dims for o in ("--dim", d)] + IN_TYPE[framework, type_] + (["--no-profile"] if plan else [])
    if plan:
        options += ["--plan", plan, "--chain", chain, "--turns", 2, "--bench", BUILD / "benanza_bench"]
    done = run([sys.executable, ROOT / "scripts" / "measure_framework", framework, model, *options,
                "--threads", threads, "--seconds", seconds, "-o", file], fine=(0, 2))
    if done.returncode:
        notes.add(f"{model.stem}: {done.stderr.strip().removeprefix('measure_framework: ')[:200]}")
        return None
    result = json.loads(file.read_text())
    if result["options"]["precision"] != type_:
        notes.add(f"{model.stem}: {FRAMEWORKS[framework]} computes in {result['options']['precision']}")
    ours = min(row["min_ns"] for row in json.loads(chain.read_text())["benchmarks"]) if plan else None
    least = result["min_ns"]
    clocks.append(clock_now(threads))
    return least, 1000 * least / min(clocks[-2:]), result["framework_version"].split("-")[0], ours, file


def holes_of(analysis):
    """Where frameworks beat all that was measured here: what each layer takes there and here, and how much less."""
    return [{"layer": row["layer"], "framework": f"{FRAMEWORKS[f['framework']]}, {row['kernel']}", "count": row["count"],
             "ns": row["ns"], "best_ns": row["best_ns"]} for f in analysis["frameworks"] for row in f["faster"]]


def beside_frameworks(model, threads, type_, arguments, notes):
    """A row of the table. Frameworks before and after the layers, the least of both: interference comes and goes.
    After them our chain takes turns with each."""
    name = model.stem
    dims = arguments.dim or next((d for part, d in SIZES_OF.items() if part in name), [])
    folder, measured = WORK / f"frameworks_{name}", WORK / f"frameworks_{name}_t{threads}_{type_}.json"
    machine = WORK / f"frameworks_machine_t{threads}_{type_}.json"
    graphs, timing = folder / "graphs.json", ["--types", type_, "--threads", threads, "--effort", arguments.effort]
    generated = run([BUILD / "benanza_generate", model, "--no-sources", "-o", folder,
                     *(o for d in dims for o in ("--dim", d))], fine=(0, 1))
    dims = [d for d in dims if f"--dim {d.rpartition('=')[0]}: the model has no such symbol" not in generated.stderr]
    if machine not in arguments.machines:
        bench(BUILD / "benanza_bench", "--graphs", graphs, *timing, "--benchmark_filter=^machine/",
              f"--benchmark_out={machine}")
        arguments.machines.add(machine)

    def in_all(plan=None):
        clocks = [clock_now(threads)]
        return {f: in_framework(f, model, dims, threads, type_, arguments.seconds, notes, clocks, plan)
                for f in FRAMEWORKS if (f, type_) in IN_TYPE}

    before = in_all()
    bench(BUILD / "benanza_bench", "--graphs", graphs, *timing, "--benchmark_filter=-^machine/",
          f"--benchmark_out={measured}")
    of = json.loads(graphs.read_text())["graphs"][0]  # whose batch the file may fix
    options = ["--model", of["name"], "--threads", threads]
    plan, why = plan_of(f"{name}_t{threads}_{type_}", [machine, measured], *options)
    chain = None
    if plan:
        chain, why = run_plan(plan)  # first alone: where it cannot run, frameworks have no turns with it
    after = in_all(plan if chain else None)
    chain = min((r[3] for r in after.values() if r and r[3]), default=chain)
    both = {f: [r[f] for r in (before, after) if r.get(f)] for f in FRAMEWORKS}
    profiles = [o for r in before.values() if r for o in ("--framework", r[4])]
    a = analyse(machine, measured, options=[*options, *profiles], whole=False)[of["name"]]
    form = a["fused"] or a
    roofline, layouts = ((form.get(f) or {}) for f in ("roofline", "layouts"))
    bound, clock = sequential(form, "bound"), a["bound_clock_ns"] or 1000
    roof = roofline.get("sequential", {}).get("ns")
    if rewritten := a.get("rewritten"):  # no equivalent graph that was measured is faster
        bound, roof = rewritten["bound"]["ns"], rewritten["roofline_ns"] or roof
    least = {f: min((r[0] for r in runs), default=None) for f, runs in both.items()}
    best = min(filter(None, least.values()), default=None)
    for f, runs in both.items():
        ends = [r[0] for r in runs]
        if max(ends, default=0) > 1.02 * min(ends, default=0):
            notes.add(f"{name}, {type_}, t{threads}: {FRAMEWORKS[f]} took {ends[0] / 1e6:.0f} ms before the layers and "
                      f"{ends[-1] / 1e6:.0f} ms after them: the machine changed")
    best_at_clock = min((r[1] for runs in both.values() for r in runs), default=None)
    if a.get("no_verdict"):
        notes.add(f"{name}, t{threads}: {a['no_verdict']}")
    if why:
        notes.add(f"{name}, t{threads}: no chain: {why}")
    if a["partial"]:
        unknown = [l for l in generated.stderr.split("\n") if "not resolved" in l]
        lacks = unknown[:2] or a["missing"][:2] or ["only what was disturbed"]
        notes.add(f"{name}, t{threads}: partial: {'; '.join(lacks)}")
    return {"model": name, "threads": threads, "type": type_, **least, "bound": bound,
            "roofline": roof,
            "prediction": ((layouts.get("prediction") or {}).get("total") or {}).get("ns"), "chain": chain,
            "best_to_bound": best and best / bound,
            "best_to_bound_at_one_clock": best_at_clock and best_at_clock / (1000 * bound / clock),
            "chain_to_best": chain and best and chain / best, "covered": a["coverage"]["measured"],
            "partial": a["partial"], "holes": holes_of(a), "versions": {FRAMEWORKS[f]: runs[0][2] for f, runs in both.items() if runs}}


def frameworks(arguments):
    any_bench()
    models = [Path(m).resolve() if m.endswith(".onnx") else WORK / "models" / f"{m}.onnx"
              for m in arguments.models or COMPARED]
    zoo_models = [m for m in arguments.models or COMPARED if not m.endswith(".onnx")]
    if zoo_models:
        run([BUILD / "benanza_generate", "zoo", "-q", *zoo_models, "-o", WORK / "models"])
    ratios = {"best_to_bound": "best / bound", "best_to_bound_at_one_clock": "at one clock",
              "chain_to_best": "chain / best"}
    arguments.machines, rows, beaten, failed, notes, versions = set(), [], [], [], set(), {}
    for threads, type_ in itertools.product(arguments.threads, arguments.types):
        header(f"{'ms, least times, ' + type_:<22}", "t", *(f"{f:>12}" for f in FRAMEWORKS.values()), f"{'bound':>9}",
               f"{'roofline':>9}", f"{'predicted':>9}", f"{'chain':>9}", *ratios.values(), "covered")
        for model in models:
            try:
                row = beside_frameworks(model, threads, type_, arguments, notes)
            except SystemExit:  # what failed was said; the others need not wait for another hour
                failed.append(f"{model.stem} ({type_}, {threads})")
                continue
            rows.append(row)
            versions |= row.pop("versions")
            mark = "  partial" if row["partial"] else ""
            if (row["best_to_bound_at_one_clock"] or 1) < 1:
                beaten.append(f"{row['model']} ({type_}, {threads})")
                mark += "  beaten"
            print(f"{row['model']:<22.22}  {threads}  " + "  ".join(f"   {shown(row[f])}" for f in FRAMEWORKS) + "  " +
                  "  ".join(shown(row[f]) for f in ("bound", "roofline", "prediction", "chain")) + "  " +
                  "  ".join(ratio_shown(row[r], len(said)) for r, said in ratios.items()) +
                  f"  {100 * row['covered']:6.1f}%{mark}", flush=True)
            (WORK / "frameworks_table.json").write_text(json.dumps(rows, indent=1) + "\n")
        told = {r: [row[r] for row in rows if (row["threads"], row["type"]) == (threads, type_) and row[r]]
                for r in ratios}
        print(f"geometric means, {type_}, {threads} thread{'s' if threads > 1 else ''}: " + ", ".join(
            f"{said} {statistics.geometric_mean(told[r]):.3f} of {len(told[r])}" for r, said in ratios.items() if told[r]))
    print("\nBest is the faster framework. Bound and roofline are the least of the fused and the rewritten form, the "
          "prediction is that of the fused. At one clock: that at "
          "which the chain on registers takes a microsecond; a framework's is the higher one of right before and after "
          f"it.\n{', '.join(f'{f} {v}' for f, v in versions.items())}; batch 1.")
    for note in sorted(notes):
        print("  " + note)
    holes = sorted(((h, row) for row in rows for h in row["holes"]), key=lambda h: h[0]["ns"] - h[0]["best_ns"])
    for h, row in holes[:20]:
        print(f"  {1e-3 * (h['best_ns'] - h['ns']):8.0f} us  {row['model']}, {row['type']}, {row['threads']}: "
              f"{h['count']} x {h['layer']}, {1e-3 * h['ns']:.0f} us in {h['framework']}, here {1e-3 * h['best_ns']:.0f}")
    if not holes:
        print("No operator of theirs is faster than all kernels that were measured here.")
    if beaten:
        print(f"The bound is beaten at its own clock, and so wrong: {', '.join(beaten)}")
    if failed:
        print(f"Not measured, as said above: {', '.join(failed)}")
    return 1 if beaten or failed else 0
