# SPDX-License-Identifier: Apache-2.0
"""A framework and our chain of the same model, in turns: what others do to the machine meets both alike.

The framework keeps its session; the benchmark program starts anew in each turn and verifies the chain. Its
entries of all turns come into one result, where entries of one case are one measurement.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from frameworks.common import Refused, one_line

TREE = Path(__file__).resolve().parent.parent.parent


def bench_program(asked):
    """The program that runs plans."""
    built = TREE / "build" / "benanza_bench"
    found = asked or (built if built.exists() else shutil.which("benanza_bench"))
    if not found or not Path(found).is_file():
        raise Refused("benanza_bench is not built: cmake --build build --target benanza_bench, or say --bench PROGRAM")
    return Path(found).resolve()


def plan_facts(path):
    """Of which model a plan is, for which batch, and on how many threads."""
    try:
        plan = json.loads(Path(path).read_text())
        return str(plan["graph"]["model"]), int(plan["graph"].get("batch", 1)), int(plan["threads"])
    except (ValueError, TypeError, KeyError):
        raise Refused(f"{path}: no plan of benanza_analyze --plan") from None


def run_chain(arguments, processors):
    """One turn of the chain, on all processors that this process began with: the program binds itself."""
    with tempfile.TemporaryDirectory(prefix="benanza-chain-") as folder:
        out = Path(folder) / "chain.json"
        done = subprocess.run([arguments.bench, "--plan", arguments.plan, f"--benchmark_out={out}"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: os.sched_setaffinity(0, processors))
        result = json.loads(out.read_text()) if done.returncode in (0, 1) and out.is_file() else None
    rows = result["benchmarks"] if result else []
    failed = next((row["error_message"] for row in rows if row.get("error_occurred")), "")
    if failed or not rows:
        raise Refused(f"{arguments.plan}: {one_line(failed or done.stderr or 'no chain ran')}")
    return result


def in_turns(some, arguments, processors):
    """The framework's samples, and the chain's result."""
    samples, result = [], None
    for _ in range(arguments.turns):
        samples += some(arguments.seconds / arguments.turns)
        turn = run_chain(arguments, processors)
        if result is None:
            result = turn
        else:
            result["benchmarks"] += turn["benchmarks"]
    return samples, result
