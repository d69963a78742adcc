"""Is what a hint says of shapes and dtypes checked at every new input, before anything is computed?"""

# a subscript of the marker outside a hint
# mypy: disable-error-code="misc"

from typing import Annotated, Any, Optional

import numpy as np
import pytest
from jaxtyping import Float, Float32, Int
from numpy.typing import NDArray

import symbolic as s
from symbolic import SGD, DtypeError, ShapeError, Symbolic, SymbolicError, Weight, symbolic

F32 = np.float32


@symbolic
def classify(
    x: Annotated[np.ndarray, Symbolic[np.float32, "batch 784"]], labels: Annotated[np.ndarray, Symbolic["batch"]]
) -> Annotated[np.ndarray, Symbolic["batch"]]:
    y: np.ndarray = x[:, 0] * labels
    return y


def test_what_fits_passes() -> None:
    for batch in (1, 2, 0, 5):
        assert classify(np.ones((batch, 784), F32), np.ones(batch)).shape == (batch,)
    assert classify.traces() == 1


BAD: list[tuple[str, Any, Any, list[str]]] = [
    ("rank", np.ones(784, F32), np.ones(2), ["argument x", "(784,)", "batch 784"]),
    ("size", np.ones((2, 785), F32), np.ones(2), ["argument x", "(2, 785)", "784"]),
    ("name", np.ones((2, 784), F32), np.ones(3), ["argument labels", "(3,)", "batch", "2"]),
    ("dtype", np.ones((2, 784)), np.ones(2), ["argument x", "float64", "float32", "astype"]),
]


@pytest.mark.parametrize(("x", "labels", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
@pytest.mark.parametrize("warm", [False, True])
def test_what_does_not_fit_is_refused_by_name(x: Any, labels: Any, words: list[str], warm: bool) -> None:
    """On a trace that is new and on one that is there already."""
    net: Any = symbolic(classify.function)
    if warm:
        net(np.ones((2, 784), F32), np.ones(2))
    for _ in range(3):
        with pytest.raises((ShapeError, DtypeError)) as caught:
            net(x, labels)
        text = str(caught.value)
        for word in [*words, "classify", "test_hints.py:", "; "]:
            assert word in text, (word, text)
    assert isinstance(caught.value, (ValueError, TypeError))


def test_the_check_comes_before_the_first_operation() -> None:
    seen: list[Any] = []

    @symbolic
    def f(
        x: Annotated[np.ndarray, Symbolic["n"]], y: Annotated[np.ndarray, Symbolic["n"]]
    ) -> Annotated[float, Symbolic]:
        w: Any = Weight(1.0)
        total: float = np.sum((x * w)[:2]) + np.sum(y)
        return total

    net = f.on_output(seen.append)
    net.predict(np.ones(3), np.ones(3))
    for act in (net.predict, lambda *xs: net.train(*xs, optimizer=SGD(0.1)), lambda *xs: net.forward(s.Literal(xs))):
        with pytest.raises(ShapeError, match=r"argument y.*\(4,\)"):
            act(np.ones(3), np.ones(4))  # type: ignore[arg-type]  # of a method that is no call mypy compares the shapes
    assert len(seen) == 1 and next(iter(f.weights().values())).value == 1.0


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (lambda x: x[1:], ShapeError),
        (lambda x: np.sum(x), ShapeError),
        (lambda x: x.astype(np.float32), DtypeError),
        (lambda x: x, None),
    ],
)
def test_the_returned_value_is_checked_too(returned: Any, error: Any) -> None:
    net = symbolic(
        returned, Annotated[np.ndarray, Symbolic["n"]], returns=Annotated[np.ndarray, Symbolic[np.float64, "n"]]
    )
    if error is None:
        assert net(np.ones(3)).shape == (3,)
    else:
        with pytest.raises(error, match=r"returned value.*;"):
            net(np.ones(3))


def test_a_returned_value_that_fits_one_size_only() -> None:
    """The trace is reused for another size, where its result no longer fits the hint."""
    net = symbolic(
        lambda x: np.concatenate([x, np.ones(2)])[:4],
        Annotated[np.ndarray, Symbolic["n"]],
        returns=Annotated[np.ndarray, Symbolic["n"]],
    )
    assert net(np.ones(4)).shape == (4,)
    with pytest.raises(ShapeError, match=r"returned value.*\(4,\).*5"):
        net(np.ones(5))
    assert net(np.ones(4)).shape == (4,)


def test_the_language() -> None:
    def of(text: str) -> Any:
        return symbolic(lambda x: x * 1.0, Annotated[np.ndarray, Symbolic[text]])

    good: list[tuple[str, tuple[int, ...]]] = [
        ("*batch n", (2, 3, 4)),
        ("... 3", (3,)),
        ("_ 3", (7, 3)),
        ("n n", (2, 2)),
        ("n 2*n", (2, 4)),
        ("n n-1", (3, 2)),
        ("n #n", (3, 1)),
        ("", ()),
        ("n m n+m", (1, 2, 3)),
    ]
    bad: list[tuple[str, tuple[int, ...]]] = [
        ("*batch n", ()),
        ("... 3", (4,)),
        ("_ 3", (3,)),
        ("n n", (2, 3)),
        ("n 2*n", (2, 5)),
        ("n n-1", (3, 3)),
        ("n #n", (3, 2)),
        ("", (1,)),
        ("n m n+m", (1, 2, 4)),
    ]
    for text, shape in good:
        assert of(text)(np.ones(shape)).shape == shape
    for text, shape in bad:
        with pytest.raises(ShapeError):
            of(text)(np.ones(shape))


def test_stars_are_shared_by_the_signature() -> None:
    hint = Annotated[np.ndarray, Symbolic["*batch n"]]
    net = symbolic(lambda x, y: np.sum(x) + np.sum(y), hint, hint)
    assert net(np.ones((2, 3, 4)), np.ones((2, 3, 4))) == 48.0
    with pytest.raises(ShapeError, match=r"\(2, 3\)|2, 3"):
        net(np.ones((2, 3, 4)), np.ones((5, 3, 4)))


def test_each_call_binds_the_names_anew() -> None:
    net = symbolic(lambda x, y: x + y, Annotated[np.ndarray, Symbolic["n"]], Annotated[np.ndarray, Symbolic["n"]])
    for n in (2, 3, 2):
        assert net(np.ones(n), np.ones(n)).shape == (n,)


def test_jaxtyping_hints() -> None:
    @symbolic
    def f(
        x: Annotated[Float32[np.ndarray, "batch 3"], Symbolic],  # noqa: F722 - jaxtyping's language
        y: Annotated[Float[np.ndarray, "batch"], Symbolic],  # noqa: F821 - the same
    ) -> Annotated[Float[np.ndarray, ""], Symbolic]:  # noqa: F722 - the same
        z: np.ndarray = np.sum(x[:, 0] * y)
        return z

    assert f(np.ones((2, 3), F32), np.ones(2)) == 2.0
    assert f(np.ones((2, 3), F32), np.ones(2, F32)).dtype == F32
    with pytest.raises(DtypeError, match=r"argument x.*float64.*float32"):
        f(np.ones((2, 3)), np.ones(2))  # type: ignore[symbolic-dtype]  # what is tested
    with pytest.raises(DtypeError, match=r"argument y.*int64.*float"):
        f(np.ones((2, 3), F32), np.ones(2, int))
    with pytest.raises(ShapeError, match=r"argument y.*\(4,\)"):
        f(np.ones((2, 3), F32), np.ones(4))
    assert symbolic(lambda k: k * 2, Int[np.ndarray, "n"])(np.arange(3)).tolist() == [0, 2, 4]


def test_numpys_own_array_types() -> None:
    net = symbolic(lambda x: x * 2.0, NDArray[np.float32])
    assert net(np.ones(2, F32)).dtype == F32


def test_scalars_and_arrays_are_told_apart() -> None:
    number = symbolic(lambda x: x * 2.0, float)
    for value in (1.5, 1, np.float32(1.5), np.array(1.5), np.float64(1.5)):
        assert number(value) == 2.0 * float(value)  # type: ignore[symbolic]  # an array of no dimensions is a number
    assert type(number(1)) is float
    with pytest.raises(ShapeError, match=r"argument x.*\(2,\).*float"):
        number(np.ones(2))  # type: ignore[symbolic]  # what is tested
    with pytest.raises(DtypeError, match=r"argument x.*complex.*float"):
        number(1j)  # type: ignore[symbolic-dtype]  # what is tested
    with pytest.raises(DtypeError, match=r"argument x.*str.*float"):
        number("1.5")  # type: ignore[symbolic]  # what is tested
    with pytest.raises(DtypeError, match=r"argument x.*(tuple|NoneType)"):
        number(None)  # type: ignore[symbolic]  # what is tested


def test_numpy_scalars() -> None:
    net = symbolic(lambda x: x * 2.0, np.float32)
    assert type(net(F32(1.5))) is F32
    with pytest.raises(DtypeError, match=r"float64.*float32"):
        net(np.float64(1.5))  # type: ignore[symbolic-dtype]  # what is tested
    assert symbolic(lambda x: x * 2.0, np.floating)(np.float64(1.5)) == 3.0


def test_ints_and_bools_pass_without_a_gradient() -> None:
    net = symbolic(lambda x, n, flag: np.where(flag, x * n, 0.0), np.ndarray, np.ndarray, bool)
    assert net(np.ones(2), np.array([2, 3]), True).tolist() == [2.0, 3.0]
    assert net(np.ones(2), np.array([2, 3]), False).tolist() == [0.0, 0.0]
    with pytest.raises(DtypeError, match="NoDelta"):
        s.grad(lambda n: np.sum(n * 1.0))(np.arange(3))


def test_optional_and_unions() -> None:
    net = symbolic(lambda x, y: x if y is None else x * y, np.ndarray, Optional[np.ndarray])  # noqa: UP045 - both spellings
    other = symbolic(lambda x: x * 2.0, np.ndarray | float)
    assert net(np.ones(2), None).tolist() == [1.0, 1.0]
    assert net(np.ones(2), np.full(2, 3.0)).tolist() == [3.0, 3.0]
    assert other(2.0) == 4.0 and other(np.ones(1)).tolist() == [2.0]


def test_the_marker_is_refused_where_it_is_wrong() -> None:
    wrong: list[Any] = ["n +", (np.float32, "*a *b"), -1, "a**b", ("n", dict), ("n", 1.5), ("n", None), (3, b"n")]
    for parts in wrong:
        with pytest.raises(SymbolicError, match=r"hint.*;"):
            Symbolic[parts]


def test_a_hint_that_only_holds_a_dtype() -> None:
    net = symbolic(lambda x: x * 2.0, Annotated[np.ndarray, Symbolic[np.float32]])
    assert net(np.ones((2, 2), F32)).dtype == F32
    with pytest.raises(DtypeError, match=r"float64.*float32"):
        net(np.ones(2))


def test_masked_arrays_are_refused_and_other_subclasses_are_plain() -> None:
    net = symbolic(lambda x: x * 2.0, np.ndarray)
    with pytest.raises(DtypeError, match=r"masked.*;"):
        net(np.ma.array([1.0, 2.0], mask=[True, False]))

    class Mine(np.ndarray):
        pass

    assert type(net(np.ones(2).view(Mine))) is np.ndarray
