"""Which native types are differentiable, and what is the type of their delta? `ToLiteral` says so."""

from __future__ import annotations

import enum
import functools
import types
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_origin

import numpy as np

from symbolic.context import here
from symbolic.errors import DtypeError, TraceError
from symbolic.layer import FUNCTIONS, AnyLayer, Layer, Lent, refuse
from symbolic.leaves import Literal
from symbolic.refusing import fact
from symbolic.sizes import Shape
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec

Data = TypeVar("Data")
Delta = TypeVar("Delta")


class NoDelta:
    """The delta type of data that has no gradient: the value passes, and nothing comes back."""


class ToLiteral(Generic[Data, Delta]):
    """Says that a native type is differentiable and what its delta type is.

    Defining a subclass registers it; a later one for the same type replaces an earlier or a built-in one.

    >>> import numpy as np
    >>> class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    ...     def __call__(self, data: np.int16) -> Literal[np.int16, np.float32]:
    ...         return Literal(data)
    >>> ToLiteral.of(np.int16).delta.__name__
    'float32'
    """

    registry: ClassVar[dict[Any, ToLiteral[Any, Any]]] = {}
    data: Any = None
    delta: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is ToLiteral:
                cls.data, cls.delta = get_args(base)
        if cls.data is not None and not isinstance(cls.data, TypeVar):
            ToLiteral.registry[cls.data] = cls()

    def __call__(self, data: Data) -> Literal[Data, Delta]:
        return Literal(data)

    @staticmethod
    def of(kind: Any) -> ToLiteral[Any, Any]:
        """The mapping of a type or of one of its bases; DtypeError where there is none."""
        found = ToLiteral.find(kind)
        if found is None:
            raise unregistered(getattr(kind, "__name__", str(kind)))
        return found

    @staticmethod
    def find(kind: Any) -> ToLiteral[Any, Any] | None:
        origin = get_origin(kind)
        if origin is not None and kind not in ToLiteral.registry:
            kind = origin
        for base in getattr(kind, "__mro__", (kind,)):
            if base in ToLiteral.registry:
                return ToLiteral.registry[base]
        return _structured if hasattr(kind, "__dataclass_fields__") or origin is types.UnionType else None


def unregistered(name: str) -> DtypeError:
    """What is said of a type without a mapping, when a program runs and by a type checker."""
    return DtypeError(
        f'No ToLiteral is registered for type "{name}"',
        remedy=f"define `class {name}ToLiteral(ToLiteral[{name}, Delta])` with the type of its delta",
    )


def _register(data: Any, delta: Any) -> ToLiteral[Any, Any]:
    mapping: ToLiteral[Any, Any] = ToLiteral()
    mapping.data, mapping.delta = data, delta
    if data is not None:
        ToLiteral.registry[data] = mapping
    return mapping


_OWN: tuple[Any, ...] = (float, complex, np.floating, np.complexfloating, np.ndarray, tuple, dict, list)
_NONE: tuple[Any, ...] = (np.integer, np.bool_, bool, str, type(None), enum.Enum)
for _kind in _OWN:
    _register(_kind, _kind)
for _kind in _NONE:
    _register(_kind, NoDelta)
_register(int, float)
_structured = _register(None, None)


def delta_spec(spec: AnySpec) -> AnySpec | None:
    """The spec of a value's delta; `None` where no gradient passes."""
    if isinstance(spec, TupleSpec):
        return TupleSpec(delta_spec(entry) or OpaqueSpec(NoDelta) for entry in spec)
    if isinstance(spec, OpaqueSpec) or spec.dtype is None:
        return None
    if spec.dtype.kind in "fc":  # in the machine's byte order; whoever asked gets its own back
        return spec if spec.dtype.isnative else spec._replace(dtype=spec.dtype.newbyteorder("="))
    if spec.python is int:
        return Spec((), np.dtype(float), float)
    if spec.shape == () and spec.python is None:
        found = ToLiteral.find(spec.dtype.type)
        if found is not None and found.delta is not NoDelta:
            return Spec((), np.dtype(found.delta))
    return None


def to_literal(value: Any) -> AnyLayer:
    """A native value as a constant of the graph."""
    kind = type(value)
    if (kind is int or kind is float) and value and here.trace is None:  # not 0.0 for -0.0
        known = getattr(here.facts, "literals", None)
        if known is not None:  # a rule of gradients: what it writes for the next node has the same constants
            if (kind, value) not in known:
                known[kind, value] = ToLiteral.of(kind)(value)
            return known[kind, value]  # type: ignore[no-any-return]  # a layer
    if kind is float or kind is np.ndarray:
        return Literal(value)
    return ToLiteral.of(kind)(value)


def as_layer(value: Any) -> AnyLayer:
    """An operand: layers as they are, with assignments that were made to them; natives as Literals."""
    if isinstance(value, Layer):
        trace = here.trace
        return value if trace is None else trace.resolve(value)
    if isinstance(value, Lent):
        return value.leaf()
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        refuse(
            "an array of objects as an operand of a layer",
            "make an array of numbers; join traced values with np.stack, not with np.array",
            DtypeError,
        )
    if isinstance(value, Shape):
        value = tuple(value)
    if isinstance(value, (list, tuple)):
        return join(value)
    return to_literal(value)


def join(values: Any) -> AnyLayer:
    """A (nested) list in the place of an array, as NumPy functions take it."""
    if not _holds_operand(values):
        return Literal(np.asarray(values))
    return FUNCTIONS[np.stack](([as_layer(one) for one in values],), {})  # type: ignore[no-any-return]  # a layer


def _holds_operand(value: Any) -> bool:
    """Whether a list holds what only a run knows: layers, and captured arrays, which each call reads."""
    if isinstance(value, (list, tuple)):
        return any(_holds_operand(one) for one in value)
    return isinstance(value, (Layer, Lent))


# --------------------------------------------------------------------------- operators, also beside a user's own class

_ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "matmul": np.matmul,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
_ORDER = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_PLAIN = frozenset({float, int, np.ndarray})
"""What NumPy would hand back to the layer beside it, as it hands every layer."""


def _defers(name: str, reflected: str, ufunc: np.ufunc) -> None:
    """A number times a vector is the business of the vector's class, if that has `__rmul__`; an array asks nobody.

    Between two layers, and beside plain numbers and arrays, the layer is asked without NumPy in between.
    """
    ours = getattr(Layer, name)

    @functools.wraps(ours)
    def operator(self: Any, other: Any) -> Any:
        if type(other) in _PLAIN or isinstance(other, Layer):
            return FUNCTIONS[ufunc]((self, other), {})
        return NotImplemented if _brings(type(other), reflected) and _is_number(self) else ours(self, other)

    setattr(Layer, name, operator)


def _answers(name: str, ufunc: np.ufunc) -> None:
    """`1.0 - layer`, in the same way."""
    ours = getattr(Layer, name)

    @functools.wraps(ours)
    def operator(self: Any, other: Any) -> Any:
        return FUNCTIONS[ufunc]((other, self), {}) if type(other) in _PLAIN else ours(self, other)

    setattr(Layer, name, operator)


def _is_number(layer: Any) -> bool:
    return (
        here.trace is not None and here.trace.has_number(layer) and not issubclass(here.trace.kind(layer), np.ndarray)
    )


def _brings(kind: type, method: str) -> bool:
    """Whether a class that stands for no array and no number has an operator of its own."""
    if not isinstance(getattr(kind, method, None), types.FunctionType) or issubclass(kind, (Layer, Lent, np.ndarray)):
        return False
    return ToLiteral.find(kind) in (None, _structured)  # a dataclass is one by its fields alone


for _name, _ufunc in _ARITHMETIC.items():
    _defers(f"__{_name}__", f"__r{_name}__", _ufunc)
    _answers(f"__r{_name}__", _ufunc)
for _name, _ufunc in _ORDER.items():
    _defers(f"__{_name}__", f"__{_MIRRORED[_name]}__", _ufunc)

_power = Layer.__pow__


@functools.wraps(_power)
def _or_square(self: Any, other: Any) -> Any:
    """By 2 it is NumPy's square, which of truths is a small integer, where np.power gives a large one."""
    if type(other) is int and other == 2 and here.facts is not None and _are_truths(self):
        return FUNCTIONS[np.square]((self,), {})
    return _power(self, other)


def _are_truths(node: Any) -> bool:
    """Whether a value is known to be an array of truths."""
    try:
        return node.dtype == np.dtype(bool) and fact(node, "python") is None
    except TraceError:  # nobody knows
        return False


setattr(Layer, "__pow__", _or_square)  # noqa: B010 - it is declared elsewhere
