"""What is an operation? A case class: operands, parameters, the NumPy function that it stands for, and its gradient.

The NumPy function is the key. A class statement with `numpy=` binds the function, and everything that NumPy knows
(the arguments' names, the dtype of the result) is asked of NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import DtypeError, TraceError
from symbolic.layer import FUNCTIONS, AnyLayer, Layer, refuse, unsupported
from symbolic.leaves import Identity, set_once, settled, written
from symbolic.literal import as_layer
from symbolic.ops.binding import Binder, Kernel
from symbolic.printing import bits, separated
from symbolic.spec import AnySpec, OpaqueSpec, Spec

PYTHON_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


class _Operand:
    """A field that reads one operand."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, node: Operation | None, owner: type) -> Any:
        return self if node is None else node.operands[self.index]


class _Parameter(_Operand):
    """A field that reads one parameter."""

    __slots__ = ()

    def __get__(self, node: Operation | None, owner: type) -> Any:
        return self if node is None else node.parameters[self.index]


_operand, _parameter = cache(_Operand), cache(_Parameter)  # one for each place serves all classes


class Operation(Layer[Any, Any]):
    """The base of every operation; its fields are its operands and its parameters.

    A concrete class declares what NumPy cannot say: its gradient, and, where it differs from its family's, `infer`.
    """

    __slots__ = ("operands", "parameters")

    operands: tuple[AnyLayer, ...]
    parameters: tuple[Any, ...]

    operand_names: ClassVar[tuple[str, ...]] = ("operand",)
    defaults: ClassVar[Mapping[str, Any]] = {}
    variadic: ClassVar[bool] = False
    shares: ClassVar[bool] = False  # the result may share the first operand's memory
    overwrites: ClassVar[bool] = False  # given the first operand's array as the result's, it changes only some entries
    elementwise: ClassVar[bool] = False  # entry by entry: the result may overwrite an operand
    effect: ClassVar[bool] = False  # kept, and never merged with a twin
    raises: ClassVar[bool] = False  # for some numbers: within a `try` it is computed while tracing
    late: ClassVar[bool] = False  # a graph of its own stands behind it, which is written out when specs are known
    indexed: ClassVar[bool] = False  # reads entries of the first operand, into which may have been written
    pieces: ClassVar[bool] = False  # zeros like the first operand, with values in some places: those of one are joined
    unwritten: ClassVar[bool] = False  # stands for a body that is run when the node is traced
    functions: ClassVar[tuple[Callable[..., Any], ...]] = ()
    symbol: ClassVar[str] = ""
    entrywise: ClassVar[str] = ""  # what machines know it by, where it is not the name of a NumPy function

    # what the laws need to know
    domain: ClassVar[Any] = None  # where the function is smooth: a name that test_laws.py knows
    samples: ClassVar[Sequence[Mapping[str, Any]]] = ({},)  # parameters to try

    def __init_subclass__(cls, numpy: Any = None, symbol: str = "", method: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        type.__setattr__(cls, "__match_args__", (*cls.operand_names, *cls.defaults))
        if not cls.variadic:
            for k, name in enumerate(cls.operand_names):
                setattr(cls, name, _operand(k))
        for k, name in enumerate(cls.defaults):
            setattr(cls, name, _parameter(k))
        if symbol:
            cls.symbol = symbol
        if numpy is not None:
            cls.functions = numpy if isinstance(numpy, tuple) else (numpy,)
            for function in cls.functions:
                FUNCTIONS[function] = Binder(cls, function)
            OPERATIONS.append(cls)

    def __init__(self, *operands: Any, **parameters: Any) -> None:
        names, defaults = self.operand_names, self.defaults
        if not self.variadic:
            given = list(operands)
            given += [parameters.pop(name) for name in names[len(given) :] if name in parameters]
            if not given and len(names) == 1:
                given = [Identity()]
            if len(given) != len(names):
                refuse(
                    f"{type(self).__name__} takes {' and '.join(names)}, not {len(given)}", "give each once", DtypeError
                )
            operands = tuple(given)
        for name in parameters:
            if name not in defaults:
                known = ", ".join(defaults) or "none"
                refuse(f"{type(self).__name__} has no parameter {name!r}", f"it has: {known}", DtypeError)
        set_once(self, "operands", tuple([as_layer(one) for one in operands]))
        set_once(self, "parameters", tuple([parameters.get(name, value) for name, value in defaults.items()]))
        if here.trace is not None:
            here.trace.made(self)

    @classmethod
    def make(cls, operands: tuple[AnyLayer, ...], parameters: tuple[Any, ...] = ()) -> Any:
        """A node of operands and parameters that are in order already."""
        self = Layer.__new__(cls)
        set_once(self, "operands", operands)
        set_once(self, "parameters", parameters)
        trace = here.trace
        if trace is not None:
            trace.made(self)
        return self

    def rebuilt(self, operands: tuple[AnyLayer, ...]) -> Any:
        """The same operation, from the same line of the program, over other operands."""
        self_ = object.__new__(type(self))
        origin = self._origin
        if here.trace is not None and here.path:
            origin = origin._replace(path=here.path)
        set_once(self_, "_origin", origin)
        set_once(self_, "operands", operands)
        set_once(self_, "parameters", self.parameters)
        return self_

    def altered(self, operands: Sequence[AnyLayer], **changes: Any) -> Any:
        """The same operation with other operands and some other parameters."""
        pairs = zip(self.defaults, self.parameters, strict=True)
        return self.make(tuple(operands), tuple([changes.get(name, value) for name, value in pairs]))

    # ------------------------------------------------------------------ the questions
    def infer(self, *specs: AnySpec) -> AnySpec:
        """The spec of the result; `None` for what cannot be known. The family says it."""
        raise NotImplementedError  # abstract

    def evaluate(self, *values: Any) -> Any:
        """The value, by NumPy."""
        return self.functions[0](*values, **dict(zip(self.defaults, self.parameters, strict=True)))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """What computes the value for these specs, and whether it takes the result's array (or None) last."""
        return self.evaluate, False

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        """One delta for each operand (`None`: no gradient), written in operations."""
        raise unsupported(
            f"the gradient of {type(self).__name__}",
            "use another formula for it",
        )

    def written_out(self, operands: tuple[AnyLayer, ...], facts: Any) -> AnyLayer | None:
        """For a node that only stands for others: these, now that specs are known."""
        return None

    def closed(self) -> Sequence[AnyLayer]:
        """The slices that this node brings together: beyond it they mean nothing."""
        return ()

    def consumed(self) -> AnyLayer | None:
        """What stands for this node in a gradient that has gone through it; `None` for itself."""
        return None

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """A smaller layer with the same value, now that the operands' specs are known."""
        return None

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        """Whether NumPy's result shares memory with the first operand, so that assigning to one changes the other.

        `None` where it depends on how the operand lies in memory.
        """
        return self.shares

    def written_back(self, base: AnyLayer, value: AnyLayer, base_spec: AnySpec, spec: AnySpec) -> AnyLayer | None:
        """The first operand after its view, this, was given new entries; `None` where that cannot be said."""
        return None

    def key(self) -> Any:
        """What two equal operations over the same operands have in common."""
        return tuple([bits(one) for one in self.parameters]) if self.parameters else ()

    # ------------------------------------------------------------------ the tree
    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        names = self.operand_names if not self.variadic else tuple(map(str, range(len(self.operands))))
        return list(zip(names, self.operands, strict=True))

    def parts(self) -> Sequence[str | AnyLayer]:
        fields: list[str | AnyLayer] = list(self.operands)
        for (name, default), value in zip(self.defaults.items(), self.parameters, strict=True):
            if bits(value) != bits(default):
                fields.append(f"{name}={written(value)}")
        return (f"{type(self).__name__}(", *separated(fields), ")")

    def apply(self, input: AnyLayer) -> AnyLayer:
        return substitute(self, input)


OPERATIONS: list[type[Operation]] = []
"""Every operation that stands for a NumPy function: what the laws loop over."""


def substitute(root: AnyLayer, input: AnyLayer) -> AnyLayer:
    """`root` over another input: a shared node stays shared, whatever the depth."""
    done: dict[int, AnyLayer] = {}
    for node in topological([root]):
        if not isinstance(node, Operation):
            done[id(node)] = node.apply(input)
            continue
        operands = tuple([done[id(one)] for one in node.operands])
        same = all(a is b for a, b in zip(operands, node.operands, strict=True)) and not node.unwritten
        done[id(node)] = node if same else node.rebuilt(operands)
    return done[id(root)]


def replaced(roots: Sequence[AnyLayer], others: Mapping[AnyLayer, AnyLayer]) -> list[AnyLayer]:
    """The roots over other nodes in the place of some."""
    done: dict[AnyLayer, AnyLayer] = dict(others)
    for node in topological(roots):
        if node not in done:
            operands = tuple([done[one] for one in node.operands]) if isinstance(node, Operation) else ()
            same = not operands or all(a is b for a, b in zip(operands, node.operands, strict=True))
            done[node] = node if same else node.rebuilt(operands)
    return [done[root] for root in roots]


def frontier(roots: Sequence[AnyLayer], variables: Sequence[AnyLayer]) -> list[AnyLayer]:
    """What the roots are made of besides the variables: the last nodes, no constants, that do not depend on them."""
    reached = set(variables)
    found: dict[AnyLayer, None] = {}
    for node in topological(roots):
        if isinstance(node, Operation) and node not in reached and any(one in reached for one in node.operands):
            reached.add(node)
            found.update((one, None) for one in node.operands if one not in reached)
    found.update((one, None) for one in roots if one not in reached)
    return [one for one in found if not hasattr(type(one), "constant")]


def topological(roots: Sequence[AnyLayer], seen: set[int] | None = None) -> list[AnyLayer]:
    """Every node that the roots need, operands before their users; each once, without recursion.

    `seen` has the ids of those that are left out with all that they need, and takes those of the others.
    """
    order: list[AnyLayer] = []
    seen = set() if seen is None else seen
    stack: list[AnyLayer | None] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        if node is None:  # the operands of the next one are there
            order.append(stack.pop())  # type: ignore[arg-type]  # a node stands below each mark
            continue
        while node is not None and id(node) not in seen:
            seen.add(id(node))
            first: AnyLayer | None = None  # of the operands that are not there: it is gone to at once
            if isinstance(node, Operation):
                for one in reversed(node.operands):
                    if id(one) not in seen:
                        if first is None:
                            stack.append(node)
                            stack.append(None)
                        else:
                            stack.append(first)
                        first = one
            if first is None:
                order.append(node)
            node = first
    return order


def array(spec: AnySpec) -> Spec:
    """The spec of an operand that must be an array or a number."""
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, OpaqueSpec):
        seen = f"an operand is of type {spec.kind.__name__}, where an array or a number is needed"
        raise DtypeError(seen, remedy="pass an array or a number")
    raise DtypeError(
        f"an operand is a tuple of {len(spec)} entries, where one array or number is needed",
        remedy="give the layer one input, or take an entry of the tuple first",
    )


def held(base: Any, out: Any) -> Any:
    """An array with the entries of `base`, to be written into: `out`, or a copy where there is none."""
    if out is None:
        return np.array(base)
    if out is not base:
        np.copyto(out, base)
    return out


class Overwriting(Operation):
    """The first operand with some of its entries changed. A member says in `written` which, and to what."""

    __slots__ = ()
    variadic = True
    overwrites = True

    def evaluate(self, *values: Any) -> Any:
        return self.written(*values, None)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.written, True

    def written(self, *values: Any) -> Any:
        """Of the operands' values, then an array for the result, or `None`."""
        raise NotImplementedError  # abstract


def static(value: Any, what: str) -> Any:
    """A parameter that must be known while tracing."""
    value = settled(value)
    if isinstance(value, Layer):
        refuse(f"{what} is a traced value", f"make {what} a Python number or a NumPy array")
    return value


def decided(condition: Any, name: str, instead: str) -> bool:
    """The truth of a condition on the entries, by which NumPy chooses the dtype or the shape of a result.

    Where a trace cannot know it, the function is refused by its name.
    """
    try:
        return bool(condition)
    except TraceError as error:
        raise unsupported(f"{name}, whose result depends on the numbers in a traced value,", instead) from error
