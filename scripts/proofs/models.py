# SPDX-License-Identifier: Apache-2.0
"""Which models are measured, with which sizes, and where are their files?"""

import json
from pathlib import Path

from proofs.programs import BUILD, WORK, run

COMPARED = ["resnet50-v1", "mobilenet-v2", "squeezenet-v1.1", "bvlc-googlenet", "vgg16", "densenet-121", "shufflenet",
            "tiny-yolo-v2", "efficientnet-b0", "regnet-y-400mf", "yolo-n", "bert-base", "gpt2-decode", "vit-b-16", "swin-t",
            "convnext-t", "lstm-lm", "ddpm-unet"]
SIZES_OF = {"bert": ["sequence=128"], "prefill": ["sequence=128"], "whisper-tiny-decoder": ["past=128"],
            "decode": ["past=512"], "lstm": ["sequence=35"]}  # of symbolic dims, by what is in a model's name


def zoo_names():
    listed = run([BUILD / "benanza_generate", "zoo", "--list", "--format", "json"]).stdout
    return [m["model"] for m in json.loads(listed)["paper"]]


def onnx_files(chosen):
    """The files of names of the zoo, .onnx files and folders of them."""
    zoo_models = [m for m in chosen if not m.endswith(".onnx") and not Path(m).is_dir()]
    if zoo_models:
        run([BUILD / "benanza_generate", "zoo", "-q", *zoo_models, "-o", WORK / "models"])
    for m in chosen:
        if m in zoo_models:
            yield WORK / "models" / f"{m}.onnx"
        elif Path(m).is_dir():
            yield from sorted(Path(m).resolve().rglob("*.onnx"))
        else:
            yield Path(m).resolve()
