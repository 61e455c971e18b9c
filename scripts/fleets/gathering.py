# SPDX-License-Identifier: Apache-2.0
"""How does what the parts measured come into one store?"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from fleets.common import COMPLETE, PARTIAL, Unreadable, printable
from fleets.parts import Fleet
from frameworks.common import Refused


def gather(asked):
    fleet = Fleet(asked.fleet)
    analyze = asked.analyze or str(Path(fleet.plan["bench"]).with_name("benanza_analyze"))
    if not shutil.which(analyze):
        raise Refused("there is no benanza_analyze: name it with --analyze")

    def call(*words):
        done = subprocess.run([analyze, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in (COMPLETE, PARTIAL):
            raise Refused(printable(done.stderr.strip() or f"{analyze} ended with {done.returncode}"))
        return done.stdout

    partial = unread = False
    for system in fleet.systems():
        added = of = 0
        for part in fleet.parts(system):
            partial = partial or not part.done()
            exported = part.folder / f".{part.shard}.json"
            try:
                for number in part.ask("SELECT DISTINCT system FROM run WHERE results > 0"):
                    try:
                        call(part.store, "--system", number, "--export", exported)
                    except Refused as e:
                        raise Unreadable(e) from None
                    told = re.findall(r": (\d+) of (\d+) results added", call("--import", exported, "--store",
                                                                              asked.store))
                    added += sum(int(a) for a, _ in told)
                    of += sum(int(n) for _, n in told)
            except Unreadable as e:
                unread = True
                print(f"fleet: shard {part.shard} of {system} cannot be read: {e} ({printable(part.store)})", file=sys.stderr)
            finally:
                exported.unlink(missing_ok=True)
        print(f"{system}: {added} of {of} results added")
    if partial:
        print("fleet: not all shards are done: gather again when they are", file=sys.stderr)
    return PARTIAL if partial or unread else COMPLETE
