# SPDX-License-Identifier: Apache-2.0
"""How long does a step take in ONNX Runtime GenAI (of an ONNX file) and in OpenVINO GenAI (of a GGUF file)?

A step ends with the next token, the likeliest one. Tokens are random numbers: no text is read or made. ONNX Runtime GenAI
goes back to the same depth for each step; OpenVINO GenAI cannot, so a token is one of 32 made around that depth.
"""

import json
import re
import tempfile
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.models import all_nodes, element_types, load, save
from frameworks.partner import partner
from frameworks.settings import chosen, openvino_properties
from frameworks.structure import structure_of
from frameworks.timing import FEWEST, sample
from frameworks.tokens import steps_of
from frameworks.weights import fill_weights

COMPUTED = 128  # tokens of a cache at once
AROUND = 32     # tokens that OpenVINO GenAI makes in a row
CACHE_TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "q8_0": "u8"}


def no_traces(_):
    return {"traces": []}


def templates_of(values):
    """The names of caches, with %d where the first number is, the layer's; and how many layers there are. None where there
    are not two of each layer, keys and values."""
    names = [v.name for v in values if len(v.type.tensor_type.shape.dim) == 4]
    found = list(dict.fromkeys(re.sub(r"\d+", "%d", n, count=1) for n in names))
    layers = len(names) // 2
    whole = {t.replace("%d", str(i)) for t in found if "%d" in t for i in range(layers)} == set(names)
    whole = whole and len(found) == 2
    return (found, layers) if whole else None


class OnnxRuntimeGenAI:
    traces = staticmethod(no_traces)

    def __init__(self, arguments):
        self.model = load(arguments.model)
        self.structure, self.precision = structure_of(self.model), element_types(self.model)
        stored = {t.name for t in self.model.graph.initializer}
        inputs = [i for i in self.model.graph.input if i.name not in stored]
        past, present = templates_of(inputs), templates_of(self.model.graph.output)
        shapes = {i.name: i.type.tensor_type.shape.dim for i in inputs}
        ids = next((n for n, dims in shapes.items() if len(dims) == 2 and "ids" in n and "position" not in n), None)
        logits = next((o for o in self.model.graph.output if len(o.type.tensor_type.shape.dim) == 3), None)
        if not (past and present and past[1] == present[1] and ids and logits is not None):
            raise Refused(f"{arguments.model}: onnxruntime-genai takes a model of token numbers, with a cache of keys and "
                          "one of values for each layer, batch x heads x tokens x width")
        cache = next(dims for dims in shapes.values() if len(dims) == 4)
        names = {"past": cache[2].dim_param, "sequence": shapes[ids][1].dim_param}
        heads, each, words = cache[1].dim_value, cache[3].dim_value, logits.type.tensor_type.shape.dim[2].dim_value
        if not all((*names.values(), heads, each, words)):
            raise Refused(f"{arguments.model}: onnxruntime-genai takes any number of tokens, and fixed heads and words")
        self.sequence, self.past = steps_of(arguments.dims, names, "this model")
        self.dims = {names["past"]: self.past, names["sequence"]: self.sequence}
        self.words, known = words, {"input_ids": ids, **dict(zip(("past_key_names", "past_value_names"), past[0]))}
        for name in shapes.keys() - {ids}:
            if "mask" in name or "position" in name:
                known["attention_mask" if "mask" in name else "position_ids"] = name
        in_place = any(n.op_type == "GroupQueryAttention" for n in all_nodes(self.model.graph.node))
        self.config = {
            "model": {"type": "llama", "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "vocab_size": words,
                      "context_length": 1 << 20, "decoder": {
                          "filename": "model.onnx", "head_size": each, "hidden_size": heads * each,
                          "num_attention_heads": heads, "num_key_value_heads": heads, "num_hidden_layers": past[1],
                          "session_options": {"intra_op_num_threads": arguments.threads, "provider_options": []},
                          "inputs": known,
                          "outputs": {"logits": logits.name,
                                      **dict(zip(("present_key_names", "present_value_names"), present[0]))}}},
            "search": {"do_sample": False, "num_beams": 1, "past_present_share_buffer": in_place}}
        if chosen:
            raise Refused("--set is not of onnxruntime-genai")

    def start(self, arguments):
        import numpy as np
        import onnxruntime_genai as api
        self.version, self.random, self.np = api.__version__, np.random.default_rng(0), np
        filler = fill_weights(self.model, arguments.model.parent)
        self.facts = {"filled_tensors": filler.tensors, "filled_bytes": filler.bytes}
        with tempfile.TemporaryDirectory(prefix="benanza-framework-") as folder:
            save(self.model, Path(folder))
            del self.model
            (Path(folder) / "genai_config.json").write_text(json.dumps(self.config))
            try:
                model = api.Model(folder)
                asked = api.GeneratorParams(model)
                longest = self.past + self.sequence + 1
                asked.set_search_options(max_length=longest, min_length=longest)
                self.generator = api.Generator(model, asked)
                for first in range(0, self.past, COMPUTED):
                    self.generator.append_tokens(self.some(min(COMPUTED, self.past - first)))
                self.step = self.some(self.sequence)
                self.run()
            except Exception as e:  # its own words, whatever it throws
                raise Refused(f"onnxruntime-genai cannot run {arguments.model}: {one_line(e)}") from None

    def some(self, count):
        return self.random.integers(0, self.words, count).astype(self.np.int32)

    def run(self):
        self.generator.rewind_to(self.past)
        self.generator.append_tokens(self.step)
        self.generator.generate_next_token()

    def sample(self, seconds):
        return sample(self.run, seconds)

    def results(self):
        return [self.generator.get_logits()]


class OpenVINOGenAI:
    traces, structure, facts = staticmethod(no_traces), "", {}

    def __init__(self, arguments):
        self.sequence, self.past = steps_of(arguments.dims)
        self.dims = {"past": self.past, "sequence": self.sequence}
        self.precision = chosen.get("INFERENCE_PRECISION_HINT", "f32")
        if chosen.get("cache_type", "f16") not in CACHE_TYPES:
            raise Refused(f"--set cache_type={chosen['cache_type']}: there are {', '.join(CACHE_TYPES)}")

    def start(self, arguments):
        import numpy as np
        import openvino as ov
        import openvino_genai as api
        self.api, self.np, self.ov, self.random = api, np, ov, np.random.default_rng(0)
        self.version = api.__version__.split("-")[0]
        capability = {"f32": "FP32", "bf16": "BF16", "f16": "FP16"}.get(self.precision)
        if capability not in ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
            raise Refused(f"OpenVINO does not compute in {self.precision} on this processor")  # it would do so in f32
        wanted = openvino_properties(arguments.threads)
        wanted["KV_CACHE_PRECISION"] = CACHE_TYPES[wanted.pop("cache_type", "f16")]
        scheduler = api.SchedulerConfig()
        scheduler.enable_prefix_caching = True
        try:
            self.pipeline = api.LLMPipeline(str(arguments.model), "CPU", scheduler_config=scheduler, **wanted)
            self.words = len(self.pipeline.get_tokenizer().get_vocab_vector())
            before = self.past if self.sequence > 1 else max(1, self.past - AROUND // 2)
            self.before = self.random.integers(0, self.words, (1, before))
            self.run()  # what is before is kept, in blocks, and not computed again
        except Exception as e:  # its own words, whatever it throws
            raise Refused(f"openvino-genai cannot run {arguments.model}: {one_line(e)}") from None

    def run(self):
        """Times of some steps: of one with many tokens, or of many with one."""
        ids, count = self.before, AROUND + 1
        if self.sequence > 1:
            new = self.random.integers(0, self.words, (1, self.sequence))
            ids, count = self.np.concatenate([ids, new], axis=1), 1
        config = self.api.GenerationConfig(max_new_tokens=count, ignore_eos=True, do_sample=False)
        raw = self.pipeline.generate(self.ov.Tensor(ids), config).perf_metrics.raw_metrics
        return [1e3 * us for us in (raw.m_durations if count > 1 else raw.m_times_to_first_token)]

    def sample(self, seconds):
        samples, until = [], partner.now() + int(seconds * 1e9)
        while len(samples) < FEWEST or partner.now() < until:
            partner.step()
            samples += self.run()
        return samples

    def results(self):
        return []
