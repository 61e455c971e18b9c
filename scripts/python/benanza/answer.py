# SPDX-License-Identifier: Apache-2.0
"""What is the answer, as values, as tables, and as a page?"""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path
from typing import Any, NamedTuple


class Interval(NamedTuple):
    """A time in ns, and the interval in which it is."""

    ns: float
    low_ns: float
    high_ns: float

    @property
    def us(self) -> float:
        return self.ns * 1e-3

    @property
    def ms(self) -> float:
        return self.ns * 1e-6

    @property
    def s(self) -> float:
        return self.ns * 1e-9


def interval(of: dict[str, Any] | None) -> Interval | None:
    return Interval(of["ns"], of["low_ns"], of["high_ns"]) if of else None


def table(rows: list[dict[str, Any]]) -> Any:
    """A frame where pandas is there, else the list."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def typed(text: str) -> Any:
    """A cell of a CSV file."""
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class Setting:
    """The answer for one batch, type and number of threads. `data` is all of it, as the JSON has it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.model: str = data["model"]
        self.batch: int = data["batch"]
        self.type: str = data["type"]
        self.threads: int = data["threads"]

    @property
    def bound(self) -> Interval | None:
        """The time that no run of these layers beats; None: nothing was measured."""
        return interval(self.data["lower_bound"])

    @property
    def prediction(self) -> Interval | None:
        """The time that a run of the best kernels should take."""
        return interval(self.data["expected"])

    @property
    def partial(self) -> bool:
        """True where layers lack, so that the bound is of a part of the model."""
        return bool(self.data["partial"])

    @property
    def doubts(self) -> list[str]:
        """Why the figures may be wrong: what was disturbed, what contradicts itself."""
        first = [self.data["no_verdict"]] if self.data.get("no_verdict") else []
        return [*first, *map(str, self.data.get("doubts", []))]

    def facts(self) -> dict[str, Any]:
        return {"model": self.model, "batch": self.batch, "type": self.type, "threads": self.threads}

    def __repr__(self) -> str:
        said = [f"{w} {t.ms:.4g} ms" for w, t in (("bound", self.bound), ("expected", self.prediction)) if t]
        lacks = " PARTIAL" if self.partial else ""
        unsure = " NO VERDICT" if self.data.get("no_verdict") else ""
        return f"{self.model} {self.type} t{self.threads}: {', '.join(said) or 'nothing measured'}{lacks}{unsure}"


class Answer:
    """What `measure` found. `json` is all of it; its schema is report.schema.json."""

    def __init__(self, answer: dict[str, Any], cases: str, page: str | None, complete: bool) -> None:
        self.json = answer
        #: False where something lacks or is in doubt; `settings[i].doubts` and `.partial` say what.
        self.complete = complete
        #: The page for a browser, as HTML; None where the programs were built without it.
        self.page = page
        self.settings = [Setting(a) for a in answer["analyses"]]
        self._cases = cases

    @property
    def best(self) -> Setting | None:
        """The setting with most items a second, by what its run is expected to take."""
        known = [s for s in self.settings if s.prediction]
        return min(known, key=lambda s: s.prediction.ns / s.batch, default=None)

    @property
    def bound(self) -> Interval | None:
        """Of the best setting."""
        return self.best.bound if self.best else None

    @property
    def prediction(self) -> Interval | None:
        """Of the best setting."""
        return self.best.prediction if self.best else None

    @property
    def layers(self) -> Any:
        """A row a layer and setting: where the time goes."""
        rows = []
        for s in self.settings:
            for l in s.data["layers"]:
                best, run = l.get("bound") or {}, l.get("prediction") or {}
                rows.append({**s.facts(), "layer": l["layer"], "uses": l["uses"], "basis": l["basis"],
                             "bound_ns": best.get("ns"), "prediction_ns": run.get("ns"),
                             "roofline_ns": l.get("roofline_ns"), "share_of_bound": l.get("share"),
                             "gflops": l.get("gflops"),
                             "backend": best.get("backend"), "algorithm": best.get("algorithm"),
                             "gain_ns": l.get("gain_ns")})
        return table(rows)

    @property
    def advice(self) -> Any:
        """A row an advice, as the page has them: what to change, what that saves, how to do it, how to check it."""
        rows = []
        for s in self.settings:
            run_ns = s.data["advice"]["run_ns"]
            for a in s.data["advice"]["items"]:
                rows.append({**s.facts(), "id": a["id"], "kind": a["kind"], "what": a["what"],
                             "saves_ns": a["saves"]["ns"], "run_ns": run_ns, "do": a["do"]["text"],
                             "command": a["do"]["command"], "check": a["check"], "assumes": a["assumes"]})
        return table(rows)

    @property
    def cases(self) -> Any:
        """A row for each algorithm of each layer that was measured."""
        return table([{k: typed(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(self._cases))])

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.settings))

    def _repr_html_(self) -> str | None:
        if self.page is None:
            return None
        page = html.escape(self.page, quote=True)
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:800px;border:0" srcdoc="{page}"></iframe>'


class Comparison:
    """What `compare` found. `json` is all of it."""

    def __init__(self, answer: dict[str, Any], slower: bool) -> None:
        self.json = answer
        #: True where something got slower, beyond what noise can explain.
        self.slower = slower

    def rows(self, what: str = "models") -> Any:
        """The rows of one of its tables: models, kernels, layers or algorithms."""
        return table(self.json[what])


def read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))
