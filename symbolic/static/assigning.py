"""Where does an assigned value go: to a name, into an array or a list, apart into several targets?"""

from __future__ import annotations

import ast
from typing import Any

from symbolic.dims import Names
from symbolic.hints import Hint
from symbolic.polynomial import Rest, Size
from symbolic.spec import PYTHON_DTYPES, AnySpec, OpaqueSpec, Spec, TupleSpec, show
from symbolic.static.abstract import UNKNOWN, Finding, Value
from symbolic.static.calling import Calling
from symbolic.static.causes import DECLARED, likely
from symbolic.static.comparing import has_size
from symbolic.static.declared import spec_of_hint, unify
from symbolic.static.facts import Facts, facts_of, spec_without, unsettled_in, with_facts
from symbolic.static.holding import Every, Ref, as_input, joined, spec_for
from symbolic.static.nesting import names_of, sizes_of
from symbolic.static.operations import is_known
from symbolic.static.signatures import Reading
from symbolic.static.things import Alias, Class


class Assigning(Calling):
    """Assignments."""

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
            if isinstance(value, Value):
                self.shown(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._apart(target.elts, value, target)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value)
        elif isinstance(target, ast.Attribute):
            home = self.evaluate(target.value)
            if isinstance(home, Value) and isinstance(target.value, ast.Name):
                self.bind(target.value.id, UNKNOWN)  # `x.shape = …` makes another array of it
            self._into_object(home, target.attr, value)
        elif isinstance(target, ast.Subscript):
            self._into(self.evaluate(target.value), self.evaluate(target.slice), value, target)

    def _apart(self, targets: list[ast.expr], value: Any, node: ast.AST) -> None:
        entries = self.entries(value, node)
        star = next((k for k, one in enumerate(targets) if isinstance(one, ast.Starred)), None)
        if type(entries) is not tuple or (
            len(entries) != len(targets) if star is None else len(entries) < len(targets) - 1
        ):
            self._wrong_count(targets, entries, value, star, node)
            entry = self.entry_of(entries) if isinstance(entries, Every) else UNKNOWN
            for one in targets:
                whole = self.state.made(list, Every(entry)) if isinstance(one, ast.Starred) else entry
                self.assign(one, whole)
            return
        if star is not None:
            behind = len(targets) - star - 1
            middle = self.state.made(list, entries[star : len(entries) - behind])
            entries = (*entries[:star], middle, *entries[len(entries) - behind :])
        for one, part in zip(targets, entries, strict=True):
            self.assign(one, part)

    def _wrong_count(self, targets: list[ast.expr], entries: Any, value: Any, star: int | None, node: ast.AST) -> None:
        """`n, d = x.shape` of three axes; of other tuples and lists the checker may have lost count."""
        if type(entries) is not tuple or not (isinstance(value, Value) or (type(value) is tuple and has_size(value))):
            return
        wanted = f"{len(targets)} names" if star is None else f"at least {len(targets) - 1} values"
        what = f"the shape {show(value)}" if type(value) is tuple else "an array"
        seen = f"{what} has {len(entries)} entries, and is taken apart into {wanted}"
        self.report.find(Finding(seen, "give each entry a name, or index it", "symbolic-shape"), node)

    def _into_object(self, home: Any, name: str, value: Any) -> None:
        if not isinstance(home, Ref) or not isinstance(home.kind, Class):
            return
        inner = self.state.contents(home)
        if type(inner) is dict:
            self.state.set(home, {**inner, name: value})

    def _into(self, home: Any, index: Any, value: Any, target: ast.Subscript) -> None:
        """`home[index] = value`."""
        if isinstance(home, Value):
            given = [self.plain(one) for one in (index, value)]
            if all(one is not UNKNOWN for one in given):
                self.operate("__setitem__", [home, *given], {}, target)
        elif isinstance(home, Ref):
            inner = self.state.contents(home)
            if home.kind is list and type(inner) is tuple and type(index) is int and -len(inner) <= index < len(inner):
                at = index % len(inner)
                self.state.set(home, (*inner[:at], value, *inner[at + 1 :]))
            elif home.kind is list and type(inner) in (tuple, Every) and not isinstance(index, slice):
                entry = joined(self.entry_of(inner), value, self.state, self.state)
                self.state.set(home, Every(entry, len(inner) if type(inner) is tuple else inner.count))
            elif home.kind is dict and type(inner) is dict and isinstance(index, (str, int, float, bool, type(None))):
                self.state.set(home, {**inner, index: value})
            else:
                self.state.lose(home)

    # ------------------------------------------------------------------ locals with hints
    def declared_local(self, node: ast.AnnAssign, value: Any) -> Any:
        """A local's hint: its value is held against it, and what it says is known from then on."""
        if self._is_alias(node):
            assert node.value is not None
            return Alias(node.value, self.frame)
        if self.frame.hints is None or self.report.calls:
            return value
        read = Reading(self.at, self.report.hints).read(node.annotation, self.frame)
        if not read.is_symbolic or read.of_value is None:
            return value
        if read.hint is not None and (node.value is None or value is UNKNOWN):
            return self._as_declared(read.hint)
        what = node.target.id if isinstance(node.target, ast.Name) else "the value"
        actual = spec_for(self.plain(value), self.state)
        if node.value is None or isinstance(actual, (OpaqueSpec, TupleSpec)):
            return value
        return value if self.held(read.of_value, value, node.value, what) else UNKNOWN

    def held(self, hint: Hint, value: Any, node: ast.AST, what: str) -> bool:
        """Whether a value meets a hint of the body; what is wrong is reported, with the likely cause."""
        actual = spec_for(self.plain(value), self.state)
        found = self.unfit(hint, actual, what)
        names = unsettled_in(self.state)
        is_exact = is_known(value) if isinstance(value, Value) else value is not UNKNOWN
        self.report.met(node, found is None and (bool(names) or is_exact))
        if found is None:
            return True
        given = value if isinstance(value, Value) else Value(actual)
        written = self.provenance(ast.Compare(node, [], []))  # type: ignore[arg-type]  # an expression, or a bare return
        found = likely(found, DECLARED, [given, Value(spec_of_hint(hint))], written)
        self.report.find(found, node, self.notes_on(found))
        return False

    def _is_alias(self, node: ast.AnnAssign) -> bool:
        written = node.annotation
        name = written.attr if isinstance(written, ast.Attribute) else getattr(written, "id", "")
        return name == "TypeAlias" and node.value is not None

    def _as_declared(self, hint: Hint) -> Any:
        spec: Any = spec_of_hint(hint)
        if hint.native in PYTHON_DTYPES or not isinstance(spec, Spec) or not self._names_in(spec) <= self.frame.names:
            return UNKNOWN
        return as_input(Value(with_facts(spec, facts_of(self.state))))

    def unfit(self, hint: Hint, actual: AnySpec, what: str) -> Finding | None:
        """What is wrong with a value for a hint of the body: the names of the inputs are rigid, others are not."""
        given, facts = spec_without(actual, self.free), facts_of(self.state)
        found = unify([hint], [given], [what], self._rigid({}))
        if isinstance(found, Finding) and facts:
            found = unify([hint], [given], [what], self._rigid(facts))
        if isinstance(found, Finding):
            for names in self._unsure(hint, actual):
                if not isinstance(
                    unify([hint], [spec_without(given, names)], [what], self._rigid(facts, names)), Finding
                ):
                    return None
        return found if isinstance(found, Finding) else None

    def _unsure(self, hint: Hint, actual: AnySpec) -> list[frozenset[str]]:
        """The names without which a value may meet a hint: those that the program has compared, and an object's own."""
        compared = unsettled_in(self.state)
        of_objects = frozenset(name for name in names_of(actual) if "." in name)
        return [one for one in (compared, of_objects, compared | of_objects) if one]

    def _rigid(self, facts: Facts, unsettled: frozenset[str] = frozenset()) -> Names:
        names = Names()
        for name in self.frame.names - unsettled:
            names.bound[name] = (Rest(name[1:]),) if name.startswith("*") else facts.get(name, Size.named(name))
        return names

    def _names_in(self, spec: Spec) -> set[str]:
        return {name for size in sizes_of(spec) if isinstance(size, Size) for name in size.names}

    # ------------------------------------------------------------------ patterns
    def takes(self, pattern: ast.pattern, subject: Any) -> bool | None:
        """Whether a pattern takes the subject; `None` where that is not known."""
        if isinstance(pattern, ast.MatchAs):
            return True if pattern.pattern is None else self.takes(pattern.pattern, subject)
        if isinstance(pattern, ast.MatchOr):
            return _all_of([_opposite(self.takes(one, subject)) for one in pattern.patterns], False)
        if isinstance(pattern, ast.MatchSingleton):
            return subject is pattern.value if type(subject) in _PLAIN else None
        if isinstance(pattern, ast.MatchValue):
            wanted = self.evaluate(pattern.value)
            return bool(wanted == subject) if all(type(one) in _PLAIN for one in (wanted, subject)) else None
        if not isinstance(pattern, ast.MatchSequence) or type(subject) is not tuple:
            return None
        if any(isinstance(one, ast.MatchStar) for one in pattern.patterns):
            return None
        if len(pattern.patterns) != len(subject):
            return False
        return _all_of([self.takes(*pair) for pair in zip(pattern.patterns, subject, strict=True)], True)

    def assign_pattern(self, pattern: ast.pattern, subject: Any) -> None:
        """The names that a pattern binds: what it takes apart is not known."""
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.assign_pattern(pattern.pattern, subject)
            if pattern.name:
                self.bind(pattern.name, subject)
            return
        if isinstance(pattern, ast.MatchSequence) and type(subject) is tuple and len(subject) == len(pattern.patterns):
            for one, part in zip(pattern.patterns, subject, strict=True):
                self.assign_pattern(one, part)
            return
        for one in ast.walk(pattern):
            if isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name:
                self.bind(one.name, UNKNOWN)
            if isinstance(one, ast.MatchMapping) and one.rest:
                self.bind(one.rest, UNKNOWN)


_PLAIN = (bool, int, float, str, bytes, type(None))
"""What a pattern is compared with whose answer is certain; a size that has a name may be any number."""


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def _all_of(known: list[bool | None], yes: bool) -> bool | None:
    """Whether all hold: `yes` if they do, the other if one does not, and unknown if it rests on what is not known."""
    return not yes if False in known else None if None in known else yes
