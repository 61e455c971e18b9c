# SPDX-License-Identifier: Apache-2.0
"""Does a file have its licence line, no note for later, a header its length and its #pragma once, and does it
include what it may?"""

import pathlib
import re

from checks.common import ROOT, violation
from checks.includes import ALLOWED, INCLUDE, area_of, check_include

LONGEST_HEADER = 500
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LATER = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")


def check_file(path):
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    name = pathlib.PurePosixPath(path)
    script = bool(lines) and lines[0].startswith("#!")
    code = name.suffix in (".hpp", ".cpp", ".cmake", ".py", ".sh") or script or name.name == "CMakeLists.txt"
    if not code:
        return
    if LICENCE not in "".join(lines[1:2] if script else lines[:1]):
        violation(f"{path}:{2 if script else 1}", f'the first line is not "{LICENCE}"')
    for number, line in enumerate(lines, 1):
        if LATER.search(line):
            violation(f"{path}:{number}", "a note for later: do it, or leave it out")
    if name.suffix == ".hpp":
        if "#pragma once" not in lines:
            violation(f"{path}:1", "the header lacks #pragma once")
        if len(lines) > LONGEST_HEADER:
            violation(f"{path}:{len(lines)}", f"the header is longer than {LONGEST_HEADER} lines")
    area = area_of(path)
    if name.suffix in (".hpp", ".cpp") and area is not None:
        if area not in ALLOWED:
            violation(f"{path}:1", f'the folder "{area}" is not in the table of who may include whom')
            return
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if found:
                check_include(path, number, area, *found.groups())
