# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a model does an operator of a framework's optimized graph stand for?

Both graphs are lists of Node; nothing here needs a framework, nor onnx but for `nodes_of`. Names of tensors are
what joins them: a framework keeps the names of those that it still makes. So

  - an operator makes the model's tensors that have the names of its results; where what it makes only changes
    its form on the way (ReorderOutput, an inserted Reshape or Transpose), those behind that
  - it stands for the model's nodes on the ways from what it reads to what it makes, found backward from the
    latter; they end at tensors that other operators make. A way that ends at a tensor of neither kind makes
    its nodes uncertain, and they are left out: equal subgraphs that were merged, for example
  - an operator of the name and type of a node stands for it at least, and for those that the framework tells

What depends on no input but by its shape is known before a run: no operator stands for it. Where operators
have no tensor of the model between them, each stands for all nodes of their way: together they do that work.
A node on several ways is of the operators that all of these have, and left out where there is none.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

# They change a tensor's form or type alone. Those that the model itself has are operators as others.
FORMS = {"ReorderInput", "ReorderOutput", "Reorder", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity",
         "Flatten", "Cast", "Convert"}
OF_SHAPES = {"Shape", "Size"}
# What ONNX Runtime calls a node in blocks, after a tensor; and what it fuses, after a node, which may be the last.
BLOCKED = re.compile(r"(.*?)((?:_bn|_mul)?)_nchwc(?:_token_\d+)?")
FUSED = re.compile(r"(.*)/(\w*Fusion)/?(?:_token_\d+)?")
FUSED_TO_THE_LAST = {"QuickGeluFusion"}


@dataclass
class Node:
    name: str
    type: str
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    originals: list = field(default_factory=list)  # names of the model's nodes, where the framework gives them
    activation: str = ""  # that was merged into it


def is_form(operator):
    """Does it change nothing but form or type? OpenVINO may do the latter in a Subgraph."""
    return operator.type in FORMS or bool(operator.originals) and all(
        o.startswith("Convert_") for o in operator.originals)


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


class Model:
    """The model's own nodes, and what is known of it before a run."""

    def __init__(self, nodes, inputs):
        self.by_name = {n.name: n for n in nodes}
        self.maker = {o: n for n in nodes for o in n.outputs}
        self.readers = {}
        for node in nodes:
            for i in node.inputs:
                self.readers.setdefault(i, []).append(node)
        self.place = {name: place for place, name in enumerate(self.by_name)}
        self.inputs = set(inputs)
        known = {}
        for node in nodes:  # in ONNX they are sorted
            still = node.type in OF_SHAPES or all(known.get(i, i not in self.inputs) for i in node.inputs)
            known |= dict.fromkeys(node.outputs, still)
        self.known = {t for t, still in known.items() if still}

    def has(self, tensor):
        return tensor in self.maker or tensor in self.inputs

    def is_still(self, tensor):
        """Is it known before a run?"""
        return tensor in self.known or not self.has(tensor)

    def before(self, node):
        """The names of all nodes whose results reach this one, and its own."""
        found, left = {node.name}, [node]
        while left:
            for i in left.pop().inputs:
                maker = self.maker.get(i)
                if maker and maker.name not in found:
                    found.add(maker.name)
                    left.append(maker)
        return found

    def runs(self):
        return [n for n in self.by_name.values() if not all(o in self.known for o in n.outputs)]


class Joined:
    """An optimized graph beside its model."""

    def __init__(self, model, operators):
        self.model, self.operators = model, operators
        self.maker = {o: n for n in operators for o in n.outputs}
        self.alias = {}  # of an optimized graph's tensor: the model's
        self.passes = set()  # ids of operators that only change the form of what another made
        self.name_tensors()
        self.makes = {id(n): list(dict.fromkeys(self.alias[o] for o in n.outputs if o in self.alias))
                      for n in operators if id(n) not in self.passes}
        self.made = {t for tensors in self.makes.values() for t in tensors}

    def own(self, operator):
        """The nodes that it stands for by its name, or as the framework tells."""
        found = self.model.by_name.get(operator.name)
        same = [found.name] if found and found.type == operator.type else []
        if (fused := FUSED.fullmatch(operator.name)) and fused[1] in self.model.by_name:
            same.append(fused[1])
        told = (self.model.by_name.get(n) or self.model.maker.get(n) for n in operator.originals)
        return dict.fromkeys([*same, *(n.name for n in told if n)])

    def name_tensors(self):
        model = self.model
        for n in self.operators:
            self.alias |= {o: o for o in n.outputs if o in model.maker}
        by_name = set(self.alias)
        for n in self.operators:
            if not n.outputs or n.outputs[0] in self.alias:
                continue
            own, called = self.own(n), self.called_after(n)
            if called is not None:
                last = self.merged(n, called)
                if last:
                    self.alias[n.outputs[0]] = last
            elif own and not FUSED.fullmatch(n.name):
                for ours, theirs in zip(n.outputs, self.results(own, len(n.outputs))):
                    if theirs not in by_name:
                        self.alias.setdefault(ours, theirs)
        for n in reversed(self.operators):
            if not is_form(n) or self.own(n) or not n.inputs or not n.outputs:
                continue
            here, source = self.alias.get(n.outputs[0]), n.inputs[0]
            if here is not None and source in self.maker and self.alias.setdefault(source, here) == here:
                self.passes.add(id(n))

    def called_after(self, operator):
        """The model's tensor that an operator's name tells, None for none."""
        model = self.model
        if blocked := BLOCKED.fullmatch(operator.name):
            return next((t for t in (blocked[1] + blocked[2], blocked[1]) if t in model.maker), None)
        fused = FUSED.fullmatch(operator.name)
        if fused and fused[2] in FUSED_TO_THE_LAST and fused[1] in model.by_name:
            return model.by_name[fused[1]].outputs[0]
        return None

    def merged(self, operator, tensor):
        """A convolution in blocks is called after its own result; a sum and an activation may have joined it."""
        def sole(kind):
            found = self.model.readers.get(tensor, [])
            return found[0] if len(found) == 1 and found[0].type == kind else None

        if len(operator.inputs) > 3:
            add, other = sole("Add"), operator.inputs[3]
            if add is None or self.alias.get(other, other) not in add.inputs:
                return None
            tensor = add.outputs[0]
        if operator.activation and self.model.maker[tensor].type != operator.activation:
            after = sole(operator.activation)
            tensor = after.outputs[0] if after else tensor
        return tensor

    def results(self, names, count):
        """What the nodes of these names make for others, if that is so many tensors."""
        last = max((self.model.by_name[n] for n in names), key=lambda n: self.model.place[n.name])
        if len(last.outputs) != count or not set(names) <= self.model.before(last):
            return []
        return last.outputs

    def reads(self, operator):
        """The model's tensors that it reads, and the operators between without one of their own."""
        found, between, left = set(), [], list(operator.inputs)
        seen = set(left)
        while left:
            t = left.pop()
            name = self.alias.get(t, t)
            if self.model.has(name):
                found.add(name)
                continue
            before = self.maker.get(t)
            if before is None:
                continue
            if not is_form(before) or self.own(before):
                between.append(before)
            left += (i for i in before.inputs if i not in seen)
            seen.update(before.inputs)
        return found, between

    def region(self, makes, reads):
        """The nodes that certainly are between: (name -> Node)."""
        model, own = self.model, set(makes)
        inside, order, left = {}, [], list(makes)
        while left:
            node = model.maker[left.pop()]
            if node.name in inside:
                continue
            inside[node.name] = node
            order.append(node)
            left += (t for t in node.inputs
                     if t not in reads and (t in own or t not in self.made) and not model.is_still(t) and t in model.maker)
        certain = {}
        changed = True
        while changed:  # from what is read on
            changed = False
            for node in reversed(order):
                fine = any(o in own for o in node.outputs) or all(
                    t in reads or model.is_still(t) or t in model.maker and model.maker[t].name in certain
                    and t not in self.made - own for t in node.inputs)
                if fine and node.name not in certain:
                    certain[node.name] = node
                    changed = True
        return certain

    def standing(self):
        """Operators as a framework's file has them."""
        own = {id(n): self.own(n) for n in self.operators}
        named = {name for names in own.values() for name in names}
        ways = []  # the operators, and the nodes of their way
        for n in self.operators:
            makes = self.makes.get(id(n), [])
            if makes:
                reads, between = self.reads(n)
                nodes = {name for name in self.region(makes, reads) if name not in named or name in own[id(n)]}
                together = [n, *(b for b in between if not own[id(b)] and not self.makes.get(id(b)))]
                ways.append((together, nodes, {self.model.maker[t].name for t in makes}))
        times = Counter(name for _, nodes, _ in ways for name in nodes)
        shared = {}  # of a node on several ways: the operators that all of them have
        for together, nodes, ends in ways:
            for name in nodes:
                if times[name] > 1 and name not in ends:
                    shared[name] = shared.get(name, {id(n) for n in together}) & {id(n) for n in together}
            for n in together:
                own[id(n)] |= dict.fromkeys(name for name in nodes if times[name] == 1 or name in ends)
        for name, operators in shared.items():
            for operator in operators:
                own[operator][name] = None
        return [{"name": n.name, "type": n.type, "stands_for": sorted(own[id(n)], key=self.model.place.get),
                 "makes": self.makes.get(id(n), [])} for n in self.operators]


def operators_of(model, operators):
    return Joined(model, operators).standing()


def share(model, operators):
    """How many of the nodes that run are claimed, of how many, and the operators that stand for none."""
    claimed = {name for o in operators for name in o["stands_for"]}
    runs = [n.name for n in model.runs()]
    return sum(name in claimed for name in runs), len(runs), [o for o in operators if not o["stands_for"]]
