# SPDX-License-Identifier: Apache-2.0
"""Writes what ONNX Runtime computes of a model, node by node, as a folder for the program `node_tests`.

  python3 -m frameworks.node_values bert.onnx FOLDER sequence=8     # in scripts/; dims by name

model_0.onnx has the weights as inputs and the result of each node as an output; tensor_<name>.pb are all of
them as doubles. Short lists and scalars stay constants: they are dims, axes, scales.
"""

import json
import shutil
import sys
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.environment import PACKAGES, missing_packages, run_elsewhere
from frameworks.inputs import fix_dims, make_inputs
from frameworks.models import elements, load, save
from frameworks.weights import fill_weights

SHORT = 16  # elements


def values_of(model, feeds, folder):
    """The result of each node that is one tensor, by name, in the order of the nodes."""
    import onnx
    import onnxruntime as ort
    shown = onnx.ModelProto.FromString(model.SerializeToString())
    given = {o.name for o in shown.graph.output}
    names = [o for n in shown.graph.node for o in n.output if o]
    shown.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in given)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(str(save(shown, folder)), options, providers=["CPUExecutionProvider"])
        found = dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))
    except Exception as e:  # each of its errors has a class of its own
        raise Refused(f"ONNX Runtime: {one_line(e)}") from None
    return {n: found[n] for n in names if hasattr(found.get(n), "dtype") and found[n].dtype.kind in "fiub"}


def weights_as_inputs(model):
    """Takes the weights out of a model, and gives them by name."""
    import onnx
    taken = {}
    graph = model.graph
    declared = {i.name for i in graph.input}

    def take(name, t):
        taken[name] = onnx.numpy_helper.to_array(t)
        if name not in declared:
            graph.input.append(onnx.helper.make_tensor_value_info(name, t.data_type, t.dims))

    def is_long(t):
        return elements(t.dims) > SHORT and t.data_type != onnx.TensorProto.STRING

    stay = [t for t in graph.initializer if not is_long(t)]
    for t in graph.initializer:
        if is_long(t):
            take(t.name, t)
    nodes = []
    for n in graph.node:
        t = next((a.t for a in n.attribute if n.op_type == "Constant" and a.name == "value"), None)
        if t is None or not is_long(t):
            nodes.append(n)
        else:
            take(n.output[0], t)
    for field, left in (graph.initializer, stay), (graph.node, nodes):
        left = [type(x).FromString(x.SerializeToString()) for x in left]
        del field[:]
        field.extend(left)
    return taken


def write(path, folder, dims):
    import numpy as np
    import onnx
    model = load(path)
    fill_weights(model, path.parent)
    shapes, known, _ = fix_dims(model, None, dims)
    feeds = make_inputs(model, shapes, known)
    results = values_of(model, feeds, folder)
    given = {**feeds, **weights_as_inputs(model)}
    del model.graph.output[:]
    for name, data in results.items():
        if name not in given:
            kind = onnx.helper.np_dtype_to_tensor_dtype(data.dtype)
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, None))
    (folder / "model_0.onnx").write_bytes(model.SerializeToString())
    for i, (name, data) in enumerate({**results, **given}.items()):
        t = onnx.TensorProto(dims=data.shape, data_type=onnx.TensorProto.DOUBLE,
                             raw_data=np.ascontiguousarray(data, dtype=np.float64).tobytes())
        (folder / f"tensor_{i}.pb").write_bytes(t.SerializeToString())
    (folder / "test.json").write_text(json.dumps(
        {"inputs": list(given), "files": {n: f"tensor_{i}.pb" for i, n in enumerate({**results, **given})},
         "rtol": 2e-3, "of_largest": 1e-4}))


def main():
    path, folder, dims = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    needed = PACKAGES["onnxruntime"]
    try:
        if missing_packages(needed):
            run_elsewhere("onnxruntime", needed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(path, folder, {n: int(v) for n, _, v in (d.rpartition("=") for d in dims)})
    except Refused as e:
        print(e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
