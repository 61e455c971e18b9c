# SPDX-License-Identifier: Apache-2.0
"""How long does llama.cpp take for a step of a language model?

Its library runs it (llama-cpp-python), or its own program has (llama-bench -o json). Keys and values are kept in f16, as
in the layers that Benanza reads of the file, if --set cache_type does not say otherwise. Weights in codes meet activations
that llama.cpp rounds to 8 bits.
"""

import json
import os
import sys
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.llamacpp_nodes import Nodes, profiled
from frameworks.settings import chosen
from frameworks.timing import sample
from frameworks.tokens import steps_of
from frameworks.whole import file_of, latency_of

CACHE_TYPES = {"f32": 0, "f16": 1, "q8_0": 8, "bf16": 30}  # by ggml's numbers
FLASH_ATTENTION = {"auto": -1, "off": 0, "on": 1}
COMPUTED = 128  # tokens of a cache; what is behind them are copies


def setting(name, values, default):
    word = chosen.get(name, default)
    if word not in values:
        raise Refused(f"--set {name}={word}: there are {', '.join(values)}")
    return values[word]


def check_settings():
    for name in chosen:
        if name not in ("cache_type", "flash_attention"):
            raise Refused(f"--set {name}: of llamacpp there are cache_type and flash_attention")
    return setting("cache_type", CACHE_TYPES, "f16"), setting("flash_attention", FLASH_ATTENTION, "auto")


def precision_of(description):
    """In which types products are computed: activations are rounded as their weights ask for."""
    for words, types in ("all F32", "f32"), ("BF16", "bf16 and f32"), ("F16", "f16 and f32"):
        if words in description:
            return types
    return "int8 and f32"


class LlamaCpp:
    structure = ""

    def __init__(self, arguments):
        self.sequence, self.past = steps_of(arguments.dims)
        self.dims = {"past": self.past, "sequence": self.sequence}
        check_settings()

    def start(self, arguments):
        self.nodes = None  # while they are listened to
        import llama_cpp as api
        import numpy as np
        self.api, self.np, self.batch, self.said = api, np, arguments.batch, ""
        self.listener = api.llama_log_callback(self.heard)  # as long as the library may call it
        api.llama_log_set(self.listener, None)
        api.llama_backend_init()
        asked = api.llama_model_default_params()
        asked.n_gpu_layers = 0
        self.path, self.threads = arguments.model, arguments.threads
        self.model = api.llama_model_load_from_file(os.fsencode(self.path), asked)
        if not self.model:
            raise Refused(f"llamacpp cannot read {self.path}: {one_line(self.said)}")
        self.words = api.llama_vocab_n_tokens(api.llama_model_get_vocab(self.model))
        self.tokens = np.random.default_rng(0)
        self.cache = self.filled(self.past) if self.past and self.batch == 1 else None
        self.make_ready()
        if arguments.no_profile:  # no other context gets it
            self.cache = None
        self.step = self.batch_of(range(self.batch), self.sequence, self.past)
        self.version = f"py{api.__version__}"  # of the bindings; the library tells none
        text = bytearray(256)
        buffer = (api.ctypes.c_char * len(text)).from_buffer(text)
        api.llama_model_desc(self.model, buffer, len(text))
        description = text.split(b"\0")[0].decode(errors="replace")
        self.precision, self.facts = precision_of(description), {"description": description}
        self.run()

    def make_ready(self):
        """A context with tokens in its caches."""
        self.context = self.context_of(self.batch, self.past + self.sequence, max(self.batch * self.sequence, COMPUTED))
        self.memory = self.api.llama_get_memory(self.context)
        if self.cache:
            self.put(self.context, self.cache, 0)
        else:  # such copies are of one sequence alone
            self.compute(self.context, self.past)
        for each in range(1, self.batch):
            self.api.llama_memory_seq_cp(self.memory, 0, each, -1, -1)

    def traces(self, seconds):
        """How long each node takes, in another context."""
        self.api.llama_free(self.context)
        self.nodes = Nodes(self.api)
        self.make_ready()
        return profiled(self.nodes, self.run, seconds)

    def context_of(self, sequences, longest, at_once, shared=False):
        """A context for some sequences, which may have one cache together."""
        asked = self.api.llama_context_default_params()
        cache, flash = check_settings()
        asked.n_ctx, asked.n_batch = longest if shared else sequences * longest, at_once
        asked.n_seq_max, asked.kv_unified = sequences, shared
        asked.n_threads = asked.n_threads_batch = self.threads
        asked.type_k = asked.type_v = cache
        asked.flash_attn_type = flash
        if self.nodes:
            asked.cb_eval = self.nodes.called
        context = self.api.llama_init_from_model(self.model, asked)
        if not context:
            raise Refused(f"llamacpp cannot run {self.path}: {one_line(self.said)}")
        return context

    def filled(self, past):
        """The cache of so many tokens. How long a step takes depends on how many there are, and not on their numbers; so
        the first ones are computed, and copied behind themselves by a second sequence."""
        api, context = self.api, self.context_of(2, past + COMPUTED, COMPUTED, shared=True)
        memory = api.llama_get_memory(context)
        step = COMPUTED if api.llama_memory_can_shift(memory) else past
        self.compute(context, min(step, past))
        some = self.state_of(context) if past > step else None
        for first in range(step, past, step):
            self.put(context, some, 1)
            api.llama_memory_seq_rm(memory, 1, past - first, -1)
            api.llama_memory_seq_add(memory, 1, 0, -1, first)
            api.llama_memory_seq_cp(memory, 1, 0, -1, -1)
            api.llama_memory_seq_rm(memory, 1, -1, -1)
        there = api.llama_memory_seq_pos_max(memory, 0) + 1
        if there != past:
            raise Refused(f"llamacpp has {there} of {past} tokens in its cache")
        state = self.state_of(context)
        api.llama_free(context)
        return state

    def compute(self, context, past):
        for first in range(0, past, COMPUTED):
            self.decode(context, self.batch_of([0], min(COMPUTED, past - first), first))

    def put(self, context, state, sequence):
        if not self.api.llama_state_seq_set_data(context, state, len(state), sequence):
            raise Refused(f"llamacpp cannot fill its cache: {one_line(self.said)}")

    def state_of(self, context):
        state = (self.api.ctypes.c_uint8 * self.api.llama_state_seq_get_size(context, 0))()
        self.api.llama_state_seq_get_data(context, state, len(state), 0)
        return state

    def heard(self, level, text, _):
        if level in (3, 4) and text.strip():  # a warning, an error
            self.said = text.decode(errors="replace")

    def batch_of(self, sequences, count, first):
        """So many tokens of each, from a place on; the last one's logits are wanted."""
        batch = self.api.llama_batch_init(len(sequences) * count, 0, 1)
        batch.n_tokens = len(sequences) * count
        places = [(each, i) for each in sequences for i in range(count)]
        for at, (each, i) in enumerate(places):
            batch.token[at] = int(self.tokens.integers(0, max(self.words, 1)))
            batch.pos[at], batch.n_seq_id[at], batch.logits[at] = first + i, 1, i == count - 1
            batch.seq_id[at][0] = each
        return batch

    def decode(self, context, batch):
        status = self.api.llama_decode(context, batch)
        if status:
            raise Refused(f"llamacpp ends with status {status}: {one_line(self.said)}")
        return self.api.llama_get_logits_ith(context, batch.n_tokens - 1)  # waits for them

    def run(self):
        """What the run before has written is forgotten first."""
        for each in range(self.batch):
            if not self.api.llama_memory_seq_rm(self.memory, each, self.past, -1):
                raise Refused("llamacpp cannot take tokens back from the cache of such a model")
        self.logits = self.decode(self.context, self.step)

    def sample(self, seconds):
        return sample(self.run, seconds)

    def results(self):
        return [self.np.ctypeslib.as_array(self.logits, (self.words,))]


# ---- what llama-bench has written -----------------------------------------------------------------

def step_of(row):
    """Of a row of llama-bench its tokens, those before them, and how many such steps it timed; None: of both kinds."""
    prompt, made, depth = (int(row.get(key) or 0) for key in ("n_prompt", "n_gen", "n_depth"))
    if prompt and not made:
        return prompt, depth, 1
    return (1, depth + (made - 1) // 2, made) if made and not prompt else None


def rows_of(path):
    try:
        rows = json.loads(Path(path).read_text())
        if not isinstance(rows, list):
            raise TypeError
        return [(step_of(row), int(row["n_threads"]), [float(ns) for ns in row["samples_ns"]], row) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refused(f"{path}: not what llama-bench -o json writes") from None


def imported_tokens(arguments):
    """The same of a row of llama-bench, that of --dim and --threads."""
    if arguments.batch not in (None, 1):
        raise Refused(f"--batch {arguments.batch}: llama-bench runs one sequence")
    rows = [r for file in arguments.trace for r in rows_of(file) if r[0] and r[2] and min(r[2]) > 0]
    asked = arguments.dims
    steps_of(asked)
    found = [r for r in rows if asked.get("sequence", r[0][0]) == r[0][0] and asked.get("past", r[0][1]) == r[0][1] and
             arguments.threads in (0, r[1])]
    if len(found) != 1:
        there = "; ".join(f"--dim sequence={s[0]} --dim past={s[1]} --threads {t}" for s, t, _, _ in rows[:8])
        raise Refused(f"{arguments.trace[0]}: {len(found)} of its rows are meant; there are {there or 'none'}")
    (sequence, past, count), arguments.threads, samples, row = found[0]
    arguments.dims, arguments.batch = {"past": past, "sequence": sequence}, 1
    kinds = {str(row.get(key, "")) for key in ("type_k", "type_v")}
    if kinds != {"f16"}:
        print(f"measure_framework: llama.cpp's cache was of {one_line(' and '.join(sorted(kinds)))}, not of f16",
              file=sys.stderr)
    chosen["cache_type"] = "/".join(sorted(kinds))
    out = file_of(arguments, str(row.get("build_number", "unknown")), [], precision_of(str(row.get("model_type", ""))), "")
    if row.get("n_gpu_layers") and row.get("gpu_info"):
        out["options"]["device"] = "gpu"
    return {**out, "description": str(row.get("model_type", "")),
            "machine": {"processor": str(row.get("cpu_info", "unknown"))},
            **latency_of([ns / count for ns in samples]), "traces": []}
