# SPDX-License-Identifier: Apache-2.0
"""How long does a step of a language model take: so many tokens of each sequence, behind others whose keys and values are
in its cache? In llama.cpp the step alone; in ONNX Runtime GenAI and OpenVINO GenAI to the token that is chosen."""

import os

from frameworks.common import Refused, bind
from frameworks.timing import finite
from frameworks.whole import began, file_of, now, ran_here, sampled

READ = {"llamacpp": ".gguf", "onnxruntime-genai": ".onnx", "openvino-genai": ".gguf"}
DIMS = {"sequence": 1, "past": 512}


def check_file(arguments):
    """Refuses what a step of a language model does not have, and files that a framework does not read."""
    framework, model = arguments.framework, arguments.model
    if framework not in READ:
        if model and model.suffix == ".gguf":
            raise Refused(f"{model}: GGUF files are of {' and '.join(f for f, s in READ.items() if s == '.gguf')}; others "
                          "read ONNX files")
        return
    if model and (model.suffix == ".gguf") != (READ[framework] == ".gguf"):
        raise Refused(f"{model}: {framework} reads {READ[framework][1:].upper()} files")
    for option in "shapes", "optimized":
        if getattr(arguments, option):
            raise Refused(f"--{option.replace('_', '-').removesuffix('s')} is not of {framework}")
    if arguments.trace and framework != "llamacpp":
        raise Refused(f"--trace is not of {framework}: it tells no times of operators")
    if arguments.batch not in (None, 1) and framework != "llamacpp":
        raise Refused(f"--batch {arguments.batch}: {framework} is measured with one sequence")
    if arguments.latency_ms is not None:
        raise Refused("--latency-ms: what llama-bench writes has times")


def steps_of(dims, known=None, what="a GGUF file"):
    """How many tokens, and behind how many; `known` names the file's dims for these."""
    known = known or {name: name for name in DIMS}
    for name in dims:
        if name not in known.values():
            raise Refused(f"--dim {name}: of {what} there are {' and '.join(known.values())}")
    sequence, past = (dims.get(known[name], n) for name, n in DIMS.items())
    if sequence < 1:
        raise Refused(f"--dim {known['sequence']}={sequence}: at least 1")
    return sequence, past


def measure_tokens(arguments, made):
    """framework.json of a step, and the chain's result that took turns with it."""
    framework = made(arguments)
    arguments.dims, arguments.batch = framework.dims, arguments.batch or 1
    processors = os.sched_getaffinity(0)
    cpus = bind(arguments.threads)
    started = now()
    past = framework.past
    began(f"{arguments.framework} reads {arguments.model.name}" + (f", and {past} tokens into its cache" if past else ""))
    framework.start(arguments)
    healthy = finite(framework.results())
    samples, chain = sampled(framework.sample, arguments, processors)
    nodes = {"traces": []} if arguments.no_profile else framework.traces(arguments.seconds)
    return {**file_of(arguments, framework.version, cpus, framework.precision, framework.structure), **framework.facts,
            **ran_here(arguments, started, healthy, samples, chain), **nodes}, chain
