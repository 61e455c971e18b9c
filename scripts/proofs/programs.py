# SPDX-License-Identifier: Apache-2.0
"""How are the programs built and called, and where is what they write kept?"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
WORK = BUILD / "prove"
PROCESSOR = ["--backends", "host,onednn"]  # with a GPU there would be many more cases


def stop(said):
    """Ends the program for what it cannot do; status 1 is for what is measured and not as promised."""
    print(f"prove: {said}", file=sys.stderr)
    sys.exit(2)


def run(command, fine=(0,), **options):
    """Runs a command; ends the program with what it said where its status is not a fine one."""
    done = subprocess.run([str(c) for c in command], cwd=ROOT, text=True, capture_output=True, **options)
    if done.returncode not in fine:
        said = done.stderr or done.stdout[-2000:]
        stop(f"failed ({done.returncode}): {' '.join(map(str, command))}\n{said}")
    return done


def build(models, name, layers=()):
    """The benchmark program of some models of the zoo, or of layers; says how long that took."""
    files = []
    for model in models:
        file = WORK / "models" / f"{model}.onnx"
        if not file.exists():
            run([BUILD / "benanza_generate", "zoo", model, "-o", file.parent])
        files.append(file)
    if layers:
        file = WORK / f"{name}.txt"
        file.write_text("\n".join(layers) + "\n")
        files = ["--layers", file]
    started = time.monotonic()
    folder, built = ROOT / "generated" / f"prove_{name}", WORK / f"bench_{name}"
    run([BUILD / "benanza_generate", *files, "-o", folder])
    run(["cmake", "-S", ROOT, "-B", BUILD, f"-DBENANZA_GENERATED={folder}"])
    run(["cmake", "--build", BUILD, "--target", "benanza_bench", "benanza_analyze"])
    shutil.copy2(BUILD / "benanza_bench", built)
    return built, time.monotonic() - started


def any_bench():
    """A benchmark program measures what graphs it is given, whatever it was made of."""
    if not (BUILD / "benanza_bench").exists():
        run(["cmake", "--build", BUILD, "--target", "benanza_bench"])


def forget(store):
    """Removes a store of ours, with what is beside it."""
    for file in WORK.glob(f"{store}.db*"):
        file.unlink()


def bench(program, *options, check=True):
    """Runs a benchmark from the start; its seconds, and its exit status."""
    for out in (o for o in map(str, options) if o.startswith("--benchmark_out=")):
        Path(out.split("=", 1)[1] + ".unfinished").unlink(missing_ok=True)
    started = time.monotonic()
    done = subprocess.run([str(program), *PROCESSOR, *map(str, options)], cwd=ROOT, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if check and done.returncode not in (0, 1):
        stop(f"{program.name} {options} failed ({done.returncode}): {done.stderr}")
    return time.monotonic() - started, done


def analyse(*results, options=(), whole=True):
    """The analyses of some results, by model; ends the program where one must be `whole` and is not."""
    done = run([BUILD / "benanza_analyze", *results, "--format", "json", *options], fine=(0, 1))
    analyses = {a["model"]: a for a in json.loads(done.stdout)["analyses"]}
    for name, a in analyses.items():
        if whole and a["partial"]:
            stop(f"{name}: {' '.join(map(str, results))} lack layers: {a['coverage']['holes'][:3]}")
    return analyses


def layers_of(program, *options):
    """The layers that a benchmark measures on the processor."""
    listed = run([program, "--benchmark_list_tests", "--benchmark_filter=-^machine/", *PROCESSOR,
                  *options]).stdout
    return {"/".join(name.split("/")[:2]) for name in listed.split()}
