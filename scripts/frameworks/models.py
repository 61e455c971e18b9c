# SPDX-License-Identifier: Apache-2.0
"""What is in an ONNX file, and how is one written that frameworks can read?"""

import hashlib
import math

from frameworks.common import Refused, one_line

STORED_INSIDE = 1024  # bytes; larger tensors are written next to the model
PASSED_ON = {"Identity", "Cast", "Transpose", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Slice", "Concat",
             "Flatten"}


def load(path):
    import onnx
    from google.protobuf.message import DecodeError
    if not path.is_file():
        raise Refused(f"{path}: no such file")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except (DecodeError, ValueError) as e:
        raise Refused(f"{path}: not an ONNX model ({one_line(e)})") from None
    if not model.graph.node or not model.opset_import:
        raise Refused(f"{path}: not an ONNX model")
    return model


def all_nodes(nodes):
    """These nodes, and those of all graphs within them."""
    import onnx
    for node in nodes:
        yield node
        for a in node.attribute:
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs):
                yield from all_nodes(g.node)


def tensors_of(model):
    """All stored tensors, each with the name by which nodes read it."""
    import onnx
    nodes = [*all_nodes(model.graph.node), *(n for f in model.functions for n in all_nodes(f.node))]
    graphs = [model.graph, *(g for n in nodes for a in n.attribute
                             for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs))]
    for t in (t for g in graphs for t in g.initializer):
        yield t.name, t
    for node in nodes:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.TENSOR:
                yield (node.output[0] if node.op_type == "Constant" else ""), a.t


def element_types(model):
    """The types of the stored numbers, as "f32" or "int8 and f32"; those of less than a hundredth are left out."""
    import onnx
    short = {"FLOAT": "f32", "FLOAT16": "f16", "BFLOAT16": "bf16", "DOUBLE": "f64"}
    counts = {}
    for _, t in tensors_of(model):
        name = onnx.TensorProto.DataType.Name(t.data_type)
        if name not in ("INT64", "BOOL", "STRING"):
            counts[short.get(name, name.lower())] = counts.get(short.get(name, name.lower()), 0) + elements(t.dims)
    most = sorted((n, name) for name, n in counts.items() if n * 100 >= sum(counts.values()))
    return " and ".join(name for _, name in reversed(most)) or "f32"


def readers_of(model):
    """name -> the nodes that read it, each with the place."""
    out = {}
    for node in all_nodes(model.graph.node):
        for place, name in enumerate(node.input):
            out.setdefault(name, []).append((node, place))
    return out


def attribute(node, name, default):
    for a in node.attribute:
        if a.name == name:
            return a.i
    return default


def first_reader(name, readers):
    """The first node behind views and copies that computes with a value: (operator, place, node)."""
    for _ in range(20):
        found = readers.get(name)
        if not found:
            return "", 0, None
        node, place = found[0]
        if node.op_type not in PASSED_ON or place > 0 and node.op_type != "Concat":
            return node.op_type, place, node
        name = node.output[0]
    return "", 0, None


def elements(shape):
    return math.prod(shape)


def save(model, folder):
    """Writes the model with its larger tensors beside it: a protobuf holds no more than 2 GiB."""
    import onnx
    at = 0
    with open(folder / "weights.bin", "wb") as data:
        for _, t in tensors_of(model):
            if len(t.raw_data) <= STORED_INSIDE:
                continue
            at += data.write(b"\0" * (-at % 4096))
            facts = {"location": "weights.bin", "offset": at, "length": len(t.raw_data)}
            at += data.write(t.raw_data)
            t.ClearField("raw_data")
            t.data_location = onnx.TensorProto.EXTERNAL
            for key, what in facts.items():
                t.external_data.add(key=key, value=str(what))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def checksum(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def name_nodes(model):
    """Calls nameless nodes by their first result, so that frameworks do."""
    for node in model.graph.node:
        node.name = node.name or next(filter(None, node.output), "")
