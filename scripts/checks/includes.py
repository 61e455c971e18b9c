# SPDX-License-Identifier: Apache-2.0
"""Who may include whom?"""

import os
import pathlib
import re

from checks.common import ROOT, violation

# What each folder may include besides itself: the table of the design.
BASE = {"core", "op", "model"}
ALLOWED = {
    "core": set(),
    "op": {"core"},
    "model": {"core", "op"},
    "onnx": BASE,
    "machine": {"core"},
    "backend": {"core", "op", "machine"},
    "result": BASE,
    "measure": BASE | {"machine", "backend", "result"},
    "bench": BASE | {"machine", "backend", "result", "measure"},
    "trace": BASE | {"result"},
    "bound": BASE | {"result"},
    "advice": BASE | {"result", "bound", "trace"},
    "profile": BASE | {"result", "bound", "trace", "advice"},
    "compare": BASE | {"result", "bound", "trace", "advice"},
    "generator": BASE | {"onnx", "result"},
    "analyzer": BASE | {"machine", "result", "bound", "trace", "advice", "profile", "compare"},
    "": BASE | {"onnx", "result", "bound", "trace", "advice", "profile", "compare"},  # a header a folder, for users
}

# What the generator may include besides: which algorithms there are, what layers compute on, how wide its terminal is, and
# how answers are written.
GENERATOR_SEES = (r"include/benanza/(backend/(\w+/enumerate|cudnn/all_calls|operands|make_operands|tolerance|reference/reference)"
                  r"|machine/colours)\.hpp|analyzer/(delivery|report/(units|tables/page))\.hpp")

# The same for the rooms of measure/.
ROOMS = {
    "process": set(),
    "sampling": {"process"},
    "noise": {"sampling"},
    "cache": {"sampling"},
    "subjects": {"process", "sampling"},
    "chain": {"noise", "subjects"},
    "scenario": {"subjects", "chain"},
    "levels": {"noise", "subjects", "chain"},
    "ceilings": {"subjects", "cache"},
    "load": {"process", "subjects", "chain"},
    "campaign": {"process", "sampling", "noise", "cache", "subjects"},
}

# Who asks layers for names, dims and costs alone: what they include does not change with a kind of layer.
KINDS = "include/benanza/op/kinds.hpp"
WITHOUT_KINDS = {"result", "bench", "bound", "advice", "profile", "compare", "analyzer"}

# Libraries that only some folders may see.
LIBRARIES = [
    ("libonnx and protobuf", r"(onnx|google/protobuf)/", ["include/benanza/onnx/", "generator/zoo/"]),
    ("Google Benchmark", r"benchmark/", ["include/benanza/bench/"]),
    ("oneDNN", r"(oneapi/dnnl/|dnnl)", ["include/benanza/backend/"]),
    ("CUDA", r"(cuda|cudnn|cublas|nvml|nvrtc)", ["include/benanza/backend/"]),
    ("ggml", r"ggml", ["include/benanza/backend/"]),
    ("SQLite", r"sqlite3", ["include/benanza/result/store/", "include/benanza/trace/profile/nsight.hpp"]),
    ("pugixml and zlib", r"(pugixml|zlib)", ["include/benanza/trace/profile/"]),
]

# Who may know of the store: results are read and merged without it.
STORE = "include/benanza/result/store/"
STORE_USERS = (STORE, "include/benanza/measure/", "include/benanza/bench/", "generator/", "analyzer/",
               "include/benanza/trace/profile/nsight.hpp")  # talks to SQLite as the store does

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def area_of(path):
    """The row of the table that a path falls under: `op`, `generator` ...; None if it is free."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] == ("include", "benanza"):
        return parts[2] if len(parts) > 3 else ""
    return parts[0] if parts[0] in ("generator", "analyzer") else None


def room_of(path):
    """The folder within include/benanza/measure/ that a path lies in."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[3] if len(parts) > 4 else ""


def target_of(path, bracket, name):
    """The path in the repository that an #include means, or None if it means a library."""
    if bracket == '"':
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if (ROOT / beside).is_file():
            return beside
        if not name.startswith("benanza/") and (ROOT / name).is_file():
            return os.path.normpath(name)  # from the root of the repository
        if name.startswith("."):
            return beside  # there is no such file, but its folder says enough
    return os.path.normpath("include/" + name) if name.startswith("benanza/") else None


def check_include(path, line, area, bracket, name):
    where = f"{path}:{line}"
    target = target_of(path, bracket, name)
    if target is not None:
        if target.startswith(STORE) and not path.startswith(STORE_USERS):
            violation(where, f"only {', '.join(STORE_USERS)} may include the store ({name})")
        if target == KINDS and area in WITHOUT_KINDS:
            violation(where, f"{area} asks of layers what op/layer.hpp says, and does without their kinds ({name})")
        other = area_of(target)
        if other == area:
            room, its = room_of(path), room_of(target)
            if area == "measure" and room != its and its not in ROOMS.get(room, set()):
                violation(where, f"measure/{room} may not include measure/{its} ({name})")
            return
        if other is None:
            violation(where, f"{area} may not include {target}")
        elif other not in ALLOWED[area]:
            if not (area == "generator" and re.fullmatch(GENERATOR_SEES, target)):
                violation(where, f"{area} may not include {other} ({name})")
        return
    if area in ("core", "op") and (re.search(r"[./]", name) or name == "iostream"):
        violation(where, f"{area} includes nothing but the standard library, and no iostream ({name})")
    if area == "backend" and name.startswith("range/v3/"):
        violation(where, f"backend is compiled with many kernels, and does without range-v3 ({name})")
    for library, pattern, places in LIBRARIES:
        if re.match(pattern, name) and not path.startswith(tuple(places)):
            violation(where, f"{library} may be included in {' and '.join(places)} only ({name})")
