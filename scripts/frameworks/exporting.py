# SPDX-License-Identifier: Apache-2.0
"""Writes what today's exporters make of small models, with random weights, for scripts/prove exports.

  python3 -m frameworks.exporting FOLDER [PATTERN...]     # in scripts/

Those of transformers become NAME.dynamo.onnx and NAME.script.onnx, those of torchvision and timm one of both in turns.
exports.json says of each how many attentions, rotary embeddings and normalizations it has, how many multiply-accumulates
PyTorch counts as it runs, and how many numbers of the file are trained; or why an exporter made none.
"""

import json
import re
import sys
import warnings
from pathlib import Path

from frameworks.common import Refused, one_line
from frameworks.environment import missing_packages, run_elsewhere

NEEDED = ("numpy", "onnx", "onnxscript", "torch", "transformers", "torchvision", "timm")
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

# Of torchvision: classes, places, boxes, videos. What is given to a model that takes no picture of 224.
VISION = """alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5
mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnet50 resnext50_32x4d
shufflenet_v2_x0_5 squeezenet1_1 swin_t swin_v2_t vgg11 vgg11_bn vit_b_32 wide_resnet50_2 deeplabv3_mobilenet_v3_large
fcn_resnet50 lraspp_mobilenet_v3_large r3d_18 mc3_18 r2plus1d_18 s3d mvit_v1_b swin3d_t""".split()
GIVEN = {"inception_v3": (1, 3, 299, 299), "mvit_v1_b": (1, 3, 16, 224, 224), "s3d": (1, 3, 16, 224, 224),
         **{name: (1, 3, 8, 112, 112) for name in ("r3d_18", "mc3_18", "r2plus1d_18", "swin3d_t")}}
TIMM = """bat_resnext26ts beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coat_tiny coatnet_nano_rw_224 convit_tiny
convmixer_768_32 crossvit_tiny_240 cspresnet50 davit_tiny deit3_small_patch16_224 dla34 dpn68 eca_nfnet_l0 edgenext_small
efficientformer_l1 efficientvit_b0 eva02_tiny_patch14_224 fastvit_t8 focalnet_tiny_srf gcvit_xxtiny gernet_s ghostnet_100
gmlp_ti16_224 halonet26t hgnet_tiny hrnet_w18_small inception_next_tiny lambda_resnet26t lcnet_050 levit_128s
maxxvit_rmlp_nano_rw_256 mixer_s32_224 mixnet_s mobilenetv4_conv_small mobilenetv4_hybrid_medium mobileone_s0 mobilevit_xxs
mvitv2_tiny nest_tiny nextvit_small pit_ti_224 poolformer_s12 pvt_v2_b0 regnetz_b16 repvgg_a0 res2net50_14w_8s resmlp_12_224
resnest14d rexnet_100 sebotnet33ts_256 selecsls42b sequencer2d_s skresnet18 tiny_vit_5m_224 tnt_s_patch16_224 tresnet_m
twins_svt_small visformer_tiny vit_tiny_patch16_224 volo_d1_224 xception41 xcit_nano_12_p8_224""".split()
# A softmax that no attention has: it weighs paths or branches.
NO_ATTENTION = {"resnest14d", "skresnet18"}


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


def of_pictures(name):
    """A model of torchvision or timm, and its input. The first result counts where there are several."""
    import timm
    import torch
    import torchvision
    torch.manual_seed(1)
    if name in VISION:
        backbone = {"weights_backbone": None} if name.split("_")[0] in ("deeplabv3", "fcn", "lraspp") else {}
        model = torchvision.models.get_model(name, weights=None, **backbone)
        dims = GIVEN.get(name, (1, 3, 224, 224))
    else:
        model = timm.create_model(name, pretrained=False)
        dims = (1, *model.pretrained_cfg["input_size"])
    return model.eval(), (torch.randn(dims),)


def counted(model, inputs):
    """Multiply-accumulates, attentions by their softmax, and normalizations, as PyTorch meets them in a run."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import FlopCounterMode

    class Calls(TorchDispatchMode):
        softmax = norms = 0

        def __torch_dispatch__(self, f, types, given=(), named=None):
            self.softmax += "softmax" in f._schema.name and given[0].dim() >= 3
            self.norms += f._schema.name == "aten::native_layer_norm"
            return f(*given, **(named or {}))

    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # all as products
        calls, flops = Calls(), FlopCounterMode(display=False)
        with calls:
            model(*inputs)
        with flops:
            model(*inputs)
    return flops.get_total_flops() // 2, calls.softmax, calls.norms


def trained(file):
    """Numbers of a file that are reals in tensors of several."""
    import math
    import onnx
    reals = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}
    graph = onnx.load(file, load_external_data=False).graph
    return sum(math.prod(t.dims) for t in graph.initializer if t.data_type in reals and math.prod(t.dims) > 1)


def export(model, inputs, file, dynamo):
    import torch
    if dynamo:
        torch.onnx.export(model, inputs, str(file), dynamo=True, verbose=False)
    else:
        torch.onnx.export(model, inputs, str(file), dynamo=False, opset_version=17, do_constant_folding=True)


def plans():
    """Each export: its name, its way, what it must have where that is known, and what makes its model."""
    for name in [*TEXT, *IMAGE]:
        for way in ("dynamo", "script"):
            yield name, way, (TEXT | IMAGE)[name][2:], lambda name=name: made(name, name in IMAGE)
    for i, name in enumerate([*VISION, *TIMM]):
        yield name, ("dynamo", "script")[i % 2], None, lambda name=name: of_pictures(name)


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
    for name, way, known, make in plans():
        if patterns and not any(re.search(p, name) for p in patterns):
            continue
        file = folder / f"{name}.{way}.onnx"
        facts = file.with_suffix(".json")  # of a file that is there, so that nothing is made twice
        row = {"file": file.name}
        try:
            if not file.exists() or not facts.exists():
                model, inputs = make()
                macs, softmax, norms = counted(model, inputs)
                export(model, inputs, file, way == "dynamo")
                attentions, rotaries, norms = known or (0 if name in NO_ATTENTION else softmax, 0, norms)
                facts.write_text(json.dumps({"attentions": attentions, "rotaries": rotaries, "norms": norms, "macs": macs,
                                             "parameters": trained(file)}))
            row |= json.loads(facts.read_text())
        except Exception as e:  # each exporter has errors of its own
            file.unlink(missing_ok=True)
            row["why_not"] = one_line(e)[:200]
        rows.append(row)
        print(f"{row['file']}: {row.get('why_not', 'written')}", file=sys.stderr, flush=True)
    (folder / "exports.json").write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
