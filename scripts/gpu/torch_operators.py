# SPDX-License-Identifier: Apache-2.0
"""Which operators of PyTorch are a layer of ours?

A family and a key become an Operator: its operands, what a program of PyTorch calls for it, and what is right,
in float64 by the definition. Weights lie as modules of PyTorch keep them: of a product n x k. torch itself is
handed over, so that what is known here can be asked where it is not installed.

  operator_of(torch, "MatMul/1x128x768-768x2304-w").name     # "linear"
"""

import math

from gpu.torch_elementwise import BINARY, UNARY, binary, unary, with_steps
from gpu.torch_keys import Absent, Key, Operand, Operator, halves, padded, window_dims


# ---- convolutions, products, attention -------------------------------------------------------------

def convolution(torch, key):
    x, (outputs, *kernel) = key.dims
    n = len(kernel)
    strides, pads, dilations = key.each("s", n, 1), key.pads(n), key.each("d", n, 1)
    groups, bias = key.number("g", 1), key.flag("b")
    length = x[1] // groups * math.prod(kernel)
    call = getattr(torch.nn.functional, f"conv{n}d")
    both, around = padded(torch, pads, 0)
    operands = [Operand(x), Operand([outputs, x[1] // groups, *kernel], True, length ** -0.5)]

    def run(x, w, b=None):
        return call(around(x), w, b, strides, both, dilations, groups)

    return Operator(f"conv{n}d", operands + [Operand([outputs], True)] * bias, run, run,
                    [x[0], outputs, *window_dims(x[2:], kernel, strides, pads, dilations)], "products", length, True,
                    "channels_last" if n == 2 else "plain")


def linear(torch, x, n, bias):
    """A product with constant weights, n x k as they are kept."""
    k = x[-1]

    def right(x, w, b=None):
        y = x @ w.T
        return y if b is None else y + b

    operands = [Operand(x), Operand([n, k], True, k ** -0.5)] + [Operand([n], True)] * bias
    return Operator("linear", operands, torch.nn.functional.linear, right, [*x[:-1], n], "products", k, True)


def product(torch, key):
    a, b = key.dims
    constant = key.flag("w")
    if constant and len(b) == 2:
        return linear(torch, a, b[1], False)
    outer = torch.broadcast_shapes(a[:-2], b[:-2])
    return Operator("matmul", [Operand(a), Operand(b, constant, a[-1] ** -0.5)], torch.matmul, lambda a, b: a @ b,
                    [*outer, a[-2], b[-1]], "products", a[-1], True)


def gemm(torch, key):
    m, n, k = key.dims[0]
    ta, tb, c, constant = key.flag("ta"), key.flag("tb"), key.tag("c"), key.flag("w")
    if constant and not ta and c in (None, [1, n]):
        return linear(torch, [m, k], n, c is not None)

    def right(a, b, *c):
        y = (a.t() if ta else a) @ (b.t() if tb else b)
        return y + c[0] if c else y

    def run(a, b, *c):
        a, b = a.t() if ta else a, b.t() if tb else b
        return torch.addmm(c[0], a, b) if c else torch.mm(a, b)

    operands = [Operand([k, m] if ta else [m, k]), Operand([n, k] if tb else [k, n], constant, k ** -0.5)]
    return Operator("addmm" if c else "mm", operands + ([Operand(c, True)] if c else []), run, right, [m, n],
                    "products", k, True)


def attention(torch, key):
    batch, heads, queries, size = key.dims[0]
    kv, keys, values = key.number("kv", heads), key.number("k", queries), key.number("v", size)
    causal, rows, mask, truth = key.flag("causal"), key.flag("bshd"), key.tag("mask"), key.flag("bool")
    if mask and (causal or truth):
        raise Absent("no operator is known for a mask that is causal too, or holds truth values")

    def heads_of(x, count):
        return x.unflatten(-1, (count, -1)).transpose(1, 2) if rows else x

    def run(q, k, v, added=None):
        y = torch.nn.functional.scaled_dot_product_attention(
            heads_of(q, heads), heads_of(k, kv), heads_of(v, kv), attn_mask=added, is_causal=causal,
            **({"enable_gqa": True} if kv != heads else {}))
        return y.transpose(1, 2).flatten(2) if rows else y

    def right(q, k, v, added=None):
        q, k, v = heads_of(q, heads), heads_of(k, kv), heads_of(v, kv)
        k, v = k.repeat_interleave(heads // kv, 1), v.repeat_interleave(heads // kv, 1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(size)
        if added is not None:
            scores = scores + added
        if causal:
            scores = scores.masked_fill(torch.ones(queries, keys, dtype=torch.bool).triu(1), -math.inf)
        y = torch.softmax(scores, -1) @ v
        return y.transpose(1, 2).flatten(2) if rows else y

    def dims(count, length, width):
        return [batch, length, count * width] if rows else [batch, count, length, width]

    operands = [Operand(dims(heads, queries, size)), Operand(dims(kv, keys, size)), Operand(dims(kv, keys, values))]
    return Operator("scaled_dot_product_attention", operands + ([Operand(mask)] if mask else []), run, right,
                    dims(heads, queries, values), "attention", max(size, keys), True)


# ---- rows, channels, windows -----------------------------------------------------------------------

def normalization(torch, key, family, added=False):
    """LayerNormalization or RMSNormalization; of a sum, which may be a result too."""
    x = key.dims[0]
    axis, bias = key.number("a", 0), key.flag("b")
    told = added and key.flag("sum")
    row, along, mean = x[axis:], list(range(axis, len(x))), family == "LayerNormalization"
    call = torch.nn.functional.layer_norm if mean else torch.nn.functional.rms_norm

    def source(x, more):
        return (x + more[-1], more[:-1]) if added else (x, more)

    def run(x, *more):
        x, more = source(x, more)
        y = call(x, row, *more, eps=1e-5)
        return (y, x) if told else y

    def right(x, *more):
        x, more = source(x, more)
        away = x - x.mean(along, keepdim=True) if mean else x
        y = away / torch.sqrt((away * away).mean(along, keepdim=True) + 1e-5) * more[0]
        y = y + more[1] if bias else y
        return (y, x) if told else y

    operands = [Operand(x)] + [Operand(row, True)] * (1 + bias) + [Operand(x)] * added
    return Operator("add+" * added + ("layer_norm" if mean else "rms_norm"), operands, run, right, x, "deviation",
                    math.prod(row), roundings=1 + added)


def softmax(torch, key, family):
    x, axis = key.dims[0], key.number("a", 0)
    name = "log_softmax" if family == "LogSoftmax" else "softmax"
    call = getattr(torch.nn.functional, name)

    def right(x):
        e = torch.exp(x - x.amax(axis, keepdim=True))
        y = e / e.sum(axis, keepdim=True)
        return y.log() if name == "log_softmax" else y

    return Operator(name, [Operand(x)], lambda x: call(x, axis), right, x,
                    "transcendental" if name == "log_softmax" else "softmax", x[axis])


def batch_norm(torch, key):
    x = key.dims[0]
    channels = [1, -1] + [1] * (len(x) - 2)

    def right(x, scale, shift, mean, variance):
        s, b, m, v = (t.reshape(channels) for t in (scale, shift, mean, variance))
        return (x - m) / torch.sqrt(v + 1e-5) * s + b

    vectors = [Operand([x[1]], True)] * 3 + [Operand([x[1]], True, positive=True)]
    return Operator("batch_norm", [Operand(x), *vectors], lambda x, scale, shift, mean, variance:
                    torch.nn.functional.batch_norm(x, mean, variance, scale, shift, eps=1e-5), right, x, "summed",
                    layout="channels_last" if len(x) == 4 else "plain", roundings=2)  # its vectors are folded


def pool(torch, key, family):
    x = key.dims[0]
    n, maximum = len(x) - 2, family.endswith("MaxPool")
    layout = "channels_last" if n == 2 else "plain"
    if family.startswith("Global"):
        name = f"adaptive_{'max' if maximum else 'avg'}_pool{n}d"
        along = list(range(2, len(x)))
        return Operator(name, [Operand(x)], lambda x: getattr(torch.nn.functional, name)(x, 1),
                        lambda x: x.amax(along, keepdim=True) if maximum else x.mean(along, keepdim=True),
                        x[:2] + [1] * n, "exact" if maximum else "summed", math.prod(x[2:]), layout=layout)
    kernel = key.dims[1]
    strides, pads, dilations = key.each("s", n, 1), key.pads(n), key.each("d", n, 1)
    ceil, zeros = key.flag("ceil"), key.flag("ip")
    begins, ends = halves(pads)
    if any(2 * p > k for p, k in zip(begins, kernel)) or begins != ends and (ceil or not (maximum or zeros)):
        raise Absent("PyTorch's pools do not pad so")
    both, around = padded(torch, pads, -math.inf if maximum else 0)
    call = getattr(torch.nn.functional, f"{'max' if maximum else 'avg'}_pool{n}d")
    more = {"dilation": dilations} if maximum else {"count_include_pad": zeros}
    if not maximum and set(dilations) != {1}:
        raise Absent("PyTorch's averages know no dilations")

    def run(x):
        return call(around(x), kernel, strides, both, ceil_mode=ceil, **more)

    return Operator(call.__name__ if hasattr(call, "__name__") else "pool", [Operand(x)], run, run,
                    [*x[:2], *window_dims(x[2:], kernel, strides, pads, dilations, ceil)],
                    "exact" if maximum else "summed", math.prod(kernel), layout=layout)


def transpose(torch, key):
    x = key.dims[0]
    order = key.tag("o")

    def run(x):
        return x.permute(order).contiguous()

    return Operator("permute", [Operand(x)], run, run, [x[i] for i in order])


BASES = {"Conv": convolution, "MatMul": product, "Gemm": gemm, "Attention": attention,
         "BatchNormalization": batch_norm, "Transpose": transpose}
OF_FAMILIES = {**dict.fromkeys(("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"), pool),
               **dict.fromkeys(("LayerNormalization", "RMSNormalization"), normalization),
               **dict.fromkeys(("Softmax", "LogSoftmax"), softmax), **dict.fromkeys(UNARY, unary),
               **dict.fromkeys(BINARY, binary)}


def operator_of(torch, layer):
    """The operator that is this layer, FAMILY/KEY; Absent if none is known."""
    family, _, text = layer.partition("/")
    key, (base, *steps) = Key(text), family.split("+")
    if base == "Add" and steps[:1] in (["LayerNormalization"], ["RMSNormalization"]) and len(steps) == 1:
        made = normalization(torch, key, steps[0], added=True)
    elif base in BASES or base in OF_FAMILIES:
        made = BASES[base](torch, key) if base in BASES else OF_FAMILIES[base](torch, key, base)
        if steps:
            made = with_steps(torch, made, key, steps)
    else:
        raise Absent(f"no operator is known for {base}")
    key.finish()
    return made
