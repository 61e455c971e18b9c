# SPDX-License-Identifier: Apache-2.0
"""With which settings does a framework run? One thread or so many, one request after the other, in f32."""


def onnxruntime_options(threads):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4
    return options


def onnxruntime_session(path, options):
    import onnxruntime as ort
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def openvino_model(path, threads, profiled=False):
    """A model as OpenVINO runs it, and the type in which it says that it computes."""
    import openvino as ov
    core = ov.Core()
    wanted = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
              "INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY", "PERF_COUNT": profiled}
    compiled = core.compile_model(core.read_model(str(path)), "CPU", wanted)
    element = compiled.get_property("INFERENCE_PRECISION_HINT")
    return compiled, element.get_type_name() if hasattr(element, "get_type_name") else str(element)
