# SPDX-License-Identifier: Apache-2.0
"""The graph that a framework made of a model, and the model's own, as framework.json has them.

Which nodes an operator stands for is benanza_analyze's matter.
"""

from dataclasses import asdict, dataclass, field


@dataclass
class Node:
    name: str
    type: str
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    originals: list = field(default_factory=list)  # names of the model's nodes, where the framework gives them
    activation: str = ""  # that was merged into it


def nodes_of(graph):
    """The nodes of an ONNX graph; a nameless one is called by its first result."""
    import onnx

    def reads(node):
        yield from node.input  # "" has a place too
        for a in node.attribute:
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs):
                own = {*(i.name for i in g.input), *(t.name for t in g.initializer),
                       *(o for n in g.node for o in n.output)}
                yield from (i for n in g.node for i in reads(n) if i not in own)

    def activation(node):
        return next((a.s.decode(errors="replace") for a in node.attribute if a.name == "activation"), "")

    return [Node(n.name or next(filter(None, n.output), ""), n.op_type, [*reads(n)], [o for o in n.output if o],
                 activation=activation(n)) for n in graph.node]


def stored_in(graph):
    return {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}


def graph_of(model):
    """The model's own part of a file's graph; operators come later."""
    stored = stored_in(model.graph)
    return {"inputs": [i.name for i in model.graph.input if i.name not in stored], "nodes": told(nodes_of(model.graph))}


def told(nodes):
    """Without what is empty."""
    return [{k: v for k, v in asdict(n).items() if v or k == "name"} for n in nodes]
