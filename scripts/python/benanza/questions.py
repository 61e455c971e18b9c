# SPDX-License-Identifier: Apache-2.0
"""What can be asked?"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from benanza.answer import Answer, Comparison, read_json
from benanza.programs import Error, ask, front_door, program

Words = str | Iterable[str]


def listed(value: object) -> str:
    """1, "f32" or [1, 2] as the programs want it."""
    return ",".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)


def named(option: str, values: Mapping[str, object] | None, between: str = ",") -> list[str]:
    return [w for name, value in (values or {}).items()
            for w in (option, f"{name}={between.join(map(str, value)) if isinstance(value, (list, tuple)) else value}")]


def measure(model: str | os.PathLike[str], *, batch: int | Iterable[int] | None = None,
            dims: Mapping[str, int] | None = None, shapes: Mapping[str, object] | None = None,
            sizes: Mapping[str, int] | None = None, types: Words | None = None, threads: int | Iterable[int] = 1,
            framework: Words | None = None, quick: bool = False, folder: str | os.PathLike[str] = "benanza-results",
            programs: str | os.PathLike[str] | None = None, progress: bool = True) -> Answer:
    """Measures a model on this machine: an ONNX file, or a model of the zoo by its name.

    `dims` gives symbolic dims ({"sequence": 128}), `shapes` inputs ({"x": [1, 3, 224, 224]}), `sizes` how much a node
    gives where what the model reads decides it. `framework` is measured beside: "onnxruntime", "openvino",
    "pytorch". `quick` ends with the first figures. All that is measured stays in `folder`, and the same call goes on
    from there. `programs` is where the three programs are, if not where they were built or installed.
    """
    name = Path(model).stem if str(model).endswith(".onnx") else str(model)
    out = Path(folder) / name
    answer, cases = out / "answer" / "report.json", out / "answer" / "report.csv"
    words: list[object] = [sys.executable, front_door(), model, "-o", folder, "--threads", listed(threads)]
    if batch is not None:
        words += ["--batch", listed(batch)]
    if types is not None:
        words += ["--types", listed(types)]
    if framework is not None:
        words += ["--framework", listed(framework)]
    if quick:
        words.append("--quick")
    if programs is not None:
        words += ["--programs", programs]
    words += [*named("--dim", dims), *named("--shape", shapes, "x"), *named("--size", sizes)]
    answer.unlink(missing_ok=True)
    status = ask([*words, "--", "--format", "json,csv", "-o", answer.parent], progress)
    try:
        said = read_json(answer)
    except OSError as e:
        raise Error(f"{answer}: {e.strerror}: no answer was written") from None
    page = out / "page.html"
    return Answer(said, cases.read_text(encoding="utf-8"), page if page.exists() else None, status == 0)


def compare(old: str | os.PathLike[str], new: str | os.PathLike[str], *,
            programs: str | os.PathLike[str] | None = None) -> Comparison:
    """What became faster or slower between two results (files of benanza_bench, or stores), and what explains it."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "answer.json"
        status = ask([program("benanza_analyze", programs), "compare", old, new, "--format", "json", "-o", answer],
                     fine=(0, 1, 3))
        return Comparison(read_json(answer), status == 3)
