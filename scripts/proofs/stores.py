# SPDX-License-Identifier: Apache-2.0
"""Does a store lose or double results where programs are killed or cannot write, and how long does it take with
up to 10^7 of them?"""

import json
import os
import random
import signal
import subprocess
import time

from proofs.programs import BUILD, ROOT, WORK, bench, build, forget, run, stop


def stored(store):
    """The stored cases, with how often each is there."""
    done = run([BUILD / "benanza_analyze", store, "--export", WORK / "survive.json"], fine=(0, 1, 2))
    if done.returncode == 2:
        return {}
    names = [b["name"] for b in json.loads((WORK / "survive.json").read_text())["benchmarks"]]
    return {n: names.count(n) for n in names}


def survive(arguments):
    model = (arguments.models or ["squeezenet-v1.1"])[0]
    program, _ = build([model], "survive")
    store = WORK / "survive.db"
    forget("survive")
    options = [str(program), "--store", str(store), "--effort", "quick", "--benchmark_filter=/f32/"]
    dice = random.Random(1)
    lost = doubled = kills = 0
    before = {}
    while kills < arguments.kills:
        victim = subprocess.Popen(options, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        time.sleep(dice.uniform(0.05, 1.5))
        if victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            kills += 1
        victim.wait()
        time.sleep(0.05)
        now = stored(store) if store.exists() else {}
        lost += sum(n not in now for n in before)
        doubled += sum(count > 1 for count in now.values())
        if victim.returncode not in (0, 1, -signal.SIGKILL):
            stop(f"{program.name} ended with {victim.returncode} before it was killed")
        if victim.returncode >= 0 and len(now) == len(before):  # all was measured: begin anew
            forget("survive")
            now = {}
        before = now
    seconds, done = bench(program, *options[1:])
    total = len(stored(store))
    print(f"{kills} kills: {lost} results lost, {doubled} doubled; then completed with {total} cases, "
          f"exit {done.returncode}")

    for what, options in (
            ("read-only store", ["--store", "/proc/version"]),
            ("full disk", ["--store", "/dev/full"])):
        _, done = bench(program, *options, check=False)
        print(f"{what}: exit {done.returncode}: {done.stderr.strip()[:150]}")
    limited = WORK / "limited.db"
    forget("limited")
    script = f"ulimit -f 2048; exec '{program}' --store '{limited}' --effort quick"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, text=True, capture_output=True)
    kept = len(stored(limited)) if limited.exists() else 0
    print(f"disk that fills up: exit {done.returncode}: {done.stderr.strip().splitlines()[-1][:150]}\n"
          f"  {kept} results are in the store")


def scale(arguments):
    test_build = ROOT / "build-test"
    run(["cmake", "-S", ROOT, "-B", test_build, "-G", "Ninja", "-DBENANZA_TESTS=ON"])
    run(["cmake", "--build", test_build, "--target", "benanza_store_scale"])
    file = WORK / "scale.db"
    subprocess.run([str(test_build / "tests" / "benanza_store_scale"), str(file)], check=True)
    forget("scale")
