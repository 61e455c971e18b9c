# SPDX-License-Identifier: Apache-2.0
"""Does normal effort find the figures of exhaustive effort, and how much sooner?"""

import json
import statistics

from proofs.figures import at_one_clock, expected_at_one_clock, header, percent
from proofs.programs import WORK, analyse, bench, build, layers_of

DIFFERENT_KINDS = ["squeezenet-v1.1", "lenet", "resnet18-v1", "bvlc-alexnet", "shufflenet",
                   "emotion-ferplus"]
AGREE = 0.01  # or as far as runs of the same effort differ among themselves


def apart(runs):
    """How far figures of runs of one effort lie apart, as a share."""
    return max(runs) / min(runs) - 1


def racing(arguments):
    models = arguments.models or DIFFERENT_KINDS
    program, _ = build(models, "racing")
    layers = "--benchmark_filter=-^machine/"
    header(f"{'model':<18}", "cases", "exhaustive s", "normal s", " ratio", "   bound", "its runs",
           "prediction", "its runs", "agree")
    for model in models:
        seconds = {"normal": [], "exhaustive": []}
        figures = {f: {"normal": [], "exhaustive": []} for f in ("bound", "prediction")}
        cases = 0

        parts = min(arguments.parts, len(layers_of(program, "--model", model + "@")))

        def measure(*efforts):
            """Runs that take turns part by part: what the machine does meanwhile meets all alike."""
            nonlocal cases
            took, files = [0.0] * len(efforts), [[] for _ in efforts]
            before = sum(map(len, seconds.values()))
            for part in range(1, parts + 1):
                for i, effort in enumerate(efforts):
                    files[i].append(WORK / f"racing_{model}_{before + i}_{effort}_{part}.json")
                    took[i] += bench(program, "--model", model + "@", "--effort", effort, layers,
                                     "--shard", f"{part}/{parts}", f"--benchmark_out={files[i][-1]}")[0]
            for i, effort in enumerate(efforts):
                seconds[effort].append(took[i])
                analysis = analyse(*files[i])[model + "@batch=1"]
                figures["bound"][effort].append(at_one_clock(analysis))
                figures["prediction"][effort].append(expected_at_one_clock(analysis))
                cases = sum(len(json.loads(file.read_text())["benchmarks"]) for file in files[i])

        def differs(f):
            of = figures[f]
            return statistics.mean(of["normal"]) / statistics.mean(of["exhaustive"]) - 1

        def own(f):
            return max(apart(runs) for runs in figures[f].values())

        def agree():
            return all(abs(differs(f)) <= max(AGREE, own(f)) for f in figures)

        measure("normal", "normal", "exhaustive", "normal", "normal")
        if not agree():  # how far do exhaustive runs differ?
            measure("exhaustive", "normal", "normal")
        long, short = (statistics.mean(seconds[e]) for e in ("exhaustive", "normal"))
        print(f"{model:<18}  {cases:5}  {long:12.1f}  {short:8.1f}  {long / short:6.1f}  "
              f"{percent(differs('bound'))}  {percent(own('bound'))}  "
              f"{percent(differs('prediction')):>10}  {percent(own('prediction'))}  "
              f"{'yes' if agree() else 'no':>5}", flush=True)
    print("Bounds and predictions are compared at one clock. Means of four runs of normal effort and one of the exhaustive one, "
          "or of six and two,\nwhich take turns part by part; \"its runs\": how far runs of the same effort lie apart. They "
          "agree if they differ by no more than that, or by 1 %.")
