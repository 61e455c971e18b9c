# SPDX-License-Identifier: Apache-2.0
"""Does each header compile alone, and do headers and sources compile by other compilers too?"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from checks.common import ROOT, from_root, violation


@functools.cache
def options_for(compiler):
    """What a compiler needs besides: Debian installs the omp.h of one clang only, which will do for others;
    and clang 19 warns of what the std::stable_sort of g++ 12 calls."""
    if "clang" not in compiler:
        return []
    options = ["-Wno-deprecated-declarations"]
    tried = subprocess.run([*shlex.split(compiler), "-fopenmp", "-fsyntax-only", "-x", "c++", "-"], input="#include <omp.h>\n",
                           capture_output=True, text=True)
    if tried.returncode != 0:
        for header in sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))[:1]:
            options += ["-idirafter", str(header.parent)]
    return options


def problem_of(compiler, done):
    """The first error or warning that a compiler printed; None if it has nothing against what it compiled."""
    found = re.search(r"^(.*(?:error|warning): .*)$", done.stderr, re.MULTILINE)
    if found or done.returncode != 0:
        return from_root(found[1] if found else f"{compiler} failed")
    return None


def compile_alone(compiler, header):
    """(header, problem, reason why it was skipped). Functions that programs compile once stand in headers
    of their own, which are tried too: others need not include them."""
    once = ["-DBENANZA_COMPILED", "-DBENANZA_COMPILED_RESULT", "-DBENANZA_COMPILED_BOUND", "-DBENANZA_COMPILED_ONNX",
            "-DBENANZA_COMPILED_TRACE"]
    command = [*shlex.split(compiler), *once, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
               "-fopenmp", "-DONNX_ML=1", "-DONNX_NAMESPACE=onnx", "-I", str(ROOT / "include"),
               "-I", str(ROOT), "-isystem", "/usr/local/cuda/include", *options_for(compiler), "-fsyntax-only", "-x", "c++", "-"]
    included = header.removeprefix("include/")
    done = subprocess.run(command, input=f"#include <{included}>\n", capture_output=True, text=True)
    absent = re.search(r"fatal error: '?([^:']+)'?:? (?:No such file|file not found)", done.stderr)
    if absent and f"<{absent[1]}>" in done.stderr and not absent[1].startswith("benanza/"):
        return header, None, f"<{absent[1]}>"
    if version := re.search(r'error: (?:#error )?"this is of (\w+ \d+)', done.stderr):
        return header, None, version[1]
    return header, problem_of(compiler, done), None


def compiler_to_try():
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(shlex.split(compiler)[0]) is None:
        sys.exit(f"check: there is no {compiler}")
    return compiler


def check_sources(build, part, of):
    """Compiles each source as the build does, or a part of them, by another compiler and without writing anything."""
    compiler = compiler_to_try()

    def compile_one(entry):
        words = shlex.split(entry["command"])
        words = words[next(i for i, w in enumerate(words) if re.search(r"(\+\+|cc|clang)(-\d+)?$", w)) + 1:]
        del words[words.index("-o"):words.index("-o") + 2]
        words = [w for w in words if not re.match(r"-(Wno-restrict|Wno-maybe-uninitialized|c$)", w)]
        if "/Unity/" in entry["file"]: # several are compiled as one: clang sees one's names in the others
            words.append("-Wno-shadow")
        words = [plain.get(w, w) for w in words]
        done = subprocess.run([compiler, "-fsyntax-only", "-Wno-unused-command-line-argument", *words,
                               *options_for(compiler)], cwd=entry["directory"], capture_output=True, text=True)
        return entry["file"], problem_of(compiler, done)

    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    entries = [e for e in entries if not e["file"].endswith(".gch") and "cmake_pch" not in e["file"]][part - 1::of]
    # Where another compiler does not find what the build's own one has precompiled beside the header.
    scratch = tempfile.TemporaryDirectory()
    headers = sorted({w for e in entries for w in shlex.split(e["command"]) if w.endswith("cmake_pch.hxx")})
    plain = {h: shutil.copy(h, f"{scratch.name}/{i}.hxx") for i, h in enumerate(headers)}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for source, problem in pool.map(compile_one, entries):
            if problem:
                violation(from_root(source), f"{compiler} does not compile it: {problem}")


def check_headers(files, part, of):
    compiler = compiler_to_try()
    headers = [f for f in files if f.startswith(("include/benanza/", "analyzer/")) and f.endswith(".hpp")][part - 1::of]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for header, problem, absent in pool.map(lambda h: compile_alone(compiler, h), headers):
            if absent:
                print(f"check: {header} is not compiled: there is no {absent}", file=sys.stderr)
            if problem:
                violation(header, f"does not compile alone: {problem}")


def check_by_clang(files):
    """As one source, for that takes a tenth of each alone."""
    if shutil.which("clang++-14") is None:
        print("check: there is no clang++-14 here: nothing was compiled by it", file=sys.stderr)
        return
    sources = [f for f in files if re.fullmatch(r"include/benanza/compare/\w+\.hpp|analyzer/.*\.cpp", f)]
    command = ["clang++-14", "-std=c++20", "-fopenmp", "-I", str(ROOT / "include"), "-I", str(ROOT),
               *options_for("clang++-14"), "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input="".join(f'#include "{ROOT}/{h}"\n' for h in sources), capture_output=True,
                          text=True)
    for where, what in re.findall(r"^(.*): (?:fatal )?error: (.*)$", done.stderr, re.MULTILINE):
        if "file not found" in what:
            print(f"check: clang++-14 compiles nothing: {what}", file=sys.stderr)
            return
        violation(from_root(where), f"clang++-14 does not compile it: {what}")
