# SPDX-License-Identifier: Apache-2.0
"""What does a GGUF file hold, and which layers does a run of it compute? Written as an ONNX file without weights, whose
products keep the blocks of codes that the file stores: MatMulGgml and GatherGgml of our own domain.

  write(Path("tinyllama.Q4_K_M.gguf"), Path("tinyllama.onnx"))   # then: benanza tinyllama.onnx --dim sequence=1 --dim past=512

Models of Llama's kind (llama, mistral, qwen2, qwen3, smollm, phi3, gemma2, gemma3; mixtral, qwen2moe, qwen3moe and gpt-oss
with experts), and gpt2: their sizes are in the file's metadata, and so are the types of their tensors; what else a layer has
is known by its tensors' names. A run reads as many experts as its tokens are expected to choose, each as likely as the
others. Keys and values are kept in f16, as llama.cpp does, or in f32 or bf16, and written in their place. Logits are those
of the last token; so behind the last layer's keys and values that token is computed alone. What gpt-oss adds to the sums
of its softmax, a number a head, is left out.
"""

from __future__ import annotations

from pathlib import Path

from benanza.gguf_header import TYPES, Header
from benanza.onnx_file import BFLOAT16, FLOAT, FLOAT16, INT64, UINT8, Graph

ARCHITECTURES = ("llama", "qwen2", "qwen2moe", "qwen3", "qwen3moe", "phi3", "gemma2", "gemma3", "gpt-oss", "gpt2")
#: Of so many layers that follow each other all but the last see a window of the keys; 0: all layers do.
WINDOWED = {"phi3": 0, "gemma2": 2, "gemma3": 6, "gpt-oss": 2}
CACHE_TYPES = {"f16": FLOAT16, "bf16": BFLOAT16, "f32": FLOAT}


class Model:
    """The graph of a run."""
    opsets = {"": 23, "benanza": 1}
    takes_positions = True
    last_query_alone = True  # may fewer tokens ask than are asked?

    def __init__(self, h: Header, cache: str, weights: str):
        architecture = h.metadata.get("general.architecture")
        if architecture not in ARCHITECTURES:
            raise h.refuse(f"its architecture is {architecture!r:.60}; known are {', '.join(ARCHITECTURES)}")
        if weights:
            h.store_matrices(weights)
        self.h, self.g, self.cache = h, Graph(h.path.stem), CACHE_TYPES[cache]
        self.width, self.layers = h.size("embedding_length"), h.size("block_count")
        self.heads = h.size("attention.head_count")
        self.kv_heads = h.size("attention.head_count_kv", self.heads)
        self.each = h.size("attention.key_length", max(1, self.width // self.heads))
        if self.heads % self.kv_heads:
            raise h.refuse(f"its {self.heads} heads do not share {self.kv_heads} of keys and values")
        self.epsilon = float(h.metadata.get(f"{architecture}.attention.layer_norm_{'' if architecture == 'gpt2' else 'rms_'}"
                                            "epsilon", 1e-5))
        self.pairs = int(architecture == "llama")  # which numbers of a head are turned together
        self.gemma, self.oss = architecture.startswith("gemma"), architecture == "gpt-oss"
        self.window = h.size("attention.sliding_window", 1 << 24) if architecture in WINDOWED else 0
        self.period = WINDOWED.get(architecture, 0)
        self.placed = "position_embd.weight" in h.tensors  # each place has a vector that is added

    def weights(self, name: str) -> tuple[list[int], str, int]:
        dims, kind = self.h.tensor(f"{name}.weight", 2)
        _, block, size = next(t for t in TYPES.values() if t[0] == kind)
        if dims[1] % block:
            raise self.h.refuse(f"its tensor {name} has rows of {dims[1]}, no whole blocks of {kind}")
        return dims, kind, dims[1] // block * size

    def experts(self, x: str, name: str, chosen: int, which: str) -> str:
        """Of rows that are `chosen` for each token the products with matrices of as many experts, which are these."""
        (count, n, length), kind = self.h.tensor(f"{name}.weight", 3)
        _, block, size = next(t for t in TYPES.values() if t[0] == kind)
        if kind == "f32" or length % block:
            raise self.h.refuse(f"its tensor {name} has rows of {length} in {kind}, which no layer has")
        w = self.weight(f"{name}.weight", UINT8, [count, n, length // block * size])
        y = self.g.node("MatMulGgml", [x, w], name, "benanza", N=n, format=kind, chosen=chosen)
        if f"{name}.bias" not in self.h.tensors:
            return y
        biases = self.g.node("Gather", [self.weight(f"{name}.bias", FLOAT, [count, n]), which], f"{name}.biases")
        return self.g.node("Add", [y, self.g.node("Reshape", [biases, self.g.whole_numbers(0, -1, n)], f"{name}.rows")],
                           f"{name}.added")

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
        if f"{name}.bias" in self.h.tensors:
            bias = self.weight(f"{name}.bias", FLOAT, [self.width])
            return self.g.node("LayerNormalization", [x, weight, bias], name, axis=-1, epsilon=self.epsilon)
        return self.g.node("RMSNormalization", [x, weight], name, axis=-1, epsilon=self.epsilon)

    def windowed(self, layer: int) -> bool:
        return self.window > 0 and (self.period == 0 or layer % self.period < self.period - 1)

    def normed_after(self, x: str, name: str) -> str:
        """Some models do that; in others such a norm takes the place of the next one."""
        return self.norm(x, name, self.width) if f"{name}.weight" in self.h.tensors and not self.oss else x

    def last(self, x: str, name: str) -> str:
        """The last token's row."""
        return self.g.node("Slice", [x, *(self.g.whole_numbers(n) for n in (-1, 1 << 40, 1))], f"{name}.last")

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
        """In the last layer the last token alone is one that looks for others."""
        block, alone = f"blk.{layer}", self.last_query_alone and layer == self.layers - 1 > 0
        if f"{block}.attn_qkv.weight" in self.h.tensors:
            sizes = [n * self.each for n in (self.heads, self.kv_heads, self.kv_heads)]
            q, k, v = self.parts(self.linear(x, f"{block}.attn_qkv"), f"{block}.attn_parts", *sizes)
            q = self.last(q, f"{block}.attn_q") if alone else q
        else:
            k, v = (self.linear(x, f"{block}.attn_{which}") for which in "kv")
            q = self.linear(self.last(x, f"{block}.attn_norm") if alone else x, f"{block}.attn_q")
        q = self.heads_normed(q, f"{block}.attn_q", self.heads)
        k = self.heads_normed(k, f"{block}.attn_k", self.kv_heads)
        y = self.attention(q, k, v, layer, "position_ids.last" if alone else "position_ids")
        y = self.last(y, f"{block}.attention") if layer == self.layers - 1 and not alone else y
        return self.normed_after(self.linear(y, f"{block}.attn_output"), f"{block}.post_attention_norm")

    def angles(self, layer: int) -> tuple[str, str]:
        """Gemma 3 turns by other ones where it sees a window."""
        which = ".near" if self.windowed(layer) and self.period == 6 else ""
        return f"cosines{which}", f"sines{which}"

    def attention(self, q: str, k: str, v: str, layer: int, positions: str) -> str:
        """Of queries from some positions."""
        block = f"blk.{layer}"
        if positions not in ("position_ids", *self.g.known):
            self.g.known.add(self.last("position_ids", "position_ids"))
        if not self.placed:
            q, k = (self.g.node("RotaryEmbedding", [x, *self.angles(layer), where], f"{block}.attn_{which}.rotated",
                                num_heads=heads, interleaved=self.pairs)
                    for x, which, heads, where in ((q, "q", self.heads, positions),
                                                   (k, "k", self.kv_heads, "position_ids")))
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
        """By some experts for each token, and by those that all tokens share."""
        g, y = self.g, self.chosen(x, block)
        if f"{block}.ffn_up_shexp.weight" not in self.h.tensors:
            return y
        shared = self.gated(*(self.linear(x, f"{block}.ffn_{name}_shexp") for name in ("gate", "up")), f"{block}.shared")
        shared = self.linear(shared, f"{block}.ffn_down_shexp")
        if f"{block}.ffn_gate_inp_shexp.weight" in self.h.tensors:
            name = f"{block}.ffn_gate_inp_shexp"
            score = g.node("MatMul", [x, self.weight(f"{name}.weight", FLOAT, [self.width, 1])], name)
            shared = g.node("Mul", [shared, g.node("Sigmoid", [score], f"{name}.share")], f"{block}.shared.weighted")
        return g.node("Add", [y, shared], f"{block}.shared.added")

    def chosen(self, x: str, block: str) -> str:
        """By as many experts for each token as a product and a softmax choose."""
        g, chosen = self.g, self.h.size("expert_used_count")
        scores = self.linear(x, f"{block}.ffn_gate_inp")
        if not self.oss:
            scores = g.node("Softmax", [scores], f"{block}.scores", axis=-1)
        best, which = g.several("TopK", [scores, g.whole_numbers(chosen)], f"{block}.best", 2, axis=-1)
        if self.oss:
            best = g.node("Softmax", [best], f"{block}.scores", axis=-1)
        elif self.h.metadata["general.architecture"] != "qwen2moe":
            total = g.node("ReduceSum", [best, g.whole_numbers(-1)], f"{block}.total", keepdims=1)
            best = g.node("Div", [best, total], f"{block}.share")
        shares = g.node("Reshape", [best, g.whole_numbers(0, -1, chosen, 1)], f"{block}.shares")
        alone = g.node("Reshape", [x, g.whole_numbers(0, -1, 1, self.width)], f"{block}.alone")
        several = g.node("Expand", [alone, g.whole_numbers(1, 1, chosen, 1)], f"{block}.for_each")
        rows = g.node("Reshape", [several, g.whole_numbers(0, -1, self.width)], f"{block}.rows")
        gate, up = (self.experts(rows, f"{block}.ffn_{name}_exps", chosen, which) for name in ("gate", "up"))
        down = self.experts(self.gated(gate, up, block), f"{block}.ffn_down_exps", chosen, which)
        apart = g.node("Reshape", [down, g.whole_numbers(0, -1, chosen, self.width)], f"{block}.apart")
        return g.node("ReduceSum", [g.node("Mul", [apart, shares], f"{block}.weighted"), g.whole_numbers(2)],
                      f"{block}.mixed", keepdims=0)

    def gated(self, gate: str, up: str, block: str) -> str:
        g = self.g
        if self.gemma:
            opened = g.node("Gelu", [gate], f"{block}.gelu", approximate="tanh")
        elif self.oss:  # in a range, steeper, and one is added to what it opens
            gate, low = g.node("Min", [gate, self.constant("most")], f"{block}.gate.held"), self.constant("least")
            up = g.node("Clip", [up, low, self.constant("most")], f"{block}.up.held")
            up = g.node("Add", [up, self.constant("one")], f"{block}.up.raised")
            steep = g.node("Mul", [gate, self.constant("steepness")], f"{block}.steep")
            opened = g.node("Mul", [gate, g.node("Sigmoid", [steep], f"{block}.sigmoid")], f"{block}.silu")
        else:
            opened = g.node("Mul", [gate, g.node("Sigmoid", [gate], f"{block}.sigmoid")], f"{block}.silu")
        return g.node("Mul", [opened, up], f"{block}.gated")

    def fed_forward(self, x: str, block: str) -> str:
        if f"{block}.ffn_gate_inp.weight" in self.h.tensors:
            return self.mixed(x, block)
        if f"{block}.ffn_gate.weight" in self.h.tensors:
            gate, up = self.linear(x, f"{block}.ffn_gate"), self.linear(x, f"{block}.ffn_up")
        elif self.placed:
            opened = self.g.node("Gelu", [self.linear(x, f"{block}.ffn_up")], f"{block}.gelu", approximate="tanh")
            return self.linear(opened, f"{block}.ffn_down")
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
        for table in () if self.placed else ("", ".near") if self.period == 6 else ("",):
            for name in ("cosines", "sines"):
                g.weight(name + table, FLOAT, [longest, turned // 2])
        (words, width), _, _ = self.weights("token_embd")
        if width != self.width:
            raise h.refuse(f"its embedding is of width {width}, not {self.width}")
        x = self.looked_up(ids)
        if self.gemma:
            x = g.node("Mul", [x, self.constant("width_root")], "token_embd.scaled")
        if self.placed:
            dims, _ = h.tensor("position_embd.weight", 2)
            places = g.node("Gather", [self.weight("position_embd.weight", FLOAT, dims), "position_ids"], "position_embd")
            x = g.node("Add", [x, places], "token_embd.placed")
        for i in range(self.layers):
            block = f"blk.{i}"
            y = self.attended(self.norm(x, f"{block}.attn_norm", width), i)
            x = self.last(x, block) if i == self.layers - 1 else x
            x = g.node("Add", [x, y], f"{block}.attn_added")
            y = self.fed_forward(self.norm(x, f"{block}.{'post_attention' if self.oss else 'ffn'}_norm", width), block)
            x = g.node("Add", [x, y], f"{block}.ffn_added")
        x = self.norm(x, "output_norm", width)
        logits = self.linear(x, "output", "" if "output.weight" in h.tensors else "token_embd")
        if self.capped("final_logit_softcapping") > 0:
            inside = g.node("Mul", [logits, self.constant("cap_inverse")], "logits.inside")
            logits = g.node("Mul", [g.node("Tanh", [inside], "logits.tanh"), self.constant("cap")], "logits.capped")
        g.output(logits, FLOAT, ["batch", 1, words])
        return g.file(self.opsets)


def write(path: Path, out: Path, cache: str = "f16", weights: str = "") -> None:
    """Writes the ONNX file of a GGUF file, with keys and values in a type; with matrices in one, else as they are."""
    out.write_bytes(Model(Header(path), cache, weights).file())
