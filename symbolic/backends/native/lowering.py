"""Which of a program's instructions are loops, over which entries? The rest is left to NumPy.

A value that is only a view of another costs nothing: it is where the other's entries are. Each other value is the
target of tasks: entry by entry, a reduction, a sum of products, entries written into a part of it, or NumPy's own.
`rules` says for each operation what it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native.access import Sizes, View, through, whole
from symbolic.backends.native.pointwise import holds, supports
from symbolic.backends.native.recipes import AGAIN, ODD
from symbolic.plan import Instruction, Program
from symbolic.spec import AnySpec, Spec, TupleSpec

FLAG = -2
"""Where it is noted what checks have found: one bit for each kind."""
DTYPES = {np.dtype(one) for one in ("f8", "f4", "?", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")}
DType = np.dtype[Any]


class Point(NamedTuple):
    """target[i] = function(operands[i]), computed in the dtypes `inner`."""

    target: int
    domain: Sizes
    function: str
    operands: tuple[View, ...]
    inner: tuple[DType, ...]
    dtype: DType


class Reduce(NamedTuple):
    """target[i] = the operand's entries [i, j] for all j together, by `how`; `axes` are those of j."""

    target: int
    domain: Sizes
    how: str
    operands: tuple[View]
    axes: Sizes
    dtype: DType


class Write(NamedTuple):
    """region[i] = operand[i], or += it: into a part of the target, which other tasks have begun.

    What is written `once` meets no other part of its target, and needs no one before it.
    """

    target: int
    domain: Sizes
    region: View
    operands: tuple[View]
    adds: bool
    dtype: DType
    once: bool = False


class Check(NamedTuple):
    """Are all entries finite, or all of them true if they are Booleans? The answer goes into a bit of the flag."""

    target: int
    domain: Sizes
    operands: tuple[View]
    dtype: DType
    bit: int = ODD


class Contract(NamedTuple):
    """target[i] = Σ_j left[i, j] · right[i, j]; `axes` of the domain are those of j.

    With a `region` the sums are added to the entries of it, which may meet in one entry of the target. With a third
    operand, of the result's shape, they are added to its entries.
    """

    target: int
    domain: Sizes
    operands: tuple[View, ...]
    axes: Sizes
    dtype: DType
    region: View | None = None


class Small(NamedTuple):
    """What a small matrix gives, or each of a stack: `how` says it, the domain is that of the stack and the matrices.

    `steps` are how far apart the results lie along the axes of the stack; `flagged` is whether it may set the flag.
    """

    target: int
    domain: Sizes
    how: str
    operands: tuple[View, ...]
    steps: Sizes
    dtype: DType
    flagged: bool


class Running(NamedTuple):
    """target[i] = what `how` makes of target[i - 1] and the operands' entries [i], along an axis; the first is given.

    `steps` are the target's strides.
    """

    target: int
    domain: Sizes
    how: str
    operands: tuple[View, ...]
    axis: int
    steps: Sizes
    dtype: DType


class External(NamedTuple):
    """An instruction that NumPy runs, and why."""

    target: int
    at: int
    operands: tuple[View, ...]
    why: str


Looping = Point | Reduce | Write | Check
Task = Looping | Contract | Small | Running | External


def views_of(task: Task) -> list[View]:
    """All that a task reads, the numbers among it that say where entries lie."""
    places = (*task.operands, task.region) if isinstance(task, Write) else task.operands
    return [*task.operands, *[one.numbers for view in places for one in view.by]]


class NotLoops(Exception):  # noqa: N818  # it says no
    """An instruction is left to NumPy; the text says why."""


Rule = Callable[["Lowered", Instruction], None]


class Lowered:
    """A program's tasks in order, and where each slot's entries are."""

    again: bool

    program: Program
    rule: Any
    uses: Counter[int]

    def __init__(self, program: Program, rule: Callable[[Instruction], Rule]) -> None:
        self.program, self.rule = program, rule
        self.specs: list[AnySpec] = list(program.specs)
        self.views: dict[int, View] = {}
        self.tasks: list[Task] = []
        self.constants: dict[int, Any] = dict(program.constants)
        for k in (*range(len(program.leaves)), *self.constants):
            spec = self.specs[k]
            if isinstance(spec, Spec) and spec.known and spec.dtype in DTYPES:
                self.views[k] = whole(k, sizes(spec))
        self.margins: dict[int, Any] = {}  # values that hold a number wherever nothing is written
        self.ready: set[int] = set()  # values that are views on what has been made for them
        self.products: dict[int, int] = {}  # values that are sums of products, and the place of their tasks
        self.masks: dict[Any, View] = {}  # of triangles
        self.equations: Any = None  # the factors of matrices, which `equations` keeps
        self.tuples: dict[int, tuple[View, ...]] = {}  # the entries of values that are tuples
        self.casts: dict[tuple[View, DType], View] = {}  # the same numbers in another dtype
        self.laid: dict[View, View] = {}  # copies whose entries lie in the order in which they are read
        self.within: dict[tuple[View, int], View] = {}  # numbers that name one of so many entries
        self.again = program.repeats
        self.cells: dict[int, Any] = {}  # of which boxes a value is made: see `pieces`
        self.zeros: dict[int, tuple[Sizes, Sizes]] = {}  # values of zeros everywhere but in a box
        self.rolled: dict[int, View] = {}  # where the results of rolls are that are made together
        self.pointwise: dict[int, Point] = {}  # how values are computed entry by entry
        self.uses = Counter(program.outputs)
        for one in program.instructions:
            self.uses.update(one.sources)
        for at, one in enumerate(program.instructions):
            self._lower(at, one)

    def _lower(self, at: int, one: Instruction) -> None:
        before = len(self.tasks)
        try:
            self._check(one)
            self.rule(one)(self, one)
        except NotLoops as why:
            self._forget(before)
            spec = one.spec
            operands = tuple([self.views[k] for k in one.sources if k in self.views])
            if isinstance(spec, Spec) and spec.known and spec.dtype in DTYPES:
                self.views[one.target] = whole(one.target, sizes(spec))
            self.tasks.append(External(one.target, at, operands, str(why)))

    def _forget(self, before: int) -> None:
        """The tasks that an instruction had begun with, and what they would have made."""
        gone = {task.target for task in self.tasks[before:]}
        if gone:
            del self.tasks[before:]
            self.laid = {view: copy for view, copy in self.laid.items() if copy.base not in gone}
            self.within = {key: numbers for key, numbers in self.within.items() if numbers.base not in gone}
            self.casts = {key: copy for key, copy in self.casts.items() if copy.base not in gone}
            self.products = {value: at for value, at in self.products.items() if at < before}
            self.equations = None

    def _check(self, one: Instruction) -> None:
        spec = one.spec
        if one.node.effect or one.node.raises:
            raise NotLoops("it is observed, or may raise")
        if one.node._origin.floating is not None:
            raise NotLoops("it has floating-point settings of its own")
        if any(k not in self.views and k not in self.tuples for k in one.sources):
            raise NotLoops("there are no loops for its dtypes")
        for each in spec if isinstance(spec, TupleSpec) else (spec,):
            if not isinstance(each, Spec) or not each.known:
                raise NotLoops("its shape is only known when it has run")
            if each.dtype not in DTYPES:
                raise NotLoops("there are no loops for its dtypes")
            if 0 in sizes(each):
                raise NotLoops("it has no entries")
        if any(0 in self.views[k].shape for k in one.sources if k in self.views):
            raise NotLoops("it has no entries")

    # ------------------------------------------------------------------ what values are
    def spec(self, k: int) -> Spec:
        found = self.specs[k]
        assert isinstance(found, Spec)
        return found

    def sizes(self, k: int) -> Sizes:
        return sizes(self.specs[k])

    def dtype(self, k: int) -> DType:
        found = self.spec(k).dtype
        assert found is not None
        return found

    def extent(self, base: int) -> int:
        return prod(self.sizes(base))

    def border(self, base: int) -> Any:
        """What values have in common whose zeros may stay when one takes the other's memory; `None` without any."""
        box = self.zeros.get(base)
        return None if box is None else (self.sizes(base), box, self.dtype(base))

    def result(self, k: int) -> int | None:
        """The value that an output is given as, in memory of its own; `None` for what NumPy or the caller has made."""
        view = self.views.get(k)
        made = {task.target for task in self.tasks if not isinstance(task, External)}
        if view is None or (view.base == k and k not in made):
            return None
        if view.base == k and view.whole:
            return k
        with suppress(NotLoops):
            return self.copied(view, self.dtype(k), always=True).base
        return None

    def check(self, base: int) -> None:
        """Note in the flag if an entry of a value is not finite."""
        if self.dtype(base).kind == "f":
            view = whole(base, self.sizes(base))
            self.tasks.append(Check(FLAG, view.shape, (view,), self.dtype(base)))

    def guard(self, view: View) -> None:
        """Have NumPy run the program if an entry is not finite: zeros that are not the program's are no terms then."""
        if not self.again:
            raise NotLoops("what it shows would be shown twice")
        kept = [k for k, stride in enumerate(view.strides) if stride]
        once = View(
            view.base, tuple([view.shape[k] for k in kept]), tuple([view.strides[k] for k in kept]), view.offset
        )
        check = Check(FLAG, once.shape, (once,), self.dtype(view.base), AGAIN)
        if check not in self.tasks:
            self.tasks.append(check)

    # ------------------------------------------------------------------ what rules write
    def fresh(self, shape: Sizes, dtype: DType) -> int:
        """A value that the program has no slot for."""
        self.specs.append(Spec(shape, dtype))
        return len(self.specs) - 1

    def number(self, value: float, dtype: DType) -> View:
        """A constant that the program has no slot for."""
        return self.views[self.constant(value, (), dtype)]

    def constant(self, value: Any, shape: Sizes, dtype: DType) -> int:
        """The same of an array."""
        k = self.fresh(shape, dtype)
        self.constants[k] = value
        self.views[k] = whole(k, shape)
        return k

    def point(self, target: int, function: str, views: Sequence[View], inner: Sequence[DType]) -> View:
        """Entry by entry, the operands broadcast to the target's shape."""
        shape, dtype = self.sizes(target), self.dtype(target)
        if not supports(function, tuple(inner), dtype):
            raise NotLoops(f"{function} of {', '.join(map(str, inner))} is not written for vectors")
        for view, kind in zip(views, inner if function != "cast" else (dtype,), strict=True):
            self.fits(view, kind)
        operands = tuple([one.over(shape) for one in views])
        self.pointwise[target] = Point(target, shape, function, operands, tuple(inner), dtype)
        self.tasks.append(self.pointwise[target])
        return self.made(target)

    def fits(self, view: View, dtype: DType) -> None:
        """Leave an integer of Python's to NumPy, which refuses or wraps it, where the dtype does not hold it."""
        if self.spec(view.base).python is int and not holds(dtype, self.constants.get(view.base)):
            raise NotLoops(f"{dtype} may not hold an integer of Python's")

    def made(self, target: int) -> View:
        self.views[target] = whole(target, self.sizes(target))
        return self.views[target]

    def copied(self, view: View, dtype: DType, always: bool = False) -> View:
        """The entries of a view as a value of its own, in C order."""
        if view.whole and not always:
            return view
        return self.point(self.fresh(view.shape, dtype), "cast", [view], (dtype,))

    def cast(self, view: View, dtype: DType) -> View:
        """The same numbers in a dtype."""
        held = self.dtype(view.base)
        if held == dtype:
            return view
        if (view, dtype) not in self.casts:
            self.casts[view, dtype] = self.point(self.fresh(view.shape, dtype), "cast", [view], (held,))
        return self.casts[view, dtype]

    def reduce(self, view: View, how: str, axes: Sizes, dtype: DType, target: int | None = None) -> View:
        """Reduced along axes that stay with the size 1, unless there is a target, which has the shape it has."""
        kept = tuple([1 if k in axes else n for k, n in enumerate(view.shape)])
        if all(view.shape[a] == 1 for a in axes):
            return self.point(
                self.fresh(kept, dtype) if target is None else target,
                "cast",
                [view.shaped(kept if target is None else self.sizes(target))],
                (dtype,),
            )
        place = self.fresh(kept, dtype) if target is None else target
        self.tasks.append(Reduce(place, view.shape, how, (view,), tuple(axes), dtype))
        return self.made(place)

    def filled(self, target: int, value: View) -> View:
        """The target with one number, or one stretched value, everywhere; parts of it may be written then."""
        self.point(target, "cast", [value], (self.dtype(value.base),))
        return self.views[target]

    def bordered(self, target: int, value: View, begins: Sizes, border: View) -> None:
        """The target with a value in its middle, from these places on, and a border around it.

        A border of one constant number is written once for all runs: the memory is nobody else's.
        """
        self.fits(border, self.dtype(target))
        index = tuple([slice(at, at + n) for at, n in zip(begins, value.shape, strict=True)])
        number = self.constants.get(border.base)
        if number is not None and np.ndim(number) == 0 and target not in self.program.outputs:
            self.margins[target] = number
            self.made(target)
        else:
            self.filled(target, border)
        self.write(self.region(target, lambda x: x[index]), value)

    def write(self, region: View, value: View, adds: bool = False) -> None:
        """Into a part of a value that has been filled."""
        dtype = self.dtype(region.base)
        self.fits(value, dtype)
        if self.dtype(value.base) != dtype:
            value = self.point(self.fresh(value.shape, dtype), "cast", [value], (self.dtype(value.base),))
        lead = len(value.shape) - len(region.shape)  # NumPy lets a value have more axes of size 1
        value = value.shaped(value.shape[lead:]) if lead > 0 else value
        self.tasks.append(Write(region.base, region.shape, region, (value.over(region.shape),), adds, dtype))

    def region(self, target: int, movement: Callable[[Any], Any]) -> View:
        """The part of a value that a view is."""
        found = through(whole(target, self.sizes(target)), self.extent(target), movement)
        if found is None:
            raise NotLoops("its index makes a copy")
        return found

    def moved(self, view: View, movement: Callable[[Any], Any]) -> View:
        """A view of a view, of a copy where NumPy has to make one."""
        found = through(view, self.extent(view.base), movement)
        if found is None:
            copy = self.copied(view, self.dtype(view.base), always=True)
            found = through(copy, self.extent(copy.base), movement)
        if found is None:
            raise NotLoops("it is no view of its operand")
        return found


def sizes(spec: AnySpec) -> Sizes:
    assert isinstance(spec, Spec) and spec.known and spec.shape is not None
    return spec.shape  # type: ignore[return-value]  # known to the last size
