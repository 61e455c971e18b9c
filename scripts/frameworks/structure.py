# SPDX-License-Identifier: Apache-2.0
"""Are two ONNX files the same model, whatever became of its weights? The SHA-256 of its structure, as
include/benanza/onnx/structure.hpp computes it and says what it covers."""

import hashlib
import struct


def structure_of(model):
    out = []

    def number(n):
        out.append(b"%d:" % n)

    def text(t):
        t = t.encode("utf-8", "surrogateescape") if isinstance(t, str) else t
        number(len(t))
        out.append(t)

    def real(f):
        number(int.from_bytes(struct.pack("<f", f), "little"))

    def each(items, write):
        number(len(items))
        for i in items:
            write(i)

    def opset(o):
        text(o.domain)
        number(o.version)

    def tensor(t):
        text(t.name)
        number(t.data_type)
        each(t.dims, number)

    def value(v):
        kind = v.type.tensor_type
        text(v.name)
        number(kind.elem_type)
        each(kind.shape.dim, lambda d: number(d.dim_value) if d.HasField("dim_value") else text(d.dim_param))

    def attribute(a):
        text(a.name)
        real(a.f)
        number(a.i)
        text(a.s)
        text(a.ref_attr_name)
        each(a.floats, real)
        each(a.ints, number)
        each(a.strings, text)
        each([*([a.t] if a.HasField("t") else []), *a.tensors], tensor)
        each([*([a.g] if a.HasField("g") else []), *a.graphs], graph)

    def node(n):
        text(n.op_type)
        text(n.domain)
        each(n.input, text)
        each(n.output, text)
        each(n.attribute, attribute)

    def graph(g):
        each(g.input, value)
        each(g.output, value)
        each([*g.initializer, *(t.values for t in g.sparse_initializer)], tensor)
        each(g.node, node)

    def function(f):
        text(f.domain)
        text(f.name)
        each(f.opset_import, opset)
        each(f.input, text)
        each(f.output, text)
        each(f.attribute, text)
        each(f.node, node)

    each(model.opset_import, opset)
    graph(model.graph)
    each(model.functions, function)
    return hashlib.sha256(b"".join(out)).hexdigest()
