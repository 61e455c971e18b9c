# SPDX-License-Identifier: Apache-2.0
"""Did a change make a model slower? For a job of continuous integration: old and new are measured in turns, a few
hundredths of a second each, so that another machine, its clock and its neighbours are the same for both.

  benanza ci old.onnx new.onnx                                     # another model
  benanza ci model.onnx --old-python old/bin/python                # another version of the framework than this Python's
  benanza ci model.onnx --new-set graph_optimization_level=basic   # another setting of it
  benanza ci model.onnx --old-programs old/build                   # other kernels: benanza_bench of another build
  benanza ci old.onnx new.onnx --limit 'gap<1.5' --limit 'bound<20ms'

Writes into a folder (-o): ci.md (for a comment), ci.xml and limits.xml (JUnit), compare.json, and page.html of the new
side. --limit holds figures of the new side to limits, as benanza_analyze has them: ratios to the bound (gap) are of
this job's own measurements, and do not depend on which machine it got.

Exit status: 0 not slower, or not sure; 2 refused; 3 slower, or a limit is broken; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benanza import door
from benanza.programs import SCRIPTS, Error, Parser, folder_of_programs

SIDES = ("old", "new")


class Side(NamedTuple):
    name: str
    model: Path
    python: str
    programs: Path


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser("benanza ci", __doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.onnx", help="old and new, or one for both")
    parser.add_argument("--framework", choices=door.ONNX_FRAMEWORKS, default="onnxruntime", help="onnxruntime by default")
    for name in SIDES:
        parser.add_argument(f"--{name}-python", metavar="FILE", help=f"the Python that has the {name} framework")
        parser.add_argument(f"--{name}-programs", type=Path, metavar="FOLDER", help=f"the {name} build: kernels are "
                            "compared, and no framework")
        parser.add_argument(f"--{name}-set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the "
                            f"{name} framework, as measure_framework takes it")
    parser.add_argument("--batch", type=int, metavar="N")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="a symbolic dim's value")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=DIMS", help="an input's dims")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="1 by default")
    parser.add_argument("--starts", type=int, metavar="N", help="of each side: 20, of builds 4")
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="that a side of a framework is timed in "
                        "each start, and half as long with its profiler (0.5)")
    parser.add_argument("--min-change", default="2%", metavar="P%%", help="a change of less is none (2%%)")
    parser.add_argument("--chance", default="0.1%", metavar="P%%", help="of calling equal sides slower, in each table "
                        "(0.1%%)")
    parser.add_argument("--limit", action="append", default=[], metavar="LIMIT", help="'gap<1.5', 'expected<20ms', of the "
                        "new side")
    parser.add_argument("--without-bound", action="store_true", help="compare alone, and measure no layers")
    parser.add_argument("-o", "--output", type=Path, default=Path("benanza-ci"), metavar="FOLDER")
    a = parser.parse_args(words)
    if len(a.models) > 2:
        raise Error("one model, or an old and a new one")
    for model in a.models:
        if not model.is_file():
            raise Error(f"{model}: no such file")
    a.builds = bool(a.old_programs or a.new_programs)
    of_framework = [a.old_python, a.new_python, *a.old_set, *a.new_set]
    if a.builds and (len(a.models) == 2 or any(of_framework)):
        raise Error("--old-programs and --new-programs compare builds by one model, without a framework")
    if len(a.models) == 1 and not (a.builds or any(of_framework)):
        raise Error("what is compared? Give two models, or --old-python, --new-set, --old-programs")
    a.starts = a.starts or (4 if a.builds else 20)
    if a.without_bound and a.limit:
        raise Error("--limit is of figures that --without-bound leaves out")
    if a.starts < 2:
        raise Error(f"--starts {a.starts}: at least 2")
    return a


def sides_of(a: argparse.Namespace) -> tuple[Side, Side]:
    old, new = (Side(name, model, getattr(a, f"{name}_python") or sys.executable,
                     folder_of_programs(getattr(a, f"{name}_programs")))
                for name, model in zip(SIDES, (a.models[0], a.models[-1])))
    return old, new


def dims_of(a: argparse.Namespace) -> list[object]:
    return [*(["--batch", a.batch] if a.batch else []), *(w for d in a.dim for w in ("--dim", d)),
            *(w for s in a.shape for w in ("--shape", s))]


def start(a: argparse.Namespace, side: Side, seconds: float, file: Path, *more: object, **how: Any) -> Any:
    here = ["--here"] if getattr(a, f"{side.name}_python") else []
    sets = [w for s in getattr(a, f"{side.name}_set") for w in ("--set", s)]
    words = [side.python, SCRIPTS / "measure_framework", a.framework, side.model, *dims_of(a), *here, *sets,
             "--threads", a.threads, "--seconds", seconds, "-o", file, *more]
    return subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, **how)


def frameworks_in_turns(a: argparse.Namespace, sides: tuple[Side, Side]) -> list[list[Path]]:
    """The files of each side's starts."""
    for side in sides:  # what cannot run says so; what lacks is installed; and the processor is awake
        door.began(f"trying {a.framework} with {side.model}")
        with start(a, side, 0.05, a.output / "first.json", "--no-profile") as trying:
            if trying.wait():
                raise door.Ended(2)
    files: list[list[Path]] = [[], []]
    for n in range(a.starts):
        door.began(f"start {n + 1} of {a.starts}")
        (old_reads, new_writes), (new_reads, old_writes) = os.pipe(), os.pipe()
        pipes = ((old_reads, old_writes), (new_reads, new_writes))
        running = []
        for i, side in enumerate(sides):
            file = a.output / f"{side.name}-{n + 1}.json"
            files[i].append(file)
            first = int((i + n) % 2 == 0)  # who begins alternates
            running.append(start(a, side, a.seconds, file, "--take-turns", ",".join(map(str, (*pipes[i], first))),
                                 pass_fds=pipes[i], stderr=subprocess.PIPE))
        for pipe in pipes:
            for end in pipe:
                os.close(end)
        try:
            for side, process in zip(sides, running):
                said = process.communicate()[1].decode(errors="replace").strip().splitlines()
                if process.returncode:
                    raise Error(f"{side.model}: {said[-1] if said else f'status {process.returncode}'}")
        finally:
            for process in running:  # one that is left would measure alone
                process.kill()
                process.wait()
    return files


def builds_in_turns(a: argparse.Namespace, sides: tuple[Side, Side]) -> list[list[Path]]:
    files: list[list[Path]] = [[], []]
    layers = a.output / "layers"
    door.run([sides[1].programs / "benanza_generate", a.models[0], "--no-sources", "-o", layers, *dims_of(a)],
             stdout=sys.stderr)
    for n in range(a.starts):
        for i in (n % 2, 1 - n % 2):  # who begins alternates
            door.began(f"start {n + 1} of {a.starts}, {sides[i].name}")
            file = a.output / f"{sides[i].name}-{n + 1}.json"
            door.run([sides[i].programs / "benanza_bench", "--graphs", layers / "graphs.json", "--threads", a.threads,
                      "--effort", "quick", "--quiet", f"--benchmark_out={file}"], stdout=subprocess.DEVNULL)
            files[i].append(file)
    return files


def in_one_file(files: list[Path], out: Path) -> None:
    """All starts of a framework as one run of it."""
    runs = [json.loads(f.read_text()) for f in files]
    samples = [ns for r in runs for ns in r["samples_ns"]]
    out.write_text(json.dumps({**runs[-1], "count": len(samples), "min_ns": min(samples),
                               "median_ns": statistics.median(samples), "samples_ns": samples}))


def beyond_limits(a: argparse.Namespace, side: Side, files: list[Path]) -> bool:
    """The page of the new side goes behind the comparison; true: a limit is broken."""
    analyze, text, page = side.programs / "benanza_analyze", a.output / "ci.md", a.output / "page.md"
    limits = [w for limit in a.limit for w in ("--limit", limit)]
    if a.builds:
        of_new = [analyze, *files, "--merge", *limits]
        broken = door.run(of_new, fine=(0, 1, 3)) == 3
        door.run([*of_new, "--format", "md", "-o", page], fine=(0, 1, 3), stderr=subprocess.DEVNULL)
    else:
        run = a.output / "new.json"
        in_one_file(files, run)
        store = a.output / "bound"
        measure = [side.model, "--quick", "-o", store, "--threads", a.threads, *dims_of(a)]
        broken = door.page_of_model([*map(str, measure), "--", "--framework", str(run), *limits]) == 3
        graphs = json.loads((store / side.model.stem / "layers" / "graphs.json").read_text())["graphs"]
        of_new = [analyze, store / "results.db", "--model", graphs[0]["model"], "--framework", run, *limits]
        door.run([*of_new, "--format", "md", "-o", page], fine=(0, 1, 3), stderr=subprocess.DEVNULL)
    if limits:
        door.run([*of_new, "--format", "junit", "-o", a.output / "limits.xml"], fine=(0, 1, 3), stderr=subprocess.DEVNULL)
    text.write_text(text.read_text() + "\n" + page.read_text())
    return broken


def main(words: list[str]) -> int:
    a = parse(words)
    sides = sides_of(a)
    a.output.mkdir(parents=True, exist_ok=True)
    files = (builds_in_turns if a.builds else frameworks_in_turns)(a, sides)
    compare = [sides[1].programs / "benanza_analyze", "compare", "--in-turns", "--min-change", a.min_change, "--chance", a.chance,
               *(w for option, of in zip(("--old", "--new"), files) for f in of for w in (option, f))]
    text = a.output / "ci.md"
    for kind, out in (("json", a.output / "compare.json"), ("junit", a.output / "ci.xml"), ("md", text)):
        door.run([*compare, "--format", kind, "-o", out], fine=(0, 1, 3), stderr=subprocess.DEVNULL)
    slower = door.run(compare, fine=(0, 1, 3)) == 3
    broken = not a.without_bound and beyond_limits(a, sides[1], files[1])
    print(f"\nbenanza ci: {'slower' if slower else 'not slower, or not sure'}"
          f"{', and a limit is broken' if broken else ''}; as Markdown: {text}", file=sys.stderr)
    return 3 if slower or broken else 0
