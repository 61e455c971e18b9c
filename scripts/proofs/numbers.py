# SPDX-License-Identifier: Apache-2.0
"""Do the reference and the processor's algorithms compute a model's numbers as ONNX Runtime does, node by node?"""

import os
import shutil
import subprocess
import sys

from proofs.models import COMPARED, SIZES_OF, onnx_files
from proofs.node_tests import node_tests_program, try_node_tests
from proofs.programs import ROOT, WORK


def written(model, folder, dims):
    """What ONNX Runtime computes of the model, as a folder; else why there is none."""
    done = subprocess.run([sys.executable, "-m", "frameworks.node_values", str(model), str(folder), *dims], text=True,
                          capture_output=True, cwd=ROOT / "scripts", env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
    lines = [l for l in done.stderr.splitlines() if l.strip()]
    return "" if done.returncode == 0 else lines[-1] if lines else f"it ended with {done.returncode}"


def numbers(arguments):
    """With the weights of the file, drawn ones where it has none; each node's result beside ONNX Runtime's."""
    program, wrong, refused = node_tests_program(), [], []
    print(f"{'':<40}  {'nodes':>6}  {'runs':>6}")
    for model in onnx_files(arguments.models or COMPARED):
        of_zoo = model.parent == WORK / "models"
        dims = arguments.dim or next((d for part, d in SIZES_OF.items() if of_zoo and part in model.stem), [])
        folder = WORK / f"numbers_{model.stem}"
        why = written(model, folder, dims)
        said = {} if why else next(iter(try_node_tests(program, [folder]).values()))
        shutil.rmtree(folder, ignore_errors=True)
        why = why or "; ".join(said.get("problems", [])[:3]) or said.get("not_computed", "")
        if why:
            refused.append(f"{model.stem}: {why}")
            continue
        differs = [*said.get("wrong", "").split("; ")[:1], *said.get("wrong_on_cpu", [])[:1]]
        differs = [d for d in differs if d]
        print(f"{model.stem[:40]:<40}  {len(said['layers']):6}  {said['ran']:6}  {'; '.join(differs) or 'equal'}", flush=True)
        wrong += [model.stem] if differs else []
    print(f"\n{len(wrong)} differ, the first node is named" if wrong else "\nall that were computed are equal")
    for line in refused:
        print(f"  not computed: {line}")
    return 1 if wrong else 0
