# SPDX-License-Identifier: Apache-2.0
"""Where are the programs, and what do they say?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The command that measures a model: scripts/benanza, in a checkout and where it is installed.
FRONT_DOOR = HERE.parents[1] / "benanza"


class Error(Exception):
    """What was asked for is refused, or cannot be done: one line says what, where, and what to do."""


def front_door() -> Path:
    if not FRONT_DOOR.is_file():
        raise Error(f"{FRONT_DOOR} is missing: this package stays next to it")
    return FRONT_DOOR


def program(name: str, folder: str | os.PathLike[str] | None) -> Path:
    """One of the three programs: of `folder`, else where the front door finds it."""
    root = front_door().resolve().parent.parent
    places = [Path(folder)] if folder else [root / "build", root.parent.parent / "bin", *map(Path, os.get_exec_path())]
    for place in places:
        if os.access(place / name, os.X_OK):
            return (place / name).absolute()
    raise Error(f"{name} is not in {folder or 'the folder build, nor on the PATH'}; scripts/quickstart builds it")


def ask(words: list[object], progress: bool = False, fine: tuple[int, ...] = (0, 1)) -> int:
    """Runs a program to its end and returns its exit status; raises its own line where it refuses. Ctrl-C ends it as
    in a terminal: it keeps what it has."""
    last, line = "", b""
    with subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as running:
        try:
            assert running.stderr is not None
            while some := running.stderr.read1(4096):
                if progress:
                    sys.stderr.write(some.decode(errors="replace"))
                    sys.stderr.flush()
                *whole, line = (line + some).split(b"\n")
                last = next((w.decode(errors="replace") for w in reversed(whole) if w.startswith(b"benanza")), last)
            status = running.wait()
        except KeyboardInterrupt:
            os.killpg(running.pid, signal.SIGINT)
            running.wait()
            raise
    if line.startswith(b"benanza"):
        last = line.decode(errors="replace")
    if status == 130:
        raise KeyboardInterrupt
    if status not in fine:
        raise Error(last or f"{Path(str(words[0])).name} ended with status {status} and said nothing")
    return status
