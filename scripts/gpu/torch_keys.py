# SPDX-License-Identifier: Apache-2.0
"""The fields of a layer's key, and what an operator of PyTorch for it is."""

import math
import re
from dataclasses import dataclass


class Absent(Exception):
    """No operator of PyTorch is known for a layer."""


@dataclass
class Operand:
    dims: list
    weight: bool = False
    scale: float = 1.0
    positive: bool = False


@dataclass
class Operator:
    name: str
    operands: list
    run: object  # of tensors in the case's type
    right: object  # of tensors in float64
    result: list  # dims
    accuracy: str = "exact"  # as include/benanza/backend/tolerance.hpp has them
    length: int = 1  # of its sums
    library: bool = False  # a library's kernels, which a compiler leaves as they are
    layout: str = "plain"
    roundings: int = 1  # of its result, one kernel after another


class Key:
    """The fields of a key, which are taken one by one: what is left over nobody knows."""

    def __init__(self, text):
        self.dims, self.tags, self.flags = [], {}, set()
        for field in text.split("-"):
            if field == "scalar" or field[:1].isdigit():
                self.dims.append([] if field == "scalar" else numbers(field))
                continue
            parts = re.fullmatch(r"([a-z_]+?)(m?\d+(?:xm?\d+)*)?", field)
            if not parts:
                raise Absent(f"its key has a field {field}")
            if parts[2]:
                self.tags[parts[1]] = numbers(parts[2])
            else:
                self.flags.add(field)

    def flag(self, name):
        found = name in self.flags
        self.flags.discard(name)
        return found

    def tag(self, name, fallback=None):
        return self.tags.pop(name, fallback)

    def number(self, name, fallback):
        return self.tag(name, [fallback])[0]

    def each(self, name, count, fallback):
        values = self.tag(name, [fallback])
        return values * count if len(values) == 1 else values

    def pads(self, count):
        """Begins, then ends."""
        values = self.tag("p", [0])
        return values * (2 * count // len(values)) if len(values) in (1, count) else values

    def finish(self):
        left = sorted(self.flags) + sorted(self.tags)
        if left:
            raise Absent(f"no operator is known for -{left[0]}")


def numbers(text):
    return [int(n.replace("m", "-")) for n in text.split("x")]


def halves(pads):
    return pads[:len(pads) // 2], pads[len(pads) // 2:]


def padded(torch, pads, value):
    """What pads the spatial dims before an operator that takes one number for both sides of each."""
    begins, ends = halves(pads)
    if begins == ends:
        return begins, lambda x: x
    around = [n for pair in zip(reversed(begins), reversed(ends)) for n in pair]
    return [0] * len(begins), lambda x: torch.nn.functional.pad(x, around, value=value)


def window_dims(spatial, kernel, strides, pads, dilations, ceil=False):
    out = []
    for size, k, s, before, after, d in zip(spatial, kernel, strides, *halves(pads), dilations):
        room = size + before + after - (k - 1) * d - 1
        n = (-(-room // s) if ceil else room // s) + 1
        out.append(n - 1 if ceil and (n - 1) * s >= size + before else n)
    return out
