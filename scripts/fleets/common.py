# SPDX-License-Identifier: Apache-2.0
"""How does a command end, what of a file is refused, and how is it said?"""

import json
import sys
from pathlib import Path

from frameworks import common
from frameworks.common import Refused

COMMAND = Path(sys.argv[0]).resolve()  # what tasks of Slurm and other hosts call
COMPLETE, PARTIAL, REFUSED, INTERRUPTED = 0, 1, 2, 130


class Unreadable(Exception):
    """A store that does not answer, and why."""


def printable(text):
    """In one line, with nothing that steers a terminal."""
    return common.printable(text)[:300]


def read_json(path, what):
    try:
        read = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise Refused(f"{what} cannot be read: {e.strerror} ({path})") from e
    except (ValueError, RecursionError) as e:
        raise Refused(f"{what} is no JSON ({path})") from e
    if not isinstance(read, dict):
        raise Refused(f"{what} is not what it should be ({path})")
    return read


def are_texts(value):
    return isinstance(value, list) and all(isinstance(v, str) for v in value)
