# SPDX-License-Identifier: Apache-2.0
"""How does Slurm get the parts of a system, which of them has it in its queue, and which has it lost?"""

import json
import shlex
import shutil
import subprocess
import sys

from fleets.common import COMMAND, COMPLETE, are_texts, printable, read_json
from fleets.parts import Fleet
from frameworks.common import Refused, write_whole


def slurm(*words):
    """What a command of Slurm prints."""
    if not shutil.which(words[0]):
        raise Refused(f"there is no {words[0]} here: install Slurm's client, or use `fleet run` or `fleet ssh`")
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{words[0]} failed: {printable((done.stderr or done.stdout).strip())}")
    return done.stdout


def job_of(fleet, system):
    """(number of the last array job, options) of a system; None: it was not submitted."""
    path = fleet.folder / "parts" / system / "jobs.json"
    if not path.exists():
        return None
    known = read_json(path, "the list of jobs")
    if not are_texts(known.get("jobs")) or not are_texts(known.get("options")):
        raise Refused(f"the list of jobs is not what it should be ({path})")
    return known


def send(fleet, system, options, shards):
    """Submits an array job for some shards of a system."""
    folder = fleet.folder / "parts" / system
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "job.sh"
    command = shlex.join([sys.executable, str(COMMAND), "run", str(fleet.folder), "--system", system])
    write_whole(script, f"#!/bin/bash\nexec {command} --shard \"$SLURM_ARRAY_TASK_ID\"\n".encode())
    number = slurm("sbatch", "--parsable", f"--job-name=benanza-{system}", f"--array={','.join(map(str, shards))}",
                   "--nodes=1", "--ntasks=1", "--exclusive", "--requeue", "--open-mode=append", "--signal=TERM@30",
                   f"--output={str(folder).replace('%', '%%')}/slurm-%a.out", *options, str(script)).strip().split(";")[0]
    before = job_of(fleet, system)
    known = {"jobs": [*(before["jobs"] if before else []), number], "options": list(options)}
    write_whole(folder / "jobs.json", json.dumps(known).encode() + b"\n")
    print(f"{system}: job {number} for {len(shards)} of {fleet.shards} shards")


def queued(fleet, system):
    """Slurm's state of each shard that is in its queue."""
    known = job_of(fleet, system)
    if not known or not shutil.which("squeue"):
        return {}
    out = {}
    for job in known["jobs"]:
        # A job that Slurm has forgotten is in no queue.
        done = subprocess.run(["squeue", "-h", "-r", "-j", job, "-o", "%K %T"], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            shard, _, state = line.partition(" ")
            if shard.isdigit():
                out[int(shard)] = state
    return out


def submit(asked):
    fleet = Fleet(asked.fleet)
    for word in asked.system or ["all"]:
        system, _, options = word.partition("=")
        try:
            options = shlex.split(options)
        except ValueError as e:
            raise Refused(f"--system {printable(word)}: {e}") from None
        first = fleet.part(system, 1)
        if job_of(fleet, system):
            raise Refused(f"{system} was submitted before: `fleet requeue` queues what is not done ({first.folder})")
        wanted = [p.shard for p in fleet.parts(system) if not p.done()]
        if wanted:
            send(fleet, system, options, wanted)
    return COMPLETE


def requeue(asked):
    fleet = Fleet(asked.fleet)
    for system in fleet.systems():
        known = job_of(fleet, system)
        waiting = queued(fleet, system)
        lost = [p.shard for p in fleet.parts(system) if not p.done() and p.shard not in waiting and not p.held()]
        if not lost:
            print(f"{system}: nothing is lost")
        elif known:
            send(fleet, system, known["options"], lost)
        else:
            print(f"{system}: run again {' '.join(map(str, lost))}: fleet run {asked.fleet} --system {system} --shard N")
    return COMPLETE
