#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the notebook run, and show the page and its tables?

  notebook.py <source folder> <build folder>
"""

import os
import sys
import tempfile
from pathlib import Path

from pythons import go_on_with

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["PATH"] = f"{BUILD}:{os.environ['PATH']}"
os.environ["PYTHONPATH"] = str(SOURCE / "scripts" / "python")
if not go_on_with("nbclient", "ipykernel", "pandas"):
    print("skipped: there is no nbclient, ipykernel or pandas (Debian: python3-nbclient python3-ipykernel python3-pandas)")
    sys.exit(0)
import nbclient  # noqa: E402
import nbformat  # noqa: E402

notebook = nbformat.read(SOURCE / "scripts" / "python" / "example.ipynb", as_version=4)
with tempfile.TemporaryDirectory() as place:
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": place}}).execute()
outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
shown = [o["data"].get("text/html", "") for o in outputs if "data" in o]
tables = [h for h in shown if "<table" in h and "srcdoc" not in h]
problems = []
if not any("srcdoc=" in h for h in shown):
    problems.append("no cell shows the page")
if len(tables) != 4:
    problems.append(f"{len(tables)} cells show tables, not 4")
if not any("Conv/" in h for h in tables):
    problems.append("no table has a convolution")
if any(o.output_type == "error" for o in outputs):
    problems.append("a cell ended with an error")
print("\n".join(problems) or f"{len(outputs)} outputs, {len(tables)} tables")
sys.exit(1 if problems else 0)
