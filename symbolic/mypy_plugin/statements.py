"""Which statements of a body are its own? Those of functions within it are not."""

from __future__ import annotations

from collections.abc import Iterator

from mypy.nodes import (
    Block,
    ForStmt,
    IfStmt,
    MatchStmt,
    Node,
    ReturnStmt,
    TryStmt,
    WhileStmt,
    WithStmt,
)

RETURNED = "the returned value"
"""What sentences call it, at run time and here."""


def returns(node: Node) -> Iterator[ReturnStmt]:
    """The return statements of a body."""
    if isinstance(node, ReturnStmt):
        yield node
    for inner in _within(node):
        yield from returns(inner)


def _within(node: Node) -> list[Node]:
    if isinstance(node, Block):
        return list(node.body)
    if isinstance(node, IfStmt):
        return [*node.body, *_those(node.else_body)]
    if isinstance(node, (WhileStmt, ForStmt)):
        return [node.body, *_those(node.else_body)]
    if isinstance(node, TryStmt):
        return [node.body, *node.handlers, *_those(node.else_body), *_those(node.finally_body)]
    if isinstance(node, WithStmt):
        return [node.body]
    return list(node.bodies) if isinstance(node, MatchStmt) else []


def _those(block: Block | None) -> list[Node]:
    return [] if block is None else [block]
