# SPDX-License-Identifier: Apache-2.0
"""Which of ONNX's own tests of its operators are whole, and do the reference and the processor's algorithms compute
what they want?"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from proofs.programs import BUILD, ROOT, WORK, run, stop


def python_with_onnx():
    """An interpreter that has PyPI's newest onnx; it is installed where there is none."""
    has_it = ["-c", "import onnx, onnx.backend.test.case.node, ml_dtypes"]
    folder = WORK / "onnx_environment"
    python = folder / "bin" / "python3"
    for candidate in (python, sys.executable):
        if Path(candidate).exists() and subprocess.run([candidate, *has_it], capture_output=True).returncode == 0:
            return candidate
    run([sys.executable, "-m", "venv", folder])
    run([python, "-m", "pip", "install", "--quiet", "onnx"])
    return python


def try_node_tests(program, folders):
    """What the program says of each test; it is started again behind one that crashes it."""
    found = {}
    while folders:
        done = subprocess.run([program, *folders], text=True, capture_output=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        found.update({l["name"]: l for l in lines if "name" in l})
        begun = [l["begun"] for l in lines if "begun" in l]
        if done.returncode == 0:
            break
        if not begun:
            stop(f"{program} failed ({done.returncode}): {done.stderr[-2000:]}")
        found[begun[-1]] = {"name": begun[-1], "state": "refused", "problems": [f"it ends the program ({done.returncode})"]}
        folders = folders[[f.name for f in folders].index(begun[-1]) + 1:]
    return found


def reasons(tests, field, most):
    """The texts of a field, those of most tests first."""
    texts = {}
    for t in tests:
        given = t.get(field, [])
        for text in {given} if isinstance(given, str) else set(given):
            texts.setdefault(re.sub(r"-?\d[\d.e+-]*", "#", text)[:100], []).append(t["name"])
    for text, names in sorted(texts.items(), key=lambda x: (-len(x[1]), x[0]))[:most]:
        print(f"  {len(names):4}  {text}\n        {' '.join(n.removeprefix('test_') for n in sorted(names)[:4])}")


def node_tests_program():
    run(["cmake", "-S", ROOT, "-B", BUILD, "-DBENANZA_TESTS=ON"])
    run(["cmake", "--build", BUILD, "--target", "node_tests"])
    return shutil.which("node_tests", path=f"{BUILD}/tests:{BUILD}")


def node_tests(arguments):
    python, folder = python_with_onnx(), WORK / "node_tests"
    said = json.loads(run([python, ROOT / "scripts" / "node_tests.py", folder]).stdout)
    program = node_tests_program()
    chosen = [f for f in sorted(folder.iterdir())
              if f.is_dir() and (not arguments.models or any(re.search(m, f.name) for m in arguments.models))]
    found = list(try_node_tests(program, chosen).values())
    (WORK / "node_tests.json").write_text(json.dumps(found, indent=1))
    count = lambda tests: f"{len(tests):5}  {100 * len(tests) / max(1, len(found)):5.1f} %"
    print(f"onnx {said['version']}: {len(found)} tests; left out " +
          ", ".join(f"{n} with {what}" for what, n in said["left_out"].items()))
    whole = [t for t in found if t["state"] == "whole"]
    for state in ("whole", "partial", "refused"):
        print(f"{state:<34}{count([t for t in found if t['state'] == state])}")
    reasons(found, "problems", 60)
    equal = [t for t in whole if not t.get("wrong") and not t.get("not_computed")]
    print(f"{'equal: the reference computes them':<34}{count(equal)}")
    print(f"{'  other than the test wants':<34}{count([t for t in whole if t.get('wrong')])}")
    reasons(whole, "wrong", 60)
    print(f"{'  not to be computed':<34}{count([t for t in whole if t.get('not_computed')])}")
    reasons(whole, "not_computed", 60)
    wrong = [t for t in whole if t.get("wrong_on_cpu")]
    print(f"{sum(t.get('ran', 0) for t in whole)} runs of the processor's algorithms; tests with a wrong one: {len(wrong)}; "
          f"layers without an algorithm: {sum(len(t.get('without_algorithm', [])) for t in whole)}")
    reasons(whole, "wrong_on_cpu", 60)
    reasons(whole, "without_algorithm", 60)
    odd = [t for t in whole if t.get("on_infinities")]
    if odd:
        print(f"{len(odd)} tests give infinities or NaNs to a library that takes them for other numbers:")
        reasons(odd, "on_infinities", 60)
    return 1 if wrong or any(t.get("wrong") for t in whole) else 0
