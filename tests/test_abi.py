"""Does a call that goes straight into machine code do what Python's own would, and leave every count as it was?"""

import contextlib
import copy
import ctypes
import functools
import gc
import itertools
import pickle
import signal
import struct
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the native machine needs llvmlite")

from symbolic import SGD, Symbolic, Weight, symbolic
from symbolic.backends.native import abi, engine, layouts
from symbolic.backends.native.abi import Callee, attach, callable_of, detach, quick
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.text import Module, Value
from symbolic.training import Trainer

if layouts.trouble():
    pytest.skip(f"no native call path: {layouts.trouble()}", allow_module_level=True)

Build = Callable[[Entry], None]
"""Writes what an entry does; a guard that does not hold goes to `general`, a failure to `failed`."""


def library(build: Build) -> tuple[engine.Library, list[str]]:
    module = Module()
    entry = Entry(module, "entry")
    build(entry)
    for label, end in (("general", entry.fall_back), ("failed", entry.fail)):
        entry.f.start(label)
        end()
    return engine.load(str(module)), entry.words


def general(*arguments: Any, **keywords: Any) -> Any:
    return "general", arguments, keywords


def native(build: Build, fallback: Callable[..., Any] = general, keeping: Any = None, **words: int) -> Any:
    code, names = library(build)
    made = callable_of(code, "entry", fallback, names, words, keeping)
    assert made is not fallback
    return made


def doubled(entry: Entry) -> None:
    (x,) = entry.arguments(1, "general")
    value = entry.float_of(x, "general")
    entry.give(entry.new_float(entry.f.add(value, value), "failed"))


def taken(dtype: str, *shape: int, writeable: bool = False) -> Build:
    """Gives None where an array fits."""

    def build(entry: Entry) -> None:
        (x,) = entry.arguments(1, "general")
        entry.array_of(x, dtype, shape, "general", writeable)
        entry.give_none()

    return build


# ---------------------------------------------------------------------- arguments
def test_only_plain_calls_are_quick() -> None:
    f = native(doubled)
    assert (f(1.5), f(*[2.5]), f(3.5), list(map(f, [4.0])), functools.partial(f, 5.0)()) == (3, 5, 7, [8.0], 10)
    assert f() == general()
    assert f(1.0, 2.0) == general(1.0, 2.0)
    assert f(x=1.0) == general(x=1.0)
    assert f(1.0, y=2.0, z="3") == general(1.0, y=2.0, z="3")
    assert f(*range(20), **{f"k{n}": n for n in range(20)}) == general(*range(20), **{f"k{n}": n for n in range(20)})
    assert f.__call__(2.0) == 4.0
    assert repr(f) == "<native function entry>"


class Float(float):
    """Not exactly a float."""


@pytest.mark.parametrize(
    "x", [1, True, np.float64(2.0), np.float32(2.0), Float(3.0), 1j, "1.0", None, np.array(1.0), float]
)
def test_what_is_no_float_goes_the_general_way(x: Any) -> None:
    assert native(doubled)(x) == general(x)


def test_a_float_keeps_its_bits() -> None:
    def same(entry: Entry) -> None:
        (x,) = entry.arguments(1, "general")
        entry.give(entry.new_float(entry.float_of(x, "general"), "failed"))

    f = native(same)
    patterns = [
        0,
        1 << 63,
        1,
        (1 << 52) - 1,
        0x7FF0 << 48,
        0xFFF0 << 48,
        0x7FF8 << 48,
        0x7FF8000000000123,
        0xFFF8 << 48,
    ]
    for bits in patterns:
        (x,) = struct.unpack("<d", struct.pack("<Q", bits))
        assert struct.pack("<d", f(x)) == struct.pack("<Q", bits)


class Array(np.ndarray):
    """Not exactly an ndarray."""


def arrays() -> Iterator[Any]:
    """Arrays of every kind that a guard must tell from `float64` of (2, 3)."""
    x = np.arange(6.0).reshape(2, 3)
    big = np.arange(48.0).reshape(4, 12)
    yield from (x, x.copy(), x[:], np.asarray(x, order="C"), pickle.loads(pickle.dumps(x)), big[:1, :6].reshape(2, 3))
    yield from (
        x.T,
        x.T.copy(),
        np.asfortranarray(x),
        big[:2, :3],
        big[::2, ::4],
        x[::-1],
        np.broadcast_to(x[0], (2, 3)),
    )
    yield from (x.astype(">f8"), x.astype("f4"), x.astype("i8"), x.astype(complex), x.astype(object), x.view(Array))
    yield from (x.ravel(), x[None], x[:1], x[:, :0], np.array(1.0), np.zeros((2, 3, 1)), np.ma.masked_array(x))
    yield np.zeros((2, 3), np.dtype("f8", metadata={"of": "mine"}))
    yield np.frombuffer(bytearray(49), np.uint8)[1:].view("f8").reshape(2, 3)
    fixed = x.copy()
    fixed.flags.writeable = False
    yield from (
        fixed,
        x.view("i8"),
        x.view("M8[s]"),
        x.tolist(),
        1.0,
        None,
        np.float64(1.0),
        np.dtype("f8"),
        np.ndarray,
    )


def fits(x: Any, dtype: str, shape: tuple[int, ...], writeable: bool = False) -> bool:
    """What a guard asks, in NumPy's words."""
    if type(x) is not np.ndarray or x.dtype != np.dtype(dtype) or x.shape != shape:
        return False
    return x.flags.c_contiguous and x.flags.aligned and (x.flags.writeable or not writeable)


@pytest.mark.parametrize("writeable", [False, True])
def test_an_array_is_taken_if_it_is_what_was_expected(writeable: bool) -> None:
    f = native(taken("float64", 2, 3, writeable=writeable))
    results = [(f(x) is None, fits(x, "float64", (2, 3), writeable)) for x in arrays()]
    assert [quickly for quickly, _ in results] == [expected for _, expected in results]
    assert 5 < sum(quickly for quickly, _ in results) < 12


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool", "uint8", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (1, 1), (2, 1, 3), (1,) * 32])
def test_every_dtype_and_shape(dtype: str, shape: tuple[int, ...]) -> None:
    f = native(taken(dtype, *shape))
    for other, size in itertools.product(
        ["float64", "float32", "int64", "int32", "bool", ">f4", "complex128"], [shape, (3,), ()]
    ):
        x = np.zeros(size, other)
        assert (f(x) is None) == fits(x, dtype, shape)


@given(st.data())
def test_any_view_is_taken_or_not(data: Any) -> None:
    """Slices of an array, transposed, and cut again; sizes of one make strides that say nothing."""
    view = np.zeros((4, 3, 2))
    for _ in range(data.draw(st.integers(0, 3))):
        axis = data.draw(st.integers(0, 2))
        cut = slice(data.draw(st.integers(0, 1)), None, data.draw(st.sampled_from([1, 2, -1])))
        view = view[(slice(None),) * axis + (cut,)]
        view = view.transpose(data.draw(st.permutations(range(3))))
    assert (native(taken("float64", *view.shape))(view) is None) == fits(view, "float64", view.shape)


# ---------------------------------------------------------------------- results
def test_a_new_array_is_one_of_numpys() -> None:
    def counted(entry: Entry) -> None:
        entry.arguments(0, "general")
        made, data = entry.new_array("int64", (2, 3), "failed")
        for k in range(6):
            entry.f.store(entry.f.constant("i64", k), entry.f.at(data, entry.f.index(k), "i64"))
        entry.give(made)

    f = native(counted)
    a, b = f(), f()
    assert type(a) is np.ndarray
    assert (a.dtype, a.shape, a.flags.owndata, a.flags.writeable, a.base) == (np.dtype("i8"), (2, 3), True, True, None)
    assert np.array_equal(a, np.arange(6).reshape(2, 3)) and not np.shares_memory(a, b)
    there, other = weakref.ref(a), np.zeros((2, 3))
    assert sys.getrefcount(a) == sys.getrefcount(other)
    del a
    assert there() is None


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (1,) * 32])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bool", "int32"])
def test_new_arrays_of_every_kind(dtype: str, shape: tuple[int, ...]) -> None:
    made = native(lambda entry: entry.give(entry.new_array(dtype, shape, "failed")[0]))()
    assert (type(made), made.dtype, made.shape) == (np.ndarray, np.dtype(dtype), shape)


@pytest.mark.parametrize("value", [2.5, -0.0, float("nan"), float("inf"), 5e-324])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_new_scalar_is_one_of_numpys(value: float, dtype: str) -> None:
    given = np.array([value], dtype)

    def build(entry: Entry) -> None:
        (x,) = entry.arguments(1, "general")
        entry.give(entry.new_scalar(dtype, entry.array_of(x, dtype, (1,), "general"), "failed"))

    f, kind, bits = native(build), given.dtype, given.tobytes()
    before = sys.getrefcount(kind)
    held = [f(given) for _ in range(100)]
    assert {type(one) for one in held} == {kind.type}
    assert {one.tobytes() for one in held} == {bits}
    held.clear()
    assert sys.getrefcount(kind) == before


def test_no_memory_is_an_exception() -> None:
    def build(entry: Entry) -> None:
        made, data = entry.new_array("float64", (1 << 40, 1 << 10), "failed")
        entry.f.store(entry.f.constant("double", 1.0), data)
        entry.give(made)

    f = native(build)
    for _ in range(3):
        with pytest.raises(MemoryError):
            f()


# ---------------------------------------------------------------------- counts
def raising(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("from the general way")


def both(entry: Entry) -> None:
    """A float and an array: an array with the float in each entry."""
    x, y = entry.arguments(2, "general")
    value = entry.float_of(x, "general")
    given = entry.array_of(y, "float64", (3,), "general")
    made, data = entry.new_array("float64", (3,), "failed")
    for k in range(3):
        at = entry.f.index(k)
        entry.f.store(
            entry.f.mul(value, entry.f.load(entry.f.at(given, at, "double"), "double")), entry.f.at(data, at, "double")
        )
    entry.give(made)


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((2.5, np.arange(3.0)), {}),
    ((3, np.arange(3.0)), {}),
    ((2.5, np.arange(4.0)), {}),
    ((2.5, pickle.loads(pickle.dumps(np.arange(3.0)))), {}),
    ((2.5, np.arange(6.0)[::2]), {}),
    ((2.5,), {}),
    ((), {}),
    ((2.5,), {"y": np.arange(3.0)}),
    ((object(), object(), object()), {"z": object()}),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("fallback", [general, raising])
def test_no_count_changes(number: int, fallback: Callable[..., Any]) -> None:
    arguments, keywords = CALLS[number]
    f = native(both, fallback)
    watched = [f, fallback, f._code, np.ndarray, np.dtype("f8"), float, *arguments, *keywords.values()]

    def calls(times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(ZeroDivisionError):
                f(*arguments, **keywords)

    calls(10)
    gc.collect()
    before = [sys.getrefcount(one) for one in watched]
    tracemalloc.start()
    calls(100)
    size = tracemalloc.get_traced_memory()[0]
    calls(3000)
    grown = tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    assert [sys.getrefcount(one) for one in watched] == before
    assert grown < 3000  # less than a byte a call


def test_none_is_given_away_as_often_as_it_is_had() -> None:
    f = native(lambda entry: entry.give_none())
    before = sys.getrefcount(None)
    for _ in range(5000):
        assert f() is None
    assert abs(sys.getrefcount(None) - before) < 50


def test_references_are_kept_and_dropped() -> None:
    def build(entry: Entry) -> None:
        (x,) = entry.arguments(1, "general")
        entry.keep(entry.keep(x))
        entry.drop(x)
        entry.give(x)

    f, x = native(build), object()
    before = sys.getrefcount(x)
    held = [f(x) for _ in range(1000)]
    assert all(one is x for one in held) and sys.getrefcount(x) == before + 1000
    held.clear()
    assert sys.getrefcount(x) == before


def test_what_the_general_way_raises_is_raised() -> None:
    f = native(both, raising)
    for _ in range(100):
        with pytest.raises(ZeroDivisionError, match="from the general way"):
            f(1)
    assert np.array_equal(f(2.0, np.arange(3.0)), [0, 2, 4])


# ---------------------------------------------------------------------- lives
def test_an_object_is_freed_with_its_code() -> None:
    class Kept:
        pass

    kept = Kept()
    f = native(doubled, keeping=kept)
    ends = [weakref.ref(f), weakref.ref(kept), weakref.ref(f._code[0][0])]
    del kept
    assert f(1.0) == 2.0 and all(end() is not None for end in ends)
    del f
    assert [end() for end in ends] == [None] * 3


def circle() -> Any:
    """Of a general way that holds what calls it."""

    def fallback(*_: Any) -> Any:
        return f

    f = native(doubled, fallback)
    return weakref.ref(f)


def test_a_circle_is_freed() -> None:
    end = circle()
    gc.collect()
    assert end() is None


def waiting(entry: Entry) -> None:
    """Says that it is within, waits without the lock until it is let go, and gives what it was given."""
    f = entry.f
    (x,) = entry.arguments(1, "general")
    value = entry.float_of(x, "general")
    entry.claim(entry.word("busy"), "general")
    entry.keep(x)
    with entry.unlocked():
        f.store(f.constant("i64", 1), entry.word("within"))
        head, done = f.label("wait"), f.label("done")
        gate = entry.word("gate")
        f.jump(head)
        f.start(head)
        now = f.make("i64", 0, f"load atomic i64, ptr {gate.name} seq_cst, align 8")
        f.branch(f.compare("ne", now, f.constant("i64", 0)), done, head)
        f.start(done)
    entry.drop(x)
    entry.disclaim(entry.word("busy"))
    entry.give(entry.new_float(f.add(value, value), "failed"))


class Waiting:
    """A call that waits, in a thread of its own."""

    def __init__(self, given: Any = 1.5) -> None:
        self.words = (ctypes.c_int64 * 3)()
        places = {name: ctypes.addressof(self.words) + 8 * k for k, name in enumerate(["busy", "within", "gate"])}
        self.call = native(waiting, general, self.words, **places)
        self.result: Any = None
        self.thread = threading.Thread(target=self._run, args=(self.call, given))
        self.thread.start()
        while not self.words[1]:
            pass  # which only goes on if the lock was given up

    def _run(self, call: Any, given: Any) -> None:
        self.result = call(given)

    def end(self) -> Any:
        self.words[2] = 1
        self.thread.join(10)
        assert not self.thread.is_alive()
        return self.result


def test_others_run_while_a_call_is_long() -> None:
    assert Waiting().end() == 3.0


def test_one_call_at_a_time() -> None:
    """Another call meanwhile goes the general way, and the next one in again."""
    one = Waiting()
    assert one.call(7.0) == general(7.0)
    assert one.end() == 3.0
    assert one.call(7.0) == 14.0


def test_an_object_is_deleted_while_a_thread_is_within() -> None:
    one = Waiting()
    end = weakref.ref(one.call)
    del one.call
    gc.collect()
    assert one.end() == 3.0
    assert end() is None


def test_other_code_is_attached_while_a_thread_is_within() -> None:
    one = Waiting()
    for _ in range(3):
        code, words = library(lambda entry: entry.give_none())
        assert attach(one.call, code, "entry", words, {"fallback": id(general)})
        assert one.call("whatever") is None
        gc.collect()
    assert one.end() == 3.0


def test_many_threads_at_once() -> None:
    f, y = native(both), np.arange(3.0)
    before = sys.getrefcount(y)
    wrong: list[Any] = []

    def work(k: int) -> None:
        for n in range(2000):
            x = float(k * n) if n % 3 else n
            expected = general(x, y) if type(x) is int else x * y
            result = f(x, y)
            if not (result == expected if type(x) is int else np.array_equal(result, expected)):
                wrong.append((x, result))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == [] and sys.getrefcount(y) == before


# ---------------------------------------------------------------------- watches
def test_a_word_that_is_tripped_leads_the_general_way() -> None:
    word = ctypes.c_int64(0)

    def build(entry: Entry) -> None:
        entry.word_is_zero(entry.word("watch"), "general")
        entry.give_none()

    f = native(build, watch=ctypes.addressof(word))
    assert f() is None
    for tripped in (1, -1, 1 << 62):
        word.value = tripped
        assert f(3) == general(3)
    word.value = 0
    assert f() is None


def test_a_global_that_is_another_leads_the_general_way() -> None:
    scale: Any = [2.0]
    names: dict[str, Any] = {"scale": scale, "other": 1}

    def build(entry: Entry) -> None:
        entry.same_global(entry.word("names"), entry.word("name"), entry.word("expected"), "general")
        entry.give_none()

    name = "scale"
    f = native(build, keeping=(names, name, scale), names=id(names), name=id(name), expected=id(scale))
    before = sys.getrefcount(scale)
    assert [f() for _ in range(1000)] == [None] * 1000 and sys.getrefcount(scale) == before
    names["scale"] = [2.0]
    assert f() == general()
    names["scale"] = scale
    assert f() is None
    del names["scale"]
    assert f() == general()


def test_a_cell_that_holds_another_leads_the_general_way() -> None:
    value: Any = object()
    first = value

    def get() -> Any:
        return value

    (cell,) = get.__closure__ or ()

    def build(entry: Entry) -> None:
        entry.same_object(entry.word("cell"), entry.word("expected"), "general")
        entry.give_none()

    f = native(build, cell=id(cell) + 16, expected=id(value))
    assert f() is None
    value = object()
    assert f() == general()
    value = first
    assert f() is None


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no such signal")
def test_a_signal_comes_through() -> None:
    def build(entry: Entry) -> None:
        entry.call("raise", "i32", Value("i32", 0, str(int(signal.SIGUSR1))))
        entry.check_signals("failed")
        entry.give_none()

    def handle(*_: Any) -> None:
        raise InterruptedError("by a signal")

    place = ctypes.cast(getattr(ctypes.CDLL(None), "raise"), ctypes.c_void_p).value or 0
    f, before = native(build, general, None, **{"raise": place}), signal.signal(signal.SIGUSR1, handle)
    try:
        with pytest.raises(InterruptedError, match="by a signal"):
            f()
    finally:
        signal.signal(signal.SIGUSR1, before)


# ---------------------------------------------------------------------- classes
@quick
class Step(Callee):
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return "general", self.scale * x


class Overridden(Step):
    def __call__(self, x: Any) -> Any:
        return "overridden", x


def given_code(step: Callee) -> bool:
    return attach(step, *library_of_doubled(), {"fallback": id(general)})


@functools.cache
def library_of_doubled() -> tuple[engine.Library, str, list[str]]:
    code, words = library(doubled)
    return code, "entry", words


def test_an_instance_is_given_code_and_loses_it() -> None:
    step, other = Step(3.0), Step(4.0)
    assert step(2.0) == ("general", 6.0)
    for _ in range(3):
        assert given_code(step) and abi.is_attached(step) and not abi.is_attached(other)
        assert (step(2.0), step(2), other(2.0)) == (4.0, general(2), ("general", 8.0))
        assert Step.__call__(step, 2.0) == ("general", 6.0)
        detach(step)
        assert step(2.0) == ("general", 6.0)
    assert step.scale == 3.0


def test_a_subclass_with_its_own_call_keeps_it() -> None:
    step = Overridden(3.0)
    assert not given_code(step)
    assert step(2.0) == ("overridden", 2.0)


def test_code_is_not_copied() -> None:
    step = Step(3.0)
    assert given_code(step)
    for other in (copy.copy(step), copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
        assert other.scale == 3.0 and other(2.0) == ("general", 6.0)
    assert step(2.0) == 4.0


def test_a_native_function_is_copied_as_functions_are() -> None:
    f = native(doubled)
    assert copy.copy(f) is f and copy.deepcopy([f])[0] is f
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(f)


def test_without_a_call_path_everything_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "trouble", lambda: "an unusual Python")
    step = Step(3.0)
    assert not given_code(step)
    assert step(2.0) == ("general", 6.0)
    code, words = library(doubled)
    assert callable_of(code, "entry", general, words) is general


def test_a_trainer_can_be_given_code() -> None:
    @symbolic
    def f(x: Annotated[float, Symbolic]) -> float:
        return x * Weight(2.0)

    step = f.trainer(SGD(0.0))
    assert (type(step), isinstance(step, Trainer), step(3.0)) == (Trainer, True, 6.0)
    shown = repr(step)
    assert given_code(step)
    assert (step(3.0), step(4), step.run(2, 5.0), isinstance(step, Trainer)) == (6.0, general(4), 10.0, True)
    assert repr(step) == shown and isinstance(step.optimizer, SGD)
    end = weakref.ref(step)
    detach(step)
    assert step(3.0) == 6.0
    del step
    assert end() is None


# ---------------------------------------------------------------------- where something is unusual
@pytest.fixture
def afresh() -> Iterator[None]:
    yield
    layouts.trouble.cache_clear()
    layouts.trouble_with_types.cache_clear()
    layouts.address.cache_clear()
    layouts._numpy_table.cache_clear()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            (name, getattr(layouts, name) + 8)
            for name in vars(layouts)
            if name.startswith(("ARRAY_", "FLOAT_", "TYPE_"))
        ],
        ("TYPE", 16),
        ("DTYPE_ORDER", 25),
        ("DTYPE_NUMBER", 32),
        ("CONTIGUOUS", 2),
        ("ALIGNED", 0x200),
        ("WRITEABLE", 0x800),
        ("_ARRAY_TYPE", 4),
        ("_ABI", 0x03000000),
        ("_PYTHONS", ("PyFloat_FromNowhere",)),
    ],
)
@pytest.mark.usefixtures("afresh")
def test_a_field_that_is_elsewhere_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    monkeypatch.setattr(layouts, name, value)
    layouts.trouble.cache_clear()
    layouts.trouble_with_types.cache_clear()
    assert layouts.trouble()


@pytest.mark.parametrize("harm", ["implementation", "byteorder", "gettotalrefcount"])
@pytest.mark.usefixtures("afresh")
def test_another_python_is_noticed(monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    other = type("Other", (), {"name": "pypy"})
    monkeypatch.setattr(sys, harm, {"implementation": other, "byteorder": "big"}.get(harm, len), raising=False)
    layouts.trouble_with_types.cache_clear()
    assert layouts.trouble_with_types()
    assert abi._base() is object
