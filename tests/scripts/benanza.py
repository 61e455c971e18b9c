#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does one command bring a model to its page, go on where it was, and refuse what it cannot do?

  benanza.py <source folder> <build folder>
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
# In place of measure_framework: says what it was asked, and takes a run of its own.
FRAMEWORK = """#!/usr/bin/env python3
import json, sys
from pathlib import Path
words = sys.argv[1:]
if words[0] == "openvino":
    print("measure_framework: openvino cannot run it", file=sys.stderr)
    sys.exit(2)
with open(Path(__file__).with_name("asked"), "a") as f:
    f.write(" ".join(words) + "\\n")
print("a line of the framework's")
ns = 1e6 * (1.05 if "slow" in words[1] else 1)
Path(words[words.index("-o") + 1]).write_text(json.dumps({
    "schema": "benanza-framework", "schema_version": 3, "framework": words[0], "framework_version": "1.0",
    "model": {"file": words[1], "sha256": "", "bytes": 1}, "traces": [],
    "options": {"threads": 1, "batch": 1, "dims": {}, "seconds": 1, "cpus": [0], "precision": "f32", "set": {}},
    "count": 3, "min_ns": ns, "median_ns": ns, "samples_ns": [ns, ns, ns]}))
"""


class Benanza(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="benanza_door_"))
        # A tree of its own, in which the script finds a framework that takes no time.
        scripts = cls.folder / "tree" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy(SOURCE / "scripts" / "benanza", scripts)
        shutil.copytree(SOURCE / "scripts" / "python", scripts / "python")
        (scripts / "measure_framework").write_text(FRAMEWORK)
        cls.scripts, cls.out = scripts, cls.folder / "out"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def door(self, *words, status=(0, 1), programs=BUILD):
        done = subprocess.run([sys.executable, self.scripts / "benanza", "-o", self.out, "--programs", programs,
                               *map(str, words)], capture_output=True, text=True)
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return done

    def cases(self):
        exported = self.folder / "all.json"
        subprocess.run([BUILD / "benanza_analyze", self.out / "results.db", "--export", exported], check=True)
        return sorted((b["name"], b["min_ns"]) for b in json.loads(exported.read_text())["benchmarks"])

    def test_a_model_comes_to_its_page_and_the_next_command_goes_on(self):
        (self.scripts / "asked").unlink(missing_ok=True)
        done = self.door("lenet", "--quick", "--framework", "onnxruntime")
        self.assertIn("expected run", done.stdout)
        self.assertIn("lenet@batch=1", done.stdout)
        self.assertNotIn("a line of the framework's", done.stdout)  # the page alone
        measured = self.cases()
        self.assertTrue([n for n, _ in measured if n.startswith("Conv/")])
        done = self.door(self.out / "zoo" / "lenet.onnx", "--quick", "--framework", "onnxruntime", "--", "--limit",
                         "bound<1ns", status=(3,))
        self.assertIn("broken", done.stderr)
        self.assertEqual(self.cases(), measured)  # nothing was measured again
        asked = (self.scripts / "asked").read_text().split("\n")
        self.assertEqual(len(asked), 2)  # nor by the framework
        self.assertIn("--threads 1", asked[0])
        # A model of the same layers needs no measuring at all.
        twin = self.folder / "tuned.onnx"
        shutil.copy(self.out / "zoo" / "lenet.onnx", twin)
        self.assertIn("tuned@batch=1", self.door(twin, "--quick").stdout)
        self.assertEqual(self.cases(), measured)
        # Other dims are another run.
        self.door("lenet", "--quick", "--framework", "onnxruntime", "--shape", "data=1x1x28x28")
        self.assertIn("--shape data=1x1x28x28", (self.scripts / "asked").read_text())

    def test_a_framework_that_cannot_costs_no_page(self):
        done = self.door("lenet", "--quick", "--framework", "openvino", status=(1,))
        self.assertIn("openvino cannot run it", done.stderr)
        self.assertIn("expected run", done.stdout)
        done = self.door("lenet", "--quick", "--framework", "onnxruntime", "--types", "bf16")
        self.assertIn("onnxruntime is not measured in bf16 here", done.stderr)

    def test_the_first_page_is_by_one_version_of_a_library_and_says_so(self):
        # In place of the programs, of which one has oneDNN twice.
        place = self.folder / "two_versions"
        place.mkdir()
        for name, text in (
                ("benanza_bench", f"""#!/bin/sh
case "$*" in
*--version*) printf 'benanza_bench 0.3.0\ncompiler gcc 12.2.0\nonednn-3.2.0 3.2.0\nonednn 2.6.3\nSQLite 3.40.1\n' ;;
*) echo "$@" >>'{place}/asked' ;;
esac
"""), ("benanza_generate", f"#!/bin/sh\necho '{{\"graphs\": [{{\"model\": \"m\"}}]}}' >'{place}/out/m/layers/graphs.json'\n"),
                ("benanza_analyze", "#!/bin/sh\necho page\n")):
            (place / name).write_text(text)
            (place / name).chmod(0o755)
        (place / "m.onnx").write_text("")
        (place / "out" / "m" / "layers").mkdir(parents=True)
        done = self.door(place / "m.onnx", "-o", place / "out", status=(0,), programs=place)
        self.assertIn("for a first page without onednn-3.2.0\n", done.stderr)
        quick, all_of_it = (place / "asked").read_text().splitlines()
        self.assertIn("--effort quick --backends=-onednn-3.2.0", quick)
        self.assertNotIn("--backends", all_of_it)

    def ci(self, *words, status):
        done = subprocess.run([sys.executable, self.scripts / "benanza", "ci", *map(str, words)], capture_output=True,
                              text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_job_fails_where_the_new_model_is_slower_or_a_limit_is_broken_and_else_not(self):
        subprocess.run([BUILD / "benanza_generate", "zoo", "-q", "lenet", "-o", self.folder / "jobs"], check=True)
        old, slow = self.folder / "jobs" / "lenet.onnx", self.folder / "jobs" / "slow.onnx"
        shutil.copy(old, slow)
        (self.folder / "tree" / "build").symlink_to(BUILD.resolve())  # where the command looks for the programs
        (self.scripts / "asked").unlink(missing_ok=True)
        done = self.ci(old, slow, "--starts", 3, "--limit", "gap<1000%", "-o", "job", status=3)
        self.assertIn("SLOWER", done.stdout)
        self.assertIn("slower", done.stderr)
        asked = re.findall(r"-o job/(\w+)-(\d).json --take-turns \d+,\d+,([01])", (self.scripts / "asked").read_text())
        self.assertEqual(sorted(asked), sorted((side, str(n + 1), str(int((n % 2 == 0) == (side == "old"))))
                                               for n in range(3) for side in ("old", "new")))  # who begins alternates
        job = self.folder / "job"
        said = json.loads((job / "compare.json").read_text())
        self.assertEqual([m["verdict"] for m in said["models"]], ["SLOWER"])
        self.assertAlmostEqual(said["models"][0]["change"], 0.05)
        self.assertIn("<failure", (job / "ci.xml").read_text())
        self.assertIn("<testcase", (job / "limits.xml").read_text())
        comment = (job / "ci.md").read_text()
        self.assertIn("SLOWER", comment)
        self.assertIn("lower bound", comment)
        self.assertLess(len(comment), 65000)  # what a comment may have

        done = self.ci(old, old, "--starts", 3, "-o", "job", status=0)
        self.assertIn("not slower", done.stderr)
        done = self.ci(old, old, "--starts", 3, "-o", "job", "--limit", "bound<1ns", status=3)
        self.assertIn("a limit is broken", done.stderr)

    def test_what_a_job_cannot_compare(self):
        model = self.folder / "none.onnx"
        model.write_text("")
        for words, says in (((model,), "what is compared?"), ((model, model, model), "one model, or an old and a new"),
                            ((self.folder / "away.onnx", model), "no such file"),
                            ((model, model, "--starts", 1), "at least 2"),
                            ((model, model, "--old-programs", BUILD), "compare builds by one model")):
            self.assertIn(says, self.ci(*words, status=2).stderr)

    def test_the_action_can_be_run_by_hand(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "benanza").write_text("#!/bin/sh\nfor w; do echo \"[$w]\"; done\nmkdir -p benanza-ci\n"
                                       "echo comment >benanza-ci/ci.md\nexit 3\n")
        (tools / "benanza").chmod(0o755)
        action = SOURCE / ".github" / "actions" / "benanza-ci" / "run"
        how = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "OLD": "a b.onnx", "NEW": "c.onnx",
               "OPTIONS": "--limit 'gap < 1.5' $(touch run)", "GITHUB_STEP_SUMMARY": str(tools / "summary")}
        done = subprocess.run([action], capture_output=True, text=True, cwd=tools, env=how)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["[ci]", "[a b.onnx]", "[c.onnx]", "[--framework]", "[onnxruntime]", "[-o]",
                                                    "[benanza-ci]", "[--limit]", "[gap < 1.5]", "[$(touch]", "[run)]"])
        self.assertEqual((tools / "summary").read_text(), "comment\n")
        self.assertFalse((tools / "run").exists())
        self.assertEqual(subprocess.run([action], capture_output=True, env={**how, "NEW": ""}).returncode, 1)

    def export(self, *words, status=0, path=""):
        done = subprocess.run([sys.executable, self.scripts / "benanza", *map(str, words)], capture_output=True, text=True,
                              cwd=self.folder, env={**os.environ, "PYTHONPATH": str(path)})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_configuration_becomes_a_file_for_each_part_of_the_model(self):
        # In place of mobius: writes what it was asked.
        packages = self.folder / "packages"
        for name in "mobius", "transformers", "onnx":
            (packages / name).mkdir(parents=True)
            (packages / name / "__init__.py").write_text("")
        (packages / "onnx" / "__init__.py").write_text(
            "from types import SimpleNamespace as S\n"
            "load = lambda file, load_external_data: S(graph=S(value_info=[], initializer=[], input=[], node=[]))\n"
            "save = lambda model, file: None\n")
        (packages / "mobius" / "__main__.py").write_text(
            "import pathlib, sys\nwords = sys.argv[1:]\nout = pathlib.Path(words[words.index('--no-weights') + 1])\n"
            "parts = (pathlib.Path(words[words.index('--config') + 1]) / 'config.json').read_text().split()\n"
            "if not parts: sys.exit('a long story\\nKeyError: no such model')\n"
            "for p in parts:\n    f = out / (p if len(parts) > 1 else '') / 'model.onnx'\n"
            "    f.parent.mkdir(parents=True)\n    f.write_text(p)\n")
        config = self.folder / "config.json"
        config.write_text("decoder")
        done = self.export("from-hf", config, "-o", "one.onnx", path=packages)
        self.assertEqual((self.folder / "one.onnx").read_text(), "decoder")
        self.assertIn("benanza one.onnx", done.stdout)
        config.write_text("encoder decoder")
        self.export("from-hf", self.folder, "-o", "two.onnx", path=packages)
        self.assertEqual((self.folder / "two-encoder.onnx").read_text(), "encoder")
        self.assertEqual((self.folder / "two-decoder.onnx").read_text(), "decoder")
        config.write_text("")
        refused = self.export("from-hf", config, "-o", "none.onnx", status=2, path=packages)
        self.assertIn("mobius: KeyError: no such model", refused.stderr)
        for words, said in ((["from-hf", "nowhere", "-o", "a.onnx"], "no such file"),
                            (["from-hf", config, "-o", "a.txt"], "ends with .onnx"), (["from-hf", config], "--output")):
            refused = self.export(*words, status=2, path=packages)
            self.assertIn(said, refused.stderr)
            self.assertEqual(refused.stderr.count("\n"), 1)

    def test_refusals_are_one_line(self):
        text = self.folder / "text.onnx"
        text.write_text("no model")
        for words, said in ((["no/such.onnx"], "no such file"), (["nothing"], "nothing"), ([text], "text.onnx"),
                            (["lenet", "--threads", "0"], "--threads 0"), (["lenet", "--framework", "tf"], "there are"),
                            (["lenet", "--typos"], "--typos"), ([], "model")):
            done = self.door(*words, status=(2,))
            self.assertIn(said, done.stderr)
            lines = [line for line in done.stderr.split("\n") if line and not line.startswith("[")]
            self.assertEqual(len(lines), 1, done.stderr)
            self.assertEqual(done.stdout, "")
        done = self.door("lenet", status=(2,), programs=self.folder)
        self.assertIn("scripts/quickstart builds them", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
