#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a client of the Model Context Protocol get answers, progress and refusals from `benanza mcp`?

  mcp_client.py <source folder> <build folder>

With the protocol's own package, in an environment in the build folder.
"""

import asyncio
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
if sys.version_info < (3, 10):
    print("skipped: the package mcp needs Python 3.10")
    sys.exit(0)
if importlib.util.find_spec("mcp") is None:
    environment = BUILD / "cache" / "mcp"
    python = environment / "bin" / "python3"
    if sys.prefix == str(environment):
        sys.exit("mcp cannot be imported from " + sys.prefix)
    if subprocess.run([python, "-c", "import mcp.client"], capture_output=True, check=False).returncode if python.exists() else 1:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "mcp>=2"], check=True)
    os.execv(python, [str(python), *sys.argv])

from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402: it is there now


async def ask(folder):
    problems, told = [], []

    def check(holds, what):
        if not holds:
            problems.append(what)

    async def progress(_done, _total, message):
        told.append(message)

    program = StdioServerParameters(command=sys.executable, args=[str(SOURCE / "scripts" / "benanza"), "mcp", "-o", folder],
                                    env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    async with Client(stdio_client(program)) as client:
        names = {t.name for t in (await client.list_tools()).tools}
        check(names == {"bound", "where_time_goes", "explain_layer", "advise", "apply", "verify", "compare"}, f"tools: {names}")

        async def said(tool, **words):
            got = await client.call_tool(tool, words, progress_callback=progress)
            return got.is_error, got.structured_content, got.content[0].text

        error, bound, text = await said("bound", model="lenet")
        check(not error and bound["lower_bound"]["ms"] > 0, f"bound: {text}")
        check(any("measuring" in t for t in told), f"progress: {told}")
        error, where, text = await said("where_time_goes", model="lenet")
        check(not error and where["layers"], f"where_time_goes: {text}")
        error, layer, text = await said("explain_layer", model="lenet", layer=where["layers"][0]["layer"])
        check(not error and layer["algorithms"], f"explain_layer: {text}")
        error, _, text = await said("apply", model="lenet", advice="magic")
        check(error and "no such advice" in text, f"apply: {text}")
        error, _, text = await said("bound", model="away.onnx")
        check(error and "away.onnx: no such file" in text, f"refusal: {text}")
        error, _, text = await said("bound", model="lenet", threads=0)
        check(error, f"threads=0: {text}")
    return problems


with tempfile.TemporaryDirectory() as place:
    failed = asyncio.run(ask(place))
print("\n".join(failed) or "all answers came")
sys.exit(1 if failed else 0)
