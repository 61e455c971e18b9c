# SPDX-License-Identifier: Apache-2.0
"""What does a GGUF file hold, and which layers does a run of it compute? Written as an ONNX file without weights, whose
products keep the blocks of codes that the file stores: MatMulGgml and GatherGgml of our own domain.

  write(Path("tinyllama.Q4_K_M.gguf"), Path("tinyllama.onnx"))   # then: benanza tinyllama.onnx --dim sequence=1 --dim past=512

Models of Llama's kind (llama, mistral, qwen2, qwen3, smollm, phi3, gemma2, gemma3; mixtral and qwen3moe with
experts): their sizes are in the file's metadata, and so are the types of their tensors; what else a layer has is known by
its tensors' names. A run reads as many experts as its tokens are expected to choose, each as likely as the others. Keys
and values are kept in f16, as llama.cpp does, or in f32 or bf16, and written in their place; logits are those of the last
token.
"""

from __future__ import annotations

from pathlib import Path

from benanza.gguf_header import TYPES, Header
from benanza.onnx_file import BFLOAT16, FLOAT, FLOAT16, INT64, UINT8, Graph

ARCHITECTURES = ("llama", "qwen2", "qwen3", "qwen3moe", "phi3", "gemma2", "gemma3")
#: Of so many layers that follow each other all but the last see a window of the keys; 0: all layers do.
WINDOWED = {"phi3": 0, "gemma2": 2, "gemma3": 6}
CACHE_TYPES = {"f16": FLOAT16, "bf16": BFLOAT16, "f32": FLOAT}


class Model:
    """The graph of a run."""
    opsets = {"": 23, "benanza": 1}
    takes_positions = True

    def __init__(self, h: Header, cache: str, weights: str):
        architecture = h.metadata.get("general.architecture")
        if architecture not in ARCHITECTURES:
            raise h.refuse(f"its architecture is {architecture!r:.60}; known are {', '.join(ARCHITECTURES)}")
        if any("shexp" in t for t in h.tensors):
            raise h.refuse("its layers have experts that all tokens share, which are not read from GGUF files yet")
        if weights:
            h.store_matrices(weights)
        self.h, self.g, self.cache = h, Graph(h.path.stem), CACHE_TYPES[cache]
        self.width, self.layers = h.size("embedding_length"), h.size("block_count")
        self.heads = h.size("attention.head_count")
        self.kv_heads = h.size("attention.head_count_kv", self.heads)
        self.each = h.size("attention.key_length", max(1, self.width // self.heads))
        if self.heads % self.kv_heads:
            raise h.refuse(f"its {self.heads} heads do not share {self.kv_heads} of keys and values")
        self.epsilon = float(h.metadata.get(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5))
        self.pairs = int(architecture == "llama")  # which numbers of a head are turned together
        self.gemma = architecture.startswith("gemma")
        self.window = h.size("attention.sliding_window", 1 << 24) if architecture in WINDOWED else 0
        self.period = WINDOWED.get(architecture, 0)

    def weights(self, name: str) -> tuple[list[int], str, int]:
        dims, kind = self.h.tensor(f"{name}.weight", 2)
        _, block, size = next(t for t in TYPES.values() if t[0] == kind)
        if dims[1] % block:
            raise self.h.refuse(f"its tensor {name} has rows of {dims[1]}, no whole blocks of {kind}")
        return dims, kind, dims[1] // block * size

    def experts(self, x: str, name: str, chosen: int) -> str:
        """Of rows that are `chosen` for each token the products with matrices of as many experts."""
        (count, n, length), kind = self.h.tensor(f"{name}.weight", 3)
        _, block, size = next(t for t in TYPES.values() if t[0] == kind)
        if kind == "f32" or length % block:
            raise self.h.refuse(f"its tensor {name} has rows of {length} in {kind}, which no layer has")
        w = self.weight(f"{name}.weight", UINT8, [count, n, length // block * size])
        return self.g.node("MatMulGgml", [x, w], name, "benanza", N=n, format=kind, chosen=chosen)

    def linear(self, x: str, name: str, tensor: str = "") -> str:
        (n, length), kind, row = self.weights(tensor or name)
        if kind == "f32":
            w = self.weight(f"{tensor or name}.weight", FLOAT, [n, length])
            w = self.g.node("Transpose", [w], f"{name}.transposed")
            y = self.g.node("MatMul", [x, w], name)
        else:
            w = self.weight(f"{tensor or name}.weight", UINT8, [n, row])
            y = self.g.node("MatMulGgml", [x, w], name, "benanza", N=n, format=kind)
        if f"{name}.bias" in self.h.tensors:
            y = self.g.node("Add", [y, self.weight(f"{name}.bias", FLOAT, [n])], f"{name}.added")
        return y

    def weight(self, name: str, element: int, dims: list[int]) -> str:
        if name not in self.g.known:
            self.g.known.add(name)
            self.g.weight(name, element, dims)
        return name

    def norm(self, x: str, name: str, length: int) -> str:
        dims, _ = self.h.tensor(f"{name}.weight", 1)
        if dims != [length]:
            raise self.h.refuse(f"its tensor {name} has {dims[0]} numbers, not {length}")
        return self.normed(x, self.weight(f"{name}.weight", FLOAT, dims), name)

    def normed(self, x: str, weight: str, name: str) -> str:
        return self.g.node("RMSNormalization", [x, weight], name, axis=-1, epsilon=self.epsilon)

    def windowed(self, layer: int) -> bool:
        return self.window > 0 and (self.period == 0 or layer % self.period < self.period - 1)

    def normed_after(self, x: str, name: str) -> str:
        return self.norm(x, name, self.width) if f"{name}.weight" in self.h.tensors else x

    def constant(self, name: str) -> str:
        """A number that the layer's cost does not depend on."""
        return self.weight(name, FLOAT, [])

    def heads_normed(self, x: str, name: str, heads: int) -> str:
        """Each head by itself, where the model does that."""
        if f"{name}_norm.weight" not in self.h.tensors:
            return x
        apart = self.g.node("Reshape", [x, self.g.whole_numbers(0, -1, heads, self.each)], f"{name}.apart")
        return self.g.node("Reshape", [self.norm(apart, f"{name}_norm", self.each),
                                       self.g.whole_numbers(0, -1, heads * self.each)], f"{name}.together")

    def attended(self, x: str, layer: int) -> str:
        block = f"blk.{layer}"
        if f"{block}.attn_qkv.weight" in self.h.tensors:
            sizes = [n * self.each for n in (self.heads, self.kv_heads, self.kv_heads)]
            q, k, v = self.parts(self.linear(x, f"{block}.attn_qkv"), f"{block}.attn_parts", *sizes)
        else:
            q, k, v = (self.linear(x, f"{block}.attn_{which}") for which in "qkv")
        q = self.heads_normed(q, f"{block}.attn_q", self.heads)
        k = self.heads_normed(k, f"{block}.attn_k", self.kv_heads)
        y = self.attention(q, k, v, layer)
        return self.normed_after(self.linear(y, f"{block}.attn_output"), f"{block}.post_attention_norm")

    def angles(self, layer: int) -> tuple[str, str]:
        """Gemma 3 turns by other ones where it sees a window."""
        which = ".near" if self.windowed(layer) and self.period == 6 else ""
        return f"cosines{which}", f"sines{which}"

    def attention(self, q: str, k: str, v: str, layer: int) -> str:
        block = f"blk.{layer}"
        q, k = (self.g.node("RotaryEmbedding", [x, *self.angles(layer), "position_ids"], f"{block}.attn_{which}.rotated",
                            num_heads=heads, interleaved=self.pairs)
                for x, which, heads in ((q, "q", self.heads), (k, "k", self.kv_heads)))
        # They are written where the cache has room for them.
        for made, name in ((k, "key"), (v, "value")):
            kept = (self.g.node("Identity", [made], f"{block}.{name}.new") if self.cache == FLOAT else
                    self.g.node("Cast", [made], f"{block}.{name}.new", to=self.cache))
            self.g.output(kept, self.cache, ["batch", "sequence", self.kv_heads * self.each])
        caches = [self.g.input(f"{block}.{name}", self.cache, ["batch", self.kv_heads, "past + sequence", self.each])
                  for name in ("keys", "values")]
        more: dict[str, int | float] = {"left_window_size": self.window - 1} if self.windowed(layer) else {}
        if (cap := self.capped("attn_logit_softcapping")) > 0:
            more["softcap"] = cap
        return self.g.node("Attention", [q, *caches], f"{block}.attention", "benanza", q_num_heads=self.heads,
                           kv_num_heads=self.kv_heads, is_causal=1, in_place=1, **more)

    def capped(self, key: str) -> float:
        """The number that keeps scores or logits in a range; 0: none does."""
        cap = self.h.metadata.get(f"{self.h.metadata['general.architecture']}.{key}", 0.0)
        return cap if isinstance(cap, float) else 0.0

    def parts(self, x: str, name: str, *sizes: int) -> list[str]:
        (n, _), _, _ = self.weights(name.replace("attn_parts", "attn_qkv").replace("ffn_parts", "ffn_up"))
        if n != sum(sizes):
            raise self.h.refuse(f"its tensor for {name} has {n} rows, not {sum(sizes)}")
        return self.g.several("Split", [x, self.g.whole_numbers(*sizes)], name, len(sizes), axis=-1)

    def mixed(self, x: str, block: str) -> str:
        """By some experts for each token, which a product and a softmax choose."""
        g, chosen = self.g, self.h.size("expert_used_count")
        scores = g.node("Softmax", [self.linear(x, f"{block}.ffn_gate_inp")], f"{block}.scores", axis=-1)
        best, _ = g.several("TopK", [scores, g.whole_numbers(chosen)], f"{block}.best", 2, axis=-1)
        total = g.node("ReduceSum", [best, g.whole_numbers(-1)], f"{block}.total", keepdims=1)
        shares = g.node("Reshape", [g.node("Div", [best, total], f"{block}.share"), g.whole_numbers(0, -1, chosen, 1)],
                        f"{block}.shares")
        alone = g.node("Reshape", [x, g.whole_numbers(0, -1, 1, self.width)], f"{block}.alone")
        several = g.node("Expand", [alone, g.whole_numbers(1, 1, chosen, 1)], f"{block}.for_each")
        rows = g.node("Reshape", [several, g.whole_numbers(0, -1, self.width)], f"{block}.rows")
        gate, up = (self.experts(rows, f"{block}.ffn_{which}_exps", chosen) for which in ("gate", "up"))
        down = self.experts(self.gated(gate, up, block), f"{block}.ffn_down_exps", chosen)
        apart = g.node("Reshape", [down, g.whole_numbers(0, -1, chosen, self.width)], f"{block}.apart")
        return g.node("ReduceSum", [g.node("Mul", [apart, shares], f"{block}.weighted"), g.whole_numbers(2)],
                      f"{block}.mixed", keepdims=0)

    def gated(self, gate: str, up: str, block: str) -> str:
        if self.gemma:
            opened = self.g.node("Gelu", [gate], f"{block}.gelu", approximate="tanh")
        else:
            opened = self.g.node("Mul", [gate, self.g.node("Sigmoid", [gate], f"{block}.sigmoid")], f"{block}.silu")
        return self.g.node("Mul", [opened, up], f"{block}.gated")

    def fed_forward(self, x: str, block: str) -> str:
        if f"{block}.ffn_gate_inp.weight" in self.h.tensors:
            return self.mixed(x, block)
        if f"{block}.ffn_gate.weight" in self.h.tensors:
            gate, up = self.linear(x, f"{block}.ffn_gate"), self.linear(x, f"{block}.ffn_up")
        else:
            inner = self.h.size("feed_forward_length")
            gate, up = self.parts(self.linear(x, f"{block}.ffn_up"), f"{block}.ffn_parts", inner, inner)
        y = self.linear(self.gated(gate, up, block), f"{block}.ffn_down")
        return self.normed_after(y, f"{block}.post_ffw_norm")

    def looked_up(self, ids: str) -> str:
        dims, kind, row = self.weights("token_embd")
        if kind == "f32":
            return self.g.node("Gather", [self.weight("token_embd.weight", FLOAT, dims), ids], "token_embd")
        return self.g.node("GatherGgml", [self.weight("token_embd.weight", UINT8, [dims[0], row]), ids], "token_embd",
                           "benanza", K=dims[1], format=kind)

    def file(self) -> bytes:
        g, h = self.g, self.h
        ids = g.input("input_ids", INT64, ["batch", "sequence"])
        if self.takes_positions:
            g.input("position_ids", INT64, ["batch", "sequence"])
        longest = h.size("context_length", 4096)
        turned = h.size("rope.dimension_count", self.each)
        for table in ("", ".near") if self.period == 6 else ("",):
            for name in ("cosines", "sines"):
                g.weight(name + table, FLOAT, [longest, turned // 2])
        (words, width), _, _ = self.weights("token_embd")
        if width != self.width:
            raise h.refuse(f"its embedding is of width {width}, not {self.width}")
        x = self.looked_up(ids)
        if self.gemma:
            x = g.node("Mul", [x, self.constant("width_root")], "token_embd.scaled")
        for i in range(self.layers):
            block = f"blk.{i}"
            y = self.attended(self.norm(x, f"{block}.attn_norm", width), i)
            x = g.node("Add", [x, y], f"{block}.attn_added")
            y = self.fed_forward(self.norm(x, f"{block}.ffn_norm", width), block)
            x = g.node("Add", [x, y], f"{block}.ffn_added")
        last = g.node("Slice", [x, g.whole_numbers(-1), g.whole_numbers(1 << 40), g.whole_numbers(1)], "last")
        last = self.norm(last, "output_norm", width)
        logits = self.linear(last, "output", "" if "output.weight" in h.tensors else "token_embd")
        if self.capped("final_logit_softcapping") > 0:
            inside = g.node("Mul", [logits, self.constant("cap_inverse")], "logits.inside")
            logits = g.node("Mul", [g.node("Tanh", [inside], "logits.tanh"), self.constant("cap")], "logits.capped")
        g.output(logits, FLOAT, ["batch", 1, words])
        return g.file(self.opsets)


def write(path: Path, out: Path, cache: str = "f16", weights: str = "") -> None:
    """Writes the ONNX file of a GGUF file, with keys and values in a type; with matrices in one, else as they are."""
    out.write_bytes(Model(Header(path), cache, weights).file())
