# SPDX-License-Identifier: Apache-2.0
"""What can be asked?"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from benanza.answer import Answer, Comparison, read_json, table
from benanza.programs import HERE, Error, ask, folder_of_programs

Words = Union[str, Iterable[str]]


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
            programs: str | os.PathLike[str] | None = None, progress: bool | Callable[[str], None] = True) -> Answer:
    """Measures a model on this machine: an ONNX or GGUF file, or a model of the zoo by its name.

    `dims` gives symbolic dims ({"sequence": 128}), `shapes` inputs ({"x": [1, 3, 224, 224]}), `sizes` how much a node
    gives where what the model reads decides it. `framework` is measured beside: "onnxruntime", "openvino", "pytorch",
    of a language model "onnxruntime-genai"; of a GGUF file "llamacpp" or "openvino-genai".
    `quick` ends with the first figures, of one version of each library. All that is measured stays in `folder`, and
    the same call goes on from there. `progress`: what the programs say meanwhile is printed, or
    given to a function. `programs` is where the three programs are, if not where they were built or
    installed.
    """
    name = Path(model).stem if str(model).endswith((".onnx", ".gguf")) else str(model)
    out = Path(folder) / name
    answer = out / "answer" / "report.json"
    words: list[object] = [sys.executable, HERE, model, "-o", folder, "--threads", listed(threads)]
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
    return answered(answer.parent, status, out / "page.html")


def answered(folder: Path, status: int, page: Path) -> Answer:
    """What benanza_analyze wrote into a folder."""
    try:
        said, cases = read_json(folder / "report.json"), (folder / "report.csv").read_text(encoding="utf-8")
    except OSError as e:
        raise Error(f"{folder}: {e.strerror}: no answer was written") from None
    return Answer(said, cases, page.read_text(encoding="utf-8") if page.exists() else None, status == 0)


def analyze(*results: str | os.PathLike[str], model: str | None = None, type: str | None = None,
            threads: int | None = None, framework: Iterable[str | os.PathLike[str]] = (),
            programs: str | os.PathLike[str] | None = None) -> Answer:
    """The answer of what was measured before: files of benanza_bench, or stores. `framework`: files of
    measure_framework, or profilers' traces."""
    words: list[object] = [folder_of_programs(programs) / "benanza_analyze", *results]
    for option, value in (("--model", model), ("--type", type), ("--threads", threads)):
        words += [] if value is None else [option, value]
    words += [w for f in framework for w in ("--framework", f)]
    with tempfile.TemporaryDirectory() as place:
        status = ask([*words, "--format", "json,csv", "-o", place])
        page = Path(place) / "page.html"
        try:
            ask([*words, "--format", "html", "-o", page])
        except Error:  # programs that were built without d3 have no page; the rest says all
            pass
        return answered(Path(place), status, page)


def sweep(*results: str | os.PathLike[str], over: str, figure: str = "bound", at: Words = (),
          framework: Iterable[str | os.PathLike[str]] = (), programs: str | os.PathLike[str] | None = None) -> Any:
    """How a figure changes over batch, threads, a dim, type, version or date: a row a point."""
    words: list[object] = [folder_of_programs(programs) / "benanza_analyze", "sweep", *results, "--over", over,
                           "--figure", figure]
    words += [w for a in ([at] if isinstance(at, str) else at) for w in ("--at", a)]
    words += [w for f in framework for w in ("--framework", f)]
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "answer.json"
        ask([*words, "--format", "json", "-o", answer])
        return table(read_json(answer)["points"])


class Store:
    """Results that are kept, of any number of runs and machines: a file, or postgresql://..."""

    def __init__(self, place: str | os.PathLike[str], programs: str | os.PathLike[str] | None = None) -> None:
        self.place = place
        self._programs = programs

    def _said(self, question: str, fine: tuple[int, ...] = (0,)) -> tuple[int, dict[str, Any]]:
        with tempfile.TemporaryDirectory() as place:
            answer = Path(place) / "answer.json"
            status = ask([folder_of_programs(self._programs) / "benanza_analyze", "store", question, self.place,
                          "--format", "json", "-o", answer], fine=fine)
            return status, read_json(answer)

    @property
    def runs(self) -> Any:
        """A row a run: who measured what, when, where."""
        return table(self._said("runs")[1]["runs"])

    @property
    def whole(self) -> bool:
        """True where all of it is what was written."""
        return self._said("check", (0, 1))[0] == 0

    def analyze(self, **how: Any) -> Answer:
        """The answer of what is in it, as `analyze` gives it."""
        return analyze(self.place, programs=self._programs, **how)

    def sweep(self, over: str, **how: Any) -> Any:
        """A figure's points, as `sweep` gives them."""
        return sweep(self.place, over=over, programs=self._programs, **how)


def store(place: str | os.PathLike[str], programs: str | os.PathLike[str] | None = None) -> Store:
    """Opens a store: `measure` keeps one in its folder, results.db."""
    if "://" not in str(place) and not Path(place).is_file():
        raise Error(f"{place}: no such file; measure keeps its store in results.db of its folder")
    return Store(place, programs)


def compare(old: str | os.PathLike[str], new: str | os.PathLike[str], *,
            programs: str | os.PathLike[str] | None = None) -> Comparison:
    """What became faster or slower between two results (files of benanza_bench, or stores), and what explains it."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "answer.json"
        status = ask([folder_of_programs(programs) / "benanza_analyze", "compare", old, new, "--format", "json", "-o", answer],
                     fine=(0, 1, 3))
        return Comparison(read_json(answer), status == 3)
