# SPDX-License-Identifier: Apache-2.0
"""How long does a run of a whole model take?"""

import gc
import os
import time
from pathlib import Path

from frameworks.partner import partner

FEWEST, MOST = 10, 10_000  # samples
PROCESSORS = "/proc/cpuinfo"


def finite(results):
    import numpy as np
    for r in results:
        array = np.asarray(r)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return False
    return True


def sample(run, seconds):
    """Times of single runs, after a warm-up of a quarter of the time."""
    until = partner.now() + int(seconds / 4 * 1e9)
    for warm in range(MOST):
        partner.step()
        run()
        if partner.now() > until and warm >= 2:
            break
    samples, until = [], partner.now() + int(seconds * 1e9)
    gc.collect()
    gc.disable()
    while len(samples) < MOST:
        if partner.step():
            run()
        start = time.perf_counter_ns()
        run()
        samples.append(time.perf_counter_ns() - start)
        if partner.now() > until and len(samples) >= FEWEST:
            break
    gc.enable()
    return samples


def emulated():
    """As benanza_bench finds it (machine/own_program.hpp): an emulator gives its own file to who opens the link alone."""
    link = "/proc/self/exe"
    with open(link, "rb") as file:
        return not os.path.samestat(os.fstat(file.fileno()), os.stat(link))


def processor(cpuinfo=PROCESSORS):
    """As benanza_bench calls it (machine/facts.hpp): its name, or the makers and kinds of its cores."""
    if cpuinfo == PROCESSORS and emulated():
        return "emulated: times mean nothing"
    kinds, core = {}, {}
    try:
        lines = Path(cpuinfo).read_text().splitlines()
    except OSError:
        return "unknown"
    for line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        core[name] = value
        if name == "model name":
            return value
        if name == "CPU revision":  # the last line of a core
            kinds[f"{core.get('CPU implementer')}.{core.get('CPU part')} r{int(core.get('CPU variant', '0'), 0)}"
                  f"p{value}"] = True
    return ", ".join(kinds) or "unknown"
