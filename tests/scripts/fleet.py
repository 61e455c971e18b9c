#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the parts of an experiment come to what one machine measures, by hand, by ssh and by Slurm?

  fleet.py <source folder> <benanza_bench> <benanza_analyze> [slurm]

With `slurm` sixteen parts go through a Slurm of the tests' own; one is killed, one is queued again.
"""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE, BENCH, ANALYZE = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
SLURM = "slurm" in sys.argv[4:]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests" / "scripts"))
from slurm_cluster import Cluster, why_not  # noqa: E402

LAYERS = [["Relu", "1x64x56x56"], ["Relu", "1x64x28x28"], ["Sigmoid", "1x64x28x28"]]
ENVIRONMENT = dict(os.environ, BENANZA_LAST_CACHE="0,0,33554432")


def call(*words, env=None):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, env=env or ENVIRONMENT)


def fleet(*words, env=None):
    return call(sys.executable, SOURCE / "scripts" / "fleet", *words, env=env)


def experiment_in(folder):
    """An experiment of a model of few layers."""
    nodes = [[f"n{i}", family, i, [i - 1] if i else []] for i, (family, _) in enumerate(LAYERS)]
    graph = {"name": "few@batch=1", "model": "few", "batch": 1, "type": "f32", "parameters": 0, "parameter_bytes": 0,
             "folded": 0, "repairs": [], "layers": LAYERS, "nodes": nodes}
    (folder / "graphs.json").write_text(json.dumps({"benanza_graphs": 1, "known": [], "graphs": [graph]}))
    done = call(BENCH, "--graphs", folder / "graphs.json", "--effort", "quick", "--backends", "onednn",
                "--states", "hot", "--write-experiment",
                folder / "e.json")
    assert done.returncode == 0, done.stderr
    return folder / "e.json"


def cases_in(folder, store):
    """The names of the cases of a store, as often as they are there."""
    out = folder / "exported.json"
    done = call(ANALYZE, store, "--export", out)
    assert done.returncode == 0, done.stderr
    return sorted(b["name"] for b in json.loads(out.read_text())["benchmarks"])


class Fleet(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="benanza_fleet_")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def fine(self, done, status=0):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def whole(self, experiment):
        """What one machine measures at once."""
        store = self.folder / "whole.db"
        self.fine(call(BENCH, "--experiment", experiment, "--store", store))
        cases = cases_in(self.folder, store)
        self.assertEqual(len(cases), len(set(cases)))
        return cases

    def gathered(self, place):
        store = self.folder / "gathered.db"
        self.fine(fleet("gather", place, "--store", store, "--analyze", ANALYZE))
        again = self.fine(fleet("gather", place, "--store", store, "--analyze", ANALYZE))
        self.assertRegex(again, r"all: 0 of \d+ results added")
        return cases_in(self.folder, store)

    @unittest.skipIf(SLURM, "by Slurm")
    def test_by_hand_and_by_ssh(self):
        experiment, place = experiment_in(self.folder), self.folder / "f"
        self.fine(fleet("plan", experiment, "--bench", BENCH, "--shards", 3, "--into", place))
        self.assertIn("nothing was submitted", self.fine(fleet("status", place), 1))
        self.fine(fleet("run", place, "--shard", 2))
        self.assertRegex(self.fine(fleet("status", place), 1), r"all: 1 done, 2 not begun of 3 shards, \d+ results")
        self.fine(fleet("gather", place, "--store", self.folder / "some.db", "--analyze", ANALYZE), 1)
        ssh = self.folder / "ssh"
        ssh.write_text("#!/bin/sh\n[ \"$1\" != bad ] || { echo 'no route to bad' >&2; exit 255; }\nshift\nexec sh -c \"$*\"\n")
        ssh.chmod(0o755)
        said = self.fine(fleet("ssh", place, "bad", "--ssh", ssh, "--python", sys.executable), 1)
        self.assertIn("shard 1 on bad: failed: no route to bad", said)
        said = self.fine(fleet("ssh", place, "one", "two", "--ssh", ssh, "--python", sys.executable))
        self.assertIn("all: 3 done of 3 shards", said)
        listed = self.fine(call(BENCH, "--experiment", experiment, "--benchmark_list_tests")).split()
        self.assertEqual(self.gathered(place), sorted(listed))

    @unittest.skipIf(SLURM, "by Slurm")
    def test_what_is_not_understood_is_refused_in_one_line(self):
        experiment, place = experiment_in(self.folder), self.folder / "f"
        (self.folder / "no.json").write_text("{}")
        self.fine(fleet("plan", experiment, "--bench", BENCH, "--shards", 2, "--into", place))
        without = dict(ENVIRONMENT, PATH="")
        for i, text in enumerate(('{"benanza_fleet": 1}', '{"benanza_fleet": 1, "shards": "x", "bench": "b", "options": []}',
                                  '{"benanza_fleet": 2}', "[]", "{")):
            (self.folder / f"bad{i}").mkdir()
            (self.folder / f"bad{i}" / "fleet.json").write_text(text)
            done = fleet("status", self.folder / f"bad{i}")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        for words, said in (
                (("plan", self.folder / "no.json", "--bench", BENCH, "--shards", 2, "--into", self.folder / "g"), "no experiment"),
                (("plan", "none.json", "--bench", BENCH, "--shards", 2, "--into", self.folder / "g"), "No such file"),
                (("plan", experiment, "--bench", "none", "--shards", 2, "--into", self.folder / "g"), "no such program"),
                (("plan", experiment, "--bench", BENCH, "--shards", 2, "--into", place), "planned there already"),
                (("plan", experiment, "--bench", BENCH, "--shards", 2, "--into", "/proc/none"), "(/proc/none)"),
                (("status", self.folder), "fleet.json"),
                (("run", place, "--shard", 3), "the shards 1 to 2"),
                (("run", place, "--shard", 1, "--system", "../x"), "a system is called by"),
                (("submit", place), "there is no sbatch here"),
                (("submit", place, "--system", 'a=an "open quote'), "No closing quotation"),
                (("gather", place, "--store", self.folder / "x.db", "--analyze", "none"), "benanza_analyze")):
            done = fleet(*words, env=without)
            with self.subTest(said):
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    @unittest.skipIf(SLURM, "by Slurm")
    def test_a_store_that_cannot_be_read_is_named(self):
        experiment, place = experiment_in(self.folder), self.folder / "run#1?%41"
        self.fine(fleet("plan", experiment, "--bench", BENCH, "--shards", 2, "--into", place))
        for shard in 1, 2:
            self.fine(fleet("run", place, "--shard", shard))
        listed = self.fine(call(BENCH, "--experiment", experiment, "--benchmark_list_tests")).split()
        self.assertEqual(self.gathered(place), sorted(listed))
        store = place / "parts" / "all" / "2.db"
        sound = store.read_bytes()

        for spoil in (lambda: store.write_bytes(sound[:1000]), lambda: store.write_bytes(os.urandom(5000)),
                      lambda: store.write_bytes(b""), store.unlink):
            spoil()
            said = self.fine(fleet("status", place), 1)
            self.assertIn("shard 2 is done, and its store cannot be read: ", said)
            done = fleet("gather", place, "--store", self.folder / "other.db", "--analyze", ANALYZE)
            self.fine(done, 1)
            self.assertIn("shard 2 of all cannot be read: ", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        store.write_bytes(sound)
        with contextlib.closing(sqlite3.connect(store)) as db:
            db.execute("UPDATE run SET results = 'many'")
            db.commit()
        self.assertIn("its store cannot be read: it is damaged", self.fine(fleet("status", place), 1))

    @unittest.skipIf(SLURM, "by Slurm")
    def test_graphs_of_an_experiment_lie_beside_it(self):
        experiment, place = experiment_in(self.folder), self.folder / "f"
        asked = json.loads(experiment.read_text())
        (self.folder / "sub").mkdir()
        (self.folder / "secret").write_text("a secret")
        (self.folder / "other.json").write_text("{}")
        os.mkfifo(self.folder / "fifo")
        for graphs in ("/proc/self/environ", "../../etc/passwd", "sub/../graphs.json", str(self.folder / "graphs.json"), 7, {},
                       [], "a\0b", "secret", "other.json", "fifo", "sub", "none"):
            experiment.write_text(json.dumps({**asked, "graphs": graphs}))
            with self.subTest(graphs):
                done = fleet("plan", experiment, "--bench", BENCH, "--shards", 2, "--into", place)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stdout + done.stderr)
                self.assertFalse(place.exists())
                done = call(BENCH, "--experiment", experiment, "--benchmark_list_tests")
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stdout + done.stderr)

    @unittest.skipUnless(SLURM, "for --full")
    def test_by_slurm(self):
        experiment, place = experiment_in(self.folder), self.folder / "f"
        with Cluster() as cluster:
            env = dict(ENVIRONMENT, **{k: cluster.environment[k] for k in ("SLURM_CONF", "PATH")})
            # Slow enough to be met while it runs.
            slow = self.folder / "slow_bench"
            slow.write_text(f"#!/bin/sh\ncase \"$*\" in *' 3/16 '*|*' 5/16 '*) sleep 3 ;; esac\nexec {BENCH} \"$@\"\n")
            slow.chmod(0o755)
            self.fine(fleet("plan", experiment, "--bench", slow, "--shards", 16, "--into", place))
            self.fine(fleet("submit", place, env=env))
            self.assertIn("submitted before", fleet("submit", place, env=env).stderr)
            job = json.loads((place / "parts" / "all" / "jobs.json").read_text())["jobs"][0]

            def running(shard):
                return f"{shard} RUNNING" in cluster.ask("squeue", "-h", "-r", "-j", job, "-o", "%K %T").splitlines()

            def met(shard):
                end = time.monotonic() + 300
                while not running(shard) and time.monotonic() < end:
                    time.sleep(0.1)
                self.assertTrue(running(shard), fleet("status", place, env=env).stdout)
                time.sleep(1)

            met(3)
            killed = subprocess.run(["pgrep", "-f", f"{slow} .*--shard 3/16"], capture_output=True, text=True).stdout
            for process in map(int, killed.split()):
                os.kill(process, signal.SIGKILL)
            met(5)
            cluster.ask("scontrol", "requeue", f"{job}_5")
            end = time.monotonic() + 400
            while cluster.ask("squeue", "-h", "-j", job).strip() and time.monotonic() < end:
                time.sleep(1)
            said = self.fine(fleet("status", place, env=env), 1)
            self.assertRegex(said, r"all: 15 done, 1 failed of 16 shards")
            self.assertIn("shard 3 failed: fleet: the benchmark was ended by signal 9", said)
            self.assertIn("for 1 of 16 shards", self.fine(fleet("requeue", place, env=env)))
            self.fine(call("timeout", 120, sys.executable, SOURCE / "scripts" / "fleet", "status", place, "--watch",
                           "--every", 1, env=env))
            self.assertIn("nothing is lost", self.fine(fleet("requeue", place, env=env)))
        self.assertEqual(self.gathered(place), self.whole(experiment))


if __name__ == "__main__":
    if SLURM and why_not():
        print(f"skipped: {why_not()}")
        sys.exit(0)
    unittest.main(argv=sys.argv[:1])
