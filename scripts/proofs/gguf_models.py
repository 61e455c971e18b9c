# SPDX-License-Identifier: Apache-2.0
"""GGUF files as llama.cpp and OpenVINO GenAI read them, with random weights and words that say nothing; of public models by
their dims.

  write_whole(Path("tiny.gguf"), *model("tinyllama", "q4_k"))
"""

import math
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from benanza import gguf, gguf_for_onnxruntime  # noqa: E402
from benanza.programs import Error  # noqa: E402, F401: of what gguf refuses

F32 = 0
#: What llama.cpp calls files of such matrices.
FILE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9, "q4_k": 15, "q5_k": 17, "q6_k": 18,
              "iq4_nl": 25, "iq4_xs": 30, "bf16": 32, "mxfp4": 38}
ALIGNED = 32
PLACES = 1024  # of a model that has a vector for each place
NUMBER_OF = {name: number for number, (name, _, _) in gguf.TYPES.items()}

# Width, layers, heads, heads of keys and values, inner width, words; and what else some have.
MODELS = {
    "tinyllama": (2048, 22, 32, 4, 5632, 32000, {}),
    "llama-3.2-1b": (2048, 16, 32, 8, 8192, 128256, {"tied": True}),
    "llama-3-8b": (4096, 32, 32, 8, 14336, 128256, {}),
    "mistral-7b": (4096, 32, 32, 8, 14336, 32768, {}),
    "qwen2.5-0.5b": (896, 24, 14, 2, 4864, 151936, {"architecture": "qwen2", "tied": True}),
    "qwen2.5-7b": (3584, 28, 28, 4, 18944, 152064, {"architecture": "qwen2"}),
    "qwen3-0.6b": (1024, 28, 16, 8, 3072, 151936, {"architecture": "qwen3", "tied": True, "head": 128}),
    "phi-3-mini": (3072, 32, 32, 32, 8192, 32064, {"architecture": "phi3", "window": 2047}),
    "gemma-2-2b": (2304, 26, 8, 4, 9216, 256000, {"architecture": "gemma2", "tied": True, "head": 256, "window": 4096,
                                                 "caps": (50.0, 30.0)}),
    "gemma-3-1b": (1152, 26, 4, 1, 6912, 262144, {"architecture": "gemma3", "tied": True, "head": 256, "window": 512}),
    "mixtral-8x7b": (4096, 32, 32, 8, 14336, 32000, {"experts": (8, 2)}),
    "qwen3-30b-a3b": (2048, 48, 32, 4, 768, 151936, {"architecture": "qwen3moe", "head": 128, "experts": (128, 8)}),
    "gpt2": (768, 12, 12, 12, 3072, 50257, {"architecture": "gpt2", "tied": True}),
    "qwen1.5-moe-a2.7b": (2048, 24, 16, 16, 1408, 151936, {"architecture": "qwen2moe", "experts": (60, 4), "shared": 5632}),
    "gpt-oss-20b": (2880, 24, 64, 8, 2880, 201088, {"architecture": "gpt-oss", "head": 64, "experts": (32, 4),
                                                    "window": 128}),
    "smollm2-360m": (960, 32, 15, 5, 2560, 49152, {"tied": True}),
}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", 6, value)
    if isinstance(value, bool):
        return text(key) + struct.pack("<IB", 7, value)
    if isinstance(value, list):  # of texts, or of numbers, as a vocabulary has them
        of_texts = isinstance(value[0], str)
        return text(key) + struct.pack("<IIQ", 9, 8 if of_texts else 5, len(value)) + b"".join(
            text(v) if of_texts else struct.pack("<i", v) for v in value)
    return text(key) + struct.pack("<II", 4, value)


def bytes_of(dims, kind):
    _, block, size = gguf.TYPES.get(kind, ("", 1, 1))
    return math.prod(dims) // block * size


def header(metadata, tensors, version=3):
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    out += b"".join(entry(k, v) for k, v in metadata.items())
    at = 0
    for name, (dims, kind) in tensors.items():
        out += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims[::-1])
        out += struct.pack("<IQ", kind, at)
        at += -(-bytes_of(dims, kind) // ALIGNED) * ALIGNED
    return out


def some_weights(kind, draw):
    """Bytes of some blocks: numbers around 0.02, whatever the codes are."""
    name, _, size = gguf.TYPES[kind]
    if name == "f32":
        return struct.pack("<1021f", *(draw.gauss(0, 0.02) for _ in range(1021)))
    if name == "f16":
        return struct.pack("<1021e", *(draw.gauss(0, 0.02) for _ in range(1021)))
    if name == "bf16":
        return b"".join(struct.pack("<f", draw.gauss(0, 0.02))[2:] for _ in range(1021))
    scale = b"\x78" if name == "mxfp4" else struct.pack("<e", {"q": 1e-3, "k": 1e-4, "i": 1e-4}[
        name[0] if name == "iq4_nl" or not name.endswith(("_k", "_xs")) else "k"])
    blocks = []
    for _ in range(257):
        block = bytearray(draw.randbytes(size))
        at = 208 if name == "q6_k" else 0
        block[at:at + len(scale)] = scale
        if name in ("q4_1", "q5_1", "q4_k", "q5_k"):  # and what is added or taken off
            block[2:4] = scale
        blocks.append(bytes(block))
    return b"".join(blocks)


def write_whole(path, metadata, tensors):
    """A file with weights. Its words are numbers; the first two begin and end a text."""
    words = tensors["token_embd.weight"][0][0]
    most = max(tensors.values(), key=lambda t: bytes_of(*t))[1]
    metadata |= {"general.file_type": FILE_TYPES[gguf.TYPES[most][0]], **{f"tokenizer.ggml.{k}": v for k, v in {
        "model": "gpt2", "pre": "gpt-2", "tokens": [f"w{i}" for i in range(words)], "merges": ["w 0"],
        "token_type": [3, 3] + [1] * (words - 2), "bos_token_id": 0, "eos_token_id": 1, "add_bos_token": True}.items()}}
    draw = random.Random(0)
    some = {kind: some_weights(kind, draw) for _, kind in tensors.values()}
    with path.open("wb") as out:
        out.write(header(metadata, tensors))
        for dims, kind in tensors.values():
            out.write(bytes(-out.tell() % ALIGNED))
            left = bytes_of(dims, kind)
            for _ in range(left // len(some[kind])):
                out.write(some[kind])
            out.write(some[kind][:left % len(some[kind])])


def model(name, kind):
    """The metadata and tensors of one of MODELS, all matrices in one of ggml's types, or in Q8_0 where its rows are no
    whole blocks of that; the head in Q6_K, as files have it."""
    width, layers, heads, kv_heads, inner, words, more = MODELS[name]
    architecture, each = more.get("architecture", "llama"), more.get("head", width // heads)
    metadata = {"general.architecture": architecture, **{f"{architecture}.{k}": v for k, v in {
        "embedding_length": width, "block_count": layers, "attention.head_count": heads,
        "context_length": PLACES if architecture == "gpt2" else 32768,
        "attention.head_count_kv": kv_heads, "attention.key_length": each, "attention.value_length": each,
        "feed_forward_length": inner, "rope.dimension_count": each, "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.layer_norm_epsilon": 1e-5}.items()}}

    if "window" in more:
        metadata[f"{architecture}.attention.sliding_window"] = more["window"]
    for key, cap in zip(("attn_logit_softcapping", "final_logit_softcapping"), more.get("caps", ())):
        metadata[f"{architecture}.{key}"] = cap

    experts, chosen = more.get("experts", (0, 0))
    if experts:
        metadata |= {f"{architecture}.expert_count": experts, f"{architecture}.expert_used_count": chosen,
                     f"{architecture}.expert_feed_forward_length": inner}
    if "shared" in more:
        metadata[f"{architecture}.expert_shared_feed_forward_length"] = more["shared"]
    oss, gpt2 = architecture == "gpt-oss", architecture == "gpt2"

    def matrix(rows, length, wanted=kind):
        fits = length % gguf.TYPES[NUMBER_OF[wanted]][1] == 0
        return [rows, length], NUMBER_OF[wanted if fits else "q8_0"]

    head = "q6_k" if kind.endswith("_k") else kind
    tensors = {"token_embd.weight": matrix(words, width, head if more.get("tied") else kind),
               "output_norm.weight": ([width], F32)}
    if gpt2:
        tensors |= {"position_embd.weight": ([PLACES, width], F32), "output_norm.bias": ([width], F32)}
    if not more.get("tied"):
        tensors["output.weight"] = matrix(words, width, head)
    for i in range(layers):
        block = f"blk.{i}"
        q, kv = heads * each, kv_heads * each
        parts = {"attn_q": (q, width), "attn_k": (kv, width), "attn_v": (kv, width), "attn_output": (width, q),
                 "ffn_gate": (inner, width), "ffn_up": (inner, width), "ffn_down": (width, inner)}
        if gpt2:
            parts = {"attn_qkv": (3 * width, width), "attn_output": (width, q), "ffn_up": (inner, width),
                     "ffn_down": (width, inner)}
        if architecture == "phi3":  # several as one
            parts = {"attn_qkv": (q + 2 * kv, width), "attn_output": (width, q), "ffn_up": (2 * inner, width),
                     "ffn_down": (width, inner)}
        if experts:
            for part in ("ffn_gate", "ffn_up", "ffn_down"):
                dims, its = matrix(*parts.pop(part))
                tensors[f"{block}.{part}_exps.weight"] = [experts, *dims], its
                if oss:
                    tensors[f"{block}.{part}_exps.bias"] = [experts, dims[0]], F32
            tensors[f"{block}.ffn_gate_inp.weight"] = [experts, width], F32
        if "shared" in more:
            of_all = more["shared"]
            parts |= {"ffn_gate_shexp": (of_all, width), "ffn_up_shexp": (of_all, width), "ffn_down_shexp": (width, of_all)}
            tensors[f"{block}.ffn_gate_inp_shexp.weight"] = [width], F32
        for part, dims in parts.items():
            tensors[f"{block}.{part}.weight"] = matrix(*dims)
        vectors = {"attn_norm.weight": width, f"{'post_attention' if oss else 'ffn'}_norm.weight": width}
        if gpt2:
            vectors |= {"attn_norm.bias": width, "ffn_norm.bias": width, "attn_qkv.bias": 3 * width,
                        "attn_output.bias": width, "ffn_up.bias": inner, "ffn_down.bias": width}
        if oss:
            vectors |= {"attn_output.bias": width, "ffn_gate_inp.bias": experts, "attn_sinks.weight": heads}
        if architecture.startswith("qwen2") or oss:
            vectors |= {"attn_q.bias": q, "attn_k.bias": kv, "attn_v.bias": kv}
        if architecture.startswith("gemma"):
            vectors |= {"post_attention_norm.weight": width, "post_ffw_norm.weight": width}
        if architecture in ("qwen3", "qwen3moe", "gemma3"):
            vectors |= {"attn_q_norm.weight": each, "attn_k_norm.weight": each}
        tensors |= {f"{block}.{part}": ([n], F32) for part, n in vectors.items()}
    return metadata, tensors
