"""How is a network written as a graph? Nodes by `layer.inputs(n1, n2)`, then `Graph(inputs, outputs)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbolic.context import source
from symbolic.errors import DtypeError, ShapeError, SymbolicError, Where, place_of
from symbolic.layer import AnyLayer, refuse
from symbolic.leaves import set_once
from symbolic.nn.containers import run_child, tuple_entries
from symbolic.nn.layers import Module
from symbolic.ops.passing import Tuple


class GraphError(SymbolicError, ValueError):
    """Nodes that make no network: a cycle, a repeated name, an input that is missing or unused."""


class Node:
    """A layer at one place of a graph, and the nodes that feed it."""

    __slots__ = ("layer", "name", "origin", "parents")
    layer: AnyLayer
    name: str

    def __init__(self, layer: AnyLayer, parents: Sequence[Node | Sequence[Node]], name: str = "") -> None:
        self.layer, self.name = layer, name
        self.origin: Where = source()
        self.parents: list[Node] = []
        self.inputs(*parents)

    def inputs(self, *nodes: Node | Sequence[Node]) -> Node:
        """Feed the node by more nodes, after those that feed it already."""
        for node in nodes:
            if isinstance(node, (list, tuple)):
                self.inputs(*node)
            elif isinstance(node, Node):
                self.parents.append(node)
            else:
                refuse(
                    f"{self.label} is fed by {node!r}, which is no node",
                    "make a node of a layer: layer.inputs(…)",
                    DtypeError,
                )
        return self

    @property
    def label(self) -> str:
        return f"{self.name}:{self.layer.title}" if self.name else self.layer.title

    def __repr__(self) -> str:
        return f"<node {self.label} ({place_of(self.origin)})>"


class Graph(Module[Any, Any]):
    """The network between input nodes and output nodes, run in topological order.

    Several edges into a node arrive as a tuple, what leaves a node several times adds its gradients, and nodes that
    reach no output never run. Several inputs are taken in the order of `inputs`, several outputs make a tuple.
    GraphError names a cycle, a repeated name, an input that is missing, and one that is unused.

    >>> from symbolic import AddTable, Graph, Linear, ReLU
    >>> first = Linear(4, 8).inputs()
    >>> left, right = ReLU().inputs(first), Linear(8, 8).inputs(first)
    >>> model = Graph([first], [AddTable().inputs(left, right)])
    """

    __slots__ = ("nodes", "order", "outputs")
    nodes: tuple[Node, ...]
    order: tuple[Node, ...]
    outputs: tuple[Node, ...]

    def __init__(self, inputs: Node | Sequence[Node], outputs: Node | Sequence[Node]) -> None:
        set_once(self, "nodes", _nodes(inputs, "inputs"))
        set_once(self, "outputs", _nodes(outputs, "outputs"))
        set_once(self, "order", tuple(_ordered(self.outputs, self.nodes)))
        _check(self.nodes, self.order)

    def build(self, input: AnyLayer) -> AnyLayer:
        given = [input] if len(self.nodes) == 1 else tuple_entries(input) or [input]
        if len(given) != len(self.nodes):
            raise ShapeError(
                f"Graph has {len(self.nodes)} inputs, not {len(given)}",
                where=place_of(source()),
                remedy="give one value for each input node",
            )
        values: dict[int, AnyLayer] = {}
        feeds = {id(node): one for node, one in zip(self.nodes, given, strict=True)}
        for k, node in enumerate(self.order):
            arriving = [*([feeds[id(node)]] if id(node) in feeds else []), *[values[id(p)] for p in node.parents]]
            fed = arriving[0] if len(arriving) == 1 else Tuple.make(tuple(arriving))
            values[id(node)] = run_child(node.name or k, node.layer, fed)
        found = [values[id(node)] for node in self.outputs]
        return found[0] if len(found) == 1 else Tuple.make(tuple(found))

    def parts(self) -> Sequence[str | AnyLayer]:
        names = {id(node): node.name or f"n{k}" for k, node in enumerate(self.order)}
        parts: list[str | AnyLayer] = ["Graph("]
        for k, node in enumerate(self.order):
            fed = ", ".join(names[id(parent)] for parent in node.parents)
            parts += [", " if k else "", f"{names[id(node)]} = ", node.layer, f".inputs({fed})"]
        return (*parts, ")")

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return [(node.name or str(k), node.layer) for k, node in enumerate(self.order)]


def _nodes(given: Any, what: str) -> tuple[Node, ...]:
    nodes = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for node in nodes:
        if not isinstance(node, Node):
            raise GraphError(
                f"Graph {what} hold {node!r}", where=place_of(source()), remedy="give nodes: layer.inputs(…)"
            )
    if not nodes:
        raise GraphError(f"Graph without {what}", where=place_of(source()), remedy="give at least one node")
    return nodes


def _ordered(outputs: Sequence[Node], inputs: Sequence[Node]) -> list[Node]:
    """The nodes that reach an output, each after those that feed it; GraphError for a cycle."""
    order: list[Node] = []
    state: dict[int, int] = {}  # 1: its parents are being visited, 2: done
    stack: list[tuple[Node, bool]] = [(node, False) for node in reversed(outputs)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            state[id(node)] = 2
            order.append(node)
        elif state.get(id(node), 0) == 0:
            state[id(node)] = 1
            stack.append((node, True))
            for parent in reversed(node.parents):
                if state.get(id(parent), 0) == 1:
                    raise GraphError(
                        f"the nodes {parent.label} and {node.label} feed each other in a cycle",
                        where=place_of(node.origin),
                        remedy="take one of the edges out",
                    )
                stack.append((parent, False))
    return order


def _check(inputs: Sequence[Node], order: Sequence[Node]) -> None:
    listed, reached = {id(node) for node in inputs}, {id(node) for node in order}
    if len(listed) < len(inputs):
        raise GraphError("an input node is listed twice", where=place_of(source()), remedy="list each input once")
    names: dict[str, Node] = {}
    for node in order:
        if not node.parents and id(node) not in listed:
            raise GraphError(
                f"the input {node.label} is missing from Graph's inputs",
                where=place_of(node.origin),
                remedy="list it among the inputs, or feed it by another node",
            )
        twin = names.setdefault(node.name, node) if node.name else node
        if twin is not node:
            raise GraphError(
                f"two nodes have the name {node.name!r}",
                where=place_of(node.origin),
                remedy="give each node its own name",
            )
    for node in inputs:
        if id(node) not in reached:
            raise GraphError(
                f"the input {node.label} is unused: it reaches no output",
                where=place_of(node.origin),
                remedy="take it out of the inputs, or connect it",
            )
