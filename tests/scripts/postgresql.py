#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a store on a PostgreSQL server what a file of SQLite is, in the tests of stores and in programs?

  postgresql.py <source folder> <program with the tests of stores> [<benanza_analyze> <benanza_bench>]

One server is started for all. What it says of passwords is looked for in all that programs print.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1])
TESTS = sys.argv[2]
ANALYZE, BENCH = sys.argv[3:5] if len(sys.argv) > 4 else ("", "")
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests" / "scripts"))
from postgresql_server import PASSWORD, Server, why_not  # noqa: E402

# What is asked of any store. The last one changes every byte of every row, which needs no server.
FILES = ("store", "rows", "missing", "reader", "systems", "keeping", "postgresql")
FILE_ONLY = ("SQLite:*", "rows with any byte changed*")


def call(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True,
                          env=dict(os.environ, BENANZA_LAST_CACHE="0,0,33554432"))
    assert PASSWORD not in done.stdout + done.stderr, done
    return done


def analyze(*words):
    return call(ANALYZE, *words)


class Store(unittest.TestCase):
    def test_all_that_is_asked_of_stores(self):
        sources = ",".join(f"*/result/store/{name}.cpp" for name in FILES)
        restart = f"{sys.executable} {SOURCE}/tests/scripts/postgresql_server.py restart {SERVER.folder}"
        done = subprocess.run([TESTS, f"--source-file={sources}", f"--test-case-exclude={','.join(FILE_ONLY)}"],
                              capture_output=True, text=True,
                              env=dict(os.environ, BENANZA_TEST_POSTGRESQL=SERVER.address,
                                       BENANZA_TEST_POSTGRESQL_RESTART=restart))
        print(done.stdout[-400:])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    @unittest.skipUnless(ANALYZE, "the programs are not in this build")
    def test_programs_take_an_address_and_show_no_password(self):
        SERVER.ask("CREATE DATABASE named", "postgres")
        SERVER.ask("CREATE SCHEMA guest AUTHORIZATION guest", "named")
        address = SERVER.address_with_password.replace("/benanza", "/named?options=-csearch_path%3Dguest")
        sample, layers = SERVER.folder / "run.json", SERVER.folder / "layers.txt"
        layers.write_text("Relu/1x64x28x28\n")
        measure = ("--layers", layers, "--benchmark_filter=^Relu", "--effort", "quick")
        done = call(BENCH, *measure, f"--benchmark_out={sample}", "--by", "the night run")
        self.assertEqual(done.returncode, 0, done.stderr)
        added = analyze("--import", sample, "--store", address)
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("results added to postgresql://127.0.0.1:", added.stdout)
        self.assertIn(": 0 of ", analyze("--import", sample, "--store", address).stdout)
        out = SERVER.folder / "out.json"
        self.assertEqual(analyze(address, "--export", out).returncode, 0)
        names = [{b["name"] for b in json.loads(f.read_text())["benchmarks"]} for f in (sample, out)]
        self.assertEqual(*names)
        read = [analyze(where, "--models", "--format", "json").stdout for where in (sample, address)]
        self.assertEqual(*map(json.loads, read))

        # Any report and command takes it (`call` looks for the password in what they print).
        for words in (("compare", sample, address), ("compare", address, address), ("sweep", address, "--over", "date"),
                      ("compare", address, "--since", "2020-01-01", "--against", "x"), (address, "--format", "json"),
                      (address, "--details"), (address, "--format", "csv"), (address, "--format", "html"),
                      ("compose", address), ("coldstart", address), ("profile", address), ("verify", address),
                      ("compare", address), ("compare", sample, sample, address), (address, "--model", "x")):
            done = analyze(*words)
            self.assertIn(done.returncode, (0, 1, 2), done)
        done = analyze("compare", sample, address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("new  postgresql://127.0.0.1:", done.stdout)

        # What is there is not measured again, and a program that measures adds to it.
        done = call(BENCH, *measure, "--store", address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" cases are in postgresql://127.0.0.1:", done.stderr)
        done = call(BENCH, *measure, "--store", address, "--again")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = analyze("store", "runs", address)
        self.assertIn("(by the night run)", told.stdout)
        self.assertEqual(told.stdout.count("\n"), 3, told.stdout)
        self.assertIn("all is what was written", analyze("store", "check", address).stdout)
        # A store of schema 4, with dates of other zones, is brought up to date when it is read.
        SERVER.ask("UPDATE guest.run SET date = '2026-11-27T12:44:51-0400' WHERE id = 1", "named")
        SERVER.ask("UPDATE guest.benanza_store SET schema = 4", "named")
        self.assertIn("2026-11-27T16:44:51", analyze("store", "runs", address).stdout)
        self.assertIn("all is what was written", analyze("store", "check", address).stdout)
        gone = analyze("store", "prune", address, "--keep", 1)
        self.assertRegex(gone.stdout, r": forgotten: [1-9][0-9]* results, 1 run, [01] graphs?")
        SERVER.ask("UPDATE guest.result SET checksum = checksum + 1", "named")
        done = analyze("store", "check", address, "--format", "json")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(json.loads(done.stdout)["whole"])

        SERVER.ask("REVOKE INSERT ON ALL TABLES IN SCHEMA guest FROM guest", "named")
        self.refused(call(BENCH, "-q", *measure, "--store", address, "--again"), "the server does not allow that")
        self.refused(analyze("store", "prune", address), "nothing says what is old")
        self.refused(analyze(address.replace(PASSWORD, PASSWORD + "x")), "password authentication failed")
        self.refused(analyze(address.replace("guest:", "guest:@")), "address of the store is not understood")
        self.refused(analyze(address.replace("/named", "/none")), "does not exist")
        self.refused(analyze("check", "none.json", address))
        self.refused(analyze(address, "--store", address), "--store says where")
        self.refused(analyze("postgresql://127.0.0.1:1/x"), "Connection refused")


if __name__ == "__main__":
    if why := why_not():
        print(f"skipped: {why}")
        sys.exit(0)
    with Server() as SERVER:
        unittest.main(argv=sys.argv[:1])
