# SPDX-License-Identifier: Apache-2.0
"""What cannot be measured, on which processors does what can, and how is it said and written?"""

import os
import secrets
import stat
from pathlib import Path


class Refused(Exception):
    """What cannot be measured, in one line."""


def printable(text):
    """With nothing that steers a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def one_line(text):
    return printable(" ".join(str(text).split()))[:400]


def write_whole(path, data):
    """Whole or not at all, whoever reads meanwhile. Until then it has a name that nobody can guess, so that no link
    that somebody planted is followed; a name that is a link stays one, a pipe is written as it is."""
    path = Path(os.path.realpath(path))
    there = path.stat() if path.exists() else None
    if there and not stat.S_ISREG(there.st_mode):
        path.write_bytes(data)
        return
    new = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as out:
            if there:
                os.fchmod(out.fileno(), stat.S_IMODE(there.st_mode))
            out.write(data)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def fastest_of(processors, devices=Path("/sys/devices")):
    """Those of the faster of two kinds of cores, as benanza_bench takes them (machine/processor_kinds.hpp)."""
    def numbers(path):
        try:
            parts = [p.split("-") for p in (devices / path).read_text().strip().split(",") if p]
            return [n for p in parts for n in range(int(p[0]), int(p[-1]) + 1)]
        except (OSError, ValueError):
            return []
    speed = {p: 2 for p in numbers("cpu_core/cpus")} | {p: 1 for p in numbers("cpu_atom/cpus")}
    for p in processors:
        if len(capacity := numbers(f"system/cpu/cpu{p}/cpu_capacity")) == 1:
            speed[p] = capacity[0]
    if not all(p in speed for p in processors):
        return processors
    best = max(speed[p] for p in processors)
    return [p for p in processors if speed[p] * 20 >= best * 19]


def bind(threads):
    allowed = fastest_of(sorted(os.sched_getaffinity(0)))
    if threads < 1 or threads > len(allowed):
        raise Refused(f"--threads {threads}: this process may use {len(allowed)} processors")
    os.sched_setaffinity(0, allowed[:threads])
    return allowed[:threads]
