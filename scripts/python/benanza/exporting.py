# SPDX-License-Identifier: Apache-2.0
"""Where does an ONNX file come from, if the model is a PyTorch module, a configuration of Hugging Face or a GGUF file?
From their exporters, in this Python; weights are not written, for no figure needs them.

  benanza from-torch package.module:factory -o model.onnx   # factory() returns the module and its inputs
  benanza from-hf config.json -o model.onnx                 # by mobius-onnx; a folder with config.json too
  benanza from-gguf model.gguf -o model.onnx                # as ONNX Runtime's builder of language models has it

factory() returns (module, (inputs, ...)), or (module, (inputs, ...), {name: input}). Then: benanza model.onnx
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benanza import gguf_for_onnxruntime
from benanza.programs import Error, Parser

COMMANDS = ("from-torch", "from-hf", "from-gguf")
#: Bytes up to which a tensor is kept: it may be a shape, an index or a bound, which the layers depend on.
KEPT_BYTES = 4096


def need(*packages: str, extra: str) -> None:
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    if missing:
        raise Error(f"this Python lacks {', '.join(missing)}: pip install 'benanza[{extra}]', or the packages themselves")


def said_by(problem: BaseException) -> str:
    """Its last line that says something: exporters write pages."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else 'no reason'}"[:300]


def without_weights(model: Any) -> int:
    """Takes the values of large tensors out of a model of onnx_ir; returns how many bytes these were."""
    import onnx_ir
    taken = 0
    for graph in [model.graph, *model.graph.subgraphs()]:
        for value in graph.initializers.values():
            tensor = value.const_value
            if tensor is None or tensor.nbytes <= KEPT_BYTES:
                continue
            taken += tensor.nbytes
            value.const_value = onnx_ir.ExternalTensor("not-written", 0, tensor.nbytes, tensor.dtype, shape=tensor.shape,
                                                       name=tensor.name or value.name)
    return taken


def from_torch(factory: str, out: Path) -> int:
    """Exports what a function makes; returns the bytes of its weights."""
    need("torch", "onnxscript", extra="torch")
    module, _, name = factory.partition(":")
    if not name:
        raise Error(f"{factory}: write it as package.module:factory")
    sys.path.insert(0, str(Path.cwd()))
    try:
        made = getattr(importlib.import_module(module), name)()
    except Exception as problem:  # of a stranger's code
        raise Error(f"{factory}: {said_by(problem)}") from None
    if not (isinstance(made, tuple) and len(made) in (2, 3) and isinstance(made[1], tuple)):
        raise Error(f"{factory} has to return (module, (inputs, ...)), or (module, (inputs, ...), {{name: input}})")
    import torch
    try:
        program = torch.onnx.export(made[0].eval(), made[1], kwargs=made[2] if len(made) == 3 else None, dynamo=True,
                                    verbose=False)
    except Exception as problem:  # of the exporter
        raise Error(f"{factory}: torch.onnx.export: {said_by(problem)}") from None
    import onnx_ir
    taken = without_weights(program.model)
    onnx_ir.save(program.model, out)
    return taken


def with_named_weights(file: Path) -> None:
    """What nodes read and nothing gives becomes a weight of its type and dims, whose values are in no file."""
    import onnx
    model = onnx.load(file, load_external_data=False)
    graph = model.graph
    types = {v.name: v.type.tensor_type for v in graph.value_info}
    given = {x.name for x in [*graph.initializer, *graph.input]} | {o for n in graph.node for o in n.output}
    for name in dict.fromkeys(i for n in graph.node for i in n.input if i and i not in given):
        dims = [d.dim_value for d in types[name].shape.dim] if name in types else []
        if name not in types or not all(d > 0 for d in dims):
            raise Error(f"{name}: the exporter says neither its values nor its dims")
        graph.initializer.add(name=name, dims=dims, data_type=types[name].elem_type,
                              data_location=onnx.TensorProto.EXTERNAL).external_data.add(key="location", value="not-written")
    onnx.save(model, file)


def from_hf(config: Path, out: Path, task: str | None) -> list[Path]:
    """Writes the graphs of a configuration; a model of several parts becomes a file each."""
    need("mobius", "transformers", "onnx", extra="llm")
    file = config / "config.json" if config.is_dir() else config
    if not file.is_file():
        raise Error(f"{file}: no such file")
    with tempfile.TemporaryDirectory() as place:
        folder, made = Path(place) / "config", Path(place) / "made"
        folder.mkdir()
        shutil.copy(file, folder / "config.json")
        done = subprocess.run([sys.executable, "-m", "mobius", "build", "--config", folder, "--no-weights", made,
                               *(["--task", task] if task else [])], capture_output=True, text=True, check=False)
        parts = sorted(made.rglob("model.onnx")) if made.is_dir() else []
        if done.returncode or not parts:
            lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            raise Error(f"{config}: mobius: {lines[-1].strip()[:300] if lines else 'wrote no model'}")
        files = []
        for part in parts:
            name = out if len(parts) == 1 else out.with_name(f"{out.stem}-{part.parent.name}.onnx")
            with_named_weights(part)
            shutil.copy(part, name)
            files.append(name)
    return files


def main(words: list[str]) -> int:
    parser = Parser(f"benanza {words[0]}", __doc__)
    parser.add_argument("model", help={"from-torch": "package.module:factory", "from-gguf": "a GGUF file"}.get(
        words[0], "config.json, or its folder"))
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.onnx")
    if words[0] == "from-hf":
        parser.add_argument("--task", help="of mobius, such as text-generation; else the model's usual one")
    a = parser.parse_args(words[1:])
    if a.output.suffix != ".onnx" or not a.output.parent.is_dir():
        raise Error(f"-o {a.output}: a file that ends with .onnx, in a folder that is there")
    if words[0] == "from-torch":
        taken = from_torch(a.model, a.output)
        print(f"{a.output}: without {taken * 1e-6:.3g} MB of weights. Next: benanza {a.output}")
    elif words[0] == "from-gguf":
        gguf_for_onnxruntime.write(Path(a.model), a.output)
        print(f"{a.output}: without weights. Next: benanza {a.output} --dim sequence=1 --dim past=512 "
              "--framework onnxruntime,openvino")
    else:
        for file in from_hf(Path(a.model), a.output, a.task):
            print(f"{file}: without weights. Next: benanza {file}")
    return 0
