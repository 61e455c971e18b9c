# SPDX-License-Identifier: Apache-2.0
"""How does a framework run a whole model, and what does its own profiler say of the layers?

Each of these is made of a model's file, its inputs and a number of threads, runs it by `run`, and gives what a
run made by `results`. `profiled` makes it anew with the profiler, runs it some more times, and returns what is
written of that (`traces` of the file) and the operators of the graph that was run, as graphs.Node.
"""

import json
import math
import os
import time
import warnings
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.graphs import Node, nodes_of
from frameworks.partner import partner
from frameworks.settings import onnxruntime_options, onnxruntime_session, openvino_model
from frameworks.traces import MOST_BYTES, graph_of_xml, slim_events, slim_torch

MOST_RUNS, FEWEST_RUNS = 30, 6  # that are profiled; the first is the cold one
MOST_COUNTED = 2000  # where a profiler only counts


def runs_for(bytes_each):
    return max(FEWEST_RUNS, min(MOST_RUNS, int(MOST_BYTES // max(bytes_each, 1))))


def repeat(run, most, seconds):
    """So many times, fewer where it takes long."""
    until = partner.now() + seconds * 1e9
    for n in range(most):
        partner.step(seconds=0)
        run()
        if n + 1 >= FEWEST_RUNS and partner.now() > until:
            break


# ---- ONNX Runtime ---------------------------------------------------------------------------------

class OnnxRuntime:
    def __init__(self, path, feeds, threads, options=None):
        import onnxruntime as ort
        self.session = onnxruntime_session(path, options or onnxruntime_options(threads))
        self.binding = self.session.io_binding()
        for name, array in feeds.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")
        self.version, self.precision = ort.__version__, ""

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def results(self):
        return self.binding.copy_outputs_to_cpu()

    @classmethod
    def profiled(cls, path, feeds, threads, seconds):
        import onnx
        optimized = path.with_name("optimized.onnx")
        options = onnxruntime_options(threads)
        options.enable_profiling, options.profile_file_prefix = True, str(path.with_name("profile"))
        options.optimized_model_filepath = str(optimized)
        for key, value in ("file_name", "optimized.bin"), ("min_size_in_bytes", "64"):
            options.add_session_config_entry(f"session.optimized_model_external_initializers_{key}", value)
        model = cls(path, feeds, threads, options)
        optimized.with_name("optimized.bin").unlink(missing_ok=True)
        graph = onnx.load(str(optimized), load_external_data=False).graph
        repeat(model.run, runs_for(600 * len(graph.node)), seconds)
        events = json.loads(Path(model.session.end_profiling()).read_text())
        return [{"format": "onnxruntime-profile", "json": slim_events(events, MOST_BYTES)}], nodes_of(graph)

    @staticmethod
    def run_us(traces):
        """What all operators took together in each run, as the profiler says."""
        runs = []
        for e in sorted(traces[0]["json"], key=lambda e: (e.get("ts", 0), -e.get("dur", 0))):
            if e.get("name") == "model_run":
                runs.append(0)
            elif e.get("cat") == "Node" and runs:
                runs[-1] += e["dur"]
        return runs


# ---- OpenVINO -------------------------------------------------------------------------------------

def between_reads(read):
    """What the layers took in an average run before the first read, and between it and the next, and so on."""
    layers = {}
    for _, counters in read:
        layers |= counters
    runs, known, before = [], 0, dict.fromkeys(layers, 0)
    for count, counters in read:
        total = {name: count * counters.get(name, {"real_us": 0})["real_us"] for name in layers}
        runs.append([{**layer, "real_us": round(max(0, total[name] - before[name]) / (count - known), 3)}
                     for name, layer in layers.items()])
        known, before = count, total
    return runs


class OpenVino:
    def __init__(self, path, feeds, threads, profiled=False):
        import openvino as ov
        self.compiled, self.precision = openvino_model(path, threads, profiled)
        self.request = self.compiled.create_infer_request()
        self.tensors = {name: ov.Tensor(array) for name, array in feeds.items()}
        for port in self.compiled.inputs:
            name = next((n for n in port.get_names() if n in self.tensors), None)
            if name is not None:
                self.request.set_tensor(port, self.tensors[name])
        self.version = ov.__version__

    def run(self):
        self.request.infer(share_outputs=True)

    def results(self):
        return [t.data for t in self.request.output_tensors]

    def counters(self):
        """Microseconds of each layer in an average run so far, cut to whole ones; of those left out for good none."""
        return {n.node_name: {"name": n.node_name, "type": n.node_type, "exec_type": n.exec_type,
                              "status": n.status.name, "real_us": round(n.real_time.total_seconds() * 1e6)}
                for n in self.request.get_profiling_info() if n.status != n.Status.NOT_RUN}

    @classmethod
    def profiled(cls, path, feeds, threads, seconds):
        """The counters are means of all runs, the cold one too, which short layers do not forget in a thousand runs.
        So they are read behind it, and when a quarter, half and all of the others have run."""
        import openvino as ov
        model, took, read = cls(path, feeds, threads, profiled=True), [], []

        def run(until):
            while len(took) < until:
                partner.step()
                start = time.perf_counter_ns()
                model.run()
                took.append(time.perf_counter_ns() - start)
            read.append((until, model.counters()))

        run(1)
        run(3)
        read.pop()
        most = max(FEWEST_RUNS, min(MOST_COUNTED, int(seconds * 1e9 / max(took[-1], 1))))
        for part in 4, 2, 1:
            run(3 + most // part)
        graph = path.with_name("graph.xml")
        ov.serialize(model.compiled.get_runtime_model(), str(graph), str(graph.with_suffix(".bin")))
        text = graph.read_text()
        traces = [{"format": "openvino-exec-graph", "text": text},
                  {"format": "openvino-profiling", "json": {"runs": between_reads(read), "run_ns": took}}]
        return traces, graph_of_xml(text)

    @staticmethod
    def run_us(traces):
        """What all operators took together in each run, as the profiler says."""
        return [sum(o["real_us"] for o in run) for run in traces[1]["json"]["runs"]]


# ---- PyTorch --------------------------------------------------------------------------------------

class PyTorch:
    """A model that onnx2torch turned into modules, one of each node, as PyTorch runs it without compiling."""

    def __init__(self, path, feeds, threads):
        os.environ |= {"CUDA_VISIBLE_DEVICES": "", "KINETO_LOG_LEVEL": "99"}  # before it is imported
        import onnx
        import onnx2torch
        import torch
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        model = onnx.load(str(path))
        explicit_pads(model)
        self.names = {o: n.name for n in model.graph.node for o in n.output}
        try:
            self.modules = onnx2torch.convert(model, attach_onnx_mapping=True).eval()
        except NotImplementedError as e:
            raise Refused(f"onnx2torch has no form of an operator: {one_line(e)}") from None
        warnings.simplefilter("ignore")  # those of onnx2torch where it runs
        self.tensors = [torch.from_numpy(feeds[i.name]) for i in model.graph.input if i.name in feeds]
        self.version, self.precision = torch.__version__, ""
        self.torch, self.made = torch, None

    def run(self):
        with self.torch.inference_mode():
            self.made = self.modules(*self.tensors)

    def results(self):
        made = self.made if isinstance(self.made, (tuple, list)) else [self.made]
        return [m.numpy() for m in made]

    def named(self):
        """Has each node's module say its name where it runs; the operators."""
        operators = []
        for module in self.modules.modules():
            mapping = getattr(module, "onnx_mapping", None)
            outputs = [o for o in mapping.outputs if o] if mapping else []
            name = next((self.names[o] for o in outputs if o in self.names), None)
            if name is not None:
                module.forward = self.within(name, module.forward)
                operators.append(Node(name, type(module).__name__, list(mapping.inputs), outputs, [name]))
        return operators

    def within(self, name, forward):
        def named_forward(*inputs, **options):
            with self.torch.profiler.record_function(name):
                return forward(*inputs, **options)
        return named_forward

    @classmethod
    def profiled(cls, path, feeds, threads, seconds):
        model = cls(path, feeds, threads)
        from torch.profiler import ProfilerActivity, profile, record_function
        operators, steps = model.named(), iter(range(MOST_RUNS))

        def run():
            with record_function(f"ProfilerStep#{next(steps)}"):
                model.run()

        trace = path.with_name("trace.json")
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
            repeat(run, runs_for(1200 * len(operators)), seconds)
        profiler.export_chrome_trace(str(trace))
        return [{"format": "pytorch-trace", "json": slim_torch(json.loads(trace.read_text()), MOST_BYTES)}], operators


def explicit_pads(model):
    """What onnx2torch lacks: paddings of kind SAME become numbers, where the dims are known."""
    import onnx
    wanted = [n for n in model.graph.node for a in n.attribute if a.name == "auto_pad" and a.s.startswith(b"SAME")]
    if not wanted:
        return
    try:
        inferred = onnx.shape_inference.infer_shapes(model).graph
    except Exception:  # of a large model; onnx2torch then says what it lacks
        return
    dims = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in (*inferred.value_info, *inferred.input)}
    dims |= {t.name: list(t.dims) for t in model.graph.initializer}
    for node in wanted:
        of = {a.name: list(a.ints) for a in node.attribute}
        spatial = dims.get(node.input[0], [])[2:]
        kernel = of.get("kernel_shape") or dims.get(node.input[1], [])[2:]
        if not spatial or not all(spatial) or len(kernel) != len(spatial):
            continue
        pads = []
        for size, k, step, apart in zip(spatial, kernel, of.get("strides") or [1] * len(kernel),
                                        of.get("dilations") or [1] * len(kernel)):
            pads.append(max((math.ceil(size / step) - 1) * step + (k - 1) * apart + 1 - size, 0))
        upper = next(a.s for a in node.attribute if a.name == "auto_pad") == b"SAME_UPPER"
        low = [p // 2 if upper else (p + 1) // 2 for p in pads]
        kept = [a for a in node.attribute if a.name not in ("auto_pad", "pads")]
        del node.attribute[:]
        node.attribute.extend(kept)
        node.attribute.append(onnx.helper.make_attribute("pads", low + [p - l for p, l in zip(pads, low)]))


FRAMEWORKS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "pytorch": PyTorch}
