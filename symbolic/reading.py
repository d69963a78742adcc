"""Of which statements of a file was a function's code made?

Nothing here is sure: a file may have changed since. Whoever asks compiles what is found, and compares the codes.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

__all__ = ["readings", "within"]

Statements: TypeAlias = list[ast.stmt]


def readings(lines: Sequence[str], line: int) -> Iterator[tuple[Statements, Statements, Statements]]:
    """The imports of a module, the statements in which a line stands, and these to be changed, when they were compiled.

    First by what stands in a block of lines, which is most often right, and quick: then by the whole text. Which it is
    shows when the code that comes of it is compared with the function's own.
    """
    block = _parsed_here(_block(lines, line))
    if block is not None and len(block.body) == 1:
        yield _imported(lines), block.body, block.body  # nobody else has this tree
    module = _parsed("".join(lines)) if lines else None
    statements = [] if module is None else _statements(module, line)
    if module is not None and statements:
        yield _imports(module), statements, _copied(statements)


def _block(lines: Sequence[str], line: int) -> str:
    """The lines of the outermost statement in which one stands, by how they are indented; empty lines before them."""
    start = min(line, len(lines)) - 1
    while start > 0 and not _begins(lines[start]):
        start -= 1
    stop = max(start, 0)
    while stop < len(lines) and lines[stop].startswith("@"):  # a decorator, and behind the last the function itself
        stop = _after(lines, stop)
    return "\n" * start + "".join(lines[start : _after(lines, stop)])


def _after(lines: Sequence[str], at: int) -> int:
    """Where the next statement of a module begins."""
    at += 1
    while at < len(lines) and not _begins(lines[at]):
        at += 1
    return at


def _begins(line: str) -> bool:
    """Whether a statement of a module begins there."""
    return line[:1] not in " \t\n\r\f#)]}"


def _imported(lines: Sequence[str]) -> Statements:
    """The imports that have a line each: most of them."""
    found = [one for one in lines if one.startswith(("import ", "from ")) and not one.rstrip().endswith(("(", "\\"))]
    module = _parsed_here("".join(found))
    return [] if module is None else _imports(module)


@lru_cache(maxsize=32)
def _parsed(text: str) -> ast.Module | None:
    return _parsed_here(text)


def _parsed_here(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who reads a text again says nothing of it
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            return None


def _imports(module: ast.Module) -> list[ast.stmt]:
    """The imports of a module: Python compiles `np.exp` in another way where it knows `np` to be a module."""
    found = [one for one in within(module.body) if isinstance(one, (ast.Import, ast.ImportFrom))]
    return [one for one in found if getattr(one, "module", "") != "__future__"]


def _statements(module: ast.Module, line: int) -> list[ast.stmt]:
    """The outermost statements in which a line stands: with them, all that the code inside them needs to know."""
    found = []
    for one in module.body:
        first = min([one.lineno, *[each.lineno for each in getattr(one, "decorator_list", ())]])
        if first <= line <= (one.end_lineno or first):
            found.append(one)
    return found


def _copied(node: Any) -> Any:
    """A tree that may be changed; the parsed one stays for the next function of its file."""
    if isinstance(node, ast.AST):
        twin = type(node)(**{name: _copied(value) for name, value in ast.iter_fields(node)})
        return ast.copy_location(twin, node)
    return [_copied(one) for one in node] if isinstance(node, list) else node


def within(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a scope, those of inner scopes left out."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
