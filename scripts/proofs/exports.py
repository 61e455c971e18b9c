# SPDX-License-Identifier: Apache-2.0
"""Are attention, rotary embeddings and normalizations recognised in what today's exporters write, and are operations and
parameters counted as PyTorch and the file have them?"""

import json
import os
import subprocess
import sys

from proofs.programs import BUILD, ROOT, WORK, run, stop

KINDS = {"attentions": ("Attention",), "rotaries": ("RotaryEmbedding",),
         "norms": ("LayerNormalization", "RMSNormalization")}


FIGURES = {"macs": "multiply-accumulates", "parameters": "parameters"}
NEAR = 0.01  # beyond it a difference is listed


def recognised(file, folder):
    """How many layers of each kind the fused form of a model has, and what is not resolved."""
    done = run([BUILD / "benanza_generate", file, "--no-sources", "-o", folder], fine=(0, 1, 2))
    if done.returncode == 2:
        return None, done.stderr.strip().splitlines()[-1]
    graphs = json.loads((folder / "graphs.json").read_text())["graphs"]
    fused = next((g for g in graphs if g["name"].endswith(",fused") and "original" not in g), graphs[0])
    families = [fused["layers"][n[2]][0].split("+") for n in fused["nodes"] if n[2] >= 0]
    lacks = done.stderr.strip().splitlines()[:1] if done.returncode else []
    return {k: sum(any(f in parts for f in names) for parts in families) for k, names in KINDS.items()}, *lacks


def figures_of(file):
    """Multiply-accumulates and parameters as `stats` counts them."""
    done = run([BUILD / "benanza_generate", "stats", file, "--format", "json"], fine=(0, 1))
    return json.loads(done.stdout)["models"][0]


def exports(arguments):
    """Exports are kept: what is there is not written again."""
    folder = WORK / "exports"
    done = subprocess.run([sys.executable, "-m", "frameworks.exporting", str(folder), *(arguments.models or [])],
                          cwd=ROOT / "scripts", env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
    if done.returncode:
        stop("the exports were not written")
    missing, refused, files = [], [], 0
    print(f"{'found / expected':<40}  {'attention':>10}  {'rotary':>10}  {'norms':>10}  {'MACs':>8}  parameters")
    for row in json.loads((folder / "exports.json").read_text()):
        name = row["file"]
        if "why_not" in row:
            refused.append(f"{name}: its exporter: {row['why_not']}")
            continue
        files += 1
        found, *lacks = recognised(folder / name, folder / "graphs")
        if found is None or lacks:
            missing.append(f"{name}: {lacks[0]}")
        if found is None:
            continue
        figures = figures_of(folder / name)
        off = {k: figures[k] / row[k] - 1 if row[k] else 0 for k in FIGURES}
        print(f"{name:<40}" + "".join(f"  {found[k]:>4} / {row[k]:<3}" for k in KINDS) +
              "".join(f"  {100 * off[k]:+7.2f}%" if off[k] else "     equal" for k in FIGURES), flush=True)
        if any(found[k] < row[k] for k in KINDS):
            missing.append(f"{name}: " + ", ".join(f"{found[k]} of {row[k]} {k}" for k in KINDS if found[k] < row[k]))
        missing += [f"{name}: {figures[k]} {said}, not {row[k]}" for k, said in FIGURES.items() if abs(off[k]) > NEAR]
    print(f"\n{files} files; " + (f"{len(missing)} times something lacks" if missing else "all are recognised, and counted alike"))
    for line in [*missing, *refused]:
        print("  " + line)
    return 1 if missing else 0
