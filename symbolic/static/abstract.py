"""What is known of a value before a program runs, and what does one call make of such values?

A call is traced as at run time, by the very registry and the same `infer`, over leaves of which only the spec is
known. No function of the user's is ever called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn
from typing import Literal as OneOf

import numpy as np

from symbolic import public  # noqa: F401 - it fills the registry
from symbolic.context import here, inside
from symbolic.errors import DtypeError, LayerError, ShapeError, SymbolicError, TraceError, Where
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Identity, Literal
from symbolic.ops.families import Elementwise, Movement, Reduction
from symbolic.ops.indexing import GetItem
from symbolic.ops.operation import topological
from symbolic.ops.passing import Cast, Mark, Same
from symbolic.polynomial import Size, Undecided
from symbolic.sizes import Shape
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec, spec_of
from symbolic.trace import Tracing


class Value(NamedTuple):
    """A layer, or an array or number, of which the spec is known.

    `loose`: of one whose rank is not known it is not even known whether it is an array or a number.
    """

    spec: AnySpec
    loose: bool = False


class _Unknown:
    """An argument, or a result, of which nothing is known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()

Kind = OneOf["symbolic", "symbolic-shape", "symbolic-dtype"]


class Finding(NamedTuple):
    """What is wrong: the parts of the sentence that run time would say, and the code of the checkers."""

    seen: str
    remedy: str
    kind: Kind = "symbolic"
    raised: Any = None
    """The class of the error that foretold it, where it was one."""


class Answer(NamedTuple):
    """What a call gives (a `Value`, a constant, a structure of these, or `UNKNOWN`), and what is wrong with it."""

    value: Any
    finding: Finding | None = None


ALWAYS_WRONG = Answer(UNKNOWN)
"""The answer, by its identity, of a call that was wrong with every guess: no proof, so nothing is said of it."""


class NotKnown(Exception):  # noqa: N818 - it is no error of anybody's
    """A call asked for what only numbers tell."""


class Unsettled(Exception):  # noqa: N818 - it is no error of anybody's
    """The rules could not cope: with a named size, or with something that they do not know."""


_MOST_NODES = 400
"""Nodes that one call may make: `x.tolist()` makes one for each entry."""
_MOST_ENTRIES = 1_000_000


class Abstract(Tracing):
    """A trace without any data: what it is asked and cannot know is `NotKnown`, and no fault of the program's."""

    given: Leaves
    count: int
    asked: bool

    def __init__(self, given: Leaves, facts: Inference) -> None:
        super().__init__((), facts, None)
        self.given = given
        self.count = 0  # of nodes
        self.asked = False  # the call has read a named size, and may have done anything with it

    def ask(self, node: AnyLayer, what: str) -> Any:
        spec = self.facts.spec(self.resolve(node))
        if not isinstance(spec, Spec):
            raise NotKnown(what)
        if what == "python":
            return spec.python
        if what == "dtype":
            return self.unknown(node, what) if spec.dtype is None else spec.dtype
        shape: Any = spec.shape
        if shape is None:
            self.unknown(node, what)
        if what == "ndim":
            return len(shape)
        if what == "size":
            return self.unknown(node, what) if None in shape else math.prod(shape)
        return Shape(len(shape), lambda axis: self._size(node, axis, shape[axis]))

    def _size(self, node: AnyLayer, axis: int, size: Any) -> Any:
        self.asked = self.asked or isinstance(size, Size)
        return self.unknown(node, "shape") if size is None else size

    def made(self, node: AnyLayer) -> None:
        self.count += 1
        if self.count > _MOST_NODES or (isinstance(node, GetItem) and any(map(self._is_large, node.operands[1:]))):
            raise NotKnown("what takes too long")
        self.facts.spec(node)

    def _is_large(self, index: AnyLayer) -> bool:
        """Whether an array of indices has more entries than NumPy can be asked about at once."""
        spec = self.facts.spec(index)
        sizes = [size for size in spec.shape or () if isinstance(size, int)] if isinstance(spec, Spec) else []
        return math.prod(sizes) > _MOST_ENTRIES

    def unknown(self, node: AnyLayer, what: str) -> NoReturn:
        raise NotKnown(what)

    def answer(self, node: AnyLayer, asked: str) -> Any:
        raise NotKnown(asked)

    number = answer

    def known(self, node: AnyLayer) -> Any:
        return None

    def replace(self, target: AnyLayer, value: AnyLayer) -> AnyLayer:
        """`target += …`: where the shapes or dtypes are not known, the target keeps its own."""
        before, after = self.facts.spec(self.resolve(target)), self.facts.spec(value)
        if not isinstance(before, Spec) or not isinstance(after, Spec) or before.shape == () or before.python:
            return value
        if before.known and after.known:
            return super().replace(target, value)
        if before.dtype is not None and after.dtype is not None and self.given.is_array(target, self.facts):
            self.in_dtype(value, before, after)  # which may refuse
        return Mark.make((target,))  # type: ignore[no-any-return]  # a node of the class

    def kind(self, node: AnyLayer) -> type:
        spec = self.facts.spec(self.resolve(node))
        if isinstance(spec, Spec) and spec.python is None and (spec.shape is None or (spec == Spec(()))):
            raise NotKnown("type")
        if isinstance(spec, Spec) and spec.shape == () and spec.python is None and spec.dtype is not None:
            return spec.dtype.type
        return native(spec)

    def is_value(self, node: AnyLayer) -> bool:
        return True


def native(value: Any) -> type:
    """The native type that stands for a value, or for its spec: an array where the rank is not known."""
    spec = value.spec if isinstance(value, Value) else value
    if isinstance(spec, TupleSpec):
        return tuple
    if isinstance(spec, OpaqueSpec):
        return spec.kind
    if spec.python is not None:
        return spec.python
    if spec.shape != ():
        return np.ndarray
    return float if spec.dtype is None or spec.dtype == np.float64 else spec.dtype.type


# --------------------------------------------------------------------------- arguments


class Leaves:
    """The leaves that stand for the values among the arguments of one call."""

    faithful: bool

    def __init__(self) -> None:
        self.specs: dict[AnyLayer, AnySpec] = {}
        self.loose: set[AnyLayer] = set()
        self.faithful = True  # every argument is represented by what is known of it

    def of(self, argument: Any) -> Any:
        """An argument as it is given to the function: values as leaves, structures entry by entry."""
        if isinstance(argument, Value):
            return self._leaf(argument.spec, argument.loose)
        if argument is UNKNOWN:
            self.faithful = False
            return self._leaf(Spec(), True)
        kind = type(argument)
        if kind in (tuple, list):
            return kind([self.of(one) for one in argument])
        if kind is dict:
            return {name: self.of(one) for name, one in argument.items()}
        if kind is slice:
            return slice(*map(self.of, (argument.start, argument.stop, argument.step)))
        return argument

    def _leaf(self, spec: AnySpec, loose: bool) -> Any:
        if isinstance(spec, TupleSpec):
            return tuple([self._leaf(one, loose) for one in spec])
        leaf: AnyLayer = Identity()
        self.specs[leaf] = spec
        if loose:
            self.loose.add(leaf)
        return leaf

    def is_array(self, node: AnyLayer, facts: Inference) -> bool:
        """Whether a node is an array for certain, though its rank may not be known."""
        spec = facts.spec(node)
        if not isinstance(spec, Spec) or spec.shape is not None:
            return isinstance(spec, Spec) and spec.shape != ()
        if isinstance(node, Elementwise):
            return any(self.is_array(one, facts) for one in node.operands)
        if isinstance(node, (Movement, Same, Cast)):
            return self.is_array(node.operands[0], facts)
        return node in self.specs and node not in self.loose


NOWHERE = Where()


def run(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Answer, bool]:
    """What one call gives, and whether rules made it that are known to cope with named sizes.

    `Unsettled` where the rules cannot cope, or have no answer without numbers.
    """
    leaves, facts = Leaves(), Inference({})
    with inside(trace=None, facts=None, origin=NOWHERE, path="", prefix="", floating=None):
        tracing = here.trace = here.facts = Abstract(leaves, facts)  # within: no line of a program is looked for
        placed = [leaves.of(one) for one in args]
        named = {name: leaves.of(one) for name, one in kwargs.items()}
        facts.specs.update(leaves.specs)
        try:
            returned = function(*placed, **named)
            sure = not tracing.asked and _is_sure(returned)
            return Answer(_result(returned, tracing, leaves)), sure
        except Exception as error:
            found = finding(error)
            if found is None or not (leaves.faithful or found.seen.endswith(_NO_MEMORY)):
                raise Unsettled from error
            return Answer(UNKNOWN, found), False


_SURE = (
    *(
        "MatMul",
        "Dot",
        "Einsum",
        "Reshape",
        "Concatenate",
        "GetItem",
        "Transpose",
        "Swapaxes",
        "Moveaxis",
        "ExpandDims",
    ),
    *("Flip", "BroadcastTo", "Running", "Cumsum"),
)


def _is_sure(value: Any) -> bool:
    """Whether every operation below has a rule that copes with names; tests/test_static.py goes through them."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_sure, value))
    nodes = topological([value]) if isinstance(value, Layer) else []
    return all(
        isinstance(node, (Identity, Literal, Elementwise, Reduction, Same, Cast)) or type(node).__name__ in _SURE
        for node in nodes
    )


def _result(value: Any, tracing: Abstract, leaves: Leaves) -> Any:
    if isinstance(value, Layer):
        node = tracing.resolve(value)
        found = _of_spec(tracing.facts.spec(node))
        is_loose = isinstance(found, Value) and isinstance(found.spec, Spec) and found.spec.shape is None
        return found._replace(loose=True) if is_loose and not leaves.is_array(node, tracing.facts) else found
    if isinstance(value, Shape):
        return tuple([_size_or_unknown(value, k) for k in range(len(value))])
    if isinstance(value, (np.ndarray, np.generic)):
        return Value(spec_of(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_result(one, tracing, leaves) for one in value])
    if type(value) in (tuple, list):
        return type(value)([_result(one, tracing, leaves) for one in value])
    return value if is_constant(value) else UNKNOWN


def _of_spec(spec: AnySpec) -> Any:
    if isinstance(spec, TupleSpec):
        return tuple([_of_spec(one) for one in spec])
    return Value(spec)


def _size_or_unknown(shape: Shape, axis: int) -> Any:
    try:
        return shape[axis]
    except NotKnown:
        return UNKNOWN


def is_constant(value: Any) -> bool:
    """Whether a value is one that a checker can follow as it is."""
    return value is None or isinstance(
        value, (int, float, complex, str, bytes, Size, np.dtype, type(Ellipsis), np.finfo, np.iinfo, type)
    )


# --------------------------------------------------------------------------- errors


def finding(error: BaseException | None) -> Finding | None:
    """What an error says for certain; `None` where it says that something is not known, or that a rule has failed."""
    if not isinstance(error, SymbolicError) or _is_doubtful(error):
        return None
    if isinstance(error, ShapeError):
        return Finding(error.seen, error.remedy, "symbolic-shape", type(error))
    if isinstance(error, DtypeError):
        return Finding(error.seen, error.remedy, "symbolic-dtype", type(error))
    found = Finding(error.seen, error.remedy, raised=type(error))
    return found if isinstance(error, TraceError) and _refuses(found) else None


def _is_doubtful(error: BaseException) -> bool:
    """Whether an error came of something that was not known."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        if isinstance(at, (Undecided, NotKnown)):
            return True
        seen.add(id(at))
        at = at.__cause__ or at.__context__
    return type(error) is LayerError  # of a cause that is none of ours


_NO_MEMORY = " which has no memory of its own"
_REFUSALS = (" is not supported on layers", _NO_MEMORY, " of a traced layer as another type")
"""How the sentences of refusals end that hold whatever the numbers are (`layer.unsupported`, `ops.methods`)."""


def _refuses(found: Finding) -> bool:
    return found.kind == "symbolic" and found.seen.endswith(_REFUSALS)
