# SPDX-License-Identifier: Apache-2.0
"""Something to find out, and how long that takes."""

from collections import Counter
from math import prod

from gpu.bench import listed, measured
from gpu.common import GPU_BACKENDS
from gpu.files import keep, kept
from gpu.result import layer_cases


class Unit:
    """Something to find out. What it found is kept under its name. Where it measures, `cases` says
    their names, and `of` is the (model, type) whose layers they are."""

    def __init__(self, stage, name, find, seconds=0.0, cases=None, of=None):
        self.stage, self.name, self.find = stage, name, find
        self.seconds, self.cases, self.of = seconds, cases, of
        self.case_s = None  # what a case takes, where that is not known from the layers'

    def path(self, arguments):
        return arguments.work / self.stage / f"{self.name}.json.gz"


class Pace:
    """How long cases take here: seconds to start, for each layer (its operands and the right results), and
    for each case by the backend that runs it. What units took says the last; at first it is a guess, which
    counts as much as a few cases."""

    START_S = 12.0
    LAYER_S = 0.25
    ELEMENT_S, STAND_IN_ELEMENT_S = 5e-8, 5e-7  # for each element of a layer's operands; a stand-in computes with them
    GUESS_S = {"quick": 0.12, "normal": 0.25, "thorough": 0.8}
    COMPILED_S = 0.15  # more for one of our own kernels, which are compiled first
    GUESSED_CASES = 20
    MARGIN = 1.25  # layers differ

    def __init__(self, arguments):
        self.file, self.effort = arguments.work / "first" / "pace.json.gz", arguments.effort
        self.element_s = self.STAND_IN_ELEMENT_S if arguments.preload else self.ELEMENT_S
        seen, guess = (kept(self.file) or {}).get(self.effort), self.GUESS_S.get(self.effort, 0.25)
        self.seen = seen if isinstance(seen, dict) else {  # cases and seconds
            b: [self.GUESSED_CASES, self.GUESSED_CASES * (guess + (self.COMPILED_S if b == "cuda" else 0))]
            for b in GPU_BACKENDS}

    def case_s(self, backend):
        cases, seconds = self.seen.get(backend, self.seen["cuda"])
        return self.MARGIN * seconds / cases

    def seconds(self, unit):
        if unit.cases is None:
            return unit.seconds
        names = unit.cases()
        if unit.case_s is not None:
            return self.START_S + unit.case_s * len(names)
        return self.before_cases(names) + sum(n * self.case_s(b) for b, n in by_backend(names).items())

    def before_cases(self, names):
        layers = {name.rsplit("/", 5)[0] for name in names}
        return self.START_S + self.LAYER_S * len(layers) + self.element_s * sum(map(elements, layers))

    def learn(self, took, found):
        """What a result says of its cases, and each case's part of the rest of its time."""
        cases = layer_cases(found) if found and "benchmarks" in found else []  # a ceiling's samples are longer
        if not cases:
            return
        own, counts, prepared = dict.fromkeys(GPU_BACKENDS, 0.0), Counter(), {}
        for b in cases:
            counts[b["backend"]] += 1
            own[b["backend"]] += b.get("sampling_ns", 0) * 1e-9
            key = (b["family"], b["key"], b["type"], b["backend"], b["algorithm"])  # all states are prepared once
            prepared[key] = max(prepared.get(key, 0), b.get("setup_ns", 0) * 1e-9)
        for key, seconds in prepared.items():
            own[key[3]] += seconds
        before = self.before_cases([b["name"] for b in cases])
        few = len(cases) < 20  # what started with them was more than they are
        rest = 0 if few else max(took - before - sum(own.values()), 0) / len(cases)
        for backend, count in counts.items():
            n, seconds = self.seen[backend]
            self.seen[backend] = [n + count, seconds + own[backend] + rest * count]
        keep(self.file, {**(kept(self.file) or {}), self.effort: self.seen})


def elements(layer):
    """Of the operands whose dims a layer's key has."""
    dims = (p.split("x") for p in layer.split("/", 1)[-1].split("-"))
    return sum(prod(map(int, d)) for d in dims if len(d) > 1 and all(n.isdigit() for n in d))


def by_backend(names):
    """How many cases each backend has."""
    return Counter(name.rsplit("/", 4)[1] for name in names)


def run_unit(arguments, bench, stage, name, model, t, algorithms):
    """A unit that measures the cases of a model in a type. The look at kernels' names is off: it runs each
    winner once more for each counter, and what it takes is not known before."""
    words = ["--model", model, "--types", t, bench.filter, *arguments.sampling, "--kernels", "none",
             "--algorithms", arguments.algorithms or algorithms]
    return Unit(stage, name, *measuring(arguments, bench, words), of=(model, t))


def measuring(arguments, bench, words):
    """How a unit measures what these words select: its `find`, its seconds, and the names of its cases."""
    count = []

    def cases():
        if not count:
            count.append(listed(bench, words))
        return count[0]

    def find(unit):
        if not cases():
            keep(unit.path(arguments), {"skipped": "no case is listed for this GPU"})
            return None
        return measured(bench, unit.path(arguments), words)

    return find, 0.0, cases
