# SPDX-License-Identifier: Apache-2.0
"""Writes what today's exporters make of small models, with random weights, for scripts/prove exports.

  python3 -m frameworks.exporting FOLDER [PATTERN...]     # in scripts/

Each becomes NAME.dynamo.onnx and NAME.script.onnx; exports.json says of each how many attentions, rotary
embeddings and normalizations it has, or why an exporter made none.
"""

import json
import re
import sys
import warnings
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.environment import missing_packages, run_elsewhere

NEEDED = ("numpy", "onnx", "onnxscript", "torch", "transformers")
LAYERS = 2
SIZES = {"hidden_size": 64, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 128,
         "vocab_size": 99, "max_position_embeddings": 64}
GROUPED = {**SIZES, "num_key_value_heads": 2}

HEAD_OF_16 = {**GROUPED, "head_dim": 16}
PICTURES = {**SIZES, "image_size": 32, "patch_size": 8}
WINDOWS = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2], "num_heads": [2], "window_size": 4}

# Class, sizes, attentions, rotary embeddings (of queries and of keys), normalizations.
TEXT = {
    "bert": ("BertModel", SIZES, LAYERS, 0, 2 * LAYERS + 1),
    "distilbert": ("DistilBertModel", {"dim": 64, "n_layers": LAYERS, "n_heads": 4, "hidden_dim": 128, "vocab_size": 99},
                   LAYERS, 0, 2 * LAYERS + 1),
    "roberta": ("RobertaModel", SIZES, LAYERS, 0, 2 * LAYERS + 1),
    "mpnet": ("MPNetModel", {**SIZES, "attn_implementation": "eager"}, LAYERS, 0, 2 * LAYERS + 1),
    "electra": ("ElectraModel", {**SIZES, "embedding_size": 64}, LAYERS, 0, 2 * LAYERS + 1),
    "gpt2": ("GPT2Model", {"n_embd": 64, "n_layer": LAYERS, "n_head": 4, "vocab_size": 99, "n_positions": 64},
             LAYERS, 0, 2 * LAYERS + 1),
    # Its two normalizations of one input share their statistics where an exporter sees that.
    "gptneox": ("GPTNeoXModel", SIZES, LAYERS, 2 * LAYERS, LAYERS + 1),
    "opt": ("OPTModel", {**SIZES, "word_embed_proj_dim": 64, "ffn_dim": 128}, LAYERS, 0, 2 * LAYERS + 1),
    "llama": ("LlamaModel", GROUPED, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "mistral": ("MistralModel", {**GROUPED, "sliding_window": 8}, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "qwen2": ("Qwen2Model", GROUPED, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "qwen3": ("Qwen3Model", HEAD_OF_16, LAYERS, 2 * LAYERS, 4 * LAYERS + 1),
    "phi": ("PhiModel", SIZES, LAYERS, 2 * LAYERS, LAYERS + 1),
    "phi3": ("Phi3Model", {**GROUPED, "pad_token_id": 0}, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "gemma": ("GemmaModel", HEAD_OF_16, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "gemma2": ("Gemma2Model", {**HEAD_OF_16, "attn_implementation": "eager"}, LAYERS, 2 * LAYERS, 4 * LAYERS + 1),
    "stablelm": ("StableLmModel", {**SIZES, "num_key_value_heads": 4}, LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "modernbert": ("ModernBertModel", {**SIZES, "global_attn_every_n_layers": 1, "pad_token_id": 0, "cls_token_id": 1,
                                       "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2},
                   LAYERS, 2 * LAYERS, 2 * LAYERS + 1),
    "bloom": ("BloomModel", {"hidden_size": 64, "n_layer": LAYERS, "n_head": 4, "vocab_size": 99,
                              "attn_implementation": "eager"}, LAYERS, 0, 2 * LAYERS + 2),
    "t5-encoder": ("T5EncoderModel", {"d_model": 64, "num_layers": LAYERS, "num_heads": 4, "d_kv": 16, "d_ff": 128,
                                      "vocab_size": 99}, LAYERS, 0, 2 * LAYERS + 1),
    "clip-text": ("CLIPTextModel", SIZES, LAYERS, 0, 2 * LAYERS + 1),
}
IMAGE = {
    "vit": ("ViTModel", PICTURES, LAYERS, 0, 2 * LAYERS + 1),
    "deit": ("DeiTModel", PICTURES, LAYERS, 0, 2 * LAYERS + 1),
    "dinov2": ("Dinov2Model", {"hidden_size": 64, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "image_size": 32,
                               "patch_size": 8}, LAYERS, 0, 2 * LAYERS + 1),
    "swin": ("SwinModel", WINDOWS, 2, 0, 6),
    "swinv2": ("Swinv2Model", {**WINDOWS, "attn_implementation": "eager"}, 2, 0, 6),
}


def made(name, of_images):
    """A model, with the inputs that it is exported on."""
    import torch
    import transformers
    kind, sizes, *_ = (IMAGE if of_images else TEXT)[name]
    sizes = dict(sizes)
    attention = sizes.pop("attn_implementation", "sdpa")
    cls = getattr(transformers, kind)
    config = cls.config_class(**sizes)
    config._attn_implementation = attention
    if hasattr(config, "use_cache"):
        config.use_cache = False
    torch.manual_seed(1)
    model = cls(config).eval()

    class Alone(torch.nn.Module):
        """The first result, of inputs without names."""

        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, *given):
            names = ("pixel_values",) if of_images else ("input_ids", "attention_mask")
            return self.inner(**dict(zip(names, given))).last_hidden_state

    if of_images:
        return Alone(), (torch.randn(1, 3, 32, 32),)
    return Alone(), (torch.randint(3, 99, (1, 16)), torch.ones(1, 16, dtype=torch.int64))


def export(model, inputs, file, dynamo):
    import torch
    if dynamo:
        torch.onnx.export(model, inputs, str(file), dynamo=True, verbose=False)
    else:
        torch.onnx.export(model, inputs, str(file), dynamo=False, opset_version=17, do_constant_folding=True)


def main():
    folder, patterns = Path(sys.argv[1]), sys.argv[2:]
    try:
        if missing_packages(NEEDED):
            run_elsewhere("transformers", NEEDED)
    except Refused as e:
        print(e, file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in [*TEXT, *IMAGE]:
        if patterns and not any(re.search(p, name) for p in patterns):
            continue
        _, _, attentions, rotaries, norms = (TEXT | IMAGE)[name]
        for way in ("dynamo", "script"):
            file = folder / f"{name}.{way}.onnx"
            row = {"file": file.name, "attentions": attentions, "rotaries": rotaries, "norms": norms}
            rows.append(row)
            try:
                if not file.exists():
                    export(*made(name, name in IMAGE), file, way == "dynamo")
            except Exception as e:  # each exporter has errors of its own
                file.unlink(missing_ok=True)
                row["why_not"] = one_line(e)[:200]
            print(f"{row['file']}: {row.get('why_not', 'written')}", file=sys.stderr, flush=True)
    (folder / "exports.json").write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
