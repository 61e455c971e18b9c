#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are the timelines of benanza_analyze what their formats demand, and do both say the same as the report?

  timelines.py <source folder> <benanza_analyze> [perfetto]

Without a part: Chrome's trace events, by the rules of their format. perfetto: Perfetto's own format, by its published
proto (PyPI's package perfetto; skipped without it), slice by slice beside Chrome's.
"""

import json
import os
import pty
import subprocess
import sys
import unittest
from collections import defaultdict
from pathlib import Path

from formats import CONV, HOSTILE, POINT, PROGRAM, Case, hostile, result, row
from pythons import go_on_with

PART = sys.argv[3] if len(sys.argv) > 3 else ""


def framework_run(names=("first", "relu", "left", "right", "joined"), us=(4400, 100, 1300, 4600, 350)):
    """What measure_framework writes: ONNX Runtime's events, a node after the other."""
    events = [{"cat": "Session", "pid": 7, "tid": 7, "ts": 1, "dur": 50, "ph": "X", "name": "model_loading_uri",
               "args": {}}]
    at = 1000
    for run in range(2):
        begin = at
        for i, (name, dur) in enumerate(zip(names, us)):
            events.append({"cat": "Node", "pid": 7, "tid": 7, "ts": at, "dur": dur, "ph": "X",
                           "name": name + "_kernel_time",
                           "args": {"op_name": ("Conv", "Relu", "Conv", "Conv", "Add")[i], "node_index": str(i),
                                    "provider": "CPUExecutionProvider",
                                    "output_type_shape": [{"float": [1, 8, 16, 16]}]}})
            at += dur + 10
        events.append({"cat": "Session", "pid": 7, "tid": 7, "ts": begin, "dur": at - begin, "ph": "X",
                       "name": "model_run", "args": {}})
        at += 1000
    return {"schema": "benanza-framework", "schema_version": 3, "framework": "onnxruntime",
            "framework_version": "1.32.0", "model": {"file": "fork.onnx"},
            "options": {"threads": 1, "batch": 1, "precision": "f32"}, "samples_ns": [10.9e6, 11e6, 11.1e6],
            "traces": [{"format": "onnxruntime-profile", "json": events}]}


def levels(names=("first", "left", "right", "joined")):
    """Rows of a chain's run with levels, in which calls take longer than their layer's own run says."""
    parts = [{"name": "onednn/jit " + n, "ns": ns, "layer": l} for n, ns, l in zip(
        names, (4.25e6, 1.1e6, 4.1e6, 3.3333e5), (CONV, POINT, CONV, "Add/1x8x16x16"))]
    calls = [{"part": i, "text": f"exec,cpu,convolution,jit:avx2,{n}", "ns": ns}
             for i, (n, ns) in enumerate(zip(names, (4.5e6, 1.05e6, 4e6, 3e5)))]
    out = []
    for level, ns in (("model", 10e6), ("layer", 10.2e6), ("call", 11e6)):
        more = {} if level == "model" else {"parts": parts}
        if level == "call":
            more.update(calls=calls)
        out.append(row("model/fork@batch=1,fused", "level-" + level, ns, state="run", backend="chain", **more))
    return out


class Slice:
    def __init__(self, name, category, begin, end, arguments):
        self.name, self.category, self.begin, self.end, self.arguments = name, category, begin, end, arguments


class Timeline:
    """Processes by pid, tracks by (pid, tid) with names and slices, in the order of a file."""

    def __init__(self):
        self.processes, self.tracks, self.slices = {}, {}, defaultdict(list)

    def of(self, process):
        """Slices of the process whose name begins so, by their track's name."""
        pid, = [p for p, name in self.processes.items() if name.startswith(process)]
        return {self.tracks[k]: s for k, s in self.slices.items() if k[0] == pid}


def check_nesting(case, timeline, error):
    """Slices of one track lie within each other or apart; none takes less than no time."""
    for track, slices in timeline.slices.items():
        case.assertIn(track, timeline.tracks)
        case.assertIn(track[0], timeline.processes)
        open_ends = []
        for s in slices:
            case.assertGreaterEqual(s.begin, 0)
            case.assertGreaterEqual(s.end, s.begin)
            while open_ends and open_ends[-1] <= s.begin + error:
                open_ends.pop()
            if open_ends:
                case.assertLessEqual(s.end, open_ends[-1] + error, f"{s.name!r} outlasts what it lies within")
            open_ends.append(s.end)


def read_chrome(case, text):
    """By the rules of the Trace Event Format: an object with traceEvents; metadata of the known kinds; complete
    events with times in us; whole numbers for processes and threads, each of them named."""
    whole = json.loads(text)
    case.assertEqual(set(whole), {"displayTimeUnit", "traceEvents"})
    case.assertIn(whole["displayTimeUnit"], ("ms", "ns"))
    out = Timeline()
    metadata = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index",
                "thread_sort_index": "sort_index"}
    for e in whole["traceEvents"]:
        case.assertIn(e["ph"], ("M", "X"))
        case.assertIs(type(e["pid"]), int)
        case.assertIs(type(e["tid"]), int)
        case.assertIs(type(e["name"]), str)
        case.assertIs(type(e["args"]), dict)
        if e["ph"] == "M":
            case.assertEqual(set(e), {"ph", "name", "pid", "tid", "args"})
            kind = metadata[e["name"]]
            case.assertEqual({k: type(v) for k, v in e["args"].items()}, {kind: str if kind == "name" else int})
            key = e["pid"] if e["name"].startswith("process") else (e["pid"], e["tid"])
            if kind == "name":
                of = out.processes if e["name"] == "process_name" else out.tracks
                case.assertNotIn(key, of)
                of[key] = e["args"]["name"]
            continue
        case.assertEqual(set(e), {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"})
        for field in ("ts", "dur"):
            case.assertIn(type(e[field]), (int, float))
            case.assertGreaterEqual(e[field], 0)
        out.slices[e["pid"], e["tid"]].append(
            Slice(e["name"], e["cat"], e["ts"] * 1e3, (e["ts"] + e["dur"]) * 1e3, e["args"]))
    check_nesting(case, out, 1e-3)
    return out


def check_fields(case, message):
    """No message holds a field that the published proto does not have, and all texts are UTF-8."""
    from google.protobuf import message as messages, unknown_fields
    case.assertEqual([f.field_number for f in unknown_fields.UnknownFieldSet(message)], [], type(message).__name__)
    for field, value in message.ListFields():
        one = isinstance(value, (messages.Message, str, bytes, int, float))
        for v in [value] if one else value:
            if field.type == field.TYPE_MESSAGE:
                check_fields(case, v)
            elif field.type == field.TYPE_STRING:
                case.assertIs(type(v), str, field.full_name)


def argument_of(annotation):
    """A debug annotation's value."""
    return getattr(annotation, annotation.WhichOneof("value"))


def read_perfetto(case, data):
    """By the published proto and the rules of its comments: each sequence's first packet clears its state; times of a
    sequence never go back; tracks are described before they are used, threads within a process that is described;
    each slice ends on its track, after those that began within it."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackDescriptor, TrackEvent
    trace = Trace.FromString(data)
    case.assertEqual(trace.SerializeToString(), Trace.FromString(trace.SerializeToString()).SerializeToString())
    check_fields(case, trace)
    out = Timeline()
    key_of, last, ranks, opened = {}, {}, {}, defaultdict(list)
    for i, packet in enumerate(trace.packet):
        sequence = packet.trusted_packet_sequence_id
        case.assertGreater(sequence, 0)
        fresh = sequence not in last
        case.assertEqual(packet.first_packet_on_sequence, fresh)
        case.assertEqual(packet.sequence_flags, TracePacket.SEQ_INCREMENTAL_STATE_CLEARED if fresh else 0)
        case.assertFalse(packet.HasField("timestamp_clock_id"))  # that of the trace, in ns
        last.setdefault(sequence, 0)
        kind = packet.WhichOneof("data")
        if kind == "track_descriptor":
            track = packet.track_descriptor
            case.assertTrue(track.HasField("uuid"))
            case.assertNotIn(track.uuid, key_of)
            if track.uuid == 0:  # what orders all others, so before them
                case.assertEqual(i, 0)
                case.assertEqual((track.process_ordering, track.thread_ordering),
                                 (TrackDescriptor.PROCESS_ORDERING_EXPLICIT, TrackDescriptor.THREAD_ORDERING_EXPLICIT))
                key_of[0] = None
                continue
            ranks[track.uuid] = track.sibling_order_rank
            if track.HasField("process"):
                key = track.process.pid
                case.assertNotIn(key, out.processes)
                out.processes[key] = track.process.process_name
            else:
                key = (track.thread.pid, track.thread.tid)
                case.assertEqual(key_of[track.parent_uuid], key[0])
                case.assertNotIn(key[1], [tid for _, tid in out.tracks] + [0])  # no two threads of one number
                out.tracks[key] = track.thread.thread_name
            key_of[track.uuid] = key
            continue
        case.assertEqual(kind, "track_event")
        case.assertTrue(packet.HasField("timestamp"))
        case.assertGreaterEqual(packet.timestamp, last[sequence])
        last[sequence] = packet.timestamp
        event = packet.track_event
        key = key_of[event.track_uuid]
        case.assertIn(key, out.tracks)
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            case.assertEqual(len(event.categories), 1)
            made = Slice(event.name, event.categories[0], packet.timestamp, None,
                         {a.name: argument_of(a) for a in event.debug_annotations})
            case.assertEqual(len(made.arguments), len(event.debug_annotations))
            out.slices[key].append(made)
            opened[key].append(made)
        else:
            case.assertEqual(event.type, TrackEvent.TYPE_SLICE_END)
            case.assertTrue(opened[key], "a slice ends that never began")
            opened[key].pop().end = packet.timestamp
    case.assertEqual([s.name for slices in opened.values() for s in slices], [])  # all have ended
    case.assertEqual(sorted(ranks, key=ranks.get), sorted(ranks))
    case.assertEqual(len(set(ranks.values())), len(ranks))
    check_nesting(case, out, 0)
    return out


class Shared(Case):
    def timelines(self, what, *options, framework=None):
        """The report's first analysis, and the timeline beside it."""
        more = []
        if framework is not None:
            (self.here / "fw.json").write_text(json.dumps(framework))
            more = ["--framework", "fw.json"]
        self.analyze(what, "--format", "json,trace,perfetto", "-o", "out", *options, *more)
        return json.loads((self.here / "out" / "report.json").read_text())["analyses"][0], self.seen("out/report")

    def seen(self, stem):
        """What the files say, each by the rules of its format."""
        text = (self.here / (stem + ".trace.json")).read_bytes()
        self.assertTrue(text.isascii())
        chrome = read_chrome(self, text)
        if PART != "perfetto":
            return chrome
        return self.same(chrome, read_perfetto(self, (self.here / (stem + ".pftrace")).read_bytes()))

    def same(self, a, b):
        """What Perfetto's file says, which is the same as Chrome's but for parts of a ns."""
        self.assertEqual((a.processes, a.tracks), (b.processes, b.tracks))
        self.assertEqual(list(a.slices), [k for k in a.tracks if k in b.slices])
        for key, slices in a.slices.items():
            for s, t in zip(slices, b.slices[key], strict=True):
                self.assertEqual((s.name, s.category, s.arguments), (t.name, t.category, t.arguments))
                self.assertAlmostEqual(s.begin, t.begin, delta=0.501)
                self.assertAlmostEqual(s.end, t.end, delta=0.501)
        return b


class Timelines(Shared):
    def test_each_run_is_a_process_and_as_long_as_the_report_says(self):
        a, seen = self.timelines(result(), "--workers", "2", framework=framework_run())
        self.assertEqual(list(seen.processes.values()),
                         ["lower bound on 2 workers: fork@batch=1,fused f32 t1", "benanza, plan: fork@batch=1,fused f32 t1",
                          "onnxruntime: fork f32 t1"])
        bound = seen.of("lower bound")
        self.assertEqual(set(bound), {"model", "worker 1", "worker 2"})
        whole, = bound["model"]
        self.assertAlmostEqual(whole.end - whole.begin, a["fused"]["bound"]["parallel"]["ns"], delta=1)
        layers = bound["worker 1"] + bound["worker 2"]
        of = {s.name: s for s in layers}
        self.assertEqual([of["left"].begin, of["right"].begin], [of["first"].end] * 2)  # both wait for the same
        self.assertNotIn(of["left"], bound["worker 1"] if of["right"] in bound["worker 1"] else bound["worker 2"])
        self.assertAlmostEqual(of["joined"].begin, 4.1e6 + 4e6, delta=1)
        self.assertEqual({s.name for s in layers}, {"first", "left", "right", "joined"})
        self.assertEqual({s.category for s in layers}, {"layer"})
        self.assertAlmostEqual(sum(s.end - s.begin for s in layers), a["fused"]["bound"]["sequential"]["ns"], delta=4)
        self.assertEqual(max(s.end for s in layers), whole.end)
        run, = a["runs"]
        whole, *parts = seen.of("benanza")["run"]
        self.assertAlmostEqual(whole.end - whole.begin, run["median_ns"], delta=1)
        self.assertEqual([s.arguments["ns"] for s in parts], [p["ns"] for p in run["parts"]])
        for s, p in zip(parts, run["parts"], strict=True):
            self.assertEqual(p["name"], "onednn/jit " + s.name)
            self.assertAlmostEqual(s.end - s.begin, p["ns"], delta=1)
        whole, *parts = seen.of("onnxruntime")["run"]
        self.assertEqual([s.name for s in parts], ["first", "relu", "left", "right", "joined"])
        self.assertEqual([s.end - s.begin for s in parts], [4.4e6, 1e5, 1.3e6, 4.6e6, 3.5e5])
        self.assertEqual([s.begin - parts[0].begin for s in parts], [0, 4.41e6, 4.52e6, 5.83e6, 10.44e6])

    def test_levels_lie_within_each_other_and_say_what_was_measured(self):
        made = result()
        made["benchmarks"] += levels()
        (self.here / "fw.json").write_text(json.dumps(framework_run()))
        for end in (".trace.json", ".pftrace"):
            said = self.analyze(made, "--format", "json", "--timeline", "t" + end, "--framework", "fw.json",
                                command=["profile"])
        report = json.loads(said)
        seen = self.seen("t")
        self.assertEqual([n.split(":")[0] for n in seen.processes.values()], ["benanza", "onnxruntime"])
        slices = seen.of("benanza")["run"]
        self.assertEqual([s.category for s in slices], ["model"] + ["layer", "call"] * 4)
        self.assertEqual([s.arguments["ns"] for s in slices if s.category == "layer"], [4.25e6, 1.1e6, 4.1e6, 3.3333e5])
        self.assertEqual([s.end - s.begin for s in slices if s.category == "call"], [4.5e6, 1.05e6, 4e6, 3e5])
        first = next(s for s in slices if s.category == "layer")
        self.assertEqual(first.end - first.begin, 4.5e6)  # its call took longer than it did alone
        model_ns = {r["who"]: r["model_ns"] for r in report["runs"]}
        self.assertEqual(slices[0].arguments["ns"], model_ns["benanza"])
        self.assertEqual(seen.of("onnxruntime")["run"][0].category, "model")

    def test_names_of_strangers_are_valid_and_whole(self):
        for i, name in enumerate(HOSTILE):
            if not name:  # what has none is no model: its layers are drawn nowhere
                continue
            with self.subTest(name=name):
                made = hostile(i)
                made["benchmarks"] += levels()
                names = [name + str(n) for n in range(5)]
                _, seen = self.timelines(made, "--workers", "1", framework=framework_run(names))
                self.assertIn(f"lower bound on 1 worker: {name}@batch=1,fused f32 t1", seen.processes.values())
                drawn = {s.name for s in seen.of("lower bound")["worker 1"]}
                self.assertEqual(drawn, {name + "0", name + "2", name + "3", name + "4"})

    def test_bytes_that_are_no_text_are_replaced(self):
        log = b"".join(b"onednn_verbose,primitive,exec,cpu,convolution,jit\xff\xc3(:avx2,forward_inference,"
                       b"src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Ac::f0 dst_bf16:a:blocked:a::f0,,"
                       b"alg:convolution_direct,mb2_g2ic8oc4_ih6oh6kh1sh1dh0ph0,0.5\n" for _ in range(3))
        (self.here / "log").write_bytes(log)
        for end in (".trace.json", ".pftrace"):
            done = subprocess.run([PROGRAM, "profile", "--framework", "log", "--timeline", "t" + end, "-o", "out"],
                                  cwd=self.here, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        seen = self.seen("t")
        told = [s.arguments.get("told", "") for slices in seen.slices.values() for s in slices]
        self.assertTrue(any("jit\ufffd\ufffd(" in t for t in told), told)


class Perfetto(Timelines):
    def test_a_spoiled_file_is_found(self):
        """The judge itself: each of these files breaks one rule."""
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
        self.analyze(result(), "--format", "perfetto", "-o", "t")
        good = (self.here / "t").read_bytes()
        read_perfetto(self, good)

        def spoilt(spoil):
            trace = Trace.FromString(good)
            spoil(trace.packet)
            return trace.SerializeToString()

        events = [i for i, p in enumerate(Trace.FromString(good).packet) if p.HasField("track_event")]
        first, last = events[0], events[-1]
        for data in (good[:-1], good + b"\xfa\xff\xff\x0f\x00", good.replace(b"first", b"\xff\xfe\xfd\xfc\xfb"),
                     spoilt(lambda p: p.pop(last)), spoilt(lambda p: p.pop(first)), spoilt(lambda p: p.pop(1)),
                     spoilt(lambda p: setattr(p[first].track_event, "track_uuid", 99)),
                     spoilt(lambda p: setattr(p[last], "timestamp", 0)),
                     spoilt(lambda p: p[first].ClearField("trusted_packet_sequence_id")),
                     spoilt(lambda p: setattr(p[first], "sequence_flags", 2)),
                     spoilt(lambda p: setattr(p[first], "timestamp_clock_id", 3))):
            with self.subTest(data=data[-40:]), self.assertRaises(Exception):
                read_perfetto(self, data)

    def test_a_terminal_gets_none(self):
        (self.here / "run.json").write_text(json.dumps(result()))
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        done = subprocess.run([PROGRAM, "run.json", "--format", "perfetto"], cwd=self.here, stdout=end,
                              stderr=subprocess.PIPE)
        os.close(end)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count(b"\n"), 1)


def main():
    if PART == "perfetto" and not go_on_with("perfetto.protos.perfetto.trace.perfetto_trace_pb2"):
        print("skipped: there is no module perfetto here, or none that it needs (PyPI: perfetto protobuf)")
        return
    unittest.main(argv=[sys.argv[0], "Perfetto" if PART else "Timelines"])


if __name__ == "__main__":
    main()
