# SPDX-License-Identifier: Apache-2.0
"""How long do the paper's models take, and what does it save to measure unique layers alone?"""

import json

from proofs.figures import header, ms, sequential
from proofs.models import zoo_names
from proofs.programs import WORK, analyse, bench, build


def zoo(arguments):
    models = arguments.models or zoo_names()
    program, building = build(models, "zoo")
    file = WORK / "zoo.json"
    seconds, _ = bench(program, "--effort", arguments.effort, f"--benchmark_out={file}")
    result = json.loads(file.read_text())
    cases, spent = {}, {}
    for b in result["benchmarks"]:
        layer = b["family"], b["key"]
        cases[layer] = cases.get(layer, 0) + 1
        spent[layer] = spent.get(layer, 0) + b.get("setup_ns", 0) + b.get("sampling_ns", 0)
    every = every_ns = 0
    once = set()
    header(f"{'model':<22}", "nodes", "unique", "cases", "   bound", "predicted", "missing",
           "seconds", "for every node", "saved")
    analysed = analyse(file, whole=False)  # a column says what is missing
    for graph in result["context"]["benanza"]["graphs"]:
        used = [tuple(graph["layers"][n[2]]) for n in graph["nodes"] if n[2] >= 0]
        own, nodes_ns = (sum(spent.get(l, 0) for l in layers) for layers in (set(used), used))
        once.update(used)
        every += sum(cases.get(l, 0) for l in used)
        every_ns += nodes_ns
        if graph["name"] not in analysed:
            continue
        a = analysed[graph["name"]]
        print(f"{graph['model']:<22}  {len(graph['nodes']):5}  {len(set(used)):6}  "
              f"{sum(cases.get(l, 0) for l in set(used)):5}  "
              f"{ms(sequential(a, 'bound'))}  {ms(sequential(a, 'prediction'))}  "
              f"{a['coverage']['missing_nodes']:5}  {own / 1e9:7.1f}  {nodes_ns / 1e9:14.1f}"
              f"  {100 * (1 - own / max(nodes_ns, 1)):3.0f} %")
    total, unique = len(result["benchmarks"]), sum(cases.get(l, 0) for l in once)
    unique_ns = sum(spent.get(l, 0) for l in once)
    print(f"\n{total} cases in {seconds:.0f} s ({seconds / total * 1000:.1f} ms a case), built in "
          f"{building:.0f} s.\nWithout fused layers and reorders: {unique} cases, which took {unique_ns / 1e9:.0f} s. For "
          f"every node in place of every unique layer it were {every} cases and {every_ns / 1e9:.0f} s: "
          f"{100 * (1 - unique_ns / every_ns):.0f} % of the time are saved.")
