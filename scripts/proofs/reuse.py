# SPDX-License-Identifier: Apache-2.0
"""What does a store that holds the rest of the zoo save of five more models?"""

import re

from proofs.figures import header
from proofs.models import zoo_names
from proofs.programs import WORK, bench, build, forget, layers_of

FAMILY = ["resnet18-v2", "resnet34-v2", "resnet50-v2", "resnet101-v2", "resnet152-v2"]


def reuse(arguments):
    family = arguments.models or FAMILY
    rest, _ = build([m for m in zoo_names() if m not in family], "rest")
    added, _ = build(family, "family")
    known, wanted = layers_of(rest), layers_of(added)
    own = {layer for layer in wanted if "+" not in layer and not layer.startswith("reorder/")}
    header(f"{'five models':<26}", "layers", "known", "empty store s", "beside others s", "saved")
    for what, layers in (("their layers", own), ("and fused ones, reorders", wanted)):
        # Of all that the other models have, only what the five have too can save them time.
        shared, every = ("--benchmark_filter=^(" + "|".join(re.escape(l) for l in sorted(some)) + ")/"
                         for some in (known & layers, layers))
        store, alone = WORK / "reuse.db", WORK / "reuse_alone.db"
        forget("reuse")
        forget("reuse_alone")
        bench(rest, "--store", store, "--effort", arguments.effort, shared)
        with_store, _ = bench(added, "--store", store, "--effort", arguments.effort, every)
        without, _ = bench(added, "--store", alone, "--effort", arguments.effort, every)
        print(f"{what:<26}  {len(layers):6}  {len(known & layers):5}  {without:13.1f}  "
              f"{with_store:15.1f}  {100 * (1 - with_store / without):.1f} %", flush=True)
