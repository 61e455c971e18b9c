#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm of the tests' own, of this machine alone, from Debian's packages, in a folder of its own.

  with Cluster() as cluster: subprocess.run(["sinfo"], env=cluster.environment)     # why_not() says why not
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def why_not():
    for program in ("slurmctld", "slurmd", "sbatch", "squeue", "munged"):
        if not shutil.which(program) and not Path("/usr/sbin", program).exists():
            return f"there is no {program} (on Debian: apt-get install slurm-wlm munge)"
    if os.geteuid() != 0:
        return "only root starts a Slurm of its own"
    return ""


def free_ports(n):
    taken = [socket.socket() for _ in range(n)]
    for s in taken:
        s.bind(("127.0.0.1", 0))
    out = [s.getsockname()[1] for s in taken]
    for s in taken:
        s.close()
    return out


class Cluster:
    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="benanza_slurm_", dir="/run"))
        host, (controller, node) = socket.gethostname().split(".")[0], free_ports(2)
        conf = self.folder / "slurm.conf"
        conf.write_text(f"""ClusterName=benanza
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={self.folder}/munge.socket
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobRequeue=1
ReturnToService=2
KillWait=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1,requeue_delay=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.environment = dict(os.environ, SLURM_CONF=str(conf),
                                PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        self.running = []
        self.start("munged", "-F", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munge.seed",
                   f"--log-file={self.folder}/munged.log")
        self.wait_for(lambda: (self.folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-f", str(conf))
        self.start("slurmd", "-D", "-f", str(conf), "-N", host)
        self.wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t"))
        return self

    def __exit__(self, *ignored):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *command):
        with open(self.folder / f"{command[0]}.out", "w", encoding="utf-8") as out:
            self.running.append(subprocess.Popen(command, stdout=out, stderr=out, env=self.environment))

    def ask(self, *command):
        return subprocess.run(command, capture_output=True, text=True, env=self.environment).stdout

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            dead = [p for p in self.running if p.poll() is not None]
            if dead or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError(f"Slurm does not start: {dead[0].args[0] if dead else 'in time'}")
            time.sleep(0.2)
