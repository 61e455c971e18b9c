# SPDX-License-Identifier: Apache-2.0
"""Where are the programs, and what do they say?"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

#: This package; the programs, and scripts for frameworks, are inside of it in a wheel, and around it elsewhere.
HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts" if (HERE / "scripts").is_dir() else HERE.parents[1]
PROGRAMS = ("benanza_generate", "benanza_bench", "benanza_analyze")


class Error(Exception):
    """What was asked for is refused, or cannot be done: one line says what, where, and what to do."""


class Parser(argparse.ArgumentParser):
    """Of one of the commands, whose help is the text of its file; refuses words in one line."""

    def __init__(self, name: str, text: str | None) -> None:
        super().__init__(prog=name, description=text, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise Error(f"{message}; see {self.prog} --help")


def folder_of_programs(folder: str | os.PathLike[str] | None = None) -> Path:
    """Where all three programs are: in `folder`, else of this package, in a checkout's build folder, installed, or in
    a folder of PATH."""
    around = [HERE / "programs", SCRIPTS.parent / "build", SCRIPTS.parent.parent.parent / "bin"]
    for place in [Path(folder)] if folder else [*around, *map(Path, os.get_exec_path())]:
        if all(os.access(place / name, os.X_OK) for name in PROGRAMS):
            return place.absolute()
    raise Error(f"{', '.join(PROGRAMS)} are not in {folder or 'the folder build, nor on the PATH'}; "
                "scripts/quickstart builds them")


def become(name: str) -> NoReturn:
    """This process becomes one of the programs, or a script, with the words of the command line."""
    try:
        if name in PROGRAMS:
            os.execv(folder_of_programs() / name, [name, *sys.argv[1:]])
        os.execv(sys.executable, [sys.executable, str(SCRIPTS / name), *sys.argv[1:]])
    except (Error, OSError) as e:
        print(f"benanza: {e}", file=sys.stderr)
        sys.exit(2)


def generate() -> NoReturn:
    become("benanza_generate")


def bench() -> NoReturn:
    become("benanza_bench")


def analyze() -> NoReturn:
    become("benanza_analyze")


def measure_framework() -> NoReturn:
    become("measure_framework")


def ask(words: list[object], progress: bool | Callable[[str], None] = False, fine: tuple[int, ...] = (0, 1)) -> int:
    """Runs a program to its end and returns its exit status; raises its own line where it refuses. `progress`: what it
    says meanwhile is printed, or given to a function. Ctrl-C ends it as in a terminal: it keeps what it has."""
    last, line = "", b""
    with subprocess.Popen([str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as running:
        try:
            assert running.stderr is not None
            while some := running.stderr.read1(4096):
                if callable(progress):
                    progress(some.decode(errors="replace"))
                elif progress:
                    sys.stderr.write(some.decode(errors="replace"))
                    sys.stderr.flush()
                *whole, line = (line + some).split(b"\n")
                last = next((w.decode(errors="replace") for w in reversed(whole) if w.startswith(b"benanza")), last)
            status = running.wait()
        except BaseException:  # Ctrl-C, or what `progress` raises to end it
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
