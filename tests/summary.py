#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says of each group of tests how many cases ran and which were skipped, and why.

  tests/summary.py build-test [--results long.xml] [--installs FILE] [--require-cuda]
                                                               after ctest --output-junit tests.xml, or the one named

Exit status 2, with one line, if --require-cuda was given and a group for GPUs did not run; 1 if something was
skipped for lack of a package that FILE names (scripts/install_packages --list) and that is to be had here.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

GPU_GROUPS = ("cuda", "cudnn", "cublas")
# What is in doctest::skip(...), in words.
REASONS = {
    "!on_fake()": "not on the fake GPU",
    "cuda_test::on_fake()": "on the fake GPU; the library itself is asked without it",
    "!has_nvrtc()": "the fake GPU hides NVRTC; the group nvrtc asks it",
    "!has_cub()": "the fake GPU hides NVRTC; the group nvrtc asks it",
    "no_server()": "no server is named; the group postgresql asks one of its own",
    "has_driver()": "this machine has an NVIDIA driver",
    "!with_cudnn": "cuDNN is not in this build (PyPI: nvidia-cudnn-cu13)",
    "!has_models()": "the folder of further models is not there (BENANZA_SHARED)",
    "!has_chosen()": "the program of other defaults needs libonnx and oneDNN (Debian: libonnx-dev libdnnl-dev)",
    "!has_data()": "ONNX's node tests are not installed (Debian: libonnx-testdata)",
    "!machine_has(dnnl_cpu_isa_avx512_core)": "this processor has no AVX-512",
    "!machine_has(dnnl_cpu_isa_avx512_core_vnni)": "this processor has no VNNI",
    "!machine_has(dnnl_cpu_isa_avx512_core_bf16)": "this processor has no bf16 instructions",
}
COUNTS = re.compile(r"\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped")
LACKS = re.compile(r"\((Debian|PyPI): ([^)]+)\)")  # in a reason: what has to be installed
FUZZED = re.compile(r"fuzz: (\w+: \d+ executions, \d+ refused)")
LEFT_OUT = re.compile(r"^left out: .*", re.MULTILINE)  # cases of a script


def skip_reason(file, line):
    """Why the case that begins there is skipped: the condition that its source names."""
    try:
        lines = Path(file).read_text().splitlines()[line - 1:line + 5]
    except OSError:
        return "reason unknown"
    text = " ".join(lines)
    at = text.find("doctest::skip(")
    if at < 0:
        return "reason unknown"
    depth, begin = 0, at + len("doctest::skip(")
    for i in range(begin - 1, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            condition = text[begin:i].strip()
            return REASONS.get(condition, f"where {condition}")
    return "reason unknown"


def skipped_cases(test):
    """(name, reason) of the cases that a test program passes over, as it lists them itself."""
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    environment = dict(os.environ)
    for setting in properties.get("ENVIRONMENT", []):
        name, _, value = setting.partition("=")
        environment[name] = value
    done = subprocess.run([*test["command"], "-ltc", "-ns", "-r=xml"], capture_output=True, text=True,
                          env=environment, cwd=properties.get("WORKING_DIRECTORY"))
    try:
        root = xml.fromstring(done.stdout)
    except xml.ParseError:
        return [("cases", "the program does not list them")]
    return [(c.get("name"), skip_reason(c.get("filename"), int(c.get("line", "1"))))
            for c in root.iter("TestCase") if c.get("skipped") == "true"]


def groups_of(build, results):
    """(name, state, cases run, cases skipped, reason, command) of each test of a run."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                                       capture_output=True, text=True, check=True).stdout)
    tests = {t["name"]: t for t in listed["tests"]}
    out = []
    for case in xml.parse(build / results).getroot().iter("testcase"):
        name = case.get("name")
        said = case.findtext("system-out") or ""
        counts = COUNTS.search(said)
        ran = int(counts[2]) + int(counts[3]) if counts else None
        state = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
        reason = next((l.strip() for l in said.splitlines() if l.strip().startswith("skipped: ")), "")
        out.append({"name": name, "state": state, "ran": ran, "skipped": int(counts[4]) if counts else 0,
                    "besides": FUZZED.findall(said) + LEFT_OUT.findall(said),
                    "reason": reason[len("skipped: "):], "test": tests.get(name)})
    return out, set(tests)


def can_be_had(source, package):
    """Whether the release has a Debian package, or pip has installed one for the tests."""
    if source == "PyPI":
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return any(cache.glob(f"benanza/tests/lib/python*/site-packages/{package.replace('-', '_')}-*.dist-info"))
    if not shutil.which("apt-cache"):
        return False
    said = subprocess.run(["apt-cache", "policy", package], capture_output=True, text=True).stdout
    return re.search(r"Candidate: [^(]", said) is not None


def without_reason(skipped, installs):
    """(a line for each package that groups were skipped for, whether it is to be had); `skipped` is pairs of
    group and reason, `installs` pairs of source and package."""
    groups = {}
    for name, reason in skipped:
        for source, packages in LACKS.findall(reason):
            for package in packages.split():
                if (source, package) in installs and name not in groups.setdefault((source, package), []):
                    groups[source, package].append(name)
    return [(f"{source}'s {package}: {', '.join(names)}", can_be_had(source, package))
            for (source, package), names in groups.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--results", default="tests.xml", help="what ctest wrote into the build folder")
    parser.add_argument("--installs", type=Path, help="lines of Debian or PyPI, and a package")
    parser.add_argument("--require-cuda", action="store_true")
    arguments = parser.parse_args()

    groups, known = groups_of(arguments.build, arguments.results)
    width = max([len(g["name"]) for g in groups] + [5])
    skipped = []
    for g in sorted(groups, key=lambda g: g["name"]):
        passed_over = skipped_cases(g["test"]) if g["skipped"] and g["test"] else []
        if g["state"] == "skipped":
            what = f"skipped: {g['reason'] or 'it did not run'}"
            skipped.append((g["name"], g["reason"]))
        elif g["ran"] is None:
            what = "1 ran"
        else:
            what = f"{g['ran']} ran, {len(passed_over)} skipped"
        what += "".join(f"\n{'':<{width}}    {line}" for line in g["besides"])
        print(f"{g['name']:<{width}}  {'' if g['state'] == 'skipped' else g['state'] + ', '}{what}")
        for name, why in passed_over:
            print(f"{'':<{width}}    skipped: {name}: {why}")
            skipped.append((g["name"], why))

    installs = {tuple(l.split()) for l in arguments.installs.read_text().splitlines()} if arguments.installs else ()
    lacking = without_reason(skipped, installs)
    for line, _ in lacking:
        print(f"not tested for lack of {line}")
    if arguments.require_cuda:
        ran = {g["name"] for g in groups if g["state"] != "skipped" and g["ran"] != 0}
        missing = [g for g in GPU_GROUPS if g in known and g not in ran]
        missing += [g for g in ("cuda", "cudnn") if g not in known]
        if missing:
            print(f"test: --require-cuda: {', '.join(missing)} did not run; install the CUDA toolkit and "
                  "cuDNN 9, and run all tests", file=sys.stderr)
            return 2
    faults = [line for line, had in lacking if had]
    if faults:
        print(f"test: this is to be had here, and groups were skipped for lack of it: {'; '.join(faults)}; "
              "call scripts/install_packages test, and look at what CMake finds", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
