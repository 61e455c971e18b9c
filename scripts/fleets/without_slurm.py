# SPDX-License-Identifier: Apache-2.0
"""How are parts measured where there is no Slurm: one here, or all by ssh?"""

import shlex
import subprocess
import sys
import threading

from fleets.common import COMMAND, COMPLETE, INTERRUPTED, PARTIAL, REFUSED, printable
from fleets.parts import Fleet
from fleets.progress import tell


def run(asked):
    ended = Fleet(asked.fleet).part(asked.system, asked.shard).run()
    return ended if ended in (COMPLETE, PARTIAL, INTERRUPTED) else REFUSED


def ssh(asked):
    """Each host takes the next shard that is free."""
    fleet = Fleet(asked.fleet)
    waiting = [p for p in fleet.parts(asked.system) if not p.done()]
    taking = threading.Lock()
    command = [sys.executable if asked.python == "this" else asked.python, str(COMMAND), "run", str(fleet.folder)]

    def work(host):
        while True:
            with taking:
                if not waiting:
                    return
                part = waiting.pop(0)
            words = shlex.join([*command, "--system", asked.system, "--shard", str(part.shard)])
            done = subprocess.run([*shlex.split(asked.ssh), host, words], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            print(f"shard {part.shard} on {printable(host)}: " + ("done" if part.done() else "failed: " + printable(
                done.stderr.strip().splitlines()[-1] if done.stderr.strip() else part.reason())), flush=True)

    hosts = [threading.Thread(target=work, args=(host,)) for host in asked.host]
    for h in hosts:
        h.start()
    for h in hosts:
        h.join()
    return COMPLETE if tell(fleet) else PARTIAL
