# SPDX-License-Identifier: Apache-2.0
"""The header of a GGUF file: its metadata, and of each tensor the dims and the type."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from benanza.programs import Error

#: ggml's number of a type: its name, the weights in a block, and the block's bytes.
TYPES = {0: ("f32", 1, 4), 1: ("f16", 1, 2), 2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20), 6: ("q5_0", 32, 22),
         7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34), 12: ("q4_k", 256, 144), 13: ("q5_k", 256, 176),
         14: ("q6_k", 256, 210), 20: ("iq4_nl", 32, 18), 23: ("iq4_xs", 256, 136), 30: ("bf16", 1, 2),
         39: ("mxfp4", 32, 17)}
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
MOST_ENTRIES, LONGEST_TEXT, MOST_ITEMS = 1 << 16, 1 << 24, 1 << 24


class Reader:
    """A file's values in their order; refuses a file that ends or is none."""

    def __init__(self, file: BinaryIO, name: str):
        self.file, self.name = file, name

    def refuse(self, what: str) -> Error:
        return Error(f"{self.name}: {what}")

    def bytes(self, count: int) -> bytes:
        data = self.file.read(count)
        if len(data) != count:
            raise self.refuse("the file ends in its header; fetch it again")
        return data

    def scalar(self, kind: str) -> Any:
        return struct.unpack(kind, self.bytes(struct.calcsize(kind)))[0]

    def count(self, most: int, what: str) -> int:
        n = self.scalar("<Q")
        if n > most:
            raise self.refuse(f"{n} {what} are more than a model has")
        return n

    def text(self) -> str:
        return self.bytes(self.count(LONGEST_TEXT, "characters of a text")).decode(errors="replace")

    def value(self, kind: int, keep: bool = True) -> Any:
        if kind in SCALARS:
            return self.scalar(SCALARS[kind])
        if kind == STRING:
            return self.text()
        if kind != ARRAY or not keep:
            raise self.refuse(f"a value of type {kind}, which GGUF does not have")
        item, count = self.scalar("<I"), self.count(MOST_ITEMS, "items of a list")
        if item in SCALARS:  # of a vocabulary: no need to keep them
            self.bytes(count * struct.calcsize(SCALARS[item]))
        else:
            for _ in range(count):
                self.value(item, keep=False)
        return count


class Header:
    """A file's metadata, and of each tensor its dims, in ONNX's order, and its type."""

    def __init__(self, path: Path):
        try:
            with path.open("rb") as file:
                self.read(Reader(file, str(path)))
        except OSError as e:
            raise Error(f"{path}: {e.strerror}") from None
        self.path = path

    def read(self, r: Reader) -> None:
        if r.bytes(4) != b"GGUF":
            raise r.refuse("not a GGUF file")
        version = r.scalar("<I")
        if version not in (2, 3):
            raise r.refuse(f"version {version} of GGUF, known are 2 and 3")
        tensors, entries = r.count(MOST_ENTRIES, "tensors"), r.count(MOST_ENTRIES, "entries")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = r.text()
            self.metadata[key] = r.value(r.scalar("<I"))
        self.tensors: dict[str, tuple[list[int], int]] = {}
        for _ in range(tensors):
            name, rank = r.text(), r.scalar("<I")
            if rank > 4:
                raise r.refuse(f"a tensor of {rank} dims")
            dims = [r.count(1 << 40, "elements along a dim") for _ in range(rank)]
            kind, _ = r.scalar("<I"), r.scalar("<Q")
            self.tensors[name] = dims[::-1], kind

    def refuse(self, what: str) -> Error:
        return Error(f"{self.path}: {what}")

    def store_matrices(self, kind: str) -> None:
        """As if all matrices were stored in another type, but for those that are left in f32 when others are not."""
        number = next(n for n, t in TYPES.items() if t[0] == kind)
        for name, (dims, own) in self.tensors.items():
            if len(dims) > 1 and own in TYPES and TYPES[own][0] != "f32":
                self.tensors[name] = dims, number

    def size(self, key: str, fallback: int | None = None) -> int:
        """A size of the architecture."""
        architecture = self.metadata.get("general.architecture")
        n = self.metadata.get(f"{architecture}.{key}", fallback)
        if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 1 << 24:
            raise self.refuse(f"its metadata lacks {architecture}.{key}")
        return n

    def tensor(self, name: str, rank: int) -> tuple[list[int], str]:
        if name not in self.tensors:
            raise self.refuse(f"it has no tensor {name}")
        dims, kind = self.tensors[name]
        if len(dims) != rank or not all(dims):
            raise self.refuse(f"its tensor {name} is {'x'.join(map(str, dims))}")
        if kind not in TYPES:
            raise self.refuse(f"its tensor {name} is of ggml's type {kind}, which has no layer yet; there are "
                              f"{', '.join(t[0] for t in TYPES.values())}")
        return dims, TYPES[kind][0]
