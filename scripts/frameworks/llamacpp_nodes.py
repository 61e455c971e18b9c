# SPDX-License-Identifier: Apache-2.0
"""How long does llama.cpp take for each node of its graph, and which layers of the file's model are they?

Its scheduler tells a caller of each node before and after it runs alone. A product, a bias or a norm is called after the
tensor of weights that it reads, the others by the names that llama.cpp gives them.
"""

import ctypes
import re
import statistics
import sys
import time
from pathlib import Path

NAMES = 64  # bytes of a tensor's name


class Tensor(ctypes.Structure):
    """The beginning of ggml's own; `name` says whether it is still so."""


Tensor._fields_ = [("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4),
                   ("nb", ctypes.c_size_t * 4), ("op", ctypes.c_int), ("op_params", ctypes.c_int32 * 16),
                   ("flags", ctypes.c_int32), ("src", ctypes.POINTER(Tensor) * 10), ("view_src", ctypes.POINTER(Tensor)),
                   ("view_offs", ctypes.c_size_t), ("data", ctypes.c_void_p), ("name", ctypes.c_char * NAMES)]

NOTHING = ("NONE", "RESHAPE", "VIEW", "PERMUTE", "TRANSPOSE")  # operators that move nothing
SHARED = ["shared.sigmoid", "shared.silu", "shared.gated"]
#: Of nodes that read no weights: how llama.cpp calls them in layer N, and which nodes of ours that is.
CALLED = [(re.compile(pattern.replace("#", r"-(\d+)")), nodes) for pattern, nodes in (
    ("Qcur#", ["attn_q.rotated"]), ("Kcur#", ["attn_k.rotated"]),
    (r"cache_k_l(\d+) .*", ["key.new"]), (r"cache_v_l(\d+) .*", ["value.new"]),
    (r"kqv?(?:_\w+)?#", ["attention"]), ("ffn_inp#", ["attn_added"]), ("l_out#", ["ffn_added"]),
    (r"ffn_(?:swiglu|silu|geglu|gelu|gate_par|act)#", ["sigmoid", "silu", "gelu", "gated", *SHARED]),
    (r"ffn_moe_(?:swiglu|silu|geglu|gate_par|act)\w*#", ["sigmoid", "silu", "gated"]),
    ("ffn_moe_probs#", ["scores"]), (r"ffn_moe_(?:argsort|topk|weights)#", ["best"]),
    (r"ffn_moe_weights_sum\w*#", ["total"]), ("ffn_moe_weights_norm#", ["share"]),
    ("ffn_shexp_gate#", ["ffn_gate_inp_shexp.share"]), ("ffn_shexp_out#", ["shared.weighted"]), ("ffn_out#", ["shared.added"]),
    ("ffn_moe_weighted#", ["weighted"]), ("ffn_moe_out#", ["mixed"]))]


def stands_for(op, name, sources):
    """The nodes of ours that one of llama.cpp's does the work of; none: it has added it."""
    weights = next((s for s in sources if s.endswith((".weight", ".bias"))), "")
    if weights == "token_embd.weight" and op == "MUL_MAT":
        return ["output"]
    if weights.endswith("_norm.bias") or weights.endswith(".weight"):
        return [weights.rsplit(".", 1)[0]]
    if weights:
        return [weights.removesuffix(".bias") + ".added"]
    if op == "FLASH_ATTN_EXT":
        name = re.sub(r"Qcur\w*-(\d+).*", r"kq-\1", sources[0])
    if op == "GET_ROWS" and (found := re.fullmatch(r"l_out-(\d+)", sources[0])):  # tokens whose logits are wanted
        return [f"blk.{int(found[1]) + 1}.last"]
    for pattern, nodes in CALLED:
        if found := pattern.fullmatch(name):
            return [f"blk.{found[1]}.{node}" for node in nodes]
    return []


class Nodes:
    """What runs between two calls of the scheduler; a context gets `called`."""

    def __init__(self, api):
        self.library = ctypes.CDLL(str(Path(api.llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
        for function, argument in (("ggml_op_desc", ctypes.c_void_p), ("ggml_get_name", ctypes.c_void_p),
                                   ("ggml_type_name", ctypes.c_int)):
            function = getattr(self.library, function)
            function.restype, function.argtypes = ctypes.c_char_p, [argument]
        self.nodes, self.times, self.idle, self.known, self.began = [], [], [], True, 0
        self.warm = False  # until then nodes that do nothing run alone too
        self.called = api.ggml_backend_sched_eval_callback(self.hear)

    def hear(self, tensor, ask, _):
        now = time.perf_counter_ns()
        if ask:
            wanted = not self.warm or self.op_of(tensor) not in NOTHING
            self.began = time.perf_counter_ns()
            return wanted
        if not self.warm and self.op_of(tensor) in NOTHING:
            self.idle.append(now - self.began)
            return True
        self.times.append(now - self.began)
        if len(self.times) > len(self.nodes):
            its = ctypes.cast(tensor, ctypes.POINTER(Tensor)).contents
            name, op = self.library.ggml_get_name(tensor).decode(errors="replace"), self.op_of(tensor)
            self.known = self.known and its.name.decode(errors="replace") == name
            sources = [s.contents for s in its.src if s] if self.known else []
            names = [s.name.decode(errors="replace") for s in sources]
            self.nodes.append({
                "name": name, "type": op, "stands_for": stands_for(op, name, names) if self.known else [],
                "kernel": self.library.ggml_type_name(sources[0].type).decode() if op.startswith("MUL_MAT") and names else ""})
        return True

    def op_of(self, tensor):
        return self.library.ggml_op_desc(tensor).decode()

    def joined(self):
        """A norm is several nodes: what follows it multiplies by weights."""
        for one, after in zip(self.nodes, self.nodes[1:]):
            if one["type"] in ("RMS_NORM", "NORM"):
                one["stands_for"] = after["stands_for"]
        return self.nodes


def profiled(nodes, run, seconds):
    """The trace of some runs, and what it takes to run a node that does nothing; no trace where this ggml keeps its tensors
    otherwise than is known here."""
    runs, took, nodes.nodes = [], [], []  # those that filled the cache are others
    for _ in range(2):  # cold
        nodes.times = []
        run()
    nodes.warm = True
    until = time.monotonic() + seconds
    while len(runs) < 5 or time.monotonic() < until and len(runs) < 200:
        nodes.times = []
        start = time.perf_counter_ns()
        run()
        took.append(time.perf_counter_ns() - start)
        runs.append(nodes.times)
    if not nodes.known or any(len(r) != len(nodes.nodes) for r in runs):
        print("measure_framework: this llama.cpp keeps its nodes otherwise than is known: there is no profile", file=sys.stderr)
        return {"traces": []}
    return {"traces": [{"format": "ggml-nodes", "json": {"nodes": nodes.joined(), "runs": runs, "run_ns": took}}],
            **({"empty_operator": {"profiled_ns": statistics.median(nodes.idle), "ns": 0}} if nodes.idle else {})}
