# SPDX-License-Identifier: Apache-2.0
"""What was learnt, as tables and remarks: for the screen at the end of a stage, and for the page of a report."""

from gpu.bench import analysed
from gpu.common import GPU_BACKENDS, say, text_table
from gpu.files import kept
from gpu.first import MOVED, ONCE
from gpu.result import HEADER, layer_cases, reasons, row_of, spread, sums
from gpu.stages import STAGES, ours
from gpu.torch_case import MODES

TYPES = ("f32", "tf32", "f16", "bf16", "e4m3")


class Answer:
    """Tables, each with a name and a header, remarks under them, and whether anything failed."""

    def __init__(self):
        self.tables, self.remarks, self.failed = [], [], False

    def add(self, name, header, rows):
        if rows:
            self.tables.append((name, list(header), [[str(c) for c in row] for row in rows]))

    def lines(self):
        for _, header, rows in self.tables:
            yield from text_table(header, rows)
        yield from self.remarks


def best_ceilings(result):
    """What the GPU reached of each kind, in the order in which it is asked for: [what, figure, unit, by]."""
    best, least = {}, {}
    for b in result["benchmarks"]:
        if b.get("family") != "machine" or b.get("error_occurred") or b.get("min_ns", 0) <= 0:
            continue
        kind = b["key"].split("-")[0]
        how = f"{b['backend']} {b['algorithm']}"
        if b["flops"] > 0:
            at, rate = (kind, b["type"]), b["flops"] / 1000 / b["min_ns"]
        elif b["bytes"] > 0:
            at, rate = (kind, ""), b["bytes"] / b["min_ns"]
        else:
            least[kind] = min(least.get(kind, (b["min_ns"], how)), (b["min_ns"], how))
            continue
        best[at] = max(best.get(at, (0, "")), (rate, how))

    def place(at):
        kind, t = at
        moved = MOVED.split("|")
        return (not t, TYPES.index(t) if t in TYPES else 9, kind) if t else (
            True, moved.index(kind) if kind in moved else len(moved), kind)

    rows = [[" ".join(filter(None, at)), f"{best[at][0]:.1f}", "TFLOP/s" if at[1] else "GB/s", best[at][1][:40]]
            for at in sorted(best, key=place)]
    once = ONCE.split("|")
    order = sorted(least, key=lambda kind: (once.index(kind) if kind in once else len(once), kind))
    return rows + [[kind, f"{least[kind][0] / 1000:.2f}", "us", least[kind][1][:40]] for kind in order]


def add_libraries(answer, found):
    provenance = found["context"]["benanza"]["provenance"]
    told = {}  # most facts are the same for all backends
    for key, value in provenance["software"].items():
        backend, _, fact = key.partition("_")
        if backend in GPU_BACKENDS:
            told.setdefault(fact, {})[backend] = value
    rows = [[fact if len(set(by.values())) == 1 and len(by) > 1 else f"{b} {fact}", v[:60]]
            for fact, by in told.items() for b, v in by.items()]
    rows += [[k, v[:60]] for k, v in provenance["measuring"].items()
             if k.startswith("device_") or k == "kernels"]
    answer.add("Libraries", ["fact", "value"], [list(row) for row in sorted(set(map(tuple, rows)))])
    cases = layer_cases(found)
    rows = [[b["name"][:60], b.get("error_message", "")[:60] or f"{b['min_ns'] / 1000:.2f}"] for b in cases]
    answer.add("One case of each library", ["one case of each library", "us"], rows)
    answer.remarks += [f"  {b['backend']} ran {kernel['name'][:90]}" for b in cases for kernel in b.get("kernels", [])]
    answer.failed = answer.failed or any(b.get("error_occurred") for b in cases)


def torch_row(name, found, total):
    times = [found.get(mode, {"error": "not run"}) for mode in MODES]
    best = min((t["min_ms"] for t in times if "error" not in t), default=None)
    return [name, *(f"{t['median_ms']:.3f}" if "error" not in t else "-" for t in times),
            *(f"{total[s]:.3f}" if total else "-" for s in ("hot", "coldw")),
            f"{best / total['hot']:.2f}x" if best and total and total["hot"] else "-"]


def plan_row(name, found, answer):
    """A whole model's times in order and with its branches side by side; adds why there are none."""
    took = {b["algorithm"]: b for b in found["benchmarks"] if b["family"] == "model"}
    wrong = [f"  {name}, {how}: {b['error_message']}" for how, b in took.items() if b.get("error_occurred")]
    answer.remarks += wrong
    answer.failed = answer.failed or "plan" not in took or "error_occurred" in took["plan"]
    return [name, *(f"{took[how]['median_ns'] / 1e6:.3f}" if how in took and not took[how].get("error_occurred")
                    else "-" for how in ("plan", "streams"))]


def add_lists(answer, name, found):
    apart = {layer: l["only here"] + l["only without GPU"] for layer, l in found.items()}
    answer.add("Lists", ["list", "with and without a GPU", "only a GPU can list", "in one of them only"],
               [[name, sum(len(l["both"]) for l in found.values()), sum(len(l["needs a GPU"]) for l in found.values()),
                 sum(map(len, apart.values()))]])
    answer.remarks += [f"  {name}: {layer}: {', '.join(names[:4])}" for layer, names in apart.items() if names][:4]


def learnt(arguments, units):
    """The answer of these units, as far as they are there."""
    answer, rows, plans, rivals, results = Answer(), [], [], [], {}
    for unit in units:
        found = kept(unit.path(arguments))
        if found is None:
            continue
        if "skipped" in found:
            answer.remarks.append(f"  {unit.name}: skipped: {found['skipped']}")
        elif unit.name == "facts":
            answer.add("Machine", ["fact", "value"], sorted([k, str(v)[:60]] for k, v in found.items()))
        elif unit.name == "libraries":
            add_libraries(answer, found)
        elif unit.name == "ceilings":
            answer.add("Ceilings", ["ceiling", "at most", "unit", "by"], best_ceilings(found))
        elif unit.name.startswith("lists"):
            add_lists(answer, unit.name, found)
        elif unit.of:
            rows.append(row_of(unit.name, found, *unit.of))
            results[unit.name] = (found, unit.of)
            answer.failed = answer.failed or bool(reasons(found))
            answer.remarks += [f"  {unit.name}: {count} x {why}" for why, count in reasons(found)[:3]]
            _, missing, others = sums(found, *unit.of) if unit.of[0] else (0, [], [])
            if missing:
                answer.remarks.append(f"  {unit.name}: nothing here runs {', '.join(missing[:6])}"
                                      f"{' ...' if len(missing) > 6 else ''}")
            if others:
                answer.remarks.append(f"  {unit.name}: {len(others)} layers in another type")
        elif unit.name.startswith("plan"):
            plans.append(plan_row(unit.name, found, answer))
        elif unit.name.startswith("pytorch"):
            model, t = unit.beside
            errors = [f"  {unit.name}, {mode}: {found[mode]['error']}" for mode in MODES
                      if "error" in found.get(mode, {})]
            answer.remarks += errors
            answer.failed = answer.failed or bool(errors)
            result = ours(arguments, model, t)
            rivals.append(torch_row(unit.name, found, sums(result, model.name, t)[0] if result else None))
    answer.add("Layers", HEADER, rows)
    answer.add("Whole models", ["whole model", "as one graph ms", "branches side by side ms"], plans)
    answer.add("PyTorch", ["PyTorch", *(f"{mode} ms" for mode in MODES), "our sum hot ms", "coldw ms", "its best/hot"],
               rivals)
    if rivals:
        answer.remarks.append("our sums: the fastest algorithm of each layer, one by one, none fused")
    for name in [n for n in results if n.endswith("_again") and n[:-len("_again")] in results]:
        answer.remarks.append("two runs of the same cases differ by")
        answer.add("Two runs of the same cases", ["state", "median", "p90", "most", "cases"],
                   [[state, *(f"{100 * v:.2f}%" for v in figures[:3]), figures[3]] for state, figures
                    in spread(results[name[:-len("_again")]][0], results[name][0]).items()])
    return answer, results


def summary(arguments, units):
    """A screen of what was learnt. Returns whether anything failed."""
    answer, results = learnt(arguments, units)
    for line in answer.lines():
        say(line)
    for unit in units:
        if unit.name in results:
            analysed(arguments, results[unit.name][0], unit.path(arguments).with_name(f"{unit.name}.analysis.txt"))
    return answer.failed


def next_command(arguments, bench):
    """The stage that has something left, the earliest first; None if none has."""
    for stage, units in STAGES.items():
        if any(kept(u.path(arguments)) is None for u in units(arguments, bench)):
            return stage
    return None
