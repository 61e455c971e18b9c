#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX's node tests as folders, for scripts/prove node_tests.

  scripts/node_tests.py FOLDER     # needs PyPI's onnx

A test becomes model_0.onnx as it is, and model_1.onnx ... in which more and more inputs are constants:
whole numbers behind the first input, all whole numbers, then short lists of reals too (the first input only
where nothing but its values decides the result's size). Inputs and outputs are tensor_<name>.pb, all as
doubles. A sequence is made of as many tensors as the test has.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",
          "Bernoulli"}
SIZED_BY_VALUES = {"NonZero", "Unique", "Range", "Loop"}


def kind_of_value(t):
    """Why a type is left out; nothing where it is not."""
    if t.HasField("optional_type"):
        return "optional values"
    if t.HasField("map_type"):
        return "maps"
    if t.HasField("sequence_type"):
        inner = t.sequence_type.elem_type
        return kind_of_value(inner) if inner.HasField("tensor_type") else "sequences of sequences"
    if t.tensor_type.elem_type == TensorProto.STRING:
        return "strings"
    return None


def left_out(model):
    graph = model.graph
    if any(n.domain in ("ai.onnx.ml", "ai.onnx.preview.training") for n in graph.node):
        return "machine learning or training"
    if any(n.op_type == "ImageDecoder" for n in graph.node):
        return "images"
    if any(n.op_type in RANDOM for n in graph.node):
        return "random results"
    if any(n.op_type == "Dropout" and len(n.input) > 2 and n.input[2] for n in graph.node):
        return "random results"
    for value in [*graph.input, *graph.output]:
        if why := kind_of_value(value.type):
            return why
    return None


def array_of(data):
    return numpy_helper.to_array(data) if isinstance(data, TensorProto) else np.asarray(data)


def as_tensors(model, inputs, outputs):
    """The model with its sequences as single tensors, and those by name."""
    graph, given, wanted = model.graph, {}, {}
    made, taken, nodes = [], [], []
    for value, data in zip(graph.input, inputs):
        if not value.type.HasField("sequence_type"):
            given[value.name] = array_of(data)
            made.append(value)
            continue
        element = value.type.sequence_type.elem_type.tensor_type.elem_type
        names = [f"{value.name}_{i}" for i in range(len(data))]
        nodes.append(helper.make_node("SequenceConstruct", names, [value.name]) if names else
                     helper.make_node("SequenceEmpty", [], [value.name], dtype=element))
        for name, part in zip(names, data):
            given[name] = array_of(part)
            made.append(helper.make_tensor_value_info(name, element, given[name].shape))
    nodes += graph.node
    for value, data in zip(graph.output, outputs):
        if not value.type.HasField("sequence_type"):
            wanted[value.name] = array_of(data)
            taken.append(value)
            continue
        element = value.type.sequence_type.elem_type.tensor_type.elem_type
        for i, part in enumerate(data):
            name, at = f"{value.name}_{i}", f"{value.name}_place_{i}"
            nodes.append(helper.make_node("Constant", [], [at], value_int=i))
            nodes.append(helper.make_node("SequenceAt", [value.name, at], [name]))
            wanted[name] = array_of(part)
            taken.append(helper.make_tensor_value_info(name, element, wanted[name].shape))
    for field, values in ((graph.node, nodes), (graph.input, made), (graph.output, taken)):
        values = [type(v).FromString(v.SerializeToString()) for v in values]
        del field[:]
        field.extend(values)
    return given, wanted


def feeds(given, elements, sized_by_values):
    """Sets of inputs to be constants, the smallest first."""
    whole = [n for n in given if elements[n] not in
             (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16)]
    short = [n for n in given if n not in whole and given[n].size <= 16]
    first = next(iter(given), None)
    sets = [set(), set(whole) - {first}, set(whole), set(whole) | set(short) - {first}]
    if sized_by_values:
        sets.append(set(whole) | set(short))
    return [s for i, s in enumerate(sets) if s not in sets[:i]]


def write(case, folder):
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    inputs, outputs = case.data_sets[0]
    given, wanted = as_tensors(model, inputs, outputs)
    folder.mkdir(parents=True)
    declared = list(model.graph.input)
    elements = {i.name: i.type.tensor_type.elem_type for i in declared}
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    sized_by_values = any(n.op_type in SIZED_BY_VALUES for n in model.graph.node)
    for k, feed in enumerate(feeds(given, elements, sized_by_values)):
        del model.graph.initializer[:]
        for name in feed:
            model.graph.initializer.append(numpy_helper.from_array(given[name], name))
        (folder / f"model_{k}.onnx").write_bytes(model.SerializeToString())
    for name, data in {**given, **wanted}.items():
        tensor = TensorProto(dims=data.shape, data_type=TensorProto.DOUBLE,
                             raw_data=data.astype(np.float64).tobytes())
        (folder / f"tensor_{name}.pb").write_bytes(tensor.SerializeToString())
    (folder / "test.json").write_text(json.dumps(
        {"inputs": list(given), "rtol": case.rtol, "atol": case.atol}))


def main():
    to, counts = Path(sys.argv[1]), {}
    shutil.rmtree(to, ignore_errors=True)
    for case in collect_testcases():
        if case.model is None or not case.data_sets:
            counts["no model or data"] = counts.get("no model or data", 0) + 1
        elif why := left_out(case.model):
            counts[why] = counts.get(why, 0) + 1
        else:
            write(case, to / case.name)
    print(json.dumps({"version": onnx.__version__, "left_out": counts}))


if __name__ == "__main__":
    main()
