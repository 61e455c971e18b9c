# SPDX-License-Identifier: Apache-2.0
"""At home: builds what a machine with a GPU and nothing else needs, and gathers it. The command itself becomes one
file, an archive that Python runs."""

import io
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

from gpu.common import ROOT, Refused, say
from gpu.layers import LISTS

MOST_PACKED_BYTES = 16 << 20
ZOO_BATCHES = (1, 8, 32)
# Models of the zoo that read language: prompts of 128 tokens, or one token after 1023.
LANGUAGE_MODELS = ("bert-base", "gpt2-prefill", "gpt2-decode", "tinyllama-prefill", "tinyllama-decode",
                   "tinyllama-prefill-op23", "tinyllama-decode-op23", "whisper-tiny-encoder")
LANGUAGE_DIMS = ("--dim", "sequence=128", "--dim", "past=1023")


def command(*words):
    done = subprocess.run([str(w) for w in words], cwd=ROOT, text=True, capture_output=True)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).split("\n")
        said = [line for line in done.stdout.split("\n") if line.startswith("benanza: ")] or said
        raise Refused(f"failed ({done.returncode}): {' '.join(map(str, words))}: {' '.join(said[-3:])[:400]}")
    return done.stdout


def weight_of(folder):
    """The bytes that are carried to the other machine."""
    size = sum(f.stat().st_size for f in folder.iterdir() if f.is_file())
    if size > MOST_PACKED_BYTES:
        raise Refused(f"{folder} holds {size} bytes, more than {MOST_PACKED_BYTES}; remove what is not of the pack, "
                      "or give fewer --models")
    return size


def write_command(path):
    """This package, and that of frameworks, as one file that Python runs."""
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, content):
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)

        add("__main__.py", (ROOT / "scripts" / "gpu_check").read_text())
        for package in Path(__file__).parent, ROOT / "scripts" / "frameworks":
            for file in sorted(package.glob("*.py")):
                add(f"{package.name}/{file.name}", file.read_text())
    path.write_bytes(b"#!/usr/bin/env python3\n" + text.getvalue())
    path.chmod(0o755)


def pack(arguments):
    """Gathers the portable programs with the libraries that they need, and files of what they measure: models.json,
    ResNet-50 with layers of transformers, by default; zoo.json and llm.json, the zoo's models (--graphs)."""
    folder, build = arguments.pack, ROOT / arguments.tools
    generate, work = build / "benanza_generate", build / "pack"
    if not (build / "CMakeCache.txt").exists():
        command("cmake", "-S", ROOT, "-B", build)
    command("cmake", "--build", build, "--target", "benanza_generate", "benanza_portable", "--parallel", "2")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    zoo = arguments.models or [m["model"] for m in
                               json.loads(command(generate, "zoo", "--list", "--format", "json"))["paper"]]
    command(generate, "zoo", "resnet50-v1", *zoo, *LANGUAGE_MODELS, "-o", work)
    for name, text in LISTS.items():
        (work / f"{name}.txt").write_text(text.lstrip())
    folder.mkdir(parents=True, exist_ok=True)
    for file in (build / "portable").iterdir():
        shutil.copy2(file, folder)
    def gather(name, models, *options):
        command(generate, *(work / f"{m}.onnx" for m in models), *options, "--no-sources", "--no-rewrites", "-o",
                work / name)
        shutil.copy2(work / name / "graphs.json", folder / f"{name}.json")
        return [g["name"] for g in json.loads((folder / f"{name}.json").read_text())["graphs"]]

    listed = {
        "models": gather("models", ["resnet50-v1"], "--batch", ",".join(map(str, arguments.batches)),
                         *(w for name in LISTS for w in ("--layers", work / f"{name}.txt"))),
        "zoo": gather("zoo", zoo, "--batch", ",".join(map(str, ZOO_BATCHES))),
        "llm": gather("llm", LANGUAGE_MODELS, *LANGUAGE_DIMS)}
    shutil.copy2(work / "llm.txt", folder)
    write_command(folder / "gpu_check")
    (folder / "pack.json").write_text(json.dumps(listed) + "\n")
    say(f"{folder}: {weight_of(folder) / 1e6:.1f} MB")
    return 0
