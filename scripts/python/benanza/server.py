# SPDX-License-Identifier: Apache-2.0
"""The questions of `benanza.tools` over the Model Context Protocol, for agents and editors:

  benanza mcp            # speaks on standard input and output; pip install 'benanza[mcp]'

Results stay in a folder (-o, benanza-results), so a question about a model that was measured is answered at once, and
one that was ended goes on where it was.
"""

import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from typing import Annotated, Any, Optional

from benanza import tools
from benanza.door import GGUF_FRAMEWORKS, ONNX_FRAMEWORKS
from benanza.programs import Error, Parser

OF_ONNX = ", ".join(ONNX_FRAMEWORKS)
BESIDE = f"{OF_ONNX}; of a GGUF file {' or '.join(GGUF_FRAMEWORKS)}"
INSTRUCTIONS = """Benanza measures every layer of a model, an ONNX or GGUF file, by every kernel that this machine's libraries have, and
computes how fast the model could run here. Start with `bound`; then `where_time_goes` and `advise`; carry an advice out
with `apply`, and never claim that something became faster before `verify` says FASTER. Times are in ms, with the interval
in which they are. `partial` and `doubts` say why figures are of a part, or disturbed: tell them on. The first question
about a model takes a minute or more; the next ones are answered from what was measured."""


class Ended(Exception):
    """The client does not wait any more."""


def main(words: list[str]) -> int:
    parser = Parser("benanza mcp", __doc__)
    parser.add_argument("-o", "--output", default="benanza-results", metavar="FOLDER", help="where results are kept")
    folder = parser.parse_args(words).output
    if importlib.util.find_spec("mcp") is None:
        raise Error("this Python lacks mcp: pip install 'benanza[mcp]', or mcp itself")
    # What any code prints must not come between the messages: these keep the real output for themselves.
    sys.stdout.flush()
    spoken = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(spoken, "w")
    server(folder).run("stdio")
    return 0


def server(folder: str) -> Any:
    """The server and its tools."""
    try:
        import anyio
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        from mcp.server.mcpserver.exceptions import ToolError
        from pydantic import Field
    except ImportError as problem:
        raise Error(f"this Python's mcp is of another version: pip install 'mcp>=2' ({problem.name})") from None

    made = MCPServer("benanza", instructions=INSTRUCTIONS)
    Model = Annotated[str, Field(description="an ONNX or GGUF file, or a model of the zoo such as resnet50-v1")]
    Threads = Annotated[int, Field(ge=1, description="of the processor")]
    Type = Annotated[Optional[str], Field(description="f32, bf16, u8s8u8 ...; the model's own by default")]
    Batch = Annotated[Optional[int], Field(description="the model's own, or 1 where it leaves that open")]
    Dims = Annotated[Optional[dict[str, int]], Field(description='what symbolic dims are: {"sequence": 128}')]
    Framework = Annotated[Optional[str], Field(description="measured beside: " + BESIDE)]
    Thorough = Annotated[bool, Field(description="more samples, all versions of libraries: some minutes")]

    async def answered(ctx: Context, ask: Callable[[tools.Told], dict[str, Any]]) -> dict[str, Any]:
        """Asks in a thread of its own; what the programs say becomes progress, and who is gone ends them."""
        gone, steps = threading.Event(), iter(range(1, 1_000_000))

        def told(text: str) -> None:
            if gone.is_set():
                raise Ended
            for line in filter(None, map(str.strip, text.replace("\r", "\n").split("\n"))):
                anyio.from_thread.run(ctx.report_progress, next(steps), None, line[:200])

        try:
            return await anyio.to_thread.run_sync(lambda: ask(told), abandon_on_cancel=True)
        except Error as problem:
            raise ToolError(str(problem)) from None
        finally:
            gone.set()

    def about_a_model(question: Callable[..., dict[str, Any]], text: str) -> None:
        async def tool(ctx: Context, model: Model, threads: Threads = 1, type: Type = None, batch: Batch = None,
                       dims: Dims = None, framework: Framework = None, thorough: Thorough = False) -> dict[str, Any]:
            return await answered(ctx, lambda told: question(
                tools.Question(model, folder, threads, type, batch, dims, framework, thorough, told)))

        made.tool(name=question.__name__, description=text)(tool)

    about_a_model(tools.bound, "How fast could this model run here: its lower bound, the run that the best kernels should "
                               "reach, the machine's limit, and how far a framework is from it.")
    about_a_model(tools.where_time_goes, "Which layers the time of the best run goes to, and by which kernels.")
    about_a_model(tools.advise, "What to change, most first: what that saves, who can do it, how, and how it is checked.")

    @made.tool()
    async def explain_layer(ctx: Context, model: Model, layer: Annotated[str, Field(description="as where_time_goes names it")],
                            threads: Threads = 1, type: Type = None, batch: Batch = None, dims: Dims = None) -> dict[str, Any]:
        """Every algorithm that was measured for a layer, and how far its best one is from the machine's limit."""
        return await answered(ctx, lambda told: tools.explain_layer(
            tools.Question(model, folder, threads, type, batch, dims, told=told), layer))

    @made.tool()
    async def apply(ctx: Context, model: Model, advice: Annotated[str, Field(description="the id of an advice of `advise`")],
                    output: Annotated[str, Field(description="the file of a rewritten model")] = "rewritten.onnx",
                    threads: Threads = 1, type: Type = None, batch: Batch = None, dims: Dims = None,
                    framework: Framework = None) -> dict[str, Any]:
        """Carries an advice out as far as a program can (a rewritten model), and says what is left to do."""
        return await answered(ctx, lambda told: tools.apply(
            tools.Question(model, folder, threads, type, batch, dims, framework, told=told), advice, output))

    @made.tool()
    async def verify(ctx: Context, model: Model,
                     new_model: Annotated[Optional[str], Field(description="the changed file; none where a setting changed")] = None,
                     settings: Annotated[Optional[list[str]], Field(description="of the new side: NAME=VALUE, as advice has them")] = None,
                     framework: Annotated[str, Field(description=OF_ONNX)] = "onnxruntime",
                     threads: Threads = 1, batch: Batch = None, dims: Dims = None) -> dict[str, Any]:
        """Whether a change made a framework's run faster or slower: both are measured in turns. FASTER and SLOWER are more
        than chance; UNSURE is no proof of anything."""
        return await answered(ctx, lambda told: tools.verify(model, new_model, settings or [], framework, folder, threads,
                                                             batch, dims, told))

    @made.tool()
    async def compare(ctx: Context, old: Annotated[str, Field(description="a result of benanza_bench, or a store")],
                      new: str) -> dict[str, Any]:
        """What became faster or slower between two results that are there, and what can explain it."""
        return await answered(ctx, lambda told: tools.compare(old, new, folder, told))

    return made
