# SPDX-License-Identifier: Apache-2.0
"""What may another program ask, and what does it get? Short answers: times in ms with the interval in which they are,
what they lack, and the command that gives them again.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benanza.answer import Answer, Setting, read_json
from benanza.programs import HERE, Error, ask, folder_of_programs
from benanza.questions import measure

#: Gets what the programs say while they run.
Told = Callable[[str], None]
MOST_ROWS = 12


def rounded(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


def ms(of: dict[str, Any] | None) -> dict[str, Any] | None:
    """A time with its interval."""
    return {"ms": rounded(of["ns"] * 1e-6), "from_ms": rounded(of["low_ns"] * 1e-6),
            "to_ms": rounded(of["high_ns"] * 1e-6)} if of else None


def file_of(model: str, folder: str) -> str:
    """The file of a model, also of one of the zoo that was asked about before."""
    return model if model.endswith((".onnx", ".gguf")) else str(Path(folder) / "zoo" / f"{model}.onnx")


def command_of(words: list[str]) -> str:
    """A program's command as pages give it: by its name."""
    return shlex.join([Path(words[0]).name, *words[1:]])


class Question:
    """A model in one setting, and where its results are kept."""

    def __init__(self, model: str, folder: str, threads: int = 1, type: str | None = None, batch: int | None = None,
                 dims: dict[str, int] | None = None, framework: str | None = None, thorough: bool = False,
                 told: Told | None = None) -> None:
        self.words: list[str] = [model, "-o", folder, "--threads", str(threads)]
        for option, value in (("--types", type), ("--batch", batch), ("--framework", framework)):
            self.words += [] if value is None else [option, str(value)]
        self.dims = [w for name, n in (dims or {}).items() for w in ("--dim", f"{name}={n}")]
        self.words += self.dims
        self.words += [] if thorough else ["--quick"]
        self.answer: Answer = measure(model, batch=batch, dims=dims, types=type, threads=threads, framework=framework,
                                      quick=not thorough, folder=folder, progress=told or False)
        fitting = [s for s in self.answer.settings if s.threads == threads and (batch is None or s.batch == batch)]
        if len(fitting) != 1:
            raise Error(f"{model}: {len(fitting)} settings have these threads and this batch: give both, and a type")
        self.setting: Setting = fitting[0]
        self.store = Path(folder) / "results.db"
        self.file = file_of(model, folder)

    def repeat(self, *page: str) -> str:
        """The command that asks the same."""
        return "benanza " + shlex.join([*self.words, *(["--", *page] if page else [])])

    def page(self, *words: str) -> list[str]:
        """The command of benanza_analyze for this model."""
        return [str(folder_of_programs() / "benanza_analyze"), str(self.store), "--model", self.setting.model,
                "--type", self.setting.type, "--threads", str(self.setting.threads), *words]


def said_by(page: list[str]) -> dict[str, Any]:
    """The JSON of a page."""
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "answer.json"
        ask([*page, "--format", "json", "-o", answer])
        return read_json(answer)


def whole(q: Question) -> dict[str, Any]:
    """What every answer says first: of what it is, and how far it is to be trusted."""
    s = q.setting
    said: dict[str, Any] = {"model": s.model, "type": s.type, "threads": s.threads, "batch": s.batch}
    if s.partial:
        said["partial"] = f"layers lack, figures are of a part of the model: {s.data.get('lacks') or 'see missing'}"
        said["missing"] = s.data.get("missing", [])[:MOST_ROWS]
    if s.doubts:
        said["doubts"] = s.doubts[:3]
    return said


def bound(q: Question) -> dict[str, Any]:
    d = q.setting.data
    frameworks = [{"framework": f"{f['framework']} {f['version']}", "run": ms(f["latency"]),
                   "over_bound": {k: rounded(v, 3) for k, v in f["gap"].items()} if f["gap"] else None}
                  for f in d.get("frameworks", [])]
    # Of the graph that the bound is of.
    roofline = ((d.get("fused") or d).get("roofline") or {}).get("sequential") or {}
    limit = (d.get("rewritten") or {}).get("roofline_ns") or roofline.get("ns")
    return {**whole(q), "lower_bound": ms(d["lower_bound"]), "expected_run": ms(d["expected"]),
            "machine_limit_ms": rounded(limit * 1e-6) if limit else None,
            "frameworks": frameworks, "repeat": q.repeat()}


def where_time_goes(q: Question) -> dict[str, Any]:
    """Kinds of operators, and layers, of the best run."""
    d = q.setting.data
    about = {l["layer"]: l for l in d["layers"]}
    run = sum(k["ns"] for k in d["kinds"]) or 1

    def row(l: dict[str, Any]) -> dict[str, Any]:
        its = about[l["layer"]]
        return {"layer": l["layer"], "nodes": l["uses"], "ms": rounded(l["ns"] * 1e-6), "share": rounded(l["ns"] / run, 3),
                "by": f"{l['backend']}/{l['algorithm']}" if l["algorithm"] else "its roofline",
                "machine_limit_ms": rounded(l["uses"] * its["roofline_ns"] * 1e-6) if its.get("roofline_ns") else None}

    kinds = [{"kind": k["kind"], "ms": rounded(k["ns"] * 1e-6), "share": rounded(k["ns"] / run, 3),
              "gflops": [rounded(k["least_gflops"], 3), rounded(k["most_gflops"], 3)], "limited_by": k["limited_by"]}
             for k in d["kinds"]]
    return {**whole(q), "expected_run": ms(d["expected"]), "kinds": kinds[:MOST_ROWS],
            "layers": [row(l) for l in d["layers_in_run"][:MOST_ROWS]],
            "more_layers": max(0, len(d["layers_in_run"]) - MOST_ROWS), "repeat": q.repeat("--details")}


def explain_layer(q: Question, layer: str) -> dict[str, Any]:
    """Every algorithm that was measured for a layer, and how far its best one is from the machine's limit."""
    found = said_by(q.page("--algorithms", layer))["layers"]
    if len(found) != 1:
        raise Error(f"{layer}: {len(found)} layers of the model are called so: give a name as where_time_goes has it")
    l = found[0]
    rows = [{"by": f"{a['backend']}/{a['algorithm']}", "least_ms": rounded(a["hot_min_ns"] * 1e-6) if a["hot_min_ns"] else None,
             "cold_weights_ms": rounded(a["coldw_median_ns"] * 1e-6) if a["coldw_median_ns"] else None,
             "share_of_machine_limit": rounded(a["share_of_roofline"], 3) if a["share_of_roofline"] else None,
             **({"remark": a["remark"]} if a["remark"] else {})} for a in l["algorithms"]]
    return {**whole(q), "layer": l["layer"], "limited_by": l["limited_by"],
            "machine_limit_ms": rounded(l["roofline_ns"] * 1e-6) if l["roofline_ns"] else None, "algorithms": rows[:MOST_ROWS],
            "more": max(0, len(rows) - MOST_ROWS), "repeat": command_of(q.page("--algorithms", layer))}


def item_of(q: Question, advice: str) -> dict[str, Any]:
    items = q.setting.data["advice"]["items"]
    for item in items:
        if item["id"] == advice:
            return item
    raise Error(f"{advice}: no such advice; there are {', '.join(i['id'] for i in items) or 'none'}")


def advise(q: Question) -> dict[str, Any]:
    a = q.setting.data["advice"]
    run = a["run_ns"]
    items = [{"id": i["id"], "what": i["what"], "saves": ms(i["saves"]),
              "share_of_run": rounded(i["saves"]["ns"] / run, 3) if run else None, "who": i["do"]["who"],
              "way": i["do"]["way"], "how": i["do"]["text"], "assumes": i["assumes"], "check": i["check"]}
             for i in a["items"]]
    return {**whole(q), "of": a["run"], "run_ms": rounded(run * 1e-6), "supposed": a["run_supposed"], "advice": items[:MOST_ROWS],
            "more": max(0, len(items) - MOST_ROWS), "not_worth": [n["what"] for n in a["not_worth"]][:MOST_ROWS],
            "repeat": q.repeat("--advice")}


def apply(q: Question, advice: str, output: str) -> dict[str, Any]:
    """Carries an advice out as far as a program can, and says what is left to do."""
    item = item_of(q, advice)
    how = item["do"]
    said = {"advice": advice, "what": item["what"], "promised": ms(item["saves"]), "who": how["who"], "do": how["text"]}
    if how["way"] == "rewrite":
        words = [str(folder_of_programs() / "benanza_generate"), "rewrite", q.file, "-o", output, *q.dims]
        ask([*words])
        return {**said, "applied": True, "model": output, "next": "verify(old model, this one)", "repeat": command_of(words)}
    if how["settings"]:
        return {**said, "applied": False, "settings": how["settings"],
                "next": "verify(model, settings=[NAME=VALUE, ...]) measures what they bring"}
    return {**said, "applied": False, **({"command": how["command"]} if how["command"] else {}),
            **({"text_for_makers": how["tell"]} if how["tell"] else {}), "next": item["check"]}


def compared(words: list[object], folder: Path, told: Told | None) -> dict[str, Any]:
    """What benanza ci, or benanza_analyze compare, found."""
    status = ask(words, told or False, fine=(0, 1, 3))
    said = read_json(folder / "compare.json")

    def row(r: dict[str, Any]) -> dict[str, Any]:
        return {"what": f"{r['subject']}, {r['what']}", "verdict": r["verdict"], "change": rounded(r["change"], 3),
                "from": rounded(r["low"], 3), "to": rounded(r["high"], 3), "old_ms": rounded(r["old_ns"] * 1e-6),
                "new_ms": rounded(r["new_ns"] * 1e-6)}

    changed = [row(r) for part in ("kernels", "layers") for r in said[part] if r["verdict"] in ("SLOWER", "FASTER")]
    return {"verdict": said["verdict"], "slower": status == 3, "models": [row(r) for r in said["models"]],
            "changed": changed[:MOST_ROWS], "more": max(0, len(changed) - MOST_ROWS), "notes": said["notes"],
            "differs_besides": [f"{f['fact']}: {f['old']} -> {f['new']}" for f in said["provenance"]],
            "repeat": command_of([str(w) for w in (["benanza", *words[2:]] if words[0] == sys.executable else words)])}


def verify(model: str, new_model: str | None, settings: list[str], framework: str, folder: str, threads: int,
           batch: int | None, dims: dict[str, int] | None, told: Told | None = None) -> dict[str, Any]:
    """Whether a change made a framework's run faster: both are measured in turns."""
    place = Path(folder) / "verify"
    words: list[object] = [sys.executable, HERE, "ci", file_of(model, folder), *([new_model] if new_model else []), "--framework", framework,
                           "--threads", threads, "--without-bound", "-o", place]
    words += [w for s in settings for w in ("--new-set", s)]
    words += [*(["--batch", batch] if batch else []), *(w for n, v in (dims or {}).items() for w in ("--dim", f"{n}={v}"))]
    return compared(words, place, told)


def compare(old: str, new: str, folder: str, told: Told | None = None) -> dict[str, Any]:
    """What became faster or slower between two results that are there."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    return compared([folder_of_programs() / "benanza_analyze", "compare", old, new, "--format", "json", "-o",
                     place / "compare.json"], place, told)
