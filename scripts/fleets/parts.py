# SPDX-License-Identifier: Apache-2.0
"""Of which parts is a fleet, how far is each, and how is one measured to its end?"""

import contextlib
import fcntl
import re
import signal
import sqlite3
import subprocess
from pathlib import Path

from fleets.common import COMPLETE, PARTIAL, Unreadable, are_texts, printable, read_json
from frameworks.common import Refused, write_whole


class Fleet:
    """A folder that `plan` made."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.plan = read_json(self.folder / "fleet.json", "the plan of the fleet")
        if self.plan.get("benanza_fleet") != 1:
            raise Refused(f"this is no folder of a fleet, or one of another version ({folder})")
        self.shards = self.plan.get("shards")
        whole = isinstance(self.shards, int) and 1 <= self.shards <= 9999 and isinstance(self.plan.get("bench"), str)
        if not whole or not are_texts(self.plan.get("options")):
            raise Refused(f"the plan of the fleet is not what it should be ({self.folder}/fleet.json)")

    def systems(self):
        """The systems that parts were begun on, or submitted for."""
        return sorted(p.name for p in (self.folder / "parts").glob("*") if p.is_dir())

    def part(self, system, shard):
        return Part(self, system, shard)

    def parts(self, system):
        return [self.part(system, i) for i in range(1, self.shards + 1)]


class Part:
    """A shard on a system: its store, what it printed, and how it ended."""

    def __init__(self, fleet, system, shard):
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", system) or system.startswith("."):
            raise Refused(f'a system is called by letters, digits, "-", "." and "_" ("{printable(system)}")')
        if not 1 <= shard <= fleet.shards:
            raise Refused(f"there are the shards 1 to {fleet.shards} (--shard {shard})")
        self.fleet, self.system, self.shard = fleet, system, shard
        self.folder = fleet.folder / "parts" / system
        self.store = self.folder / f"{shard}.db"
        self.log = self.folder / f"{shard}.log"
        self.end = self.folder / f"{shard}.end"

    def status(self):
        """How it ended: the exit status of the benchmark; None where it did not."""
        try:
            return int(self.end.read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def done(self):
        return self.status() in (COMPLETE, PARTIAL)

    def held(self):
        """Something measures it now, as far as this machine can tell."""
        try:
            with open(self.folder / f"{self.shard}.lock", "a", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def ask(self, question):
        """The whole numbers that its store answers, none where nothing was begun; Unreadable where it cannot."""
        if not self.store.exists() and not self.done():
            return []
        try:
            with contextlib.closing(sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True, timeout=1)) as store:
                answers = [row[0] for row in store.execute(question)]
        except sqlite3.Error as e:
            raise Unreadable(printable(e)) from None
        if not all(isinstance(a, int) for a in answers):
            raise Unreadable("it is damaged")
        return answers

    def results(self):
        """How many results it has so far."""
        return sum(self.ask("SELECT results FROM run"))

    def reason(self):
        """The last line that it printed."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return printable(lines[-1]) if lines else ""

    def run(self):
        """Measures it here, to its end; returns how that was."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / f"{self.shard}.lock", "a", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as e:
                raise Refused(f"shard {self.shard} of {self.system} is measured already") from e
            if self.done():
                return self.status()
            self.end.unlink(missing_ok=True)
            plan = self.fleet.plan
            words = [plan["bench"], "--experiment", str(self.fleet.folder / "experiment.json"), "--shard",
                     f"{self.shard}/{self.fleet.shards}", "--store", str(self.store), *plan["options"]]
            with open(self.log, "a", encoding="utf-8") as log:
                bench = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log, stdin=subprocess.DEVNULL)
                # Slurm asks so before it takes a node away: what was measured is kept.
                for asked in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(asked, lambda *_: bench.send_signal(signal.SIGINT))
                status = bench.wait()
            if status < 0:
                with open(self.log, "a", encoding="utf-8") as log:
                    log.write(f"fleet: the benchmark was ended by signal {-status}\n")
                status = 128 - status
            write_whole(self.end, b"%d\n" % status)
            return status
