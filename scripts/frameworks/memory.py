# SPDX-License-Identifier: Apache-2.0
"""On which memory does a framework run a layer, and what do the caches hold before?"""

import math
import mmap


def aligned(shape, kind):
    """Zeros that begin a page; large ones in large pages where Linux grants them."""
    import numpy as np
    count = math.prod(shape)
    size = max(count * kind.itemsize, 1)
    memory = mmap.mmap(-1, (size + 4095) // 4096 * 4096 + (1 << 21))
    if size >= 1 << 21 and hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind, count).reshape(shape)


def numpy_type(onnx_type):
    import numpy as np
    import onnx
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(onnx_type))


def copied(array):
    out = aligned(array.shape, array.dtype)
    out[...] = array
    return out


def numbers(folder, name, shape, kind):
    import numpy as np
    out = aligned(shape, kind)
    out[...] = np.fromfile(folder / f"{name}.bin", kind).reshape(shape)
    return out


class Caches:
    """Puts them into a state of ours: what a network leaves (include/benanza/measure/README.md)."""

    def __init__(self, machine, inputs, outputs):
        import numpy as np
        self.np = np
        self.l2 = max(int(machine.get("l2_bytes", 0)), 1 << 18)
        self.llc = max(int(machine.get("llc_bytes", 0)), self.l2)
        self.others = aligned((2 * self.l2,), np.dtype("u1"))
        self.others[...] = 1
        self.rest = None
        self.inputs = [self.lines(a) for a in inputs]
        self.outputs = [self.lines(a if a.nbytes <= self.l2 else a.reshape(-1)[: a.size // 2]) for a in outputs]

    def lines(self, array):
        """A byte of each of its lines."""
        return array.reshape(-1).view("u1")[::64] if array.size else array

    def touch(self, arrays):
        for a in arrays:
            self.np.add(a, 0, out=a, casting="unsafe")

    def prepare(self, state, twin):
        if state == "coldw":
            if self.rest is None:
                self.rest = aligned((3 * self.llc // 8,), self.np.dtype("u8"))
                self.rest[...] = 1
            self.rest.sum()
            twin()
            self.touch(self.outputs)  # of large ones a half is in memory
        self.others.sum()
        self.touch(self.inputs)
