"""Is state of every kind seen: of objects and classes, behind wrappers, under names that others bind anew?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import argparse
import builtins
import collections
import contextvars
import enum
import functools
import math
import operator
import types
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from answers import near
from following import MODULE, ROW, X, follows, is_never_stale, of_array

import symbolic as s

SCALE = 2.0


def set_scale(value: float) -> None:
    global SCALE
    SCALE = value


# --------------------------------------------------------------------------- state of every kind


class Settings:
    """A class whose attributes are the configuration."""

    rate = 2.0
    table = np.array([1.0, 2.0])

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.rate


class Mode(enum.Enum):
    """What a network does."""

    TRAIN = 1
    TEST = 2


class Net:
    """An object whose helper reads it."""

    def __init__(self) -> None:
        self.by, self.mode = 2.0, Mode.TRAIN

    def run(self, x: Any) -> Any:
        return x * self.by


QUEUE: collections.deque[float] = collections.deque([2.0, 3.0])
NET = Net()
SPACE = types.SimpleNamespace(by=2.0)
PARSED = argparse.Namespace(by=2.0)


def reads_an_attribute(thing: Any, x: Any) -> Any:
    return x * thing.by


def counting(x: Any) -> Any:
    return x * counting.by  # type: ignore[attr-defined]  # set below


counting.by = 2.0  # type: ignore[attr-defined]  # a function's own attribute

CHANGES: list[tuple[Any, Any, Any]] = [
    (lambda x: x * Settings.rate, lambda: setattr(Settings, "rate", 5.0), lambda: setattr(Settings, "rate", 2.0)),
    (lambda x: Settings.scaled(x), lambda: setattr(Settings, "rate", 5.0), lambda: setattr(Settings, "rate", 2.0)),
    (lambda x: x * float(Settings.table[0]), lambda: Settings.table.fill(7.0), lambda: Settings.table.fill(1.0)),
    (
        lambda x: x if NET.mode is Mode.TRAIN else -x,
        lambda: setattr(NET, "mode", Mode.TEST),
        lambda: setattr(NET, "mode", Mode.TRAIN),
    ),
    (lambda x: x * QUEUE[0], lambda: QUEUE.rotate(), lambda: QUEUE.rotate(-1)),
    (lambda x: NET.run(x), lambda: setattr(NET, "by", 9.0), lambda: setattr(NET, "by", 2.0)),
    (lambda x: reads_an_attribute(SPACE, x), lambda: setattr(SPACE, "by", 9.0), lambda: setattr(SPACE, "by", 2.0)),
    (lambda x: x * PARSED.by, lambda: setattr(PARSED, "by", 9.0), lambda: setattr(PARSED, "by", 2.0)),
    (lambda x: counting(x), lambda: setattr(counting, "by", 9.0), lambda: setattr(counting, "by", 2.0)),
]


class Operators:
    """Methods that code calls without naming them."""

    def __call__(self, x: Any) -> Any:
        return x * 2.0

    def __getitem__(self, index: int) -> float:
        return 2.0

    def __len__(self) -> int:
        return 2

    def __mul__(self, other: Any) -> Any:
        return other * 2.0

    def __contains__(self, other: object) -> bool:
        return True

    def __iter__(self) -> Iterator[float]:
        return iter([1.0, 1.0])


OPERATORS = Operators()


def special(name: str, method: Any) -> tuple[Any, Any]:
    """Another method in the place of one, and the way back."""
    before = vars(Operators)[name]
    return lambda: setattr(Operators, name, method), lambda: setattr(Operators, name, before)


CONTEXT: contextvars.ContextVar[float] = contextvars.ContextVar("CONTEXT", default=2.0)

CHANGES += [
    (lambda x: x * CONTEXT.get(), lambda: CONTEXT.set(9.0), lambda: CONTEXT.set(2.0)),
    (lambda x: OPERATORS(x), *special("__call__", lambda self, x: x * 3.0)),
    (lambda x: x * OPERATORS[0], *special("__getitem__", lambda self, index: 3.0)),
    (lambda x: x * len(OPERATORS), *special("__len__", lambda self: 3)),
    (lambda x: OPERATORS * x, *special("__mul__", lambda self, other: other * 3.0)),
    (lambda x: x if 3 in OPERATORS else -x, *special("__contains__", lambda self, other: False)),
    (lambda x: sum(x * one for one in OPERATORS), *special("__iter__", lambda self: iter([1.0, 2.0]))),
]


@pytest.mark.parametrize(("function", "change", "back"), CHANGES, ids=range(len(CHANGES)))
def test_every_kind_of_state_is_seen(function: Any, change: Any, back: Any) -> None:
    follows(function, change, back)


def test_the_state_of_an_argument_that_a_method_reads() -> None:
    net = Net()
    g = s.grad(lambda x, n: np.sum(n.run(x)))
    assert g(X, net)[0] == 2.0
    net.by = 5.0
    assert g(X, net)[0] == 5.0
    h = s.grad(lambda x, f: np.sum(f(x)))
    box = [2.0]
    assert h(X, lambda x: x * box[0])[0] == 2.0
    box[0] = 5.0
    assert h(X, lambda x: x * box[0])[0] == 5.0


def test_the_numbers_of_a_weight_that_a_body_reads() -> None:
    weight: Any = s.Weight(2.0)
    target = weight * 1.0
    read = of_array(lambda x: x * weight.value)
    predicted = of_array(lambda x: x * target.predict(0.0))
    for value in (2.0, 5.0, 3.0):
        weight.assign(value)
        assert np.array_equal(read(X), X * value) and np.array_equal(predicted(X), X * value)


READ_UNSEEN: list[Any] = [
    lambda x: x * filled(),
    lambda x: x * np.ndarray.item(ROW, 0),
    lambda x: x * np.full(2, ROW),
    lambda x: x * (2.0 if ROW is [ROW][0] else 3.0),
]


def filled() -> Any:
    buffer = np.zeros(2)
    buffer[:] = ROW
    return buffer


@pytest.mark.parametrize("function", READ_UNSEEN, ids=range(len(READ_UNSEEN)))
def test_what_compiled_code_reads_is_not_stale(function: Any) -> None:
    is_never_stale(function)


def test_a_module_that_the_body_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("settings_of_a_test")
    module.by = 2.0  # type: ignore[attr-defined]  # a module of the user's
    monkeypatch.setitem(__import__("sys").modules, "settings_of_a_test", module)
    space: dict[str, Any] = {}
    exec("def f(x):\n    import settings_of_a_test as s\n    return x * s.by", space)
    net = of_array(space["f"])
    assert np.array_equal(net(X), X * 2.0)
    module.by = 3.0  # type: ignore[attr-defined]  # a module takes attributes
    assert np.array_equal(net(X), X * 3.0)


def test_a_draw_that_happens_to_agree_twice_is_not_kept() -> None:
    def f(x: Any) -> Any:
        return x if np.random.default_rng().random() < 0.5 else -x

    net = of_array(f)
    with pytest.warns(s.SymbolicWarning, match="traced anew"):
        found = {float(net(X)[0]) for _ in range(60)}
    assert found == {X[0], -X[0]}


# --------------------------------------------------------------------------- behind wrappers, subclasses, descriptors


class Table(dict[str, float]):
    """A container with an attribute of its own."""

    by = 2.0

    def times(self, x: Any) -> Any:
        return x * self.by


class Stack(list[float]):
    """A list that is called."""

    def __call__(self, x: Any) -> Any:
        return x * self.by  # type: ignore[attr-defined]  # set below


class Descriptor:
    """What a class answers for its instances."""

    by = 2.0

    def __get__(self, instance: Any, owner: Any) -> float:
        return self.by


class Described:
    """Its attribute is computed."""

    by = Descriptor()


class Meta(type):
    """What a class answers for itself."""

    rate = 2.0


class Made(metaclass=Meta):
    """Reads its metaclass."""


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args) * SPACE.by

    return wrapper


@functools.singledispatch
def dispatched(value: Any) -> Any:
    return value * SPACE.by


TABLE_OF_ITS_OWN, STACK, DESCRIBED = Table(), Stack(), Described()
STACK.by = 2.0  # type: ignore[attr-defined]  # an attribute on a list
MEAN, VECTOR, RAW = wrapped(np.mean), np.vectorize(lambda v: v * SPACE.by), np.frompyfunc(lambda v: v * SPACE.by, 1, 1)
COLUMN = np.ones(2)
SUM_OF_COLUMN, GET = COLUMN.sum, {"by": 2.0}.get


def set_by(owner: Any) -> tuple[Any, Any]:
    return (lambda: setattr(owner, "by", 9.0)), (lambda: setattr(owner, "by", 2.0))


BEHIND: list[tuple[Any, Any, Any]] = [
    (lambda x: MEAN(x) * x, *set_by(SPACE)),
    (lambda x: VECTOR(np.arange(2.0)) + x, *set_by(SPACE)),
    (lambda x: float(RAW(1.0)) * x, *set_by(SPACE)),
    (lambda x: dispatched(1.0) * x, *set_by(SPACE)),
    (lambda x: TABLE_OF_ITS_OWN.times(x), *set_by(TABLE_OF_ITS_OWN)),
    (lambda x: STACK(x), *set_by(STACK)),
    (lambda x: x * DESCRIBED.by, *set_by(vars(Described)["by"])),
    (lambda x: x * Made.rate, lambda: setattr(Meta, "rate", 9.0), lambda: setattr(Meta, "rate", 2.0)),
    (lambda x: x * SUM_OF_COLUMN(), lambda: COLUMN.fill(3.0), lambda: COLUMN.fill(1.0)),
    (lambda x: x * globals()["SPACE"].by, *set_by(SPACE)),
]


@pytest.mark.filterwarnings("ignore::symbolic.SymbolicWarning")  # np.frompyfunc does not tell what it calls
@pytest.mark.parametrize(("function", "change", "back"), BEHIND, ids=range(len(BEHIND)))
def test_state_behind_wrappers_subclasses_and_descriptors(function: Any, change: Any, back: Any) -> None:
    follows(function, change, back)


def test_a_large_constant_container_is_no_moving_state() -> None:
    words = {f"w{k}": float(k) for k in range(60_000)}
    net = of_array(lambda x: x * words["w3"])
    assert np.array_equal(net(X), X * 3.0) and net.traces() == 1


def test_a_set_of_things_that_cannot_print_themselves() -> None:
    class Silent:
        by = 2.0

        def __repr__(self) -> str:
            raise RuntimeError

    things = {Silent()}
    assert np.array_equal(of_array(lambda x: x * sum(one.by for one in things))(X), X * 2.0)


# --------------------------------------------------------------------------- names, whoever they belong to

MACHINES = ["numpy", pytest.param("native", marks=pytest.mark.skipif(not find_spec("llvmlite"), reason="no llvmlite"))]


class Read:
    """What the bodies below read by name, beside something that they read otherwise."""

    by = 2.0

    def __init__(self) -> None:
        self.own = 3.0

    def times(self, x: Any) -> Any:
        return x * 4.0

    @property
    def made(self) -> float:
        return 5.0


class Inherits(Read):
    pass


READ: Any = None
OWN = "own"
ask = getattr
READINGS: list[Callable[[Any], Any]] = [
    lambda x: x * getattr(READ, "by") * READ.own + READ.times(x) * READ.made,  # noqa: B009
    lambda x: x * READ.by * getattr(READ, "own") + READ.times(x) * READ.made,  # noqa: B009
    lambda x: x * READ.by * getattr(READ, "own", 1.0) + READ.times(x) * READ.made,
    lambda x: x * READ.by * getattr(READ, OWN) + READ.times(x) * READ.made,
    lambda x: x * READ.by * ask(READ, "".join(["o", "wn"])) + READ.times(x) * READ.made,
    lambda x: x * READ.by * vars(READ)["own"] + READ.times(x) * READ.made,
    lambda x: x * READ.by * READ.__dict__["own"] + READ.times(x) * READ.made,
    lambda x: x * READ.by * operator.attrgetter("".join(["o", "wn"]))(READ) + READ.times(x) * READ.made,
    lambda x: sum(x * getattr(READ, "".join(list(name))) for name in ("by", "own", "made")) + READ.times(x),
    lambda x: sum(x * getattr(READ, f"{name}") for name in ["by", "own", "made"]) + READ.times(x),
    lambda x: sum(x * getattr(READ, name[1:]) for name in ["-by", "-own", "-made"]) + getattr(READ, "-times"[1:])(x),
]
REBINDINGS: list[Callable[[pytest.MonkeyPatch], None]] = [
    lambda patch: patch.setattr(Read, "by", 20.0),
    lambda patch: patch.setattr(Inherits, "by", 21.0, raising=False),
    lambda patch: patch.setattr(READ, "by", 22.0),
    lambda patch: patch.setattr(READ, "own", 30.0),
    lambda patch: patch.setattr(Read, "times", lambda self, x: x * 40.0),
    lambda patch: patch.setattr(Read, "made", property(lambda self: 50.0)),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("change", REBINDINGS, ids=range(len(REBINDINGS)))
@pytest.mark.parametrize("function", READINGS, ids=range(len(READINGS)))
def test_what_is_read_by_name_beside_what_is_not(
    function: Callable[[Any], Any], change: Any, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "READ", Inherits())
    with s.use(machine), pytest.MonkeyPatch.context() as patch:
        follows(function, lambda: change(patch), patch.undo)


def test_a_getattr_that_says_its_name_reads_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "READ", Inherits())
    net = of_array(READINGS[1])
    for k in range(3):
        READ.other = k
        net(X)
    assert net.traces() == 1


@pytest.mark.parametrize("machine", MACHINES)
def test_an_attribute_of_a_module_whose_name_is_computed(machine: Any) -> None:
    with s.use(machine):
        change, back = set_by(SPACE)
        follows(lambda x: x * getattr(SPACE, "".join(["b", "y"])), change, back)
        undo = functools.partial(setattr, MODULE, "scale", 2.0)
        follows(lambda x: x * getattr(MODULE, "".join(["sca", "le"])), lambda: setattr(MODULE, "scale", 5.0), undo)


BUILTIN: list[tuple[str, Callable[[Any], Any]]] = [
    ("sum", lambda x: sum([x, x * 2.0])),
    ("sum", lambda x: (lambda: x * sum([1.0, 2.0]))()),
    ("abs", lambda x: x * abs(-3.0)),
    ("max", lambda x: x * max(1.0, 2.0)),
    ("len", lambda x: x * len([1, 2])),
    ("float", lambda x: x * float("2")),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "function"), BUILTIN, ids=range(len(BUILTIN)))
def test_a_global_that_comes_to_shadow_a_builtin(name: str, function: Any, machine: Any) -> None:
    with s.use(machine):
        follows(
            function,
            lambda: globals().update({name: lambda *given: 7.0 * np.ones(2)}),
            lambda: globals().pop(name),
        )


def replaced(owner: Any, name: str, by: Any) -> tuple[Callable[[], None], Callable[[], None]]:
    return functools.partial(setattr, owner, name, by), functools.partial(setattr, owner, name, getattr(owner, name))


def copied(x: Any) -> Any:
    return x * 3.0


PATCHED: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: x * pow(2.0, 3.0), replaced(builtins, "pow", lambda *given: 9.0)),
    (lambda x: np.exp(x), replaced(np, "exp", functools.wraps(np.exp)(copied))),
    (lambda x: np.sinc(x), replaced(np, "sinc", copied)),
    (lambda x: x * np.pi, replaced(np, "pi", 3.0)),
    (lambda x: np.linalg.norm(x) * x, replaced(np.linalg, "norm", lambda x: 3.0)),
    (lambda x: x * math.floor(2.5), replaced(math, "floor", lambda x: 7.0)),
    (lambda x: operator.mul(x, 2.0), replaced(operator, "mul", lambda a, b: a * b * b)),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("function", "change"), PATCHED, ids=range(len(PATCHED)))
def test_a_function_of_a_library_that_is_replaced(function: Any, change: Any, machine: Any) -> None:
    with s.use(machine):
        follows(function, *change)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_module_whose_name_comes_to_stand_for_another(machine: Any) -> None:
    with s.use(machine), pytest.MonkeyPatch.context() as patch:
        other = types.SimpleNamespace(sqrt=lambda x: 7.0)
        follows(lambda x: x * math.sqrt(4.0), lambda: patch.setitem(globals(), "math", other), patch.undo)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_dictionary_that_is_written_to_at_each_call_still_shows_what_matters(machine: Any) -> None:
    with s.use(machine):
        net = of_array(lambda x: x * SCALE + max(1.0, 2.0))
        for k in range(4):
            globals()["UNREAD"] = k
            assert near(net.predict(X), X * 2.0 + 2.0)
        assert net.traces() == 1
        set_scale(5.0)
        try:
            assert near(net.predict(X), X * 5.0 + 2.0)
        finally:
            set_scale(2.0)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_prediction_by_name_says_what_the_function_takes(machine: Any) -> None:
    def scaled(x: Any) -> Any:
        return x * 2.0

    with s.use(machine):
        net: Any = of_array(scaled)
        for _ in range(3):
            with pytest.raises(TypeError, match=r"^scaled: got an unexpected keyword argument 'y'.*call scaled\(x\)"):
                net.predict(X, y=X)
            with pytest.raises(TypeError, match=r"^scaled.predict\(\) got an unexpected keyword argument 'x'"):
                net.predict(x=X)
            assert near(net.predict(X), X * 2.0)


# --------------------------------------------------------------------------- the function itself, not what it reads


def powers(factor: Any, x: Any, by: Any = 2.0, more: Any = 0.0) -> Any:
    return np.sum(factor * x**by + more * x)


PARTIALS = [
    lambda p: p.keywords.update(by=3.0),
    lambda p: p.keywords.update(more=1.0),  # one that was not there
    lambda p: p.keywords.clear(),
    lambda p: p.__setstate__((p.func, (5.0,), dict(p.keywords), {})),
    lambda p: p.__setstate__((p.func, p.args, {"by": 4.0}, {})),
    lambda p: p.__setstate__((lambda factor, x, by: np.sum(factor * x * by), p.args, dict(p.keywords), {})),
    lambda p: p.args[0].__setitem__(0, 7.0),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("of", [s.grad, s.value_and_grad, s.jacobian, s.vmap])
@pytest.mark.parametrize("change", PARTIALS, ids=range(len(PARTIALS)))
def test_a_partial_whose_parts_are_exchanged(change: Any, of: Any, machine: Any) -> None:
    """A partial made afresh of the same parts is the oracle; one within another shows the same."""
    for nested in (False, True):
        inner = functools.partial(powers, np.array([2.0, 3.0]) if of is not s.vmap else 2.0, by=3.5)
        held = functools.partial(lambda f, x: f(x), inner) if nested else inner
        if of is s.vmap and change is PARTIALS[-1]:
            continue
        with s.use(machine):
            transformed = of(held)
            for changed in (False, True):
                if changed:
                    change(inner)
                f, args, named = inner.func, inner.args, dict(inner.keywords)
                expected = of(lambda x, f=f, args=args, named=named: f(*args, x, **named))(X)
                for _ in range(8):
                    found = transformed(X)
                    pairs = zip(found, expected, strict=True) if type(found) is tuple else [(found, expected)]
                    assert all(near(one, other) for one, other in pairs)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("of", [s.grad, s.value_and_grad, s.jacobian, s.vmap, of_array])
def test_a_call_that_is_patched_in_its_class(of: Any, machine: Any) -> None:
    class Squares:
        def __call__(self, x: Any) -> Any:
            return np.sum(x**2)

    class Cubes(Squares):
        """It inherits the call."""

    one = Cubes()
    with s.use(machine):
        transformed, expected = of(one), of(lambda x: np.sum(x**3))
        for _ in range(8):
            transformed(X)
        Squares.__call__ = lambda self, x: np.sum(x**3)  # type: ignore[method-assign]  # as one patches
        for _ in range(8):
            found, wanted = transformed(X), expected(X)
            pairs = zip(found, wanted, strict=True) if type(found) is tuple else [(found, wanted)]
            assert all(near(one, other) for one, other in pairs)
