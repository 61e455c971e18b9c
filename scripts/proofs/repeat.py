# SPDX-License-Identifier: Apache-2.0
"""Does the same model give the same figures ten times, half of them beside a busy process?"""

import statistics
import subprocess
import sys

from proofs.figures import at_one_clock, expected_at_one_clock, header, ms, sequential
from proofs.programs import WORK, analyse, bench, build


def repeat(arguments):
    model = (arguments.models or ["squeezenet-v1.1"])[0]
    program, _ = build([model], "repeat")
    busy = [sys.executable, "-c", "b = bytearray(1 << 26)\nwhile True: b[:] = b[::-1]"]
    header("run", f"{'beside it':<12}", "seconds", "    bound", "one clock", "predicted", "one clock", "verdict")
    quiet, loaded = [], []
    for i in range(10):
        load = subprocess.Popen(busy) if i % 2 else None
        try:
            file = WORK / f"repeat_{i}.json"
            seconds, _ = bench(program, "--benchmark_filter=-^machine/", f"--benchmark_out={file}",
                               "--effort", arguments.effort)
        finally:
            if load:
                load.kill()
                load.wait()
        a = analyse(file)[model + "@batch=1"]
        verdict = a.get("no_verdict") or ""
        (loaded if load else quiet).append((sequential(a, "bound"), sequential(a, "prediction"),
                                            at_one_clock(a), expected_at_one_clock(a), verdict))
        print(f"{i:3}  {'a busy loop' if load else '-':<12}  {seconds:7.1f}  {ms(sequential(a, 'bound'))}  "
              f"{ms(at_one_clock(a))}  "
              f"{ms(sequential(a, 'prediction'))}  {ms(expected_at_one_clock(a))}  {'none: ' + verdict[:60] if verdict else 'yes'}", flush=True)
    bounds, predictions, compared, predicted, verdicts = zip(*quiet)
    spread = lambda v: 100 * (max(v) / min(v) - 1)
    print(f"quiet: spread of the bound {spread(compared):.2f} % at one clock, {spread(bounds):.2f} % at the clock "
          f"of each run, of the prediction {spread(predicted):.2f} and {spread(predictions):.2f} %; "
          f"{sum(not v for v in verdicts)} of {len(quiet)} give a verdict")
    centre = statistics.median(compared)
    fine = sum(bool(v) or abs(b / centre - 1) <= 0.03 for _, _, b, _, v in loaded)
    print(f"loaded: {fine} of {len(loaded)} agree within 3 % or say that they could not be measured")
