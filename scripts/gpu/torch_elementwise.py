# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators of PyTorch, alone and behind others."""

import math

from gpu.torch_keys import Absent, Operand, Operator

# Family: what PyTorch calls it, accuracy, and whether operands have to be above zero.
UNARY = {
    "Relu": ("relu", "exact", False), "Sigmoid": ("sigmoid", "transcendental", False),
    "Tanh": ("tanh", "transcendental", False), "Gelu": ("gelu", "transcendental", False),
    "FastGelu": ("gelu", "transcendental", False), "Swish": ("silu", "transcendental", False),
    "Mish": ("mish", "transcendental", False), "HardSwish": ("hardswish", "summed", False),
    "Softplus": ("softplus", "transcendental", False), "Exp": ("exp", "transcendental", False),
    "Log": ("log", "transcendental", True), "Sqrt": ("sqrt", "rounded", True),
    "Reciprocal": ("reciprocal", "rounded", True), "Erf": ("erf", "transcendental", False),
    "Abs": ("abs", "exact", False), "Neg": ("neg", "exact", False), "Sin": ("sin", "transcendental", False),
    "Cos": ("cos", "transcendental", False), "Square": ("square", "rounded", False),
}
BINARY = {"Add": ("add", "summed"), "Sub": ("sub", "summed"), "Mul": ("mul", "rounded"), "Div": ("div", "rounded"),
          "Min": ("minimum", "exact"), "Max": ("maximum", "exact")}
WORSE = ("exact", "rounded", "summed", "products", "attention", "softmax", "transcendental", "deviation")


def function_of(torch, family):
    """A function of one number, and the same in float64 by its definition."""
    name = UNARY[family][0]
    of = torch.nn.functional if name in ("gelu", "silu", "mish", "hardswish", "softplus") else torch
    call = getattr(of, name)
    if family == "FastGelu":
        return (lambda x: call(x, approximate="tanh"),
                lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))
    if family == "Gelu":
        return call, lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    return call, (lambda x: x / (1 + torch.exp(-x))) if family == "Swish" else call


def unary(torch, key, family):
    run, right = function_of(torch, family)
    name, accuracy, positive = UNARY[family]
    return Operator(name, [Operand(key.dims[0], positive=positive)], run, right, key.dims[0], accuracy)


def binary(torch, key, family):
    a, b = (key.dims * 2)[:2]
    name, accuracy = BINARY[family]
    call = getattr(torch, name)
    return Operator(name, [Operand(a), Operand(b, positive=family == "Div")], call, call,
                    list(torch.broadcast_shapes(a, b)), accuracy)


def with_steps(torch, made, key, steps):
    """A layer and what is done on its result, one operator after the other."""
    done = []
    for place, family in enumerate(steps):
        dims = key.tag("w" * (place + 1), made.result)
        if family in UNARY:
            call, right = function_of(torch, family)
            done.append((call, right, False))
            name, accuracy = UNARY[family][:2]
        elif family in BINARY:
            name, accuracy = BINARY[family]
            if made.name == "linear" and len(made.operands) == 2 and family == "Add" and dims == made.result[-1:]:
                made.operands.append(Operand(dims, True))  # its bias
                continue
            made.operands.append(Operand(dims, positive=family == "Div"))
            done.append((getattr(torch, name),) * 2 + (True,))
        else:
            raise Absent(f"no operator is known for {family} behind another one")
        made.name += "+" + name
        made.accuracy = max(made.accuracy, accuracy, key=WORSE.index)
        made.roundings += 1
    joined = sum(joins for *_, joins in done)

    def chain(base, which):
        def run(*tensors):
            first, more = tensors[:len(tensors) - joined], iter(tensors[len(tensors) - joined:])
            y = base(*first)
            for step in done:
                y = step[which](y, next(more)) if step[2] else step[which](y)
            return y
        return run

    made.run, made.right = chain(made.run, 0), chain(made.right, 1)
    return made
