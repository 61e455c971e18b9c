# SPDX-License-Identifier: Apache-2.0
"""What does a framework's profiler add to an operator? Said by operators that do nothing: running sums of one
element, which no framework takes together.
"""

import statistics

from frameworks.timing import sample

FEW, MANY = 16, 64  # operators in a row
SECONDS = 0.15  # of each of three parts


def save_row(count, path):
    """A model of so many empty operators, one behind the other."""
    import onnx
    from onnx import TensorProto, helper
    nodes = [helper.make_node("CumSum", [f"t{i}", "axis"], [f"t{i + 1}"], name=f"empty{i}") for i in range(count)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1]) for name in ("t0", f"t{count}")]
    axis = helper.make_tensor("axis", TensorProto.INT64, [], [1])
    graph = helper.make_graph(nodes, "empty", ends[:1], ends[1:], [axis])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def empty_operator(made, folder, threads):
    """What the profiler says of an empty operator, and what one more of them takes without it, in ns; None for a
    framework that runs several calls for each operator."""
    import numpy as np
    if not hasattr(made, "run_us"):
        return None
    path, feeds, least = folder / "empty.onnx", {"t0": np.zeros((1, 1), np.float32)}, {}
    for count in FEW, MANY:
        save_row(count, path)
        least[count] = min(sample(made(path, feeds, threads).run, SECONDS))
    traces, _ = made.profiled(path, feeds, threads, SECONDS)
    return {"profiled_ns": round(1e3 * statistics.median(made.run_us(traces)[1:]) / MANY),
            "ns": round(max(0, (least[MANY] - least[FEW]) / (MANY - FEW)))}
