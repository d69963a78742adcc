"""What do displays and comprehensions make: `[a, *b]`, `{"w": w}`, `[f(x) for x in xs]`?"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symbolic.static.abstract import UNKNOWN
from symbolic.static.conditions import Conditions
from symbolic.static.holding import Every, Ref
from symbolic.static.things import Frame

_MOST_ENTRIES = 10_000


class Structures(Conditions):
    """Structures that an expression makes."""

    def items(self, nodes: list[ast.expr]) -> Any:
        """The entries of a display, `[a, *b]`; `Every` or UNKNOWN where their number is not known."""
        found: list[Any] = []
        for one in nodes:
            if not isinstance(one, ast.Starred):
                found.append(self.evaluate(one))
                continue
            inner = self.entries(self.evaluate(one.value), one)
            if type(inner) is tuple:
                found += inner
            else:
                rest = [self.evaluate(other) for other in nodes if not isinstance(other, ast.Starred)]
                return Every(self.entry_of((inner.entry, *rest))) if isinstance(inner, Every) else UNKNOWN
        return tuple(found) if len(found) <= _MOST_ENTRIES else UNKNOWN

    def _tuple(self, node: ast.Tuple) -> Any:
        return self.items(node.elts)

    def _list(self, node: ast.List) -> Any:
        return self.state.made(list, self.items(node.elts))

    def _set(self, node: ast.Set) -> Any:
        for one in node.elts:
            self.evaluate(one)
        return UNKNOWN

    def _dict(self, node: ast.Dict) -> Any:
        found: Any = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = None if key is None else self.evaluate(key)
            held = self.evaluate(value)
            if key is None:
                inner = self.state.contents(held) if isinstance(held, Ref) and held.kind is dict else UNKNOWN
                found = {**found, **inner} if type(inner) is dict and found is not UNKNOWN else UNKNOWN
            elif found is not UNKNOWN and isinstance(name, (str, int, float, bool, type(None))):
                found[name] = held
            else:
                found = UNKNOWN
        return self.state.made(dict, found)

    def _text_of(self, node: ast.JoinedStr) -> Any:
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                self.evaluate(one.value)
        return UNKNOWN

    def _slice(self, node: ast.Slice) -> Any:
        return slice(*[None if one is None else self.evaluate(one) for one in (node.lower, node.upper, node.step)])

    # ------------------------------------------------------------------ comprehensions
    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        with self.within(Frame(node, self.frame, self.frame.module)):
            found = self._gathered(node.generators, lambda: self.evaluate(node.elt))
        if isinstance(node, ast.SetComp):
            return UNKNOWN
        return self.state.made(list, found) if isinstance(node, ast.ListComp) else found

    def _dict_comprehension(self, node: ast.DictComp) -> Any:
        with self.within(Frame(node, self.frame, self.frame.module)):
            found = self._gathered(node.generators, lambda: (self.evaluate(node.key), self.evaluate(node.value)))
        if type(found) is not tuple or not all(isinstance(key, (str, int)) for key, _ in found):
            return self.state.made(dict, UNKNOWN)
        return self.state.made(dict, dict(found))

    def _gathered(self, generators: list[ast.comprehension], entry: Callable[[], Any]) -> Any:
        """The entries that a comprehension makes."""
        if not generators:
            with self.report.doubt():
                return (entry(),)
        first, rest = generators[0], generators[1:]
        source = self.entries(self.evaluate(first.iter), first.iter)
        if source is UNKNOWN:
            source = Every(UNKNOWN)
        if type(source) is tuple and len(source) > 64:
            source = Every(self.entry_of(source), len(source))
        if isinstance(source, Every):
            self.assign(first.target, source.entry)
            passing = self._passing(first.ifs)
            inner = self._gathered(rest, entry) if passing is not False else ()
            exact = passing is True and type(inner) is tuple and source.count is not None
            return Every(self.entry_of(inner), source.count * len(inner) if exact else None)
        return self._one_by_one(source, first, rest, entry)

    def _one_by_one(
        self, source: tuple[Any, ...], first: ast.comprehension, rest: list[ast.comprehension], entry: Callable[[], Any]
    ) -> Any:
        found: list[Any] = []
        exact = True
        for one in source:
            self.assign(first.target, one)
            passing = self._passing(first.ifs)
            if passing is False:
                continue
            inner = self._gathered(rest, entry)
            exact = exact and passing is True and type(inner) is tuple
            found += inner if type(inner) is tuple else [self.entry_of(inner)]
        return tuple(found) if exact else Every(self.entry_of(tuple(found)))

    def _passing(self, tests: list[ast.expr]) -> bool | None:
        found: bool | None = True
        for test in tests:
            truth = self.truth(self.evaluate(test))
            if truth is False:
                return False
            found = found if truth else None
        return found
