# SPDX-License-Identifier: Apache-2.0
"""Do models come from file to verified run, every layer measured?"""

import re

from proofs.chains import in_chain
from proofs.figures import header, ms, sequential, shown
from proofs.models import COMPARED, SIZES_OF, onnx_files
from proofs.programs import BUILD, WORK, analyse, any_bench, bench, run


def with_small_dims(model, folder, dims):
    """Graphs of a model. Symbolic dims of which nothing is known are 16, or, where a layer does not fit so
    small a size, 512; totals are of two. Gives the exit status and what was said."""
    of_zoo = model.parent == WORK / "models"
    known = dims or next((d for part, d in SIZES_OF.items() if of_zoo and part in model.stem), [])
    for size in (16, 512):
        chosen, status = known, 2
        while status == 2:
            done = run([BUILD / "benanza_generate", model, "--no-sources", "--data-dependent", "max", "-o", folder,
                        *(o for d in chosen for o in ("--dim", d))], fine=(0, 1, 2))
            status, said = done.returncode, done.stderr.strip().split("\n")
            wanted = [n for n in re.findall(r"--dim (\S+?)=N", done.stderr)
                      if n not in [d.rpartition("=")[0] for d in chosen]]
            if not wanted:
                break
            chosen = chosen + [f"{n}={size * (2 if 'total' in n else 1)}" for n in wanted]
        if status == 0 or chosen == known:
            break
    return status, said


def whole(arguments):
    """Each model by the commands of a user; a store keeps what others have measured of the same layers."""
    any_bench()
    store, lacking, shown_header = WORK / "whole.sqlite", [], False
    for model in onnx_files(arguments.models or COMPARED):
        name = model.stem
        folder, measured = WORK / f"whole_{name}", WORK / f"whole_{name}.json"
        status, said = with_small_dims(model, folder, arguments.dim)
        if status == 2:
            lacking.append(f"{name}: refused: {said[-1]}")
            continue
        options = ["--threads", 1, "--effort", arguments.effort, "--store", store]
        seconds, _ = bench(BUILD / "benanza_bench", "--graphs", folder / "graphs.json", *options,
                           f"--benchmark_out={measured}")
        for a in analyse(measured, whole=False).values():
            chain, why = in_chain(f"whole_{name}", [measured], "--model", a["model"])
            if not shown_header:
                header(f"{'ms':<32}", f"{'nodes':>6}", f"{'measured':>8}", f"{'bound':>9}", f"{'fused':>9}",
                       f"{'chain':>9}", "seconds")
                shown_header = True
            c = a["coverage"]
            print(f"{a['model'][:32]:<32}  {c['nodes']:6}  {100 * c['measured']:7.1f}%  "
                  f"{ms(sequential(a, 'bound'))}  {ms(sequential(a['fused'] or a, 'bound'))}  {shown(chain)}  {seconds:7.0f}",
                  flush=True)
            if a["partial"]:
                lacking.append(f"{a['model']}: partial: {'; '.join(map(str, a['missing'][:3] or said[:3]))}")
            if why:
                lacking.append(f"{a['model']}: no chain: {why}")
    print(f"\n{len(lacking)} are not whole" if lacking else "\nall are whole, and every chain was verified")
    for line in lacking:
        print("  " + line)
    return 1 if lacking else 0
