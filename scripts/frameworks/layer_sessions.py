# SPDX-License-Identifier: Apache-2.0
"""How does a framework run one layer on our operands?"""

import bisect
import json
import statistics
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.settings import onnxruntime_options, onnxruntime_session, openvino_model


class OnnxRuntime:
    """A model in ONNX Runtime, bound to memory of ours."""

    def __init__(self, path, inputs, outputs, threads, profile=None):
        options = onnxruntime_options(threads)
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, str(profile)
        self.session = onnxruntime_session(path, options)
        binding = self.session.io_binding()
        known = {i.name for i in self.session.get_inputs()}
        for name, a in inputs.items():
            if name in known:
                binding.bind_input(name, "cpu", 0, a.dtype.type, a.shape, a.ctypes.data)
        for name, a in outputs.items():
            binding.bind_output(name, "cpu", 0, a.dtype.type, a.shape, a.ctypes.data)
        self.kept = (inputs, outputs)
        session, ours = getattr(self.session, "_sess", None), getattr(binding, "_iobinding", None)
        if session is not None and ours is not None:  # what the public call does, with less of Python
            self.run = lambda: session.run_with_iobinding(ours, None)
        else:
            self.run = lambda: self.session.run_with_iobinding(binding)

    @staticmethod
    def version():
        import onnxruntime
        return onnxruntime.__version__

    def nodes(self):
        """Of a model that was made with a profile, once and at the end: names of what ran, and the least time
        in ns of all of it together in a run."""
        return nodes_of_profile(json.loads(Path(self.session.end_profiling()).read_text()))


def nodes_of_profile(events):
    """Of ONNX Runtime's events: the nodes of a run in order, and the least sum of their times in ns."""
    begins = sorted(e["ts"] for e in events if e.get("name") == "model_run")
    runs = [[] for _ in begins]
    nodes = (e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time"))
    for e in sorted(nodes, key=lambda e: e["ts"]):
        run = bisect.bisect_right(begins, e["ts"]) - 1
        if run >= 0:
            runs[run].append(e)
    # In steps of a microsecond a node may seem to be the next run's.
    usual = statistics.mode(map(len, runs)) if runs else 0
    whole = [r for r in runs[1:] or runs if len(r) == usual]
    best = min(whole, key=lambda nodes: sum(e["dur"] for e in nodes), default=[])
    names = [e["args"]["op_name"] + (".nchwc" if "_nchwc" in e["name"] else "") for e in best]
    return names, sum(e["dur"] for e in best) * 1000


class OpenVino:
    """The same in OpenVINO."""

    def __init__(self, path, inputs, outputs, threads, profile=None):
        import openvino as ov
        self.compiled, precision = openvino_model(path, threads, profile is not None)
        if precision not in ("f32", "float32"):
            raise Refused(f"OpenVINO takes {precision} where f32 is asked for")
        self.request = self.compiled.create_infer_request()
        self.kept = []
        for ports, arrays in (self.compiled.inputs, inputs), (self.compiled.outputs, outputs):
            for port in ports:
                name = next((n for n in port.get_names() if n in arrays), None)
                if name is None:
                    raise Refused(f"OpenVINO has a value of its own, {one_line(port)}")
                a = arrays[name]
                if port.get_element_type().to_dtype() != a.dtype:
                    raise Refused(f"OpenVINO has {name} as {port.get_element_type().get_type_name()}")
                tensor = ov.Tensor(a, shared_memory=True)
                self.kept.append(tensor)
                self.request.set_tensor(port, tensor)
        self.least, self.ran = None, []
        self.run = self.profiled_run if profile else lambda: self.request.infer(share_outputs=True)

    @staticmethod
    def version():
        import openvino
        return openvino.__version__.split("-")[0]

    def nodes(self):
        for name in self.ran:
            if name.lower().endswith(("bf16", "f16")):
                raise Refused(f"OpenVINO computes it in another type than f32, {name}")
        return self.ran, (self.least or 0) * 1e9

    def profiled_run(self):
        self.request.infer(share_outputs=True)
        nodes = [n for n in self.request.get_profiling_info()
                 if n.node_type not in ("Parameter", "Result", "Constant") and n.status != n.Status.OPTIMIZED_OUT]
        total = sum(n.real_time.total_seconds() for n in nodes)
        if self.least is None or total < self.least:
            self.least, self.ran = total, [openvino_name(n) for n in nodes]


def openvino_name(node):
    """What ran; of what takes less than a microsecond, or happens where tensors are handed over, the operator."""
    if node.node_type == "Reorder":
        return "reorder"
    return node.node_type if node.exec_type.startswith(("unknown", "undef")) else node.exec_type


FRAMEWORKS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}
