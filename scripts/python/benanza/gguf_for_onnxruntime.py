# SPDX-License-Identifier: Apache-2.0
"""The model of a GGUF file as ONNX Runtime's builder of language models writes it, for frameworks that read ONNX files:
products with weights of 4 or 8 bits (MatMulNBits, experts as QMoE), GroupQueryAttention with a cache in f32, no values of
weights.

  write(Path("tinyllama.gguf"), Path("tinyllama.onnx"))   # then: benanza tinyllama.onnx --framework onnxruntime,openvino

Formats of ggml of up to 4.5 bits a weight become codes of 4 bits, other codes such of 8, each 32 with a scale in f32.
"""

from __future__ import annotations

from pathlib import Path

from benanza.gguf import Model
from benanza.gguf_header import Header
from benanza.onnx_file import FLOAT, INT32, INT64, UINT8

RUNTIME = "com.microsoft"
BLOCK = 32
OF_4_BITS = ("q4_0", "q4_1", "q4_k", "iq4_nl", "iq4_xs", "mxfp4")
AS_REALS = ("f32", "f16", "bf16")


class Built(Model):
    opsets = {"": 21, RUNTIME: 1}
    takes_positions = last_query_alone = False  # attention knows them

    def __init__(self, h: Header):
        super().__init__(h, "f32", "")
        if self.placed:
            raise h.refuse("its places have vectors, which are not written as ONNX Runtime has them yet")
        self.lengths: tuple[str, str] | None = None

    def linear(self, x: str, name: str, tensor: str = "") -> str:
        (n, length), kind, _ = self.weights(tensor or name)
        if kind in AS_REALS:
            y = self.g.node("MatMul", [x, self.weight(f"{tensor or name}.turned", FLOAT, [length, n])], name)
        else:
            bits, blocks = 4 if kind in OF_4_BITS else 8, -(-length // BLOCK)
            codes = self.weight(f"{name}.codes", UINT8, [n, blocks, BLOCK * bits // 8])
            scales = self.weight(f"{name}.scales", FLOAT, [n * blocks])
            y = self.g.node("MatMulNBits", [x, codes, scales], name, RUNTIME, K=length, N=n, bits=bits, block_size=BLOCK,
                            accuracy_level=4)
        if f"{name}.bias" in self.h.tensors:
            y = self.g.node("Add", [y, self.weight(f"{name}.bias", FLOAT, [n])], f"{name}.added")
        return y

    def chosen(self, x: str, block: str) -> str:
        """Rows of gates and of what they open take turns."""
        g, tensors = self.g, self.h.tensors
        kinds = {self.h.tensor(f"{block}.ffn_{name}_exps.weight", 3)[1] for name in ("gate", "up", "down")}
        if kinds & {*AS_REALS}:
            raise self.h.refuse(f"its experts have weights in {' and '.join(sorted(kinds))}, not all in codes")
        bits = 4 if kinds <= {*OF_4_BITS} else 8
        count, inner, width = self.h.tensor(f"{block}.ffn_up_exps.weight", 3)[0]
        scores = self.linear(x, f"{block}.ffn_gate_inp")
        scores = g.node("Reshape", [scores, g.whole_numbers(-1, count)], f"{block}.scores")
        operands = []
        for name, rows, length in ("up", 2 * inner, width), ("down", width, inner):
            own, blocks = f"{block}.ffn_{name}_exps", -(-length // BLOCK)
            operands += [self.weight(f"{own}.codes", UINT8, [count, rows, blocks * BLOCK * bits // 8]),
                         self.weight(f"{own}.scales", FLOAT, [count, rows, blocks]),
                         self.weight(f"{own}.bias", FLOAT, [count, rows]) if f"{own}.bias" in tensors else ""]
        more: dict[str, int | float] = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 7.0} if self.oss else {
            "activation_alpha": 1.0, "activation_beta": 0.0}
        normed = int(self.h.metadata["general.architecture"] != "qwen2moe")
        return g.node("QMoE", [x, scores, *operands], f"{block}.mixed", RUNTIME, k=self.h.size("expert_used_count"),
                      expert_weight_bits=bits, block_size=BLOCK, activation_type="swiglu", swiglu_fusion=1,
                      normalize_routing_weights=normed, **more)

    def normed(self, x: str, weight: str, name: str) -> str:
        return self.g.node("SimplifiedLayerNormalization", [x, weight], name, axis=-1, epsilon=self.epsilon)

    def looked_up(self, ids: str) -> str:
        dims, _, _ = self.weights("token_embd")
        return self.g.node("Gather", [self.weight("token_embd.turned_back", FLOAT, dims), ids], "token_embd")

    def what_is_seen(self) -> tuple[str, str]:
        """By the mask: the place of each sequence's last key, and how many keys there are."""
        if not self.lengths:
            g = self.g
            mask = g.input("attention_mask", INT64, ["batch", "past + sequence"])
            count = g.node("ReduceSum", [mask, g.whole_numbers(1)], "mask.sum", keepdims=0)
            last = g.node("Sub", [count, g.whole_numbers(1)], "mask.last")
            total = g.node("Gather", [g.node("Shape", [mask], "mask.dims"), g.whole_number(1)], "mask.length")
            self.lengths = (g.node("Cast", [last], "seqlens_k", to=INT32), g.node("Cast", [total], "total", to=INT32))
        return self.lengths

    def attention(self, q: str, k: str, v: str, layer: int, positions: str) -> str:
        block, g = f"blk.{layer}", self.g
        caches = [g.input(f"{block}.past.{name}", FLOAT, ["batch", self.kv_heads, "past", self.each])
                  for name in ("keys", "values")]
        more: dict[str, int | float] = {"local_window_size": self.window} if self.windowed(layer) else {}
        if (cap := self.capped("attn_logit_softcapping")) > 0:
            more["softcap"] = cap
        y, *kept = g.several(
            "GroupQueryAttention", [q, k, v, *caches, *self.what_is_seen(), *self.angles(layer)],
            f"{block}.attention", 3, RUNTIME, num_heads=self.heads, kv_num_heads=self.kv_heads, do_rotary=1,
            rotary_interleaved=self.pairs, **more)
        for name in kept:
            g.output(name, FLOAT, ["batch", self.kv_heads, "past + sequence", self.each])
        return y


def write(path: Path, out: Path) -> None:
    out.write_bytes(Built(Header(path)).file())
