# SPDX-License-Identifier: Apache-2.0
"""Layers that are measured without a model around them, by their keys. Of 128 tokens: a layer of BERT's size, and
one of a model with grouped heads and a gated product. And those that decide a language model of 8 G parameters:
products of one token, of 16 and of 2048; attention over 4096 kept keys, and of 2048 new ones; rows."""

ENCODER = """
MatMul/1x128x768-768x2304-w
Add/1x128x2304-2304
Attention/1x12x128x64
MatMul/1x128x768-768x768-w
Add/1x128x768-768
Add/1x128x768
LayerNormalization/1x128x768-a2-b
MatMul/1x128x768-768x3072-w
Add/1x128x3072-3072
Gelu/1x128x3072
MatMul/1x128x3072-3072x768-w
Add/1x128x768-768
Add/1x128x768
LayerNormalization/1x128x768-a2-b
"""
DECODER = """
RMSNormalization/1x128x2048-a2
MatMul/1x128x2048-2048x3072-w
Attention/1x32x128x64-kv8-causal
MatMul/1x128x2048-2048x2048-w
Add/1x128x2048
RMSNormalization/1x128x2048-a2
MatMul/1x128x2048-2048x8192-w
MatMul/1x128x2048-2048x8192-w
Sigmoid/1x128x8192
Mul/1x128x8192
Mul/1x128x8192
MatMul/1x128x8192-8192x2048-w
Add/1x128x2048
"""
PRODUCTS = ((4096, 6144), (4096, 4096), (4096, 14336), (14336, 4096))
LLM = "\n".join([
    *(f"MatMul/1x{tokens}x{k}-{k}x{n}-w" for tokens in (1, 16, 2048) for k, n in PRODUCTS),
    "Attention/1x32x1x128-kv8-k4096", "Attention/1x32x2048x128-kv8-causal",
    *(f"{what}/1x{tokens}x4096-a2" for tokens in (1, 2048) for what in ("RMSNormalization", "Add+RMSNormalization")),
    "Swish+Mul/1x1x14336", "Swish+Mul/1x2048x14336", "Softmax/32x4096-a1"]) + "\n"
LISTS = {"encoder": ENCODER, "decoder": DECODER, "llm": LLM}  # each is a model called NAME@layers
