#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework keep of traces and graphs what readers need? Without any framework.

  framework_traces.py <source folder>
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

SOURCE = Path(sys.argv[1])
SCRIPT = SOURCE / "scripts" / "measure_framework"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
from frameworks import running, traces  # noqa: E402: it is next to the script
from frameworks.common import Refused, one_line, write_whole  # noqa: E402
from frameworks.environment import missing_packages, run_elsewhere  # noqa: E402
from frameworks.graphs import Node  # noqa: E402
from gpu import files  # noqa: E402


class Counters(unittest.TestCase):
    def test_means_of_all_runs_become_means_between_reads(self):
        def told(**us):
            return {name: {"name": name, "real_us": n} for name, n in us.items()}

        read = [(1, told(cold=200, long=500)), (5, told(cold=40, long=420)), (9, told(cold=22, long=411, late=2))]
        runs = running.between_reads(read)
        us = [{layer["name"]: layer["real_us"] for layer in run} for run in runs]
        self.assertEqual(us, [{"cold": 200, "long": 500, "late": 0}, {"cold": 0, "long": 400, "late": 0},
                              {"cold": 0, "long": 399.75, "late": 4.5}])

    def test_operators_of_a_run(self):
        events = [{"name": "model_run", "cat": "Session", "ts": 10, "dur": 9}, {"name": "a", "cat": "Node", "ts": 10, "dur": 3},
                  {"name": "b", "cat": "Node", "ts": 14, "dur": 4}, {"name": "model_run", "cat": "Session", "ts": 30, "dur": 5},
                  {"name": "a", "cat": "Node", "ts": 31, "dur": 2}]
        self.assertEqual(running.OnnxRuntime.run_us([{"json": events[::-1]}]), [7, 2])
        rows = {"runs": [[{"real_us": 3}, {"real_us": 1.5}], [{"real_us": 2}]]}
        self.assertEqual(running.OpenVino.run_us([{}, {"json": rows}]), [4.5, 2])


class Packages(unittest.TestCase):
    def test_a_folder_of_the_name_is_no_package(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "half_a_package").mkdir()
            sys.path.insert(0, folder)
            try:
                self.assertEqual(missing_packages(["half_a_package", "json"]), ["half_a_package"])
            finally:
                sys.path.remove(folder)


GRAPH = """<?xml version="1.0"?><net name="g" version="11"><layers>
<layer id="0" name="x" type="Input"><data execOrder="0" execTimeMcs="not_executed"/><output><port id="0"/></output></layer>
<layer id="1" name="w" type="Const"><data execOrder="1"/><output><port id="0"/></output></layer>
<layer id="2" name="w2" type="Reshape"><data execOrder="2"/><input><port id="0"/></input><output><port id="1"/></output>
</layer><layer id="3" name="c/WithoutBiases" type="Convolution"><data execOrder="3" execTimeMcs="9" runtimePrecision="f32"
 originalLayersNames="c/WithoutBiases,c,r"/><input><port id="0"/><port id="1"/></input><output><port id="2"/></output></layer>
<layer id="4" name="y" type="Output"><data execOrder="4"/><input><port id="0"/></input></layer></layers><edges>
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/><edge from-layer="2" from-port="1" to-layer="3" to-port="1"/>
<edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
</edges></net>"""


def event(name, ts, dur, **arguments):
    return {"cat": "Node" if "op_name" in arguments else "Session", "name": name, "ph": "X", "ts": ts, "dur": dur,
            "args": arguments}


class Traces(unittest.TestCase):
    def test_a_graph_of_openvino(self):
        self.assertEqual(traces.graph_of_xml(GRAPH), [Node("c/WithoutBiases", "Convolution", ["x"], ["c/WithoutBiases:0"],
                                                           ["c/WithoutBiases", "c", "r"])])
        with self.assertRaisesRegex(Refused, "not an execution graph"):
            traces.graph_of_xml("<net ")

    def test_whole_runs_are_kept(self):
        one = [event("model_run", 0, 10), event("a_kernel_time", 2, 3, op_name="Conv", mem_peak="7"),
               event("a_fence_before", 1, 0, op_name="Conv")]
        events = [e | {"ts": e["ts"] + 20 * run} for run in range(40) for e in one]
        kept = traces.slim_events(events, 2000)
        runs, nodes = ([e for e in kept if e["cat"] == kind] for kind in ("Session", "Node"))
        self.assertTrue(3 <= len(runs) < 40 and len(runs) == len(nodes), (len(runs), len(nodes)))
        self.assertEqual((runs[0]["ts"], nodes[0]["args"]), (0, {"op_name": "Conv"}))
        self.assertLessEqual(len(json.dumps(kept, separators=(",", ":"))), 2000)

    def imported(self, framework, *files, more=()):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "m.onnx").write_bytes(b"\x08\x08")
        words = [framework, Path(folder.name) / "m.onnx", *more, "-o", Path(folder.name) / "out.json"]
        for number, text in enumerate(files):
            (Path(folder.name) / str(number)).write_text(text if isinstance(text, str) else json.dumps(text))
            words += ["--trace", Path(folder.name) / str(number)]
        # Without packages of the site nothing is found but what Python itself has.
        done = subprocess.run([sys.executable, "-S", SCRIPT, *map(str, words)], capture_output=True, text=True)
        out = Path(folder.name) / "out.json"
        return done, json.loads(out.read_text()) if out.exists() else None

    def test_files_without_any_package(self):
        events = [event("model_run", 0, 10), event("a_kernel_time", 2, 3, op_name="Conv",
                                                   output_type_shape=[{"float16": [1]}])]
        done, made = self.imported("onnxruntime", events, more=["--latency-ms", 0.25])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((made["schema_version"], made["samples_ns"], "graph" in made), (3, [250000], False))
        self.assertEqual(made["traces"], [{"format": "onnxruntime-profile", "json": events}])
        self.assertEqual((made["options"]["precision"], made["options"]["threads"]), ("f16", 0))
        self.assertIn("computed in f16", done.stderr)
        broken = json.dumps(events).replace("a_kernel", 'a"b_kernel')
        self.assertEqual(self.imported("onnxruntime", broken)[1]["traces"][0]["text"], broken)

        table = ("layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
                 "c;Status.EXECUTED;Convolution;jit_avx512_f32;0.012;0.012\nr;Status.NOT_RUN;Relu;undef;0.000;0.000\n"
                 "c;Status.EXECUTED;Convolution;jit_avx512_f32;0.011;0.011\nTotal;;;;0.011;0.011\n")
        done, made = self.imported("openvino", GRAPH, table)
        self.assertEqual([t["format"] for t in made["traces"]], ["openvino-exec-graph", "openvino-profiling"])
        self.assertEqual([[n["real_us"] for n in run] for run in made["traces"][1]["json"]["runs"]], [[12], [11]])
        self.assertNotIn("samples_ns", made)
        self.assertIn("onnx for Python is missing", done.stderr)

        torch = {"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1.5, "dur": 2}]}
        self.assertEqual(self.imported("pytorch", torch)[1]["traces"][0]["json"], torch)

    def llama_bench(self, rows, *more):
        """What is made of a table of llama-bench."""
        with tempfile.TemporaryDirectory() as folder:
            model, table, out = (Path(folder) / name for name in ("tiny.gguf", "bench.json", "out.json"))
            model.write_bytes(b"GGUF")
            table.write_text(rows if isinstance(rows, str) else json.dumps(rows))
            done = subprocess.run([sys.executable, "-S", SCRIPT, "llamacpp", model, "--trace", table, "-o", out, *more],
                                  capture_output=True, text=True)
            return done, json.loads(out.read_text()) if out.exists() else None

    def test_rows_of_llama_bench(self):
        def row(prompt, made, depth, kind="f16", threads=2):
            return {"build_number": 7000, "cpu_info": "AMD EPYC", "gpu_info": "", "model_type": "llama 1B Q4_K - Medium",
                    "n_threads": threads, "type_k": kind, "type_v": kind, "n_gpu_layers": 99, "n_prompt": prompt,
                    "n_gen": made, "n_depth": depth, "samples_ns": [8000, 12000]}
        rows = [row(512, 0, 0), row(0, 4, 510), row(0, 1, 511, threads=4), row(64, 8, 0)]
        done, made = self.llama_bench(rows, "--dim", "sequence=1", "--threads", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(made["samples_ns"], [2000, 3000])  # of each of four tokens
        self.assertEqual(made["options"]["dims"], {"sequence": 1, "past": 511})  # in the middle of them
        self.assertEqual((made["options"]["threads"], made["options"]["precision"]), (2, "int8 and f32"))
        self.assertEqual((made["framework"], made["framework_version"]), ("llamacpp", "7000"))
        self.assertEqual(made["machine"]["processor"], "AMD EPYC")
        self.assertNotIn("device", made["options"])
        done, made = self.llama_bench([row(512, 0, 0, "f32")])
        self.assertIn("cache was of f32, not of f16", done.stderr)
        self.assertEqual((made["samples_ns"], made["options"]["set"]), ([8000, 12000], {"cache_type": "f32"}))

        for given, more, said in ((rows, [], "3 of its rows are meant; there are --dim sequence=512 --dim past=0 --threads 2"),
                                  (rows, ["--dim", "past=7"], "0 of its rows"), ([row(64, 8, 0)], [], "there are none"),
                                  (rows, ["--dim", "batch=1"], "sequence and past"), ({"n_gen": 1}, [], "not what llama-bench"),
                                  ([{"n_gen": 1}], [], "not what llama-bench"), ([3], [], "not what llama-bench"),
                                  (rows, ["--no-profile"], "--no-profile"), (rows, ["--latency-ms", "3"], "--latency-ms"),
                                  ("[", [], "not what llama-bench"), (rows, ["--shape", "x=1"], "--shape is not of")):
            done, made = self.llama_bench(given, *more)
            self.assertEqual((done.returncode, made, done.stderr.count("\n")), (2, None, 1), done.stderr)
            self.assertIn(said, done.stderr)

    def test_what_is_none(self):
        for framework, text, said in (("openvino", [event("n", 0, 1, op_name="Conv")], "of onnxruntime"),
                                      ("onnxruntime", "layer 3 ms", "not a profile of ONNX Runtime"),
                                      ("pytorch", '{"traceEvents": ', "no valid JSON"), ("onnxruntime", {}, "not a profile")):
            done, made = self.imported(framework, text)
            self.assertEqual((done.returncode, made, done.stderr.count("\n")), (2, None, 1), done.stderr)
            self.assertIn(said, done.stderr)
        done, _ = self.imported("onnxruntime", more=["--latency-ms", 3])
        self.assertIn("go with --trace", done.stderr)

    def test_hostile_files_end_in_one_line(self):
        done, made = self.imported("onnxruntime", "[" * 100_000 + "]" * 100_000)
        self.assertEqual((done.returncode, made, done.stderr.count("\n")), (2, None, 1), done.stderr)
        self.assertIn("nested too deeply", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            packed = Path(folder) / "trace.json.gz"
            packed.write_bytes(gzip.compress(b" " * 3_000_000))
            most, traces.MOST_TEXT = traces.MOST_TEXT, 1 << 20
            try:
                with self.assertRaisesRegex(Refused, "more than 1 MiB of text"):
                    traces.read_trace(packed, "onnxruntime")
            finally:
                traces.MOST_TEXT = most
            packed.write_bytes(gzip.compress(b"[]")[:-9])
            with self.assertRaisesRegex(Refused, "neither text nor packed text"):
                traces.read_trace(packed, "onnxruntime")
        environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        with mock.patch.dict(os.environ, environment, clear=True), \
                mock.patch.object(Path, "home", side_effect=RuntimeError("no home")):
            with self.assertRaisesRegex(Refused, "set HOME or XDG_CACHE_HOME"):
                run_elsewhere("onnxruntime", ("none",))

    def test_what_is_printed_steers_no_terminal(self):
        events = [event("model_run", 0, 10), event("\x1b]0;x\x07_kernel_time", 2, 3, op_name="Conv",
                                                   output_type_shape=[{"\x1b[2J": [1]}])]
        with tempfile.TemporaryDirectory() as folder:
            model, trace = Path(folder) / "a\x1b[2J\x07.onnx", Path(folder) / "trace.json"
            model.write_bytes(b"\x08\x08")
            trace.write_text(json.dumps(events))
            for words in ((), ("--dim", "\x1b[2J"), ("--optimized", Path(folder) / "\x9b.onnx")):
                done = subprocess.run([sys.executable, "-S", SCRIPT, "onnxruntime", model, "--trace", trace, "-o",
                                       Path(folder) / "out.json", *words], capture_output=True, text=True)
                self.assertEqual(done.returncode, 2 if words else 0, done.stderr)
                self.assertTrue(all(c.isprintable() or c == "\n" for c in done.stdout + done.stderr), done)
        self.assertEqual(one_line("a\x1b[2J \x07\u202e b\n c"), "a?[2J ?? b c")

    def test_no_planted_link_is_followed_and_no_file_beside_is_touched(self):
        with tempfile.TemporaryDirectory() as folder:
            out, victim = Path(folder) / "out.json", Path(folder) / "victim"
            victim.write_text("mine")
            (Path(folder) / "out.json.unfinished").symlink_to(victim)
            (Path(folder) / "out.json.part").symlink_to(victim)
            for write in (lambda: write_whole(out, b"new"), lambda: files.keep(out, {}),
                          lambda: subprocess.run([sys.executable, "-S", SCRIPT, "onnxruntime", model, "--trace", trace,
                                                  "-o", out], check=True, capture_output=True)):
                model, trace = Path(folder) / "m.onnx", Path(folder) / "trace.json"
                model.write_bytes(b"\x08\x08")
                trace.write_text(json.dumps([event("a_kernel_time", 2, 3, op_name="Conv")]))
                write()
                self.assertEqual(victim.read_text(), "mine")
                self.assertTrue(out.is_file() and not out.is_symlink())
                self.assertEqual(len(list(Path(folder).glob(".*"))), 0)
            # A name that is a link stays one, rights stay, and what is no file is written as it is.
            (Path(folder) / "latest").symlink_to("out.json")
            out.chmod(0o600)
            write_whole(Path(folder) / "latest", b"newer")
            self.assertTrue((Path(folder) / "latest").is_symlink())
            self.assertEqual((out.read_bytes(), out.stat().st_mode & 0o777), (b"newer", 0o600))
            os.mkfifo(Path(folder) / "pipe")
            reader = os.open(Path(folder) / "pipe", os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            write_whole(Path(folder) / "pipe", b"x")
            self.assertEqual((os.read(reader, 9), (Path(folder) / "pipe").is_fifo()), (b"x", True))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
