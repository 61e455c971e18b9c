# SPDX-License-Identifier: Apache-2.0
"""Measures on a machine that has a GPU and nothing else: no compiler, no network, no packages.

  scripts/gpu_check --pack DIR       at home: builds what such a machine needs, and gathers it in DIR
  DIR/gpu_check --stage NAME --out OUT      there; each stage takes less than --minutes (8)
  scripts/gpu_check --report OUT     at home: a page of what OUT holds, and data for tests, in OUT.report

  first    versions and facts, what NVML costs, one case of each library, the list of algorithms against the list
           that is made without a GPU, the GPU's ceilings in every type, one convolution by every algorithm
  second   one encoder layer, one decoder layer and ResNet-50 at batch 1, in f16, by the algorithms that the
           libraries propose; ResNet-50 as one graph of the best; PyTorch beside each, eager, compiled and as a graph
  third    products, attention and rows of a language model in f16 and e4m3; all of the second in tf32 and bf16
  more     whatever is left of these, then all algorithms, f32, batch 32, a run repeated

Before each unit stands how long it may take; one that does not fit into the time that is left waits for
the next command. What OUT holds already, and whole, is not done again: the same command goes on, on
another machine too, if OUT is there. OUT holds an archive of each stage, in parts of 15 MB, and
summary.txt; OUT.work is where they are unpacked. Exit status: 0 complete, 1 something is left or
failed, 2 refused.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from gpu.bench import Bench
from gpu.common import HERE, ROOT, SAID, Refused, say, words
from gpu.files import keep, kept, pack_up, unpack
from gpu.first import ALL_CEILINGS, CEILINGS, MORE_TYPES
from gpu.pack import pack
from gpu.report import report
from gpu.stages import STAGES, run_stage
from gpu.summary import next_command, summary
from gpu.torch_case import torch_case


def program_here():
    for folder in (HERE, ROOT / "build"):
        if os.access(folder / "benanza_bench", os.X_OK):
            return folder / "benanza_bench"
    return HERE / "benanza_bench"


def parse():
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=STAGES)
    parser.add_argument("--out", type=Path, default=Path("gpu_check_out"), help="folder of the results")
    parser.add_argument("--program", type=Path, help="benchmark program (default: beside this script)")
    parser.add_argument("--preload", help="library to be preloaded into it")
    parser.add_argument("--minutes", type=float, default=8, help="that a stage may take (8)")
    parser.add_argument("--models", type=words, help="in place of the stage's own")
    parser.add_argument("--graphs", type=Path, metavar="FILE",
                        help="what is measured, such as the pack's zoo.json or llm.json, to which --models must be given "
                             "too (default: models.json beside this script, or else what the program has)")
    parser.add_argument("--types", type=words, default=["f16", "tf32", "bf16", "f32"],
                        help="the first in the second stage, two more in the third (f16,tf32,bf16,f32)")
    parser.add_argument("--batches", type=lambda t: [int(b) for b in words(t)], default=[1, 32])
    parser.add_argument("--filter", default="-^machine/", help="only these cases, for a short trial")
    parser.add_argument("--ceilings", default=CEILINGS, metavar="REGEX|all",
                        help="the cases that are the GPU's ceilings; all: also copies between host and card, managed "
                             "memory and other processes")
    parser.add_argument("--effort", default="quick", help="as benanza_bench --effort")
    parser.add_argument("--algorithms", choices=["all", "proposed"],
                        help="as benanza_bench --algorithms, in all units but the ceilings, which are the best of all")
    parser.add_argument("--min-time", help="as benanza_bench --benchmark_min_time")
    parser.add_argument("--analyze", type=Path, help="benanza_analyze (default: beside this script)")
    parser.add_argument("--torch-device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--torch-case", help=argparse.SUPPRESS)
    parser.add_argument("--pack", type=Path, metavar="DIR", help="build, and gather what is needed")
    parser.add_argument("--tools", default="build", help="build folder that --pack takes the programs from")
    parser.add_argument("--report", type=Path, metavar="OUT", help="what came home, as a page and as data")
    return parser.parse_args()


def complete(arguments):
    """What follows from the options."""
    arguments.work = arguments.out.with_name(arguments.out.name + ".work")
    if arguments.analyze is None and os.access(HERE / "benanza_analyze", os.X_OK):
        arguments.analyze = HERE / "benanza_analyze"
    if arguments.graphs is None and (HERE / "models.json").exists():
        arguments.graphs = HERE / "models.json"
    if arguments.ceilings == "all":
        arguments.ceilings = ALL_CEILINGS
    arguments.pace = ["--effort", arguments.effort,
                      *([f"--benchmark_min_time={arguments.min_time}"] if arguments.min_time else [])]
    arguments.sampling = ["--states", "hot,coldw", *arguments.pace]
    for stage in STAGES:
        unpack(arguments.out, arguments.work, stage)
    asked = arguments.work / "first" / "asked.json.gz"  # for a report, which is made elsewhere
    if arguments.report:
        for name, value in (kept(asked) or {}).items():
            setattr(arguments, name, value)
    else:
        keep(asked, {name: getattr(arguments, name) for name in ("models", "types", "batches", "algorithms")})
    first, *others = arguments.models or ["resnet50-v1", "encoder@layers", "decoder@layers"]
    arguments.resnet, arguments.layer_models = first.split("@")[0], others
    arguments.more_layers = [] if arguments.models else ["llm@layers"]
    arguments.more_types = MORE_TYPES
    return arguments


def main():
    arguments = parse()
    if arguments.torch_case:
        return torch_case(arguments.torch_case)
    if arguments.pack:
        return pack(arguments)
    if arguments.report:
        arguments.out = arguments.report
        return report(complete(arguments))
    if not arguments.stage:
        raise Refused(f"which stage? give --stage {', '.join(STAGES)}, --pack DIR, or --report OUT")
    arguments.out.mkdir(parents=True, exist_ok=True)
    complete(arguments)
    started = time.monotonic()
    bench = Bench((arguments.program or program_here()).absolute(), arguments, started + 60)
    bench.ends = started + 60 * arguments.minutes
    try:
        units, left_over = run_stage(arguments, bench)
    finally:
        for stage in STAGES:
            pack_up(arguments.out, arguments.work, stage)
    SAID.clear()
    failed = summary(arguments, units)
    if arguments.analyze:  # what it said is part of the archives
        for stage in STAGES:
            pack_up(arguments.out, arguments.work, stage)
    if left_over:
        say(f"left for the next command: {', '.join(left_over)}")
    bench.ends = time.monotonic() + 60  # to look, not to measure
    following = next_command(arguments, bench)
    say(f"{arguments.stage}: {time.monotonic() - started:.0f} s"
        f"{', with failures' if failed else ''}; next: "
        + (f"gpu_check --stage {following} --out {arguments.out}" if following else "nothing, all is there"))
    (arguments.out / "summary.txt").write_text("\n".join(SAID) + "\n")
    return 1 if failed or left_over else 0


def run():
    try:
        return main()
    except Refused as problem:
        print(f"gpu_check: {problem}".replace("\n", " "), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
