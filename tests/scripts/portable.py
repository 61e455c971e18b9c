#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the pack for a machine with a GPU whole? It is made by the command of a user, and started in a root that
has nothing but libc, libstdc++ and CUDA's libraries, then also Python.

  portable.py <source folder> <build folder> <fake GPU library> <folder of CUDA's libraries> <an ordinary benanza_bench>
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, FAKE, CUDA, ORDINARY = (Path(p) for p in sys.argv[1:6])
# The outer process makes the folder and takes it away; the inner one has mounts there that no other sees.
WORK = Path(os.environ.get("BENANZA_PORTABLE_WORK", ""))
MOUNTS = os.environ.get("BENANZA_PORTABLE_MOUNTS") == "yes"
ROOT, PACK = WORK / "root", WORK / "root" / "pack"
TOOLKIT = "/usr/local/cuda/lib64"
OF_EVERY_LINUX = re.compile(r"(ld-linux\S*|lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt|z))\.so\.\d+$")
OF_CUDA = re.compile(r"lib(cudart|cudnn\w*|cublas|cublasLt|nvrtc|nvrtc-builtins)\.so")


def own_mounts():
    """The words before a command that give it mounts of its own; None where that is forbidden."""
    words = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    try:
        return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else None
    except OSError:
        return None


def libraries_of(*files):
    """Paths of the libraries that the loader finds for programs, and of itself."""
    said = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True).stdout
    return {Path(p) for p in re.findall(r"(/\S+) \(0x", said)}


def show(path, inside=None):
    """Shows a file or folder of this machine in the root; nothing there can be written."""
    to = ROOT / str(inside or path).lstrip("/")
    if Path(path).is_dir():
        to.mkdir(parents=True, exist_ok=True)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        to.touch()
    subprocess.run(["mount", "--bind", "-o", "ro", os.path.realpath(path), to], check=True)


def make_root():
    """A root without compiler, shell or package."""
    for path in ("/proc", "/sys", "/dev/null", "/dev/urandom"):
        show(path)
    for folder in ("tmp", "dev/shm"):
        (ROOT / folder).mkdir()
    libraries = libraries_of(PACK / "benanza_bench")
    libc = next(p for p in libraries if p.name == "libc.so.6").parent
    libraries |= {libc / f"lib{name}.so.{n}" for name, n in (("pthread", 0), ("dl", 2), ("rt", 1), ("z", 1))}
    for path in libraries:
        if OF_EVERY_LINUX.match(path.name):
            show(path)
    for path in CUDA.iterdir():
        if OF_CUDA.match(path.name):
            show(path, f"{TOOLKIT}/{path.name}")
    shutil.copy(FAKE, ROOT / "fake_gpu.so")


def in_root(*words, **environment):
    def enter():
        os.chroot(ROOT)
        os.chdir("/")

    return subprocess.run([str(w) for w in words], capture_output=True, text=True, preexec_fn=enter, timeout=300,
                          env={"LD_LIBRARY_PATH": TOOLKIT, "LC_ALL": "C.UTF-8", "HOME": "/tmp", **environment})


def needs(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", subprocess.run(
        ["readelf", "-d", "-W", file], capture_output=True, text=True, check=True).stdout)


class Pack(unittest.TestCase):
    def test_it_is_small_and_has_what_its_programs_need(self):
        files = {f.name: f for f in PACK.iterdir()}
        self.assertLess(sum(f.stat().st_size for f in files.values()), 16 << 20)
        self.assertFalse([name for name, f in files.items() if f.is_symlink()])
        for name in [n for n in files if n in ("benanza_bench", "benanza_analyze") or ".so" in n]:
            for library in needs(files[name]):
                self.assertTrue(library in files or OF_EVERY_LINUX.match(library) or OF_CUDA.match(library),
                                f"{name} needs {library}")
        listed = json.loads(files["pack.json"].read_text())
        for what in ("models", "zoo", "llm"):
            graphs = json.loads(files[f"{what}.json"].read_text())["graphs"]
            self.assertLessEqual(set(listed[what]), {g["name"] for g in graphs})

    def check_needs(self, program):
        return subprocess.run(["cmake", f"-DPROGRAM={program}", "-DREADELF=readelf", "-P",
                               SOURCE / "cmake" / "portable_needs.cmake"], capture_output=True, text=True)

    def test_what_other_machines_lack_is_refused(self):
        full = WORK / "full"
        shutil.copy(ORDINARY, full)
        done = self.check_needs(full)
        self.assertRegex(" ".join(done.stderr.split()), "must not need .*lib(dnnl|pqxx)")
        self.assertFalse(full.exists())
        # A name of a newer libc is where a known one was, so the file is otherwise whole.
        known = max(re.findall(rb"GLIBC_2\.[1-3]\d\0", (PACK / "benanza_bench").read_bytes()))
        newer = WORK / "newer"
        newer.write_bytes((PACK / "benanza_bench").read_bytes().replace(known, b"GLIBC_2.99\0"))
        done = self.check_needs(newer)
        self.assertRegex(" ".join(done.stderr.split()), r"must not need GLIBC_2\.99, as newer does")
        self.assertFalse(newer.exists())


@unittest.skipUnless(MOUNTS, "no mounts")
class BareRoot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_root()

    def test_1_programs_start_and_list_cases(self):
        for program in ("benanza_bench", "benanza_analyze"):
            done = in_root(f"/pack/{program}", "--version")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = in_root("/pack/benanza_bench", "--graphs", "/pack/models.json", "--backends", "cuda,cudnn,cublas",
                       "--target", "h100", "--benchmark_list_tests")
        self.assertEqual(done.returncode, 0, done.stderr)
        for case in ("Conv/1x64x56x56-64x3x3-s1-p1/f32/cudnn/eng", "/f32/cublas/", "/f32/cuda/kernel:"):
            self.assertIn(case, done.stdout)
        done = in_root("/pack/benanza_bench", "--backends", "onednn", "--benchmark_list_tests")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_2_the_first_stage_and_what_it_measured(self):
        python = os.path.realpath(sys.executable)
        stdlib = Path(sysconfig.get_path("stdlib"))
        show(python)
        show(stdlib)
        for path in libraries_of(python, *(stdlib / "lib-dynload").glob("*.so")):
            if not (ROOT / str(path).lstrip("/")).exists():
                show(path)
        done = in_root(python, "/pack/gpu_check", "--stage", "first", "--out", "/tmp/out", "--preload", "/fake_gpu.so",
                       "--types", "f16,f32", "--min-time", "0.002", "--ceilings",
                       "^machine/(copy|write)-[1248][0-9]{6}/f32/cuda/",
                       BENANZA_NVML="", BENANZA_CUPTI="", BENANZA_LAST_CACHE="0,0,33554432")
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        # The fake GPU compiles kernels by the compiler of the host, and there is none; all else comes out.
        self.assertRegex(done.stdout, "cuda/kernel:.* NVRTC: a kernel cannot be compiled")
        self.assertRegex(done.stdout, r"\nconvolution +1 +[1-9][0-9]{2} +0 +0 +")
        for row in (r"/cudnn/\S+ +10\.00\n", r"/cublas/\S+ +10\.00\n", r"\ncopy +[0-9.]+ +GB/s +cuda "):
            self.assertRegex(done.stdout, row)
        analysed = list((ROOT / "tmp").glob("out.work/first/convolution.analysis.txt"))
        self.assertRegex(analysed[0].read_text(), r"\nresnet50-v1@batch=1 +f16 +1 +[0-9.]+ us ")


def main():
    with tempfile.TemporaryDirectory(prefix="benanza_portable_") as work:
        made = subprocess.run([SOURCE / "scripts" / "gpu_check", "--pack", f"{work}/root/pack", "--tools", BUILD],
                              text=True, capture_output=True)
        if made.returncode != 0:
            return made.stdout + made.stderr
        words = own_mounts()
        if words is None:
            print("skipped: the bare root, as this system forbids mounts (unshare -m)")
        environment = {**os.environ, "BENANZA_PORTABLE_WORK": work, "BENANZA_PORTABLE_MOUNTS": "yes" if words else "no"}
        return subprocess.run([*(words or []), sys.executable, *sys.argv], env=environment).returncode


if __name__ == "__main__":
    if WORK.name:
        unittest.main(argv=sys.argv[:1])
    sys.exit(main())
