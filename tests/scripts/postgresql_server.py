#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of the tests' own, from Debian's package, in a folder of its own.

  with Server() as server: print(server.address)      # why_not() says why there can be none
  postgresql_server.py restart FOLDER                 # kills a running one as a crash would, and starts it again

It listens on a socket in its folder, and on a free port of the loopback where a password is asked for.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PASSWORD = "s3cret-w0rd"


def programs():
    """The folder of the newest server's programs; None: there is none."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4].split(".")[0]))
    if folders:
        return folders[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def owner():
    """Who runs the server, which refuses to be root: the user's name, or None where there is none."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None


def why_not():
    """Why no server can be started here; empty if one can."""
    if programs() is None:
        return "there is no PostgreSQL server here (Debian: postgresql)"
    if owner() is None or (os.geteuid() == 0 and not shutil.which("setpriv")):
        return "PostgreSQL refuses to run as root, and there is no other user"
    return ""


class Server:
    """Runs from `with` to its end."""

    def __init__(self, folder=None, durable=False, settings=()):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="benanza_pg_"))
        self.data = self.folder / "data"
        self.durable, self.settings = durable, settings

    @property
    def address(self):
        return f"postgresql:///benanza?host={self.folder}&user=benanza&port={self.port}"

    @property
    def address_with_password(self):
        return f"postgresql://guest:{PASSWORD}@127.0.0.1:{self.port}/benanza"

    @property
    def port(self):
        return int((self.folder / "port").read_text())

    def as_owner(self, *command, **more):
        if os.geteuid() == 0:
            command = ("setpriv", f"--reuid={owner()}", f"--regid={pwd.getpwnam(owner()).pw_gid}", "--clear-groups",
                       "--", *command)
        return subprocess.run(tuple(map(str, command)), capture_output=True, text=True, cwd=self.folder, **more)

    def check(self, *command):
        done = self.as_owner(*command)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")

    def __enter__(self):
        if os.geteuid() == 0:
            user = pwd.getpwnam(owner())
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.check(programs() / "initdb", "-D", self.data, "-U", "benanza", "-E", "UTF8", "--no-locale",
                   "--auth=trust", *(() if self.durable else ("--no-sync",)))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            (self.folder / "port").write_text(str(free.getsockname()[1]))
        (self.data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(f"listen_addresses='127.0.0.1'\nport={self.port}\nunix_socket_directories='{self.folder}'\n"
                       + "".join(f"{s}\n" for s in self.settings))
            if not self.durable:  # a crash of the server is not one of the machine
                conf.write("fsync=off\n")
        self.start()
        self.ask("CREATE DATABASE benanza", "postgres")
        self.ask(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        return self

    def __exit__(self, *ignored):
        self.as_owner(programs() / "pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, sql, database="benanza"):
        done = subprocess.run([programs() / "psql", "-qAt", "-h", self.folder, "-p", str(self.port), "-U", "benanza",
                               "-d", database, "-v", "ON_ERROR_STOP=1", "-c", sql], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def start(self):
        self.check(programs() / "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "start")

    def kill(self):
        """All of it at once, as a crash does."""
        postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
        # First it starts no more: a session that outlived it would write where the next server writes.
        os.kill(postmaster, signal.SIGSTOP)
        while state_of(postmaster) not in "TZ":
            time.sleep(0.001)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        time.sleep(0.1)
        processes = (postmaster, *map(int, children))
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        while any(state_of(process) != "Z" for process in processes):
            time.sleep(0.01)
        # Where no process reaps it, the dead one would be taken for a running one.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        (self.folder / f".s.PGSQL.{self.port}.lock").unlink(missing_ok=True)


def state_of(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "restart":
        sys.exit(__doc__)
    running = Server(sys.argv[2])
    running.kill()
    running.start()
