#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/measure_framework find which nodes a framework's operators stand for, and keep of traces what
readers need? Without any framework; with onnx also its form of graphs.

  framework_operators.py <source folder>
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1])
SCRIPT = SOURCE / "scripts" / "measure_framework"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
from frameworks import traces  # noqa: E402: it stands beside the script
from frameworks.common import Refused  # noqa: E402
from frameworks.environment import has_package, missing_packages  # noqa: E402
from frameworks.operators import Model, Node, nodes_of, operators_of, share  # noqa: E402


def model(text, inputs="x"):
    """Nodes as "type in,in > out,out", each called after its type and first result."""
    out = []
    for line in filter(None, map(str.strip, text.split(";"))):
        kind, reads, _, makes = line.split(" ")
        out.append(Node(f"{kind}_{makes.split(',')[0]}", kind, reads.split(","), makes.split(",")))
    return Model(out, inputs.split(","))


def stands(model, *operators):
    return {o["name"]: (" ".join(o["stands_for"]), " ".join(o["makes"])) for o in operators_of(model, operators)}


class Packages(unittest.TestCase):
    def test_a_folder_of_the_name_is_no_package(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "half_a_package").mkdir()
            sys.path.insert(0, folder)
            try:
                self.assertEqual(missing_packages(["half_a_package", "json"]), ["half_a_package"])
            finally:
                sys.path.remove(folder)


class Operators(unittest.TestCase):
    def test_blocked_convolutions_with_what_joined_them(self):
        of = model("Conv x,w > c; BatchNormalization c,s > b; Conv x,v > d; Add b,d > a; Relu a > r; Conv r,u > e;"
                   "HardSigmoid e > h; MaxPool h > p")
        found = stands(of, Node("d_nchwc", "Conv", ["x", "reorder"], ["reorder_token_0"]),
                       Node("b_nchwc_token_7", "Conv", ["x", "k", "", "reorder_token_0"], ["reorder_token_1"],
                            activation="Relu"),
                       Node("e_nchwc", "Conv", ["reorder_token_1", "u"], ["reorder_token_2"], activation="HardSigmoid"),
                       Node("ReorderOutput", "ReorderOutput", ["reorder_token_2"], ["h"]),
                       Node("MaxPool_p", "MaxPool", ["h"], ["p"]))
        self.assertEqual(found, {"d_nchwc": ("Conv_d", "d"),
                                 "b_nchwc_token_7": ("Conv_c BatchNormalization_b Add_a Relu_r", "r"),
                                 "e_nchwc": ("Conv_e HardSigmoid_h", "h"), "ReorderOutput": ("", ""),
                                 "MaxPool_p": ("MaxPool_p", "p")})

    def test_a_sum_of_another_tensor_is_not_believed(self):
        of = model("Conv x,w > c; Add c,y > a; Relu a > r", "x,y,z")
        found = stands(of, Node("c_nchwc", "Conv", ["x", "w", "", "z"], ["t"]), Node("Relu_r", "Relu", ["t"], ["r"]))
        self.assertEqual(found["c_nchwc"][1], "")
        self.assertNotIn("Add_a", found["Relu_r"][0])

    def test_inserted_forms_stand_for_nothing(self):
        of = model("Transpose x > t; Reshape t,s > r; MatMul r,w > m; Add m,b > a; Mul a,a > y")
        found = stands(of, Node("Transpose_t", "Transpose", ["x"], ["t"]), Node("new", "Reshape", ["t", "s2"], ["flat"]),
                       Node("MatMul_m/MatMulAddFusion", "Gemm", ["flat", "w", "b"], ["flat2"]),
                       Node("back", "Reshape", ["flat2", "s3"], ["a"]), Node("Mul_y", "Mul", ["a", "a"], ["y"]))
        self.assertEqual(found["MatMul_m/MatMulAddFusion"], ("Reshape_r MatMul_m Add_a", "a"))
        self.assertEqual((found["new"], found["back"]), (("", ""), ("", "")))

    def test_operators_that_did_it_together(self):
        of = model("Relu x > r; LayerNormalization r,s > n; Abs n > y")
        found = stands(of, Node("r", "Relu", ["x"], ["r:0"], ["Relu_r"]), Node("Mean_1", "Reduce", ["r:0"], ["m:0"]),
                       Node("Sub_2", "Subgraph", ["r:0", "m:0"], ["s:0"]),
                       Node("n", "RMS", ["s:0"], ["n:0"], ["LayerNormalization_n"]),
                       Node("last", "Reorder", ["n:0"], ["o:0"]), Node("y", "Eltwise", ["o:0"], ["y:0"], ["y"]))
        self.assertEqual([found[n][0] for n in ("Mean_1", "Sub_2", "n")], ["LayerNormalization_n"] * 3)
        self.assertEqual((found["last"], found["y"]), (("", ""), ("Abs_y", "y")))  # by its tensor's name

    def test_a_node_on_several_ways(self):
        of = model("LSTM x > h,c; Squeeze h > s; Concat c,c > d; Relu s > y")
        found = stands(of, Node("Seq", "RNNSeq", ["x"], ["Seq:0", "Seq:1"]),
                       Node("a", "Reshape", ["Seq:0"], ["s:0"], ["Squeeze_s"]),
                       Node("b", "Concatenation", ["Seq:1"], ["d:0"], ["Concat_d"]))
        self.assertEqual(found["Seq"][0], "LSTM_h Squeeze_s Concat_d")
        self.assertEqual((found["a"][0], found["b"][0]), ("Squeeze_s", "Concat_d"))

    def test_merged_copies_and_shapes_have_no_operator(self):
        of = model("Relu x > r; Exp r > e; Exp r > f; Shape e > s; Gather s,i > g; Mul e,f > m; Reshape m,g > y")
        operators = [Node("Relu_r", "Relu", ["x"], ["r"]), Node("Exp_e", "Exp", ["r"], ["e"]),
                     Node("Mul_m", "Mul", ["e", "e"], ["m"]), Node("Reshape_y", "Reshape", ["m", "k"], ["y"])]
        found = stands(of, *operators)
        self.assertEqual([v[0] for v in found.values()], ["Relu_r", "Exp_e", "Mul_m", "Reshape_y"])
        claimed, all_, none = share(of, operators_of(of, operators))
        self.assertEqual((claimed, all_, none), (4, 5, []))  # Exp_f is the copy; Shape and Gather do not run

    @unittest.skipUnless(has_package("onnx"), "onnx for Python is missing")
    def test_graphs_of_onnx(self):
        from onnx import TensorProto, helper
        body = helper.make_graph([helper.make_node("Add", ["x", "inside"], ["z"])], "b", [], [], [
            helper.make_tensor("inside", TensorProto.FLOAT, [1], [1.0])])
        graph = helper.make_graph([helper.make_node("If", ["c"], ["", "y"], then_branch=body),
                                   helper.make_node("Conv", ["y", "w", ""], ["k"], "n", activation="Relu")], "g", [], [])
        self.assertEqual(nodes_of(graph), [Node("y", "If", ["c", "x"], ["y"]),
                                           Node("n", "Conv", ["y", "w", ""], ["k"], activation="Relu")])


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
        self.assertEqual((made["schema_version"], made["samples_ns"], made["operators"]), (2, [250000], []))
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

    def test_what_is_none(self):
        for framework, text, said in (("openvino", [event("n", 0, 1, op_name="Conv")], "of onnxruntime"),
                                      ("onnxruntime", "layer 3 ms", "not a profile of ONNX Runtime"),
                                      ("pytorch", '{"traceEvents": ', "no valid JSON"), ("onnxruntime", {}, "not a profile")):
            done, made = self.imported(framework, text)
            self.assertEqual((done.returncode, made, done.stderr.count("\n")), (2, None, 1), done.stderr)
            self.assertIn(said, done.stderr)
        done, _ = self.imported("onnxruntime", more=["--latency-ms", 3])
        self.assertIn("go with --trace", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
