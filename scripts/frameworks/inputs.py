# SPDX-License-Identifier: Apache-2.0
"""Which dims and numbers do a model's inputs get?"""

from frameworks.common import Refused
from frameworks.models import attribute, first_reader, readers_of


def names_batch(symbol):
    return symbol.lower() in ("n", "b") or "batch" in symbol.lower()


def value_of(symbol, known, unknown):
    """The number of a symbol, or of a sum such as "past + 1"; `unknown` gets the terms that are not known."""
    if symbol in known:
        return known[symbol]
    total = 0
    for term in symbol.split("+"):
        term = term.strip()
        if term in known or term.isdigit():
            total += known[term] if term in known else int(term)
        else:
            unknown.add(term)
    return total


def fix_dims(model, asked, given, shapes=None):
    """Puts numbers in place of symbols in all inputs; returns their dims by name, what symbols stand for, and the
    batch: what was asked for, or else the model's own where the first dims of its inputs are one number."""
    shapes = shapes or {}
    stored = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in stored]
    for i in inputs:
        if not i.type.HasField("tensor_type") or not i.type.tensor_type.HasField("shape"):
            raise Refused(f"the input '{i.name}' is no tensor of known dims")
    dims = {i.name: i.type.tensor_type.shape.dim for i in inputs}
    symbols = {d.dim_param for row in dims.values() for d in row if d.dim_param}
    firsts = {row[0].dim_value for row in dims.values() if len(row) > 1}
    known = dict(given)
    made = {v for node in model.graph.node for v in node.output}
    for name, shape in shapes.items():
        if name in made:
            raise Refused(f"--shape {name}: a run of the model decides these dims; leave it out here, the inputs say them")
        if name not in dims:
            raise Refused(f"--shape {name}: the model has no such input; it has: {', '.join(sorted(dims)) or 'none'}")
        if len(shape) != len(dims[name]):
            raise Refused(f"--shape {name}: the input has {len(dims[name])} dims, {len(shape)} were given")
        for d, n in zip(dims[name], shape):
            if d.dim_param:
                known.setdefault(d.dim_param, n)
            d.dim_value = n
    batch = asked or 1
    known = {**{s: batch for s in symbols if names_batch(s)}, **known}
    if not any(map(names_batch, symbols)):
        for row in dims.values():
            if len(row) > 0 and row[0].dim_param:
                known.setdefault(row[0].dim_param, batch)
    for name in given:
        if not any(name == s or name in [t.strip() for t in s.split("+")] for s in symbols):
            raise Refused(f"--dim {name}: the model has no such symbol; it has: {', '.join(sorted(symbols)) or 'none'}")
    if any(names_batch(s) and n < 1 for s, n in known.items()):
        raise Refused("a batch must be 1 or more")
    missing, nameless = set(), set()
    for name, row in dims.items():
        for place, d in enumerate(row):
            if d.HasField("dim_value") and d.dim_value > 0:
                continue
            if d.dim_param:
                d.dim_value = value_of(d.dim_param, known, missing)
            elif place == 0:
                d.dim_value = batch
            else:
                nameless.add(name)
    if missing or nameless:
        words = [f"--dim '{m}=N'" if " " in m else f"--dim {m}=N" for m in sorted(missing)]
        words += [f"--shape {name}={'x'.join(str(d.dim_value) if d.dim_value > 0 else 'N' for d in dims[name])}"
                  for name in sorted(nameless)]
        raise Refused(f"dims without a number: set {' '.join(words)}")
    out = {name: [d.dim_value for d in row] for name, row in dims.items()}
    fixed = next((d[0] for d in out.values() if d), batch)
    if asked and fixed != asked and not any(map(names_batch, symbols)):
        raise Refused(f"--batch {asked}: the model's batch is fixed, {fixed}")
    if not asked and len(firsts) == 1 and min(firsts) > 0:
        batch = min(firsts)
    del model.graph.value_info[:]
    for o in model.graph.output:
        if o.type.HasField("tensor_type"):
            o.type.tensor_type.ClearField("shape")
    return out, known, next((known[s] for s in sorted(symbols) if names_batch(s)), batch)


def make_inputs(model, dims, known):
    import numpy as np
    import onnx
    random = np.random.default_rng(2)
    readers = readers_of(model)
    shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    past = next((n for s, n in known.items() if "past" in s.lower() and "+" not in s), 0)
    feeds = {}
    for i in model.graph.input:
        if i.name not in dims:
            continue
        shape, kind = dims[i.name], i.type.tensor_type.elem_type
        kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
        if kind == np.bool_:
            feeds[i.name] = np.ones(shape, kind)
        elif kind.kind in "iu":
            op, place, node = first_reader(i.name, readers)
            rows = shapes.get(node.input[0]) if op == "Gather" and place == 1 else None
            if "position" in i.name.lower() and shape:
                feeds[i.name] = np.broadcast_to(np.arange(past, past + shape[-1]), shape).astype(kind)
            elif rows:
                feeds[i.name] = random.integers(0, rows[attribute(node, "axis", 0)], shape).astype(kind)
            else:
                feeds[i.name] = np.ones(shape, kind)
        else:
            feeds[i.name] = random.standard_normal(shape).astype(kind)
        feeds[i.name] = np.ascontiguousarray(feeds[i.name])
    return feeds
