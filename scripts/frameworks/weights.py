# SPDX-License-Identifier: Apache-2.0
"""Which numbers stand in for weights that a file lacks?"""

import math

from frameworks.common import Refused, one_line
from frameworks.models import attribute, elements, first_reader, readers_of, tensors_of


class Filler:
    """Random numbers for tensors without payload."""

    POOL = 1_048_573  # a prime: rows of no usual length repeat

    def __init__(self, model, seed=1):
        import numpy
        self.np = numpy
        self.random = numpy.random.default_rng(seed)
        self.pool = self.random.standard_normal(self.POOL, dtype=numpy.float32)
        self.at = 0
        self.readers = readers_of(model)
        self.shapes = {name: list(t.dims) for name, t in tensors_of(model) if name}
        self.tensors = self.bytes = 0

    def normal(self, shape, deviation):
        n = elements(shape)
        start, self.at = self.at, (self.at + n) % self.POOL
        return self.np.resize(self.np.roll(self.pool, -start), n).reshape(shape) * self.np.float32(deviation)

    def positive(self, shape, middle):
        return (self.random.random(shape, dtype=self.np.float32) + self.np.float32(0.5)) * self.np.float32(middle)

    def real(self, name, shape):
        """Weights of deviation 1 / sqrt(fan-in), scales about 1, variances positive, the rest small."""
        op, place, node = first_reader(name, self.readers)
        if place == 1 and op in ("QuantizeLinear", "DequantizeLinear"):
            of = self.shapes.get(node.input[0], [])
            return self.positive(shape, 1 / (74 * math.sqrt(max(elements(of[1:]), 1))) if len(of) > 1 else 0.01)
        fan_in = 0
        if op in ("Conv", "FusedConv", "QLinearConv") and place > 0 and len(shape) > 2:
            fan_in = elements(shape[1:])
        elif op == "ConvTranspose" and place == 1:
            fan_in = shape[0] * elements(shape[2:]) // max(attribute(node, "group", 1), 1)
        elif op in ("Gemm", "FusedGemm") and place == 1 and len(shape) == 2:
            fan_in = shape[1 if attribute(node, "transB", 0) else 0]
        elif op in ("MatMul", "FusedMatMul", "Attention", "Einsum") and place < 2 and len(shape) > 1:
            fan_in = shape[-2] if place == 1 else shape[-1]
        elif op in ("LSTM", "GRU", "RNN") and place in (1, 2):
            fan_in = shape[-1]
        if fan_in:
            return self.normal(shape, 1 / math.sqrt(max(fan_in, 1)))
        scales = op.endswith("Normalization") and place == 1 or op == "Mul" or op == "BatchNormalization" and place == 4
        if scales or op in ("Div", "Sqrt", "Log", "Pow", "Reciprocal"):
            return self.positive(shape, 1)
        return self.normal(shape, 0.5 if op == "Gather" else 0.1)

    def whole(self, name, shape, low, high):
        """Whole numbers that their reader can take, within the type's range."""
        op, place, node = first_reader(name, self.readers)
        if op in ("Gather", "GatherElements", "GatherND") and place == 1:
            of = self.shapes.get(node.input[0])
            rows = of[attribute(node, "axis", 0)] if of else 1
            return self.random.integers(0, rows, shape)
        if op in ("QuantizeLinear", "DequantizeLinear") and place == 2 or "zero_point" in name:
            return self.np.full(shape, 128 if low == 0 and high == 255 else 0)
        if low >= -128 and high <= 255:  # quantized weights
            return self.random.integers(low + (low < 0), high + 1, shape)
        if op == "DequantizeLinear":
            return self.random.integers(-100, 101, shape)
        return self.random.integers(0, 2, shape)

    def fill(self, name, t):
        """Gives a tensor its numbers."""
        import onnx
        np, shape = self.np, list(t.dims)
        if t.data_type == onnx.TensorProto.STRING:
            raise Refused(f"the tensor '{name}' holds strings and has no payload")
        try:
            kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(t.data_type))
        except (KeyError, TypeError):
            raise Refused(f"the tensor '{name}' has a type that onnx does not know") from None
        packed = t.data_type in (getattr(onnx.TensorProto, n, None) for n in ("INT4", "UINT4", "FLOAT4E2M1"))
        if packed:
            raw = self.random.integers(0, 256, (elements(shape) + 1) // 2, dtype=np.uint8).tobytes()
        elif kind == np.bool_:
            raw = np.ones(shape, np.uint8).tobytes()
        elif kind.kind in "iu":
            limits = np.iinfo(kind)
            raw = self.whole(name, shape, int(limits.min), int(limits.max)).astype(kind).tobytes()
        elif kind.kind == "c":
            raw = np.zeros(shape, kind).tobytes()
        else:
            raw = self.real(name, shape).astype(kind).tobytes()
        for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "external_data"):
            t.ClearField(field)
        t.data_location = onnx.TensorProto.DEFAULT
        t.raw_data = raw
        self.tensors += 1
        self.bytes += len(raw)


def lacks_payload(t):
    fields = (t.float_data, t.int32_data, t.int64_data, t.double_data, t.uint64_data, t.string_data)
    return elements(t.dims) > 0 and not t.raw_data and not any(len(f) for f in fields)


def is_there(t, folder):
    """Does the file of external data hold this tensor?"""
    facts = {e.key: e.value for e in t.external_data}
    path = folder / facts.get("location", "")
    if not path.is_file():
        return False
    try:
        return path.stat().st_size >= int(facts.get("offset", 0)) + max(int(facts.get("length", 1)), 1)
    except ValueError:
        return False


def fill_weights(model, folder):
    """Loads what is beside the model, and fills what is not. Placeholders of our own zoo count as missing."""
    import onnx
    from onnx.external_data_helper import load_external_data_for_tensor
    filler = Filler(model)
    for name, t in tensors_of(model):
        if t.data_location == onnx.TensorProto.EXTERNAL and is_there(t, folder):
            try:
                load_external_data_for_tensor(t, str(folder))
            except (onnx.checker.ValidationError, ValueError) as e:  # outside the model's folder
                raise Refused(f"the tensor '{name}' cannot be read: {one_line(e)}") from None
            t.data_location = onnx.TensorProto.DEFAULT
            t.ClearField("external_data")
        elif t.data_location == onnx.TensorProto.EXTERNAL or lacks_payload(t):
            filler.fill(name, t)
    if model.producer_name == "benanza":
        replace_placeholders(model, filler)
    return filler


def replace_placeholders(model, filler):
    """A ConstantOfShape of a stored shape becomes an initializer with random numbers."""
    import onnx
    shapes = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in model.graph.initializer
              if t.data_type == onnx.TensorProto.INT64 and len(t.dims) == 1}
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            kept.append(node)
            continue
        t = model.graph.initializer.add(name=node.output[0], data_type=node.attribute[0].t.data_type,
                                        dims=shapes[node.input[0]])
        filler.fill(t.name, t)
    del model.graph.node[:]
    model.graph.node.extend(kept)
