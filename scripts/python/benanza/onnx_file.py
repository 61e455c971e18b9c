# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX file without values of weights, by Python alone: the few messages of its protobuf that this takes.

  graph = Graph("m"); graph.input("x", FLOAT, [1, "sequence", 64]); y = graph.node("Relu", ["x"]); graph.output(y, ...)
  path.write_bytes(graph.file({"": 23}))
"""

from __future__ import annotations

import struct
from typing import Any

FLOAT, UINT8, INT32, INT64, FLOAT16, BFLOAT16 = 1, 2, 6, 7, 10, 16


def number(n: int) -> bytes:
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def field(place: int, value: int | float | str | bytes) -> bytes:
    if isinstance(value, int):
        return number(place << 3) + number(value)
    if isinstance(value, float):
        return number(place << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(data)) + data


def attribute(name: str, value: Any) -> bytes:
    kind, place = (1, 2) if isinstance(value, float) else (2, 3) if isinstance(value, int) else (3, 4)
    return field(1, name) + field(place, value) + field(20, kind)


def typed(name: str, element: int, dims: list[int | str]) -> bytes:
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


class Graph:
    def __init__(self, name: str):
        self.name, self.count, self.parts = name, 0, b""
        self.known: set[str] = set()

    def input(self, name: str, element: int, dims: list[int | str]) -> str:
        self.parts += field(11, typed(name, element, dims))
        return name

    def output(self, value: str, element: int, dims: list[int | str]) -> None:
        self.parts += field(12, typed(value, element, dims))

    def weight(self, name: str, element: int, dims: list[int]) -> str:
        """Its values are in no file."""
        where = field(1, "location") + field(2, "not-written")
        self.parts += field(5, b"".join(field(1, d) for d in dims) + field(2, element) + field(8, name) +
                            field(13, where) + field(14, 1))
        return name

    def whole_numbers(self, *values: int, dims: bytes | None = None) -> str:
        name = f"number{'s' if dims is None else ''}_{'_'.join(map(str, values))}".replace("-", "m")
        data = struct.pack(f"<{len(values)}q", *values)
        if name not in self.known:
            self.known.add(name)
            self.parts += field(5, (field(1, len(values)) if dims is None else dims) + field(2, INT64) + field(8, name) +
                                field(9, data))
        return name

    def whole_number(self, value: int) -> str:
        """A scalar."""
        return self.whole_numbers(value, dims=b"")

    def node(self, operator: str, inputs: list[str], name: str = "", domain: str = "", **attributes: Any) -> str:
        self.count += 1
        made = name or f"{operator}_{self.count}"
        self.parts += field(1, b"".join(field(1, i) for i in inputs) + field(2, made) + field(3, made) +
                            field(4, operator) + b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) +
                            (field(7, domain) if domain else b""))
        return made

    def several(self, operator: str, inputs: list[str], name: str, results: int, domain: str = "",
                **attributes: Any) -> list[str]:
        """The results of a node that has more than one."""
        made = [f"{name}.{i}" for i in range(results)]
        self.parts += field(1, b"".join(field(1, i) for i in inputs) + b"".join(field(2, m) for m in made) +
                            field(3, name) + field(4, operator) +
                            b"".join(field(5, attribute(k, v)) for k, v in attributes.items()) +
                            (field(7, domain) if domain else b""))
        return made

    def file(self, opsets: dict[str, int], producer: str = "benanza") -> bytes:
        versions = b"".join(field(8, (field(1, d) if d else b"") + field(2, v)) for d, v in opsets.items())
        return field(1, 10) + field(2, producer) + field(7, self.parts + field(2, self.name)) + versions
