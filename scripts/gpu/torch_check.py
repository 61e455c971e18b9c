# SPDX-License-Identifier: Apache-2.0
"""Is PyTorch's result right? By the tolerance to which our own results are held
(include/benanza/backend/tolerance.hpp), against float64 on the processor, computed on the same operands."""

import math

KIND = {"exact": (0, 0, 0), "rounded": (0, 1e-6, 0), "summed": (2e-6, 0, 1e-6), "products": (2e-5, 0, 1e-6),
        "attention": (2e-5, 0, 1e-6), "softmax": (1e-5, 0, 1.2e-7), "transcendental": (1e-5, 0, 0),
        "deviation": (1e-5, 0, 1e-6)}  # relative, rounding, relative for the root of the length
HALF_A_PLACE = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8}


class Wrong(Exception):
    """What was computed is not right."""


def tolerance(operator, t):
    """relative to the larger of a value and the root mean square of all, relative to the value, absolute. Between
    operators that are run one after the other values are rounded too."""
    relative, rounding, root = KIND[operator.accuracy]
    if operator.accuracy == "exact":
        return 0.0, 0.0, 0.0
    relative += root * math.sqrt(operator.length)
    absolute = relative if operator.accuracy in ("transcendental", "deviation") else 0.0
    if t in HALF_A_PLACE:
        rounding += HALF_A_PLACE[t] * (2 if operator.accuracy == "softmax" else 1)
        absolute += 2.0 ** -24 if t == "f16" else 0
        if operator.accuracy != "rounded":
            relative += 2.0 ** -10
        relative += 4 * HALF_A_PLACE[t] * (operator.roundings - 1)  # of values that may be larger than the result's
        if operator.accuracy == "attention" and t == "bf16":
            relative += 2.0 ** -7
    if t == "tf32" and operator.accuracy in ("products", "attention"):
        relative += 2.0 ** -8
    return relative, rounding, absolute + 2.0 ** -125


def all_of(results):
    return results if isinstance(results, (tuple, list)) else (results,)


def check(torch, operator, t, got, right):
    """Refuses results that are not right, or not in the dims that they should have."""
    if list(all_of(got)[0].shape) != list(operator.result):
        raise Wrong(f"wrong result: its dims are {'x'.join(map(str, all_of(got)[0].shape))}")
    relative, rounding, absolute = tolerance(operator, t)
    for y, exact in zip(all_of(got), all_of(right)):
        y, exact = y.detach().to("cpu", torch.float64).reshape(-1), exact.reshape(-1)
        rms = exact.square().mean().sqrt()
        allowed = relative * torch.maximum(exact.abs(), rms) + rounding * exact.abs() + absolute
        off = (y - exact).abs()
        bad = ~(off <= allowed)
        if bool(bad.any()):
            ratio = torch.where(bad, torch.nan_to_num(off / allowed, nan=math.inf), 0)
            at = int(ratio.argmax())
            raise Wrong(f"wrong result: output {at} is {float(y[at]):.9g} and should be {float(exact[at]):.9g} "
                        f"({float(ratio[at]):.3g} times the tolerance)")
