# SPDX-License-Identifier: Apache-2.0
"""How long does a run of a whole model take?"""

import gc
import time
from pathlib import Path

from frameworks.partner import partner

FEWEST, MOST = 10, 10_000  # samples


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


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"
