# SPDX-License-Identifier: Apache-2.0
"""With which settings does a framework run? One thread or so many, one request after the other, in f32; and what
--set NAME=VALUE says besides, which is how advice is tried:

  ONNX Runtime  graph_optimization_level=disabled|basic|extended|all, execution_mode=parallel, or these by its own
                names (ORT_ENABLE_ALL, ORT_PARALLEL), any number or truth value of SessionOptions, any entry of its
                configuration (session.set_denormal_as_zero=1)
  OpenVINO      any property: INFERENCE_PRECISION_HINT=bf16
  llama.cpp     cache_type=f32|f16|bf16|q8_0, flash_attention=auto|on|off (llamacpp.py)
"""

from frameworks.common import Refused

chosen = {}  # of --set


def choose(framework, pairs):
    """Takes the settings of the command line."""
    if pairs and framework == "pytorch":
        raise Refused("--set: PyTorch has no settings here")
    for pair in pairs:
        name, equal, value = pair.partition("=")
        if not equal or not name or not value:
            raise Refused(f"--set {pair}: say NAME=VALUE")
        chosen[name] = value


def set_option(options, name, value):
    """One setting of ONNX Runtime, by its name and kind."""
    import onnxruntime as ort
    kinds = {"graph_optimization_level": (ort.GraphOptimizationLevel, "ORT_ENABLE_"),
             "execution_mode": (ort.ExecutionMode, "ORT_")}
    if name in kinds:
        kind, prefix = kinds[name]
        word = "ORT_DISABLE_ALL" if value == "disabled" else prefix + value.upper().removeprefix(prefix)
        if not hasattr(kind, word):
            raise Refused(f"--set {name}={value}: there is no such value")
        setattr(options, name, getattr(kind, word))
    elif "." in name:
        options.add_session_config_entry(name, value)
    elif isinstance(getattr(options, name, None), (bool, int)):
        if not value.lstrip("-").isdigit():
            raise Refused(f"--set {name}={value}: a number")
        setattr(options, name, type(getattr(options, name))(int(value)))
    else:
        raise Refused(f"--set {name}={value}: ONNX Runtime has no such setting")


def onnxruntime_options(threads):
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 4
    for name, value in chosen.items():
        set_option(options, name, value)
    return options


def onnxruntime_session(path, options):
    import onnxruntime as ort
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def with_growing_caches(model):
    """Where the dims of a cache are fixed, OpenVINO takes the cache of a GroupQueryAttention for one that has room for
    what is added (and ends with an error, as there is none): so the number of tokens in it is left open."""
    import openvino as ov
    shapes = {}
    for op in model.get_ordered_ops():
        for cache in (op.input_value(3), op.input_value(4)) if op.get_type_name() == "GroupQueryAttention" else ():
            if cache.get_node().get_type_name() == "Parameter":
                shapes[cache] = cache.get_partial_shape()
                shapes[cache][2] = ov.Dimension(-1)
    if shapes:
        model.reshape(shapes)
    return model


def openvino_properties(threads):
    """In f32 on so many threads, and what --set says besides."""
    wanted = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
    if "INFERENCE_PRECISION_HINT" in chosen:
        del wanted["EXECUTION_MODE_HINT"]  # which would ask for the exact one
    return {**wanted, **chosen}


def openvino_model(path, threads, profiled=False):
    """A model as OpenVINO runs it, and the type in which it says that it computes."""
    import openvino as ov
    core = ov.Core()
    wanted = {"NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "PERF_COUNT": profiled, **openvino_properties(threads)}
    compiled = core.compile_model(with_growing_caches(core.read_model(str(path))), "CPU", wanted)
    element = compiled.get_property("INFERENCE_PRECISION_HINT")
    precision = element.get_type_name() if hasattr(element, "get_type_name") else str(element)
    return compiled, {"bfloat16": "bf16", "float16": "f16"}.get(precision, precision)
