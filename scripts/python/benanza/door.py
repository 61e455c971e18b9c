# SPDX-License-Identifier: Apache-2.0
"""How fast could a model run on this machine, why does it not, and what should be changed first?

  benanza model.onnx                                  # or a model of the zoo, such as resnet50-v1
  benanza model.onnx --framework onnxruntime,openvino # how long these take, and where they lose it
  benanza model.onnx --threads 1,2 --types f32,bf16 --batch 1,8
  benanza bert.onnx --dim sequence=128 -- --advice    # what follows -- goes to benanza_analyze
  benanza model.gguf --dim past=512                   # a language model: a token behind 512, or --dim sequence=128
  benanza model.gguf --framework llamacpp,openvino-genai # and how long these take for it
  benanza model.gguf --weights q4_0,q8_0 --batch 1,4  # would other weights, or more sequences at once, pay?
  benanza from-torch package.module:factory -o model.onnx; benanza from-hf config.json -o model.onnx  # a file of it
  benanza from-gguf model.gguf -o model.onnx          # of a GGUF file, for ONNX Runtime and OpenVINO
  benanza ci old.onnx new.onnx                        # for continuous integration: did it get slower?

Reads the model, measures its layers first quickly, by one version of each library, prints a page, measures them again
by all and with more samples, and prints the page that counts. Nothing is compiled. All results are kept in one folder
(-o); the same command goes on where it was, and what the folder holds of this machine and these libraries, its
ceilings too, is not measured again.

Exit status: 0 complete, 1 usable but partial, 2 refused, 3 a limit (-- --limit ...) is broken, 130 interrupted.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from benanza import exporting, gguf
from benanza.gguf_header import TYPES
from benanza.programs import PROGRAMS, SCRIPTS, Error, Parser, folder_of_programs

ONNX_FRAMEWORKS = ("onnxruntime", "openvino", "pytorch", "onnxruntime-genai")
GGUF_FRAMEWORKS = ("llamacpp", "openvino-genai")
FRAMEWORKS = (*ONNX_FRAMEWORKS, *GGUF_FRAMEWORKS)
OPENVINO_TYPES = {"f32": [], "bf16": ["--set", "INFERENCE_PRECISION_HINT=bf16"]}


class Ended(Exception):
    """A program ended with a status that ends this one; it has said why."""


def numbers(text, option):
    words = text.split(",")
    if not all(w.isdigit() and int(w) > 0 for w in words):
        raise Error(f"{option} {text}: say numbers from 1, such as 1,8")
    return [int(w) for w in words]


def types_of(text, option, known):
    names = list(dict.fromkeys(text.split(","))) if text else []
    for name in names:
        if name not in known:
            raise Error(f"{option} {text}: there are {', '.join(known)}")
    return names


def parse(words):
    cut = words.index("--") if "--" in words else len(words)
    parser = Parser("benanza", __doc__)
    parser.add_argument("model", help="an ONNX or GGUF file, or the name of a model of the zoo "
                        "(benanza_generate zoo --list)")
    parser.add_argument("--batch", metavar="N,...", help="the model's own, or 1 where it leaves that open")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="a symbolic dim's value")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=DIMS", help="an input's dims: x=1x3x224x224")
    parser.add_argument("--size", action="append", default=[], metavar="NODE=N", help="how much a node gives, where "
                        "what the model reads decides it")
    parser.add_argument("--loop-count", action="append", default=[], metavar="NAME=N", help="how often a loop runs")
    parser.add_argument("--data-dependent", choices=("error", "stop", "max"), default="stop", help="other such sizes: "
                        "what needs them is left out (stop), or they are the largest that can be (max)")
    parser.add_argument("--cache-type", metavar="T,...", help="of a GGUF file's keys and values: f16; more than one: "
                        "what the others would win")
    parser.add_argument("--weights", metavar="T,...", help="what a GGUF file's weights would win in them: q4_0,q8_0")
    parser.add_argument("--types", metavar="T,...", help="f32, bf16, u8s8u8 ...; the model's own by default")
    parser.add_argument("--threads", metavar="N,...", default="1", help="1 by default")
    parser.add_argument("--framework", metavar="F,...", help=f"measured too: {', '.join(FRAMEWORKS)}")
    parser.add_argument("--quick", action="store_true", help="end after the first page: one version of each library")
    parser.add_argument("-o", "--output", type=Path, default=Path("benanza-results"), metavar="FOLDER",
                        help="where all is kept (benanza-results)")
    parser.add_argument("--programs", type=Path, metavar="FOLDER",
                        help="where the three programs are, if not where they were built or installed")
    a = parser.parse_args(words[:cut])
    a.page, a.lacking = words[cut + 1:], False
    a.thread_counts = numbers(a.threads, "--threads")
    a.batches = numbers(a.batch, "--batch") if a.batch else [None]
    a.frameworks = a.framework.split(",") if a.framework else []
    a.cache_types = types_of(a.cache_type, "--cache-type", gguf.CACHE_TYPES)
    a.weight_types = types_of(a.weights, "--weights", [t[0] for t in TYPES.values() if t[0] != "f32"])
    for name in a.frameworks:
        if name not in FRAMEWORKS:
            raise Error(f'--framework "{name}": there are {", ".join(FRAMEWORKS)}')
    return a


def run(words, fine=(0, 1), **how):
    """Runs a program, which prints for itself; returns its exit status. Ctrl-C reaches it too: it keeps what it has."""
    with subprocess.Popen([str(w) for w in words], **how) as program:
        try:
            status = program.wait()
        except KeyboardInterrupt:
            program.wait()
            raise
    if status not in fine:
        raise Ended(status if status in (2, 130) else 2)
    return status


def began(text):
    """A step on standard error, with the time since the start."""
    print(f"\n[{time.monotonic() - STARTED:.0f} s] {text}", file=sys.stderr, flush=True)


def later_versions(bench):
    """Of libraries that the program has in several versions, all but the lowest of each: the first page does without
    them, so that it comes in a minute."""
    said = subprocess.run([bench, "--version"], capture_output=True, text=True, check=False).stdout
    versions = {}
    for line in said.splitlines():
        name, _, version = line.partition(" ")
        if re.fullmatch(r"[\d.]+", version.strip()):
            numbers_of = tuple(map(int, version.strip().strip(".").split(".")))
            versions.setdefault(re.sub(r"-[\d.]+$", "", name), []).append((numbers_of, name))
    return [name for of in versions.values() for _, name in sorted(of)[1:]]


def digest(path):
    out = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            out.update(part)
    return out.hexdigest()


def choices_of(dims):
    """Each of the values that dims are given: of ["past=0,512", "sequence=1"] two lists."""
    values = [[f"{name}{equal}{n}" for n in numbers.split(",")] for name, equal, numbers in
              (d.rpartition("=") for d in dims)]
    return [list(choice) for choice in itertools.product(*values)]


def measured_by(name, a, model, folder):
    """Files of a framework's runs, one for each batch, number of threads, type that it has and choice of dims. What it
    cannot do is said, and the page comes without it."""
    out, asked_types = [], (a.types or "f32").split(",")
    types = [t for t in asked_types if t in (OPENVINO_TYPES if name == "openvino" else ("f32",))]
    for t in asked_types:
        if t not in types:
            print(f"benanza: {name} is not measured in {t} here", file=sys.stderr)
    contents = digest(model)
    for batch, threads, kind, (place, dims) in itertools.product(
            a.batches, a.thread_counts, types, enumerate(choices_of(a.dim))):
        file = folder / f"{name}-b{batch or 'own'}-t{threads}-{kind}{f'-{place}' if place else ''}.json"
        wanted = {"dims": dims, "shapes": a.shape, "cache": a.cache_types[:1], "sha256": contents}
        asked = file.with_suffix(".asked")
        if not (file.exists() and asked.exists() and json.loads(asked.read_text()) == wanted):
            began(f"measuring {name}, {', '.join([f'{threads} thread' + 's' * (threads > 1), kind, *dims])}")
            words = [sys.executable, SCRIPTS / "measure_framework", name, model, "--threads", threads,
                     "-o", file, *(["--batch", batch] if batch else []), *OPENVINO_TYPES[kind],
                     *(w for t in a.cache_types[:1] for w in ("--set", f"cache_type={t}")),
                     *(w for d in dims for w in ("--dim", d)), *(w for s in a.shape for w in ("--shape", s))]
            if run(words, fine=(0, 1, 2), stdout=sys.stderr) == 2:
                a.lacking = True  # it has said why
                continue
            asked.write_text(json.dumps(wanted))
        out.append(file)
    return out


def page_of_model(words):
    a = parse(words)
    place = folder_of_programs(a.programs)
    tools = {name: place / name for name in PROGRAMS}
    given = Path(a.model)
    if given.suffix in (".onnx", ".gguf"):
        if not given.is_file():
            raise Error(f"{given}: no such file")
        model, name = given, given.stem
    else:
        model, name = a.output / "zoo" / f"{a.model}.onnx", a.model
    folder, store = a.output / name, a.output / "results.db"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Error(f"{folder} cannot be made: {e.strerror}") from None
    for framework in a.frameworks:
        if (framework in GGUF_FRAMEWORKS) != (given.suffix == ".gguf"):
            raise Error(f"--framework {framework} does not read {given.suffix[1:].upper() or 'ONNX'} files")
    if (a.cache_type or a.weights) and given.suffix != ".gguf":
        raise Error("--cache-type and --weights are of GGUF files")
    variants = []
    if given.suffix == ".gguf":
        said = {d.partition("=")[0] for d in a.dim}
        a.dim += [d for name, d in (("sequence", "sequence=1"), ("past", "past=512")) if name not in said]
        model = folder / f"{name}.onnx"
        cache = a.cache_types[0] if a.cache_types else "f16"
        gguf.write(given, model, cache)
        for kind, types in (("cache", a.cache_types[1:]), ("weights", a.weight_types)):
            for wanted in types:
                variants.append(folder / f"{name},{kind}={wanted}.onnx")
                gguf.write(given, variants[-1], **{"cache": cache, kind: wanted})
    elif model != given and not model.exists():
        run([tools["benanza_generate"], "zoo", name, "-o", model.parent], fine=(0,), stdout=subprocess.DEVNULL)

    began(f"reading {model}")
    # With an operator that is not known the rest is measured; the page says what lacks.
    partial = run([tools["benanza_generate"], model, *variants, "--no-sources", "-o", folder / "layers",
                   *(["--batch", a.batch] if a.batch else []), "--data-dependent", a.data_dependent,
                   *(w for name in ("dim", "shape", "size", "loop_count") for value in getattr(a, name)
                     for w in ("--" + name.replace("_", "-"), value))], stdout=sys.stderr)

    graphs = folder / "layers" / "graphs.json"
    names = sorted({g["model"] for g in json.loads(graphs.read_text())["graphs"]})
    bench = [tools["benanza_bench"], "--graphs", graphs, "--store", store, "--threads", a.threads, "--quiet",
             "--progress", "always", *(["--types", a.types] if a.types else [])]
    page = [tools["benanza_analyze"], store, "--model", names[0]]
    frameworks = []

    def show():
        began("the page")
        beside = [w for f in frameworks for w in ("--framework", f)]
        # A program that was built without d3 has no HTML; the text says all.
        subprocess.run([*page, *beside, "--format", "html", "-o", folder / "page.html"], capture_output=True, check=False)
        return run([*page, *beside, *a.page], fine=(0, 1, 3))

    later = later_versions(tools["benanza_bench"])
    began("measuring quickly, for a first page" + (f" without {', '.join(later)}" if later else ""))
    failed = run([*bench, "--effort", "quick", *(["--backends=" + ",".join("-" + n for n in later)] if later else [])],
                 stdout=subprocess.DEVNULL)
    for framework in a.frameworks:
        frameworks += measured_by(framework, a, given if given.suffix == ".gguf" else model, folder)
    status = show()
    if not a.quick:
        began("measuring with more samples")
        failed = run(bench, stdout=subprocess.DEVNULL)
        status = show()
    html = folder / "page.html"
    print(f"\nTook {time.monotonic() - STARTED:.0f} s. All is in {a.output}"
          f"{f'; as a page for a browser: {html}' if html.exists() else ''}. "
          "More of it: the same command with -- --advice or -- --details", file=sys.stderr)
    return status or int(bool(failed or partial or a.lacking))


STARTED = time.monotonic()


def main(words=None):
    """The command; returns its exit status."""
    words = sys.argv[1:] if words is None else words
    try:
        if words and words[0] in exporting.COMMANDS:
            return exporting.main(words)
        if words and words[0] == "ci":
            from benanza import ci  # it calls this command too
            return ci.main(words[1:])
        if words and words[0] == "mcp":
            from benanza import server
            return server.main(words[1:])
        return page_of_model(words)
    except Error as problem:
        print(f"benanza: {problem}".replace("\n", " "), file=sys.stderr)
        return 2
    except Ended as end:
        return end.args[0]
    except KeyboardInterrupt:
        print("benanza: interrupted; the same command goes on where it was", file=sys.stderr)
        return 130
