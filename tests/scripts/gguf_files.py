#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the layers of a GGUF file found, and is what is none refused in a line?

  gguf_files.py <source folder> <benanza_generate>
"""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

SOURCE, GENERATE = Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from proofs.gguf_models import MODELS, bytes_of, header, model  # noqa: E402: it finds the next ones
from benanza import gguf, gguf_for_onnxruntime  # noqa: E402
from benanza.programs import Error  # noqa: E402

F32, Q4_0, Q4_K, Q6_K, F16 = 0, 2, 12, 14, 1


def llama(architecture="llama", tied=False, layers=2, norms=False, one_kind=False):
    """Width 256, 4 heads that share 2, inner 512, 1000 words; matrices of many formats, or all in Q4_K."""
    metadata = {"general.architecture": architecture, "tokenizer.ggml.tokens": ["a", "b"],
                **{f"{architecture}.{k}": v for k, v in {
                    "embedding_length": 256, "block_count": layers, "context_length": 64,
                    "attention.head_count": 4, "attention.head_count_kv": 2, "feed_forward_length": 512,
                    "attention.layer_norm_rms_epsilon": 1e-6}.items()}}
    tensors = {"token_embd.weight": ([1000, 256], Q6_K), "output_norm.weight": ([256], F32)}
    if not tied:
        tensors["output.weight"] = [1000, 256], Q6_K
    for i in range(layers):
        kinds = {"attn_q": ([256, 256], Q4_K), "attn_k": ([128, 256], Q4_K), "attn_v": ([128, 256], Q6_K),
                 "attn_output": ([256, 256], Q4_0), "ffn_gate": ([512, 256], Q4_K), "ffn_up": ([512, 256], F16),
                 "ffn_down": ([256, 512], Q4_K)}
        tensors |= {f"blk.{i}.{name}.weight": (dims, Q4_K if one_kind else kind) for name, (dims, kind) in kinds.items()}
        tensors |= {f"blk.{i}.{name}.weight": ([256], F32) for name in ("attn_norm", "ffn_norm")}
        if architecture == "qwen2":
            tensors |= {f"blk.{i}.attn_{w}.bias": ([n], F32) for w, n in (("q", 256), ("k", 128), ("v", 128))}
        if norms:
            tensors |= {f"blk.{i}.attn_{w}_norm.weight": ([64], F32) for w in "qk"}
    return metadata, tensors


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def stats(self, data, *dims):
        file, out = self.folder / "tiny.gguf", self.folder / "tiny.onnx"
        file.write_bytes(data)
        gguf.write(file, out)
        return self.stats_of(out, *dims)

    def stats_of(self, out, *dims):
        words = [w for d in dims for w in ("--dim", d)]
        done = subprocess.run([GENERATE, "stats", out, "--format", "json", *words], capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "experts are read in a layer" not in line]
        self.assertEqual((done.returncode, said), (0, []))
        graph, = json.loads(done.stdout)["models"]
        self.assertEqual(graph["unresolved"], 0)
        return graph, Counter(f"{x['family']}/{x['key']}" for x in graph["layers"])

    def refused(self, data, said):
        file = self.folder / "bad.gguf"
        file.write_bytes(data)
        with self.assertRaisesRegex(Error, said) as e:
            gguf.write(file, self.folder / "bad.onnx")
        self.assertNotIn("\n", str(e.exception))

    def test_a_token_behind_others(self):
        _, layers = self.stats(header(*llama()), "sequence=1", "past=63")
        self.assertEqual(layers["GatherGgml/1000x256-1x1-q6_k"], 1)
        self.assertEqual(layers["MatMulGgml/1x1x256-n256-q4_k"], 2)
        self.assertEqual(layers["MatMulGgml/1x1x256-n128-q6_k"], 2)
        self.assertEqual(layers["MatMulGgml/1x1x256-n256-q4_0"], 2)
        self.assertEqual(layers["MatMulGgml/1x1x256-n512-f16"], 2)
        self.assertEqual(layers["MatMulGgml/1x1x512-n256-q4_k"], 2)
        self.assertEqual(layers["MatMulGgml/1x1x256-n1000-q6_k"], 1)
        self.assertEqual(sum(n for l, n in layers.items() if l.startswith("Attention/")), 2)

    def test_a_prompt_makes_the_last_token_alone(self):
        """All tokens have keys and values in both layers, and the rest in the first one."""
        out, folder = self.folder / "tiny.onnx", self.folder / "layers"
        _, layers = self.stats(header(*llama()), "sequence=32", "past=8")
        for layer, all_of_them in (("n128-q4_k", 2), ("n128-q6_k", 2), ("n256-q4_k", 1), ("n512-q4_k", 1), ("n512-f16", 1)):
            self.assertEqual(layers[f"MatMulGgml/1x32x256-{layer}"], all_of_them, layer)
            self.assertEqual(layers[f"MatMulGgml/1x1x256-{layer}"], 2 - all_of_them, layer)
        self.assertEqual(layers["MatMulGgml/1x1x256-n1000-q6_k"], 1)
        self.assertEqual(layers["Attention/1x4x32x64-kv2-k40-causal-p8-bshd-cached-f16"], 1)
        self.assertEqual(layers["Attention/1x4x1x64-kv2-k40-f16"], 1)
        subprocess.run([GENERATE, out, "--no-sources", "-o", folder, "--dim", "sequence=32", "--dim", "past=8"], check=True,
                       capture_output=True)
        cache = json.loads((folder / "graphs.json").read_text())["graphs"][0]["cache"]
        self.assertEqual(cache, {"bytes": 2 * 2 * 2 * 8 * 64 * 2, "sequences": 1, "past": 8, "added": 32})

    def test_weights_are_counted_as_they_are_stored(self):
        metadata, tensors = llama(tied=True)
        graph, layers = self.stats(header(metadata, tensors), "sequence=1", "past=63")
        stored = sum(bytes_of(*t) for t in tensors.values())
        angles = 2 * 64 * 32 * 4  # the table of the rotation, which files do not hold
        self.assertEqual(graph["parameter_bytes"], stored + angles)
        self.assertEqual(layers["MatMulGgml/1x1x256-n1000-q6_k"], 1)
        self.assertEqual(sum(x["parameters"] for x in graph["layers"]),
                         graph["parameters"] - 2 * 64 * 32)  # the tied table once, as a product

    def test_what_a_run_reads_from_memory(self):
        file, out, layers = self.folder / "tiny.gguf", self.folder / "tiny.onnx", self.folder / "layers"
        metadata, tensors = llama()
        file.write_bytes(header(metadata, tensors))
        gguf.write(file, out)
        subprocess.run([GENERATE, out, "--no-sources", "-o", layers, "--dim", "sequence=1", "--dim", "past=63"], check=True,
                       capture_output=True)
        graph = json.loads((layers / "graphs.json").read_text())["graphs"][0]
        # Keys and values of two layers and two heads; the table of words and that of angles are looked up.
        self.assertEqual(graph["cache"], {"bytes": 2 * 2 * 2 * 63 * 64 * 2, "sequences": 1, "past": 63, "added": 1})
        self.assertEqual(graph["dims"], {"sequence": 1, "past": 63})
        self.assertEqual(graph["parameter_bytes"] - graph["streamed_weight_bytes"], 1000 * 210 + 2 * 64 * 32 * 4)

    def test_keys_and_values_in_other_types(self):
        file, out = self.folder / "tiny.gguf", self.folder / "tiny.onnx"
        file.write_bytes(header(*llama()))
        for cache, said in ("f16", "-f16"), ("bf16", "-bf16"), ("f32", ""):
            gguf.write(file, out, cache)
            graph, layers = self.stats_of(out, "sequence=1", "past=63")
            self.assertEqual(layers[f"Attention/1x4x1x64-kv2-k64{said}"], 2)
            self.assertEqual(layers["Cast/1x1x128-f32-" + cache], 0 if cache == "f32" else 4)

    def test_as_onnx_runtimes_builder_writes_it(self):
        file, out = self.folder / "tiny.gguf", self.folder / "tiny.onnx"
        for architecture in "llama", "qwen2", "qwen3":
            file.write_bytes(header(*llama(architecture, norms=architecture == "qwen3")))
            gguf_for_onnxruntime.write(file, out)
            _, layers = self.stats_of(out, "sequence=1", "past=63")
            self.assertEqual(layers["MatMulNBits/1x1x256-n256-k32"], 4)  # of q4_k and q4_0
            self.assertEqual(layers["MatMulNBits/1x1x256-n128-q8-k32"], 2)  # of q6_k
            self.assertEqual(layers["MatMul/1x1x256-256x512-w"], 2)  # of f16
            self.assertEqual(layers["Concat/1x2x64x64-a2-n2"], 4)
            self.assertEqual(sum(n for l, n in layers.items() if l.startswith("Attention/1x4x1x64-kv2-k64")), 2)
            self.assertEqual(sum(n for l, n in layers.items() if l.startswith("RotaryEmbedding/")), 4)
        file.write_bytes(header(*model("mixtral-8x7b", "q4_k")))
        gguf_for_onnxruntime.write(file, out)
        _, layers = self.stats_of(out, "sequence=1", "past=63")
        self.assertEqual(layers["MatMulNBits/1x2x4096-n14336-k32-e2"], 64)
        self.assertEqual(layers["MatMulNBits/1x2x14336-n4096-k32-e2"], 32)
        for name, kind, said in ("gate", 12, "no tensor blk.0.ffn_gate_exps.weight"), ("up", 29, "type 29"), ("down", 1, "in f16"):
            metadata, tensors = model("mixtral-8x7b", "q4_k")
            of = f"blk.0.ffn_{name}_exps.weight"
            dims, _ = tensors.pop(of)
            if name != "gate":
                tensors[of] = dims, kind
            file.write_bytes(header(metadata, tensors))
            with self.assertRaisesRegex(Error, said):
                gguf_for_onnxruntime.write(file, out)
        file.write_bytes(header(*model("gpt2", "q4_k")))
        with self.assertRaisesRegex(Error, "places have vectors, which are not written"):
            gguf_for_onnxruntime.write(file, out)

    def test_matrices_in_another_type(self):
        file, out = self.folder / "tiny.gguf", self.folder / "tiny.onnx"
        file.write_bytes(header(*llama()))
        gguf.write(file, out, weights="q8_0")
        _, layers = self.stats_of(out, "sequence=1", "past=63")
        self.assertEqual({name.rpartition("-")[2] for name in layers if "Ggml/" in name}, {"q8_0"})
        self.assertEqual(layers["MatMulGgml/1x1x256-n256-q8_0"], 4)
        metadata, tensors = llama()
        tensors["blk.0.ffn_down.weight"] = [256, 160], Q4_0
        file.write_bytes(header(metadata, tensors))
        with self.assertRaisesRegex(Error, "rows of 160, no whole blocks of q6_k"):
            gguf.write(file, out, weights="q6_k")

    def test_several_sequences_at_once(self):
        file, out = self.folder / "tiny.gguf", self.folder / "tiny.onnx"
        file.write_bytes(header(*llama()))
        gguf.write(file, out)
        done = subprocess.run([GENERATE, "stats", out, "--format", "json", "--batch", "4", "--dim", "sequence=1", "--dim",
                               "past=63"], capture_output=True, text=True, check=True)
        graph, = json.loads(done.stdout)["models"]
        layers = {f"{x['family']}/{x['key']}" for x in graph["layers"]}
        self.assertIn("MatMulGgml/4x1x256-n1000-q6_k", layers)
        self.assertIn("Attention/4x4x1x64-kv2-k64-f16", layers)

    def test_biases_and_norms_of_heads(self):
        _, layers = self.stats(header(*llama("qwen2")), "sequence=1", "past=63")
        self.assertEqual(layers["Add/1x1x256-256"], 2)
        _, layers = self.stats(header(*llama("qwen3", norms=True)), "sequence=1", "past=63")
        self.assertEqual(layers["RMSNormalization/1x1x4x64-a3"], 2)

    def test_windows_caps_and_several_products_as_one(self):
        def public(name, *dims):
            return self.stats(header(*model(name, "q4_k")), *dims)[1]
        layers = public("gemma-2-2b", "sequence=1", "past=8191")
        self.assertEqual(layers["Attention/1x8x1x256-kv4-k8192-causal-p8191-w4096-cap-f16"], 13)
        self.assertEqual(layers["Attention/1x8x1x256-kv4-k8192-cap-f16"], 13)
        self.assertEqual(layers["Tanh/1x1x256000"], 1)
        self.assertEqual(layers["FastGelu/1x1x9216"], 26)
        self.assertEqual(layers["RMSNormalization/1x1x2304-a2"], 4 * 26 + 1)
        layers = public("gemma-3-1b", "sequence=1", "past=600")
        self.assertEqual(layers["Attention/1x4x1x256-kv1-k601-causal-p600-w512-bshd-f16"], 22)
        layers = public("phi-3-mini", "sequence=1", "past=512")
        self.assertEqual(layers["MatMulGgml/1x1x3072-n9216-q4_k"], 32)
        self.assertEqual(layers["MatMulGgml/1x1x3072-n16384-q4_k"], 32)

    def test_a_cache_is_read_as_far_as_windows_reach(self):
        file, out, layers = self.folder / "g.gguf", self.folder / "g.onnx", self.folder / "layers"
        file.write_bytes(header(*model("gemma-3-1b", "q4_k")))
        gguf.write(file, out)
        subprocess.run([GENERATE, out, "--no-sources", "-o", layers, "--dim", "sequence=1", "--dim", "past=2000"], check=True,
                       capture_output=True)
        cache = json.loads((layers / "graphs.json").read_text())["graphs"][0]["cache"]
        # Four of 26 layers see all; keys and values of one head of 256 in f16.
        self.assertEqual(cache["bytes"], (4 * 2000 + 22 * 511) * 2 * 256 * 2)
        self.assertEqual(cache["past"], 2000)
        # In the last layer one of 32 new tokens alone looks back, and sees 31 of them.
        subprocess.run([GENERATE, out, "--no-sources", "-o", layers, "--dim", "sequence=32", "--dim", "past=2000"], check=True,
                       capture_output=True)
        cache = json.loads((layers / "graphs.json").read_text())["graphs"][0]["cache"]
        self.assertEqual(cache, {"bytes": (4 * 2000 + 21 * 511 + 480) * 2 * 256 * 2, "sequences": 1, "past": 2000, "added": 32})

    def test_as_many_experts_as_tokens_are_expected_to_choose(self):
        metadata, tensors = model("mixtral-8x7b", "q4_k")
        for tokens, touched in (1, 2), (2, 4), (8, 7), (512, 8):  # 8 (1 - (1 - 2/8)^tokens): 2, 3.5, 7.2, 8
            graph, layers = self.stats(header(metadata, tensors), f"sequence={tokens}", "past=16")
            whole = 31 if tokens > 1 else 32  # the last one makes one token
            self.assertEqual(layers[f"MatMulGgml/1x{2 * tokens}x4096-n14336-q4_k-e{touched}"], 2 * whole, tokens)
            self.assertEqual(layers[f"MatMulGgml/1x{2 * tokens}x14336-n4096-q4_k-e{touched}"], whole)
            self.assertEqual(layers["MatMulGgml/1x2x14336-n4096-q4_k-e2"], 32 - whole or 32)
        self.assertEqual(layers["TopK/1x512x8-a2-k2"], 31)

    def test_a_token_reads_the_experts_that_it_chose(self):
        file, out, layers = self.folder / "g.gguf", self.folder / "g.onnx", self.folder / "layers"
        metadata, tensors = model("qwen3-30b-a3b", "q8_0")
        file.write_bytes(header(metadata, tensors))
        gguf.write(file, out)
        subprocess.run([GENERATE, out, "--no-sources", "-o", layers, "--dim", "sequence=1", "--dim", "past=16"], check=True,
                       capture_output=True)
        graph = json.loads((layers / "graphs.json").read_text())["graphs"][0]
        self.assertEqual(graph["assumptions"], ["8 of 128 experts are read in a layer, as 1 token chooses"])
        experts = sum(bytes_of(*t) for name, t in tensors.items() if "_exps" in name)
        words, turned = bytes_of(*tensors["token_embd.weight"]), 2 * 32768 * 64 * 4
        self.assertEqual(graph["parameter_bytes"] - graph["streamed_weight_bytes"], words + turned + experts * 120 // 128)

    def test_experts_that_all_tokens_share(self):
        metadata, tensors = model("qwen1.5-moe-a2.7b", "q8_0")
        graph, layers = self.stats(header(metadata, tensors), "sequence=1", "past=16")
        self.assertEqual(layers["MatMulGgml/1x4x2048-n1408-q8_0-e4"], 48)
        self.assertEqual(layers["MatMulGgml/1x1x2048-n5632-q8_0"], 48)
        self.assertEqual(layers["MatMulGgml/1x1x5632-n2048-q8_0"], 24)
        self.assertEqual(layers["MatMul/1x1x2048-2048x1-w"], 24)
        self.assertEqual(graph["parameter_bytes"], sum(bytes_of(*t) for t in tensors.values()) + 2 * 32768 * 64 * 4)

    def test_experts_of_gpt_oss(self):
        metadata, tensors = model("gpt-oss-20b", "mxfp4")
        graph, layers = self.stats(header(metadata, tensors), "sequence=1", "past=511")
        self.assertEqual(layers["MatMulGgml/1x4x2880-n2880-mxfp4-e4"], 72)
        self.assertEqual(layers["Attention/1x64x1x64-kv8-k512-causal-p511-w128-f16"], 12)
        self.assertEqual(layers["Attention/1x64x1x64-kv8-k512-f16"], 12)
        self.assertEqual(layers["Gather/32x2880-1x1x4"], 72)  # a bias of each expert
        self.assertEqual(layers["RMSNormalization/1x1x2880-a2"], 49)
        sinks = 24 * 64 * 4
        self.assertEqual(graph["parameter_bytes"],
                         sum(bytes_of(*t) for t in tensors.values()) - sinks + 2 * 32768 * 32 * 4)

    def test_gpt2(self):
        graph, layers = self.stats(header(*model("gpt2", "q8_0")), "sequence=1", "past=100")
        self.assertEqual(layers["MatMulGgml/1x1x768-n2304-q8_0"], 12)
        self.assertEqual(layers["Attention/1x12x1x64-k101-f16"], 12)
        self.assertEqual(layers["LayerNormalization/1x1x768-a2-b"], 25)
        self.assertEqual(layers["FastGelu/1x1x3072"], 12)
        self.assertEqual(layers["RotaryEmbedding/1x1x768"], 0)

    def test_parts_that_do_not_add_up(self):
        metadata, tensors = model("phi-3-mini", "q4_k")
        self.refused(header(metadata, tensors | {"blk.0.attn_qkv.weight": ([9000, 3072], Q4_K)}), "9000 rows, not 9216")

    def test_parameters_of_public_models(self):
        for name, millions in (("tinyllama", 1100), ("llama-3.2-1b", 1236), ("llama-3-8b", 8030), ("mistral-7b", 7248),
                               ("qwen2.5-0.5b", 494), ("qwen2.5-7b", 7616), ("qwen3-0.6b", 596), ("smollm2-360m", 362),
                               ("phi-3-mini", 3821), ("gemma-2-2b", 2614), ("gemma-3-1b", 1000),
                               ("mixtral-8x7b", 46703), ("qwen3-30b-a3b", 30532), ("qwen1.5-moe-a2.7b", 14316),
                               ("gpt-oss-20b", 20915), ("gpt2", 124)):
            metadata, tensors = model(name, "q4_k")
            graph, _ = self.stats(header(metadata, tensors), "sequence=1", "past=512")
            architecture = metadata["general.architecture"]
            turned = 2 * 32768 * metadata[f"{architecture}.rope.dimension_count"] // 2 if architecture != "gpt2" else 0
            turned *= 2 if architecture == "gemma3" else 1  # near and far
            self.assertEqual(round((graph["parameters"] - turned) / 1e6), millions, name)
        self.assertEqual(len(MODELS), 16)

    def test_what_is_none(self):
        metadata, tensors = llama()
        whole = header(metadata, tensors)
        for cut in range(0, len(whole), 97):
            self.refused(whole[:cut], "GGUF|ends in its header")
        self.refused(header(metadata, tensors, version=1), "version 1")
        self.refused(b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1), "more than a model has")
        self.refused(header({**metadata, "general.architecture": "bert"}, tensors), "architecture is 'bert'")
        self.refused(header({k: v for k, v in metadata.items() if "block_count" not in k}, tensors), "lacks llama.block_count")
        lacking = {k: v for k, v in tensors.items() if k != "blk.1.ffn_up.weight"}
        self.refused(header(metadata, lacking), "no tensor blk.1.ffn_up.weight")
        self.refused(header(metadata, {**tensors, "output.weight": ([1000, 256], 10)}), "ggml's type 10")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
