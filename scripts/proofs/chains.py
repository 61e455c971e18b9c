# SPDX-License-Identifier: Apache-2.0
"""How long does a whole model take by our own choice of kernels?"""

import json

from proofs.programs import BUILD, WORK, bench, run


def plan_of(name, results, *options):
    """Our own choice of kernels for a model; None, with the reason."""
    plan = WORK / f"chain_{name}.plan"
    done = run([BUILD / "benanza_analyze", *results, *options, "--plan", plan], fine=(0, 1, 2))
    return (None, done.stderr.strip().split("\n")[-1]) if done.returncode == 2 else (plan, None)


def in_chain(name, results, *options):
    """The least time of the whole model by our own choice of kernels in ns; None, with the reason."""
    plan, why = plan_of(name, results, *options)
    return run_plan(plan) if plan else (None, why)


def run_plan(plan):
    """The least time of a plan's chain in ns; None, with the reason."""
    whole = plan.with_suffix(".json")
    _, done = bench(BUILD / "benanza_bench", "--plan", plan, f"--benchmark_out={whole}", check=False)
    cases = json.loads(whole.read_text())["benchmarks"] if done.returncode in (0, 1) else []
    if not cases or cases[0].get("error_occurred"):
        return None, (cases[0]["error_message"] if cases else done.stderr.strip().split("\n")[-1])
    return cases[0]["min_ns"], None
