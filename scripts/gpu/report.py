# SPDX-License-Identifier: Apache-2.0
"""What came home from a GPU, as a page of tables and as data for tests. The same archives give the same bytes."""

import json

from gpu.common import Refused
from gpu.files import kept, parts_of
from gpu.result import layer_cases
from gpu.stages import STAGES
from gpu.summary import learnt


class NoProgram:
    """In place of the benchmark program: nothing is run for a report."""

    filter = ""
    ends = 0.0
    backends = ()


def every_unit(arguments):
    """The units of all stages, each once."""
    seen = {}
    for stage, units in STAGES.items():
        for unit in units(arguments, NoProgram()):
            if unit.stage == stage:
                seen.setdefault((unit.stage, unit.name), unit)
    return list(seen.values())


def page_of(answer, device):
    """Markdown: a table each, and the remarks."""
    cell = lambda text: text.replace("|", "\\|").replace("<", "&lt;")
    lines = [f"# Measured on {cell(device)}", ""]
    for name, header, rows in answer.tables:
        lines += [f"## {name}", "", "| " + " | ".join(map(cell, header)) + " |", "|" + "---|" * len(header)]
        lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows] + [""]
    if answer.remarks:
        lines += ["## Remarks", "", *(f"- {cell(r.strip())}" for r in answer.remarks), ""]
    return "\n".join(lines)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n")


def small(result):
    """A result of a few cases: the first of each library and state."""
    chosen = {}
    for b in layer_cases(result):
        if not b.get("error_occurred"):
            chosen.setdefault((b["backend"], b["state"]), b)
    return {**result, "benchmarks": list(chosen.values())}


def report(arguments):
    if not any(parts_of(arguments.out, stage) for stage in STAGES):
        raise Refused(f"{arguments.out} holds no archive of a stage, such as first.tar.0")
    units, to = every_unit(arguments), arguments.out.with_name(arguments.out.name + ".report")
    to.mkdir(parents=True, exist_ok=True)
    device = arguments.work / "first" / "device.json"
    name = json.loads(device.read_text()).get("deviceName", "a GPU") if device.exists() else "a GPU"
    answer, _ = learnt(arguments, units)
    (to / "page.md").write_text(page_of(answer, name))
    written = ["page.md"]
    if device.exists():
        write_json(to / "device.json", json.loads(device.read_text()))
        written.append("device.json")
    for unit in units:
        found = kept(unit.path(arguments))
        if found is None or "skipped" in found:
            continue
        if unit.name.startswith("lists"):
            write_json(to / f"{unit.name}.json", found)
            written.append(f"{unit.name}.json")
        elif unit.name == "convolution":
            write_json(to / "result.json", small(found))
            written.append("result.json")
    print(f"{to}: {', '.join(written)}")
    return 0
