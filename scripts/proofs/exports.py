# SPDX-License-Identifier: Apache-2.0
"""Are attention, rotary embeddings and normalizations recognised in what today's exporters write?"""

import json
import os
import subprocess
import sys

from proofs.programs import BUILD, ROOT, WORK, run, stop

KINDS = {"attentions": ("Attention",), "rotaries": ("RotaryEmbedding",),
         "norms": ("LayerNormalization", "RMSNormalization")}


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


def exports(arguments):
    """Exports are kept: what is there is not written again."""
    folder = WORK / "exports"
    done = subprocess.run([sys.executable, "-m", "frameworks.exporting", str(folder), *(arguments.models or [])],
                          cwd=ROOT / "scripts", env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
    if done.returncode:
        stop("the exports were not written")
    missing, refused = [], []
    print(f"{'found / expected':<28}  {'attention':>10}  {'rotary':>10}  {'norms':>10}")
    for row in json.loads((folder / "exports.json").read_text()):
        if "why_not" in row:
            refused.append(f"{row['file']}: its exporter: {row['why_not']}")
            continue
        found, *lacks = recognised(folder / row["file"], folder / "graphs")
        if found is None or lacks:
            missing.append(f"{row['file']}: {lacks[0]}")
        if found is None:
            continue
        print(f"{row['file']:<28}" + "".join(f"  {found[k]:>4} / {row[k]:<3}" for k in KINDS), flush=True)
        if any(found[k] < row[k] for k in KINDS):
            missing.append(f"{row['file']}: " + ", ".join(f"{found[k]} of {row[k]} {k}" for k in KINDS if found[k] < row[k]))
    print(f"\n{len(missing)} lack something" if missing else "\nall are recognised")
    for line in [*missing, *refused]:
        print("  " + line)
    return 1 if missing else 0
