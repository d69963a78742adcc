"""Is what a checker says of a call true, whatever the sizes are? NumPy is asked, with numbers in the place of names.

Each function of the registry is called with named sizes, without knowing ranks, and without knowing anything; what it
then gives is held against NumPy's result for the drawn sizes, for distinct primes, all equal ones, and ones.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from answers import attempt
from hypothesis import strategies as st
from scipy import special
from strategies import Call, Draw
from subjects import POSITIONAL, SUBJECTS, Subject, entries, leaves, network
from test_laws import EXAMPLES, KINDS, drawn

from symbolic import DtypeError, Plus, ShapeError, SymbolicError, Weight, conv2d, he, log_softmax
from symbolic.context import here
from symbolic.polynomial import Rest, Size
from symbolic.spec import AnySpec, Spec, spec_of
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value, native
from symbolic.static.evaluation import answered, attribute, method, supported
from symbolic.static.evaluation import call as called
from symbolic.static.printing import short
from symbolic.static.valuations import Call as Asked
from symbolic.static.valuations import solve

NAMES = ("n", "m", "k", "j")
VALUATIONS: tuple[tuple[int, ...], ...] = ((11, 7, 5, 13), (5, 11, 7, 2), (4, 4, 4, 4), (1, 1, 1, 1), (1, 5, 1, 4))


def named(arrays: tuple[Any, ...], draw: Draw) -> tuple[dict[str, int], list[AnySpec]]:
    """The specs of arrays, with a name for each size but 0 and 1, and now and then one less."""
    sizes = sorted({d for one in arrays for d in np.shape(one) if d > 1})
    names = dict(zip(sizes, NAMES, strict=False))
    kept = {size: name for size, name in names.items() if draw.pick([True, True, False])} or names
    specs: list[AnySpec] = []
    for one in arrays:
        spec = spec_of(one)
        assert isinstance(spec, Spec)
        shape: Any = spec.shape
        sizes_: Any = [Size.named(kept[d]) if d in kept else d for d in shape]
        specs.append(spec._replace(shape=tuple(sizes_)))
    return {name: size for size, name in kept.items()}, specs


def asked(subject: Subject, call: Call, specs: list[AnySpec]) -> Answer:
    """What is said of a subject's call with values of these specs."""
    values = [Value(one) for one in specs]
    options, placed = dict(subject.parameters), []
    for name in subject.parameters:
        if name in POSITIONAL.get(subject.name, ()):
            placed.append(options.pop(name))
    if supported(subject.function) is True and plainly_placed(call, values):
        return called(subject.function, [*call.place(*values), *placed], options)
    return solve(Asked(subject.of(call), values, {}))


def plainly_placed(call: Call, values: list[Value]) -> bool:
    """Whether the arguments are the arrays, and not made of them."""
    try:
        call.place(*values)
    except (TypeError, AttributeError, ValueError):
        return False
    return True


def values(answer: Any) -> list[Any]:
    """The entries of an answer, as `entries` takes NumPy's apart; a value is one."""
    if isinstance(answer, Value) or not isinstance(answer, (tuple, list)):
        return [answer]
    return [one for entry in answer for one in (entry if isinstance(entry, list) else [entry])]


def resized(array: Any, spec: Any, valuation: Mapping[str, int]) -> Any:
    if spec.python is not None:
        return array
    shape = [size.at(valuation) if isinstance(size, Size) else size for size in spec.shape]
    return np.resize(array, shape).astype(spec.dtype)


def holds(said: Any, real: Any, valuation: Mapping[str, int], where: str) -> None:
    if said is UNKNOWN:
        return
    if not isinstance(said, Value):
        number = said.at(valuation) if isinstance(said, Size) else said
        assert number == real or np.array_equal(number, real), f"{where}: said {said}, real {real!r}"
        return
    spec: Any = said.spec
    assert isinstance(spec, Spec), f"{where}: {spec}"
    array = np.asarray(real)
    if spec.dtype is not None and spec.python is None:
        assert spec.dtype == array.dtype, f"{where}: said {spec.dtype}, real {array.dtype}"
    if spec.shape is None:
        return
    shape: Any = spec.shape
    if Rest() in shape:  # any number of axes: the sizes before and behind them
        place, more = shape.index(Rest()), array.ndim - len(shape) + 1
        assert more >= 0, f"{where}: said {shape}, real {array.shape}"
        shape = (*shape[:place], *[None] * more, *shape[place + 1 :])
    assert not any(isinstance(size, Rest) for size in shape)
    sizes = [size.at(valuation) if isinstance(size, Size) else size for size in shape]
    fits = len(sizes) == array.ndim and all(
        d is None or d == n or (d < 0 and n == 0) for d, n in zip(sizes, array.shape, strict=True)
    )
    assert fits, f"{where}: said {spec.shape}, real {array.shape}"


def law_named(subject: Subject, data: st.DataObject) -> bool:
    """With named sizes: what is said holds for every number that the names may be; an error is one for most of them."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    sizes, specs = named(call.arrays, draw)
    answer = asked(subject, call, specs)
    meant = False
    for numbers in (tuple(sizes.values()), *VALUATIONS):
        valuation = dict(zip(sizes, numbers, strict=False))
        arrays = [resized(one, spec, valuation) for one, spec in zip(call.arrays, specs, strict=True)]
        want = attempt(subject.of(call), arrays)
        where = f"{subject} of {[str(one) for one in specs]} at {valuation}"
        if isinstance(want, Exception) or leaves(want) == ():
            continue
        if answer.finding is not None:
            assert numbers not in VALUATIONS[:2], f"{where}: {answer.finding}, and NumPy gives {want!r}"
            continue
        meant = True
        check_all(answer.value, want, valuation, where)
    return meant


def check_all(said: Any, want: Any, valuation: Mapping[str, int], where: str) -> None:
    if said is UNKNOWN:
        return
    given, real = values(said), leaves(entries(want))
    if any(one is UNKNOWN for one in given):  # a list of so many
        return
    assert len(given) == len(real), f"{where}: {len(given)} results, NumPy {len(real)}"
    for one, other in zip(given, real, strict=True):
        holds(one, other, valuation, where)


test_named = drawn(law_named, max(EXAMPLES // 3, 1))


def law_hidden(subject: Subject, data: st.DataObject) -> bool:
    """Without sizes, ranks, dtypes, or anything: what is said is true, and nothing is an error."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    want = attempt(subject.of(call), call.arrays)
    if isinstance(want, Exception) or leaves(want) == ():
        return False
    for hide in (
        lambda spec: spec._replace(shape=(None,) * len(spec.shape)),
        lambda spec: spec._replace(shape=None),
        lambda spec: spec._replace(dtype=None),
        lambda spec: Spec(),
    ):
        specs = [one if one.python is not None else hide(one) for one in map(spec_of, call.arrays)]  # type: ignore[union-attr]  # of arrays
        answer = asked(subject, call, specs)
        where = f"{subject} of {[str(one) for one in specs]}"
        assert answer.finding is None, f"{where}: {answer.finding}, and NumPy gives {want!r}"
        check_all(answer.value, want, {}, where)
    return True


test_hidden = drawn(law_hidden, max(EXAMPLES // 6, 1))


# --------------------------------------------------------------------------- any number of axes


def law_rests(subject: Subject, data: st.DataObject) -> bool:
    """With `*batch` in the place of a first axis that all arrays share: what is said holds for one axis and for two."""
    draw = Draw(data)
    draw.least = 1
    call = subject.arguments(draw)
    firsts = {np.shape(one)[:1] for one in call.arrays if np.ndim(one)}
    if len(firsts) != 1 or isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    specs: list[Any] = [spec_of(one) for one in call.arrays]
    starred = [one._replace(shape=(Rest("batch"), *one.shape[1:])) if one.shape else one for one in specs]
    answer = asked(subject, call, starred)
    if answer.finding is not None:  # as many entries as some other axis has are too few in general
        many = [np.resize(one, (101, *np.shape(one)[1:])) if np.ndim(one) else one for one in call.arrays]
        assert isinstance(attempt(subject.of(call), many), Exception), f"{subject}: {answer.finding}"
        return True
    doubled = [np.stack([one, one]) if np.ndim(one) else one for one in call.arrays]
    for arrays, axes in ((call.arrays, next(iter(firsts))), (doubled, (2, *next(iter(firsts))))):
        want = attempt(subject.of(call), arrays)
        where = f"{subject} of {[str(one) for one in starred]} with {axes}"
        if isinstance(want, Exception) or leaves(want) == ():
            continue
        check_all(without_rest(answer.value, axes), want, {}, where)
    return True


def without_rest(said: Any, axes: tuple[int, ...]) -> Any:
    """What is said, for so many axes."""
    if isinstance(said, Value):
        spec: Any = said.spec
        return Value(spec._replace(shape=without_rest(spec.shape, axes)))
    if not isinstance(said, (tuple, list)):
        return said
    if hasattr(said, "_fields"):
        return type(said)(*[without_rest(one, axes) for one in said])
    found: list[Any] = []
    for one in said:
        found += axes if isinstance(one, Rest) and one.name else [without_rest(one, axes)]
    return type(said)(found)


RESTED = [one for one in SUBJECTS if one.name not in ("np.einsum", "np.ix_", "np.histogramdd", "np.histogram2d")]
"""Not those that always have arrays of ranks of their own."""
test_rests = drawn(law_rests, max(EXAMPLES // 6, 1), RESTED)


# --------------------------------------------------------------------------- the sentences

F4, F8 = np.dtype("float32"), np.dtype("float64")
N, M, BATCH = Size.named("n"), Size.named("m"), Size.named("batch")


def array(*shape: Any, dtype: Any = F4) -> Value:
    return Value(Spec(shape, dtype))


def ones(*shape: int, dtype: Any = np.float32) -> Any:
    return np.ones(shape, dtype)


def divided_in_place(x: Any, y: Any) -> Any:
    x /= y
    return x


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (operator.matmul, (ones(3, 784), ones(785, 10)), {}),
    (operator.add, (ones(3), ones(4)), {}),
    (operator.sub, (ones(2, 3), ones(4, 3)), {}),
    (np.dot, (ones(3, 4), ones(3)), {}),
    (np.sum, (ones(3, 4),), {"axis": 2}),
    (np.mean, (ones(3),), {"axis": (0, 0)}),
    (np.reshape, (ones(3, 4), (5, -1)), {}),
    (np.concatenate, ([ones(2, 3), ones(2, 4)],), {}),
    (np.stack, ([ones(3), ones(4)],), {}),
    (np.einsum, ("ij,jk->ik", ones(3, 4), ones(5, 6)), {}),
    (np.linalg.inv, (ones(3, 4),), {}),
    (np.linalg.solve, (ones(3, 3), ones(4)), {}),
    (np.transpose, (ones(3, 4), (0, 2)), {}),
    (np.squeeze, (ones(3, 4),), {"axis": 0}),
    (np.where, (ones(3), ones(4), 0.0), {}),
    (np.broadcast_to, (ones(3), (4,)), {}),
    (np.cross, (ones(4), ones(4)), {}),
    (operator.getitem, (ones(3), 5), {}),
    (operator.getitem, (ones(3), (0, 0)), {}),
    (operator.iadd, (ones(3), ones(2, 3)), {}),
    (divided_in_place, (ones(3, dtype=np.int64), 2), {}),
    (np.add, (ones(3), 1.0), {"casting": "no"}),
    (np.save, ("file", ones(3)), {}),
    (np.fft.fft, (ones(3),), {"norm": "other"}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), WRONG, ids=lambda one: getattr(one, "__name__", ""))
def test_the_sentence_is_that_of_run_time(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    arrays: list[Any] = []

    def apart(one: Any, take: Callable[[Any], Any]) -> Any:
        if isinstance(one, (list, tuple)):
            return type(one)(apart(entry, take) for entry in one)
        return take(one) if isinstance(one, np.ndarray) else one

    apart(args, arrays.append)

    def body(*given: Any) -> Any:
        rest = iter(given)
        return function(*apart(args, lambda _: next(rest)), **kwargs)

    net = network(body, len(arrays))
    with pytest.raises(SymbolicError) as caught:
        net.predict(*arrays)
    asked_of = operator.itruediv if function is divided_in_place else function
    found = called(asked_of, apart(args, lambda one: Value(spec_of(one))), kwargs).finding
    assert found is not None
    assert (found.seen, found.remedy) == (caught.value.seen, caught.value.remedy)
    shape, dtype = isinstance(caught.value, ShapeError), isinstance(caught.value, DtypeError)
    assert found.kind == ("symbolic-shape" if shape else "symbolic-dtype" if dtype else "symbolic")


@pytest.mark.parametrize(
    ("function", "args", "seen"),
    [
        (
            operator.matmul,
            (array(N, 3), array(4)),
            "matmul of shapes (n, 3) and (4,): axis -1 of the first has size 3, axis -1 of the second has size 4",
        ),
        (
            operator.add,
            (array(N, 3), array(M, 3)),
            "operands of shapes (n, 3) and (m, 3) do not broadcast: axis -2 has sizes m and n",
        ),
        (
            operator.sub,
            (array(N), array(2 * N)),
            "operands of shapes (n,) and (2*n,) do not broadcast: axis -1 has sizes 2*n and n",
        ),
        (
            operator.mul,
            (array(Rest("batch"), N), array(3)),
            "operands of shapes (*batch, n) and (3,) do not broadcast: axis -1 has sizes 3 and n",
        ),
        (operator.iadd, (array(N), array(N, 1)), "an in-place operator would change the shape (n,) to (n, n)"),
    ],
)
def test_names_stand_in_the_sentence(function: Callable[..., Any], args: tuple[Any, ...], seen: str) -> None:
    found = called(function, args, {}).finding
    assert found is not None
    assert found.seen == seen


# --------------------------------------------------------------------------- what is said of some calls


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "text"),
    [
        (operator.matmul, (array(BATCH, 784), array(784, 10)), {}, "float32[batch, 10]"),
        (operator.add, (array(N, 1), array(N)), {}, "float32[n, n]"),
        (operator.add, (array(N), 1.0), {}, "float32[n]"),
        (operator.truediv, (array(N, dtype=np.dtype(int)), 2), {}, "float64[n]"),
        (operator.truediv, (array(N), N), {}, "float32[n]"),
        (operator.getitem, (array(N, M), (slice(1, None), None, -1)), {}, "float32[n-1, 1]"),
        (operator.getitem, (array(N, M), slice(None, None, 2)), {}, "float32[(n+1)//2, m]"),
        (operator.getitem, (array(N, M), slice(0, 1)), {}, "float32[1, m]"),
        (operator.getitem, (array(N, M), slice(None, 5)), {}, "float32[?, m]"),
        (operator.getitem, (array(N), array(N, dtype=np.dtype(bool))), {}, "float32[?]"),
        (np.concatenate, ([array(N, 3), array(M, 3)],), {}, "float32[m+n, 3]"),
        (np.reshape, (array(BATCH, 28, 28), (-1, 784)), {}, "float32[batch, 784]"),
        (np.reshape, (array(N, M), -1), {}, "float32[m*n]"),
        (np.reshape, (array(N, M), (N, M, 1)), {}, "float32[n, m, 1]"),
        (np.fft.rfft, (array(N),), {}, "complex64[n//2+1]"),
        (np.diff, (array(N),), {}, "float32[n-1]"),
        (np.convolve, (array(N), array(M)), {}, "float32[m+n-1]"),
        (np.linalg.eigh, (array(N, N),), {}, "(float32[n], float32[n, n])"),
        (np.linalg.svd, (array(N, M),), {}, "(float32[n, n], float32[?], float32[m, m])"),
        (np.squeeze, (array(N, 1),), {}, "float32[...]"),
        (np.sum, (array(N),), {}, "float32"),
        (np.sum, (array(N, dtype=F8),), {}, "float"),
        (np.sum, (Value(Spec()),), {}, "float"),
        (np.linalg.norm, (Value(Spec()),), {}, "float"),
        (np.exp, (Value(Spec()),), {}, "ndarray"),
        (np.exp, (array(Rest("batch"), N),), {}, "float32[*batch, n]"),
        (np.sum, (array(Rest(), N),), {"axis": -1}, "float32[...]"),
        (operator.matmul, (array(Rest("batch"), N), array(N, 3)), {}, "float32[*batch, 3]"),
        (np.reshape, (array(Rest("batch"), N), (-1, N)), {}, "float32[?, n]"),
        (np.zeros, ((N, 4),), {}, "float64[n, 4]"),
        (np.eye, (N,), {"dtype": np.float32}, "float32[n, n]"),
        (np.arange, (N,), {}, "int64[n]"),
        (np.full, ((2, N), 1), {}, "int64[2, n]"),
        (np.array, ([array(), array()],), {}, "float32[2]"),
        (math.exp, (array(),), {}, "float"),
        (math.sqrt, (N,), {}, "float"),
        (float, (array(),), {}, "float"),
        (sum, (array(N, M),), {}, "float32[m]"),
        (max, (array(), array()), {}, "float32"),
        (abs, (array(N),), {}, "float32[n]"),
        (divmod, (array(N), 2.0), {}, "(float32[n], float32[n])"),
        (he, (4, N), {}, "float64[4, n]"),
        (Weight, (array(4, N),), {}, "float32[4, n]"),
        (Plus, (array(N), array(N)), {}, "float32[n]"),
        (log_softmax, (array(N, M),), {}, "float32[n, m]"),
        (conv2d, (array(BATCH, 3, 28, 28), array(8, 3, 5, 5)), {}, "float32[batch, 8, 24, 24]"),
        (special.erf, (array(N),), {}, "float32[n]"),
        (np.add.reduce, (array(N, M),), {}, "float32[m]"),
    ],
)
def test_said(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> None:
    answer = called(function, args, kwargs)
    assert answer.finding is None
    assert short(answer.value) == text


@pytest.mark.parametrize(
    ("function", "args", "value"),
    [
        (operator.mul, (28, 28), 784),
        (operator.floordiv, (N, 2), N // 2),
        (operator.add, ((N, 1), (M,)), (N, 1, M)),
        (operator.getitem, ((N, M), -1), M),
        (operator.getitem, ((Rest("batch"), M), -1), M),
        (operator.getitem, ((Rest("batch"), M), 0), UNKNOWN),
        (operator.pow, (10, 10**9), UNKNOWN),
        (operator.mul, ("text", 10**9), UNKNOWN),
        (math.factorial, (10**9,), UNKNOWN),
        (math.prod, ((N, M, 2),), 2 * M * N),
        (len, (array(N, M),), N),
        (len, ((N, M),), 2),
        (np.shape, (array(N, 3),), (N, 3)),
        (np.ndim, (array(N, 3),), 2),
        (isinstance, (array(N, 3), np.ndarray), True),
        (isinstance, (array(), float), False),
        (np.result_type, (array(N), array(N, dtype=F8)), F8),
        (np.zeros, ("text",), Value(Spec(None, F8))),
    ],
)
def test_constants_are_followed(function: Callable[..., Any], args: tuple[Any, ...], value: Any) -> None:
    assert called(function, args, {}) == Answer(value)


def test_methods_and_attributes() -> None:
    x = array(N, M)
    assert method("sum", x, (), {"axis": 0}).value == array(M)
    assert method("reshape", x, (M, N), {}).value == array(M, N)
    assert method("astype", x, (np.float64,), {}).value == array(N, M, dtype=F8)
    assert method("__getitem__", x, (0,), {}).value == array(M)
    assert method("__setitem__", x, (0, 1.0), {}) == Answer(None)
    assert method("__setitem__", x, (0, array(3)), {}).finding is not None
    assert attribute("T", x).value == array(M, N)
    assert attribute("shape", x).value == (N, M)
    assert attribute("size", x).value == M * N
    assert attribute("ndim", x).value == 2
    assert attribute("dtype", x).value == F4
    assert attribute("real", array(N, dtype=np.dtype(complex))).value == array(N, dtype=F8)
    assert attribute("shape", Value(Spec())) == Answer(UNKNOWN)
    assert attribute("shape", array(N, None)).value == (N, UNKNOWN)
    for name in ("tofile", "tobytes", "setflags"):
        found = method(name, x, (UNKNOWN,), {}).finding
        assert found is not None
        assert "no memory of its own" in found.seen
    assert attribute("strides", x).finding is not None


def test_a_number_or_an_array() -> None:
    unknown = Value(Spec())
    assert not called(np.exp, (unknown,), {}).value.loose
    assert called(operator.getitem, (unknown, 0), {}).value.loose
    assert called(operator.matmul, (unknown, unknown), {}).value.loose
    assert not called(operator.add, (unknown, called(operator.getitem, (unknown, 0), {}).value), {}).value.loose
    assert not called(operator.iadd, (unknown, 1), {}).value.loose
    assert [native(one) for one in (unknown, array(), array(dtype=F8), Value(Spec(())), array(3))] == [
        *(np.ndarray, np.float32, float, float, np.ndarray)
    ]


@pytest.mark.parametrize("parts", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("size", [None, N, 60 * N, 2 * N + 1])
def test_equal_parts_are_true_of_every_size_that_can_be_cut(size: Any, parts: int) -> None:
    answer = called(np.split, (array(size, 3), parts), {})
    assert answer.finding is None or size == 2 * N + 1
    if answer.value is UNKNOWN:
        return
    for number in range(1, 9):
        rows = number * parts if not isinstance(size, Size) else size.at({"n": number})
        if rows % parts == 0:
            seen = answer.value[0].spec.shape[0]
            given = seen.at({"n": number}) if isinstance(seen, Size) else seen
            assert given in (None, np.split(np.ones((rows, 3)), parts)[0].shape[0])


def test_one_axis_is_wrong_where_another_is_undecided() -> None:
    found = called(np.multiply, (array(N // 2, 2 * M), array(N, M)), {}).finding
    assert found is not None
    assert "axis -1" in found.seen


@pytest.mark.parametrize(
    ("function", "kinds"),
    [(np.subtract, (bool, bool)), (np.negative, (bool,)), (np.bitwise_and, (F4, int)), (np.invert, (F8,))],
)
def test_dtypes_without_a_rule(function: np.ufunc, kinds: tuple[Any, ...]) -> None:
    dtypes = [np.dtype(one) for one in kinds]
    with pytest.raises(TypeError):
        function(*[np.ones(3, one) for one in dtypes])
    found = called(function, tuple([array(3, dtype=one) for one in dtypes]), {}).finding
    assert found is not None
    assert found.kind == "symbolic-dtype"


# --------------------------------------------------------------------------- nothing is said in doubt


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (np.sum, (array(3),), {"axis": UNKNOWN}),
        (operator.add, (array(3), UNKNOWN), {}),
        (np.concatenate, ([array(3), UNKNOWN],), {}),
        (np.add, (array(3), 1.0), {"casting": UNKNOWN}),
        (operator.add, (array(N // 2), array(N - N // 2)), {}),
        (operator.add, (array(Rest(), 3), array(Rest(), 3)), {}),
        (operator.add, (array(None, 3), array(4, 3)), {}),
        (operator.getitem, (array(N), 100), {}),
        (np.reshape, (array(N), (2, -1)), {}),
        (np.reshape, (array(3, 4), (array(dtype=np.dtype(int)), 5)), {}),
        (operator.itruediv, (called(operator.getitem, (Value(Spec(None, np.dtype(int))), 0), {}).value, 2), {}),
        (np.vectorize(abs), (array(3),), {}),
        (np.apply_along_axis, (abs, 0, array(3)), {}),
        (print, (array(3),), {}),
    ],
)
def test_no_alarm(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert called(function, args, kwargs).finding is None


def test_what_is_supported() -> None:
    assert all(
        supported(one) is True for one in (np.exp, np.shape, isinstance, math.exp, special.erf, Plus, np.add.reduce)
    )
    others: tuple[Any, ...] = (print, open, np.random.rand, np.seterr, lambda x: x, [])
    assert not any(supported(one) for one in others)
    for function in (np.save, np.busday_count, special.mathieu_a, np.add.at):
        found = supported(function)
        assert found is True or (isinstance(found, Finding) and "is not supported on layers" in found.seen)


MODULES = (np, np.linalg, np.fft, np.random, np.polynomial, np.strings, np.lib.stride_tricks, math, operator, special)


@pytest.mark.parametrize("module", MODULES, ids=lambda one: one.__name__)
def test_nothing_crashes(module: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is called with whatever: no error comes out, no file is written, no setting changes."""
    monkeypatch.chdir(tmp_path)
    settings, options = np.geterr(), np.get_printoptions()
    values_ = (array(N, M), array(3, 3), array(), Value(Spec()), array(Rest("b"), N), UNKNOWN, 2, (N, 2))
    with np.errstate(all="ignore"):
        for name in dir(module):
            function = getattr(module, name)
            supported(function)
            for k, one in enumerate(values_):
                for args in ((), (one,), (one, values_[k - 1]), ([one, one],), ([one], one)):
                    if callable(function):
                        assert isinstance(answered(function, args, {}), Answer)
    assert (np.geterr(), np.get_printoptions()) == (settings, options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", dir(np.ndarray))
def test_no_method_crashes(name: str) -> None:
    for value in (array(N, M), array(), Value(Spec()), array(Rest("b"), N)):
        assert isinstance(attribute(name, value), Answer)
        for args in ((), (0,), (value,), (UNKNOWN,)):
            assert isinstance(method(name, value, args, {}), Answer)


def test_nothing_is_left_behind() -> None:
    fields = [name for name in vars(type(here)) if not name.startswith("_")]
    before = [getattr(here, name) for name in fields]
    for args in ((array(N), array(M)), (array(3), array(3))):
        called(operator.add, args, {})
    assert [getattr(here, name) for name in fields] == before
    assert here.trace is None
    assert here.facts is None


def test_threads_get_the_same_answers() -> None:
    calls = [(operator.matmul, (array(N, k), array(k, M))) for k in range(2, 40)]
    found: list[list[Answer]] = [[] for _ in range(4)]

    def work(mine: list[Answer]) -> None:
        mine.extend(called(function, args, {}) for function, args in calls)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all(mine == found[0] for mine in found)
    assert found[0][0].value == array(N, M)
