# SPDX-License-Identifier: Apache-2.0
"""What all of it needs: refusals, what is said, tables."""

import re
import sys
from pathlib import Path

COMMAND = Path(sys.argv[0]).resolve()  # a script of a clone, or an archive of Python files
HERE = COMMAND.parent
ROOT = HERE.parent
GPU_BACKENDS = ("cublas", "cuda", "cudnn")
# What moves nothing and so has no case.
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Constant"}
SAID = []  # for the summary


class Refused(Exception):
    """What is asked for cannot be done; the text is one line."""


class TimeOver(Exception):
    """The stage has had its minutes."""


def say(text):
    SAID.append(text)
    print(text, flush=True)


def text_table(header, rows):
    """Lines of rows under a header, numbers to the right."""
    rows = [[str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [list(header)] + rows) for i in range(len(header))]
    right = [all(re.fullmatch(r"[-+0-9.,x%]*", r[i]) for r in rows) for i in range(len(header))]
    return ["  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right)).rstrip()
            for row in [list(header), ["-" * w for w in widths]] + rows]


def words(text):
    return [w for w in text.split(",") if w]
