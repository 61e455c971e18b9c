# SPDX-License-Identifier: Apache-2.0
"""What is measured, and in how many parts? Written into the folder that all machines see."""

import json
import os
import shutil
from pathlib import Path

from fleets.common import COMPLETE, printable, read_json
from frameworks.common import Refused, write_whole


def graphs_beside(experiment, name):
    """The file of graphs that an experiment names, which lies beside it or below; None where it names none."""
    if name == "":
        return None
    if not isinstance(name, str) or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise Refused(f"the experiment's graphs are no file beside it ({printable(name)})")
    file = Path(experiment).resolve().parent / name
    if not file.is_file():
        raise Refused(f"the experiment's graphs are not there ({printable(file)})")
    if "benanza_graphs" not in read_json(file, "the experiment's file of graphs"):
        raise Refused(f"this is no file of graphs ({printable(file)})")
    return file.read_bytes()


def plan(asked):
    experiment = read_json(asked.experiment, "the experiment")
    if "benanza_experiment" not in experiment:
        raise Refused(f"this is no experiment of benanza_bench --write-experiment ({asked.experiment})")
    bench = Path(shutil.which(asked.bench) or asked.bench).resolve()
    if not os.access(bench, os.X_OK):
        raise Refused(f"there is no such program; build it, or name it with --bench ({asked.bench})")
    graphs = graphs_beside(asked.experiment, experiment.get("graphs", ""))
    into = Path(asked.into).resolve()
    if (into / "fleet.json").exists():
        raise Refused(f"a fleet is planned there already: name another folder, or go on with it ({asked.into})")
    (into / "parts").mkdir(parents=True, exist_ok=True)
    if graphs is not None:
        write_whole(into / "graphs.json", graphs)
        experiment["graphs"] = "graphs.json"
    for name, value in (("experiment", experiment), ("fleet", {
            "benanza_fleet": 1, "shards": asked.shards, "bench": str(bench), "options": asked.option})):
        write_whole(into / f"{name}.json", (json.dumps(value, indent=2) + "\n").encode())
    print(f"{asked.shards} shards of {printable(experiment.get('name', 'an experiment'))} are planned in {asked.into}")
    return COMPLETE
