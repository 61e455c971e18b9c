# SPDX-License-Identifier: Apache-2.0
"""The stages: what is found out, and in which order. What tells most comes first: whole models by the algorithms
that libraries propose, each with a framework beside it; all algorithms, other types and batches later."""

import json
import subprocess
import time

from gpu.bench import measured, unfinished_of
from gpu.common import Refused, TimeOver, say
from gpu.files import keep, kept
from gpu.first import first_stage
from gpu.torch_layers import DTYPES
from gpu.torch_units import pytorch_unit, rivals_unit
from gpu.units import Pace, Unit, run_unit


class Model:
    """A model to measure: `label` is the begin of its units' names, `name` what --model takes."""

    def __init__(self, label, name, batch=1):
        self.label, self.name, self.batch = label, name, batch
        self.whole = not name.endswith("@layers")  # else layers without a graph around them


def network(arguments, batch):
    return Model(f"{arguments.resnet}_b{batch}", f"{arguments.resnet}@batch={batch}", batch)


def models(arguments):
    """The layers of transformers, then the network at its first batch."""
    return [*(Model(m.split("@")[0], m) for m in arguments.layer_models), network(arguments, arguments.batches[0])]


def layers_unit(arguments, bench, stage, model, t, algorithms, more=""):
    return run_unit(arguments, bench, stage, f"{model.label}_{t}{more}", model.name, t, algorithms)


def ours(arguments, model, t):
    """The result of a model's layers in a type, that of all algorithms if there is one."""
    for more in ("_all", ""):
        for stage in STAGES:
            found = kept(arguments.work / stage / f"{model.label}_{t}{more}.json.gz")
            if found is not None and "skipped" not in found:
                return found
    return None


def plan_unit(arguments, bench, stage, model, t):
    """The whole model as one graph, by the algorithms that its layers' times choose; with the look at kernels."""

    def find(unit):
        if arguments.analyze is None:
            keep(unit.path(arguments), {"skipped": "benanza_analyze is not at hand"})
            return None
        result = ours(arguments, model, t)
        if result is None:
            raise TimeOver()  # its layers are not measured yet
        unit.path(arguments).parent.mkdir(parents=True, exist_ok=True)
        plan, why = unit.path(arguments).with_name(f"{unit.name}.plan.json"), ""
        for form in ([], ["--unfused"]):
            done = subprocess.run([arguments.analyze, "--device", "gpu", "--model", model.name, "--type", t, "-q",
                                   "--plan", plan, *form], input=json.dumps(result), text=True, capture_output=True)
            why = done.stderr.strip()
            if plan.exists():
                return measured(bench, unit.path(arguments), ["--plan", plan, *arguments.pace, "--kernels", "winners"])
        keep(unit.path(arguments), {"skipped": f"no plan: {why[:300]}"})
        return None

    return Unit(stage, f"plan_{model.label}_{t}", find, 60)


def whole(arguments, bench, stage, model, t, algorithms="proposed"):
    """A model's layers, the model as one graph, and PyTorch beside both."""
    yield layers_unit(arguments, bench, stage, model, t, algorithms)
    if model.whole:
        yield plan_unit(arguments, bench, stage, model, t)
    yield pytorch_unit(arguments, bench, stage, model, t)
    yield rivals_unit(arguments, bench, stage, model, t, ours)


def second_stage(arguments, bench):
    for model in models(arguments):
        yield from whole(arguments, bench, "second", model, arguments.types[0])


def third_stage(arguments, bench):
    for name in arguments.more_layers:
        for t in (arguments.types[0], *arguments.more_types):
            model = Model(name.split("@")[0], name)
            yield layers_unit(arguments, bench, "third", model, t, "proposed")
            if t in DTYPES:
                yield rivals_unit(arguments, bench, "third", model, t, ours)
    for t in arguments.types[1:3]:
        for model in models(arguments):
            yield from whole(arguments, bench, "third", model, t)


def more_stage(arguments, bench):
    for stage in (first_stage, second_stage, third_stage):
        yield from stage(arguments, bench)
    for t in arguments.types[:3] if arguments.algorithms is None else []:
        for model in models(arguments):
            yield layers_unit(arguments, bench, "more", model, t, "all", "_all")
    yield layers_unit(arguments, bench, "more", network(arguments, arguments.batches[0]), arguments.types[0], "proposed",
                      "_again")
    for t in arguments.types[3:]:
        for model in models(arguments):
            yield from whole(arguments, bench, "more", model, t)
    for batch in arguments.batches[1:]:
        for t in arguments.types:
            yield from whole(arguments, bench, "more", network(arguments, batch), t)


STAGES = {"first": first_stage, "second": second_stage, "third": third_stage, "more": more_stage}


def run_stage(arguments, bench):
    """Does what is open and fits into the time; returns the units, and the names of those left."""
    units = list(STAGES[arguments.stage](arguments, bench))
    pace, left_over = Pace(arguments), []
    whole_s = 60 * arguments.minutes
    for unit in units:
        if kept(unit.path(arguments)) is not None:
            say(f"{unit.name}: kept")
            continue
        try:
            needs, left = pace.seconds(unit), bench.ends - time.monotonic()
            count = "" if unit.cases is None else f"{len(unit.cases())} cases, "
            say(f"{unit.name}: {count}about {needs:.0f} s, {max(left, 0):.0f} s are left")
            # One that is longer than a whole command is begun in one that has just begun, and goes on.
            if left <= 0 or needs > left and (needs <= whole_s or left < whole_s / 2):
                left_over.append(unit.name)
                continue
            started, resumed = time.monotonic(), unfinished_of(unit.path(arguments)).exists()
            found = unit.find(unit)
            took = time.monotonic() - started
            say(f"{unit.name}: took {took:.0f} s")
            if not resumed:
                pace.learn(took, found)
        except TimeOver:
            left_over.append(unit.name)
        except Refused as problem:
            if unit is units[0]:
                raise
            say(f"{unit.name}: {problem}")
            left_over.append(unit.name)
    return units, left_over
