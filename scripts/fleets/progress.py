# SPDX-License-Identifier: Apache-2.0
"""How far is each part, and why did some fail?"""

import time

from fleets.common import COMPLETE, PARTIAL, Unreadable, printable
from fleets.parts import Fleet
from fleets.slurm import job_of, queued


def state_of(part, waiting):
    if part.done():
        return "done"
    in_queue = waiting.get(part.shard)
    if in_queue == "RUNNING" or part.held():
        return "running"
    if in_queue:
        return "waiting"
    if part.status() is not None:
        return "failed"
    return "lost" if part.log.exists() or job_of(part.fleet, part.system) else "not begun"


def tell(fleet):
    """Prints how far each system is; true if all is done."""
    complete = bool(fleet.systems())
    for system in fleet.systems():
        waiting = queued(fleet, system)
        parts = fleet.parts(system)
        states = {p.shard: state_of(p, waiting) for p in parts}
        counts = {}
        for state in states.values():
            counts[state] = counts.get(state, 0) + 1
        results, unreadable = 0, {}
        for p in parts:
            try:
                results += p.results()
            except Unreadable as e:
                unreadable[p.shard] = e
        told = ", ".join(f"{n} {state}" for state, n in sorted(counts.items()))
        print(f"{system}: {told} of {fleet.shards} shards, {results} results")
        for p in parts:
            if p.shard in unreadable:
                print(f"  shard {p.shard} is {states[p.shard]}, and its store cannot be read: {unreadable[p.shard]} "
                      f"({printable(p.store)})")
            if states[p.shard] in ("failed", "lost"):
                why = f": {p.reason()}" if p.reason() else ""
                print(f"  shard {p.shard} {states[p.shard]}{why}")
        complete = complete and counts == {"done": fleet.shards} and not unreadable
    if not fleet.systems():
        print("nothing was submitted or run yet")
    return complete


def status(asked):
    fleet = Fleet(asked.fleet)
    while not tell(fleet):
        if not asked.watch:
            return PARTIAL
        time.sleep(asked.every)
        print()
    return COMPLETE
