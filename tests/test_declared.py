"""Does a checker say of hints what run time says, with names in the place of numbers?"""

from typing import Annotated, Any

import numpy as np
import pytest

from symbolic import Symbolic, SymbolicError, ToLiteral, symbolic
from symbolic.dims import Names
from symbolic.hints import Hint, check
from symbolic.polynomial import Rest, Size
from symbolic.spec import OpaqueSpec, Spec, TupleSpec, spec_of
from symbolic.static.abstract import UNKNOWN, Finding, Value
from symbolic.static.declared import declared, fits, hint, returned, substitute, unify
from symbolic.static.literals import NO_DELTA, built_in, delta_of
from symbolic.static.printing import short, short_layer

N, M, BATCH = Size.named("n"), Size.named("m"), Size.named("batch")
F4, F8 = np.dtype("float32"), np.dtype("float64")
ARRAY = "numpy.ndarray"


def array(*shape: Any, dtype: Any = F4) -> Spec:
    return Spec(shape, dtype)


def marked(*subscript: Any) -> Any:
    """`Symbolic[…]`, as a hint has it."""
    return Symbolic.__class_getitem__(subscript)


def wanted(text: str, dtype: str | None = "numpy.float32") -> Any:
    return declared(ARRAY, dtype, [text])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((ARRAY, "numpy.float32", ["batch 784"]), "float32[batch, 784]"),
        ((ARRAY, None, ["batch", 784]), "ndarray[batch, 784]"),
        ((ARRAY,), "ndarray"),
        ((ARRAY, "numpy.float32"), "float32[...]"),
        ((ARRAY, None, ["*batch n"]), "ndarray[*batch, n]"),
        ((ARRAY, None, ["... #n 2*k-1 _ size=3"]), "ndarray[..., ?, 2*k-1, ?, 3]"),
        (("builtins.float",), "float"),
        (("builtins.int",), "int"),
        (("numpy.float32",), "float32"),
        (("numpy.floating",), "float"),
        (("somewhere.Money",), "object"),
    ],
)
def test_declared(parts: tuple[Any, ...], text: str) -> None:
    spec = declared(*parts)
    assert not isinstance(spec, Finding)
    assert short(spec) == text


@pytest.mark.parametrize("words", [["1n"], [-1], ["*a *b"], ["n+"], ["n."]])
def test_a_bad_dimension_has_the_sentence_of_run_time(words: list[Any]) -> None:
    with pytest.raises(SymbolicError) as caught:
        marked(*words)
    found = declared(ARRAY, None, words)
    assert isinstance(found, Finding)
    assert (found.seen, found.remedy, found.kind) == (caught.value.seen, caught.value.remedy, "symbolic-shape")


CALLS: list[tuple[list[Any], list[Any]]] = [
    (["batch 784"], [np.ones((2, 785), np.float32)]),
    (["batch 784"], [np.ones(784, np.float32)]),
    (["batch 784"], [np.ones((2, 784))]),
    (["n k", "k m"], [np.ones((2, 3), np.float32), np.ones((4, 2), np.float32)]),
    (["n", "2*n"], [np.ones(2, np.float32), np.ones(3, np.float32)]),
    (["*b n", "*b m"], [np.ones((2, 3), np.float32), np.ones((4, 3), np.float32)]),
    (["*b n"], [np.ones((), np.float32)]),
]


def marked_hint(text: str) -> Any:
    return hint(ARRAY, "numpy.float32", [text])


@pytest.mark.parametrize(("texts", "arrays"), CALLS, ids=lambda one: " ".join(map(str, one))[:30])
def test_the_sentence_of_a_call_is_that_of_run_time(texts: list[str], arrays: list[Any]) -> None:
    names, what = Names(), [f"argument x{k}" for k in range(len(texts))]
    with pytest.raises(SymbolicError) as caught:
        for text, one, said in zip(texts, arrays, what, strict=True):
            check(Hint(np.ndarray, marked(np.float32, text)), spec_of(one), names, said)
    both: list[list[Any]] = [[make(text) for text in texts] for make in (wanted, marked_hint)]
    for hints in both:
        found = unify(hints, [spec_of(one) for one in arrays], what)
        assert isinstance(found, Finding)
        assert (found.seen, found.remedy) == (caught.value.seen, caught.value.remedy)


@pytest.mark.parametrize(
    ("texts", "actual", "bindings"),
    [
        (["batch 784"], [array(N, 784)], {"batch": N}),
        (["n n+1"], [array(M, M + 1)], {"n": M}),
        (["*b n"], [array(2, N, 3)], {"*b": (2, N), "n": 3}),
        (["*b n"], [array(Rest("batch"), M)], {"*b": (Rest("batch"),), "n": M}),
        (["n m"], [array(Rest("batch"), M)], {}),
        (["n"], [Spec()], {}),
        (["n m"], [Spec((None, 3))], {"m": 3}),
        (["n", "n"], [array(N // 2), array(N - N // 2)], {"n": N // 2}),
        (["#n", "n"], [array(1), array(M)], {"n": M}),
    ],
)
def test_names_are_bound_at_a_call(texts: list[str], actual: list[Spec], bindings: dict[str, Any]) -> None:
    hints = [hint(ARRAY, None, [text]) for text in texts]
    assert unify(hints, actual, ["an argument"] * len(texts)) == bindings  # type: ignore[arg-type]  # none is a finding


def test_native_kinds_and_tuples() -> None:
    number, pair = declared("builtins.float"), TupleSpec((array(N), array(M)))
    assert isinstance(number, Spec)
    found = unify([number], [array(3)], ["argument x"])
    assert isinstance(found, Finding)
    assert found.seen == "argument x has shape (3,) where float is declared"
    assert unify([number], [Spec(None)], ["argument x"]) == {}
    assert unify([pair], [TupleSpec((array(2), array(3)))], ["argument x"]) == {"n": 2, "m": 3}
    assert isinstance(unify([pair], [array(2)], ["argument x"]), Finding)
    assert isinstance(unify([number], [OpaqueSpec(str)], ["argument x"]), Finding)


def test_within_a_function_names_are_rigid() -> None:
    spec = wanted("batch 10")
    assert returned(spec, array(BATCH, 10)) is None
    assert returned(spec, array(None, 10)) is None
    assert returned(wanted("*batch n"), array(Rest("batch"), N)) is None
    assert returned(wanted("n"), array(N // 2)) is None  # nobody knows
    for actual in (array(N, 10), array(BATCH, 11), array(BATCH), array(BATCH, 10, dtype=F8), array(3, 10)):
        assert returned(spec, actual) is not None
    found = returned(spec, array(N, 10))
    assert found is not None
    assert found.seen == "the returned value has shape (n, 10), with n where 'batch' is declared"
    found = returned(spec, array(N, 10), {"batch": "argument x"})
    assert found is not None
    assert found.seen == (
        "the returned value has shape (n, 10), with n where dimension 'batch' is batch (batch by argument x)"
    )


def test_composition() -> None:
    assert fits(array(N, 784), wanted("batch 784")) is None
    assert fits(Spec(), wanted("batch 784")) is None
    found = fits(array(N, 64), wanted("batch 784"))
    assert found is not None
    assert found.seen == "the input has shape (n, 64), with 64 where dimension '784' is 784"


def test_substitute() -> None:
    bindings = {"n": M + 1, "*b": (2, N)}
    assert substitute(wanted("*b 2*n 3"), bindings) == array(2, N, 2 * M + 2, 3)
    assert substitute(wanted("n k"), bindings) == array(M + 1, None)
    assert substitute(wanted("*c n"), bindings) == Spec(None, F4)
    assert substitute(TupleSpec((wanted("n"),)), {"n": 3}) == TupleSpec((array(3),))
    assert substitute(wanted("n-5"), {"n": 3}) == array(None)


def test_a_signature_at_run_time_and_before() -> None:
    """A decorated function refuses what the checker refuses, in the same words."""

    @symbolic
    def score(
        x: Annotated[np.ndarray, Symbolic["n k"]], w: Annotated[np.ndarray, Symbolic["k"]]
    ) -> Annotated[np.ndarray, Symbolic["n"]]:
        return np.matmul(x, w)

    with pytest.raises(SymbolicError) as caught:
        score.predict(np.ones((2, 3)), np.ones(4))
    found = unify([wanted("n k", None), wanted("k", None)], [array(2, 3), array(4)], ["argument x", "argument w"])
    assert isinstance(found, Finding)
    assert found.seen == caught.value.seen


# --------------------------------------------------------------------------- types and deltas


def test_short() -> None:
    assert short(Value(array(N, 3))) == "float32[n, 3]"
    assert short((Value(array(N)), Value(Spec((), F8, float)))) == "(float32[n], float)"
    assert short(TupleSpec((array(N),))) == "(float32[n],)"
    assert short(UNKNOWN) == "unknown"
    assert short_layer(array(BATCH, 784), array(BATCH, 10)) == "Layer[float32[batch, 784] → float32[batch, 10]]"
    assert short_layer(TupleSpec((array(N), Spec())), Spec(())) == "Layer[float32[n], ndarray → float]"


@pytest.mark.parametrize(
    ("native", "delta"),
    [
        ("builtins.int", "builtins.float"),
        ("builtins.float", "builtins.float"),
        ("builtins.complex", "builtins.complex"),
        ("numpy.ndarray", "numpy.ndarray"),
        ("numpy.float32", "numpy.float32"),
        ("numpy.floating", "numpy.floating"),
        ("numpy.complex64", "numpy.complex64"),
        ("numpy.int16", NO_DELTA),
        ("numpy.bool", NO_DELTA),
        ("builtins.bool", NO_DELTA),
        ("builtins.str", NO_DELTA),
        ("None", NO_DELTA),
        ("enum.Enum", NO_DELTA),
        ("builtins.tuple", "builtins.tuple"),
        ("builtins.bytes", None),
        ("decimal.Decimal", None),
        ("nowhere.Money", None),
    ],
)
def test_deltas_of_the_built_in_mappings(native: str, delta: str | None) -> None:
    assert delta_of(native) == delta


def test_a_programs_own_mapping_is_not_built_in() -> None:
    class Own(ToLiteral[np.int8, np.float32]):
        pass

    try:
        assert "numpy.int8" not in built_in()
        assert delta_of("numpy.int8") == NO_DELTA
    finally:
        del ToLiteral.registry[np.int8]
    assert built_in()["builtins.int"] == "builtins.float"
