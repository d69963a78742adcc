"""What does bad input get? What was seen, where, and what to do; before any weight moved."""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import pickle
import re
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest

import symbolic as s
from symbolic import (
    SGD,
    Adam,
    DtypeError,
    LayerError,
    Linear,
    Literal,
    ReLU,
    Sequential,
    ShapeError,
    Symbolic,
    SymbolicError,
    TapeError,
    TraceError,
    symbolic,
)
from symbolic.errors import Where, located

BATCH = np.random.default_rng(0).normal(size=(5, 4))
LABELS = np.ones(5)


def model() -> Any:
    """A network of the usual kind: layers in a row, then a loss in a decorated function."""
    body = Sequential(Linear(4, 3, seed=0), ReLU(), Linear(3, 1, seed=1))

    @symbolic
    def loss(
        x: Annotated[np.ndarray, Symbolic[np.float64, "batch 4"]], y: Annotated[np.ndarray, Symbolic["batch"]]
    ) -> Annotated[float, Symbolic]:
        total: float = np.mean((body(x)[:, 0] - y) ** 2.0)
        return total

    return loss


BAD: list[tuple[str, Any, Any, type[Exception], list[str]]] = [
    ("wrong rank", (BATCH[0], LABELS), {}, ShapeError, ["argument x", "(4,)", "batch 4"]),
    ("wrong size", (BATCH[:, :3], LABELS), {}, ShapeError, ["argument x", "(5, 3)", "4"]),
    ("sizes that differ", (BATCH, LABELS[:4]), {}, ShapeError, ["argument y", "(4,)", "batch", "5", "argument x"]),
    ("wrong dtype", (BATCH.astype(np.float32), LABELS), {}, DtypeError, ["argument x", "float32", "float64"]),
    ("complex", (BATCH.astype(complex), LABELS), {}, DtypeError, ["argument x", "complex128", "float64"]),
    ("text", ("text", LABELS), {}, DtypeError, ["argument x", "str", "ndarray"]),
    ("nothing", (None, LABELS), {}, DtypeError, ["argument x", "NoneType", "ndarray"]),
    ("missing", (BATCH,), {}, DtypeError, ["x", "y"]),
    ("extra", (BATCH, LABELS, LABELS), {}, DtypeError, ["x", "y"]),
]


@pytest.mark.parametrize(("inputs", "named", "error", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
@pytest.mark.parametrize("warm", [0, 4])
@pytest.mark.parametrize("act", ["predict", "train", "trainer", "forward", "call"])
def test_bad_input_is_refused_before_any_weight_moved(
    inputs: Any, named: Any, error: Any, words: list[str], warm: int, act: str
) -> None:
    net, optimizer = model(), Adam(0.1)
    for _ in range(max(warm, 1)):
        net.train(BATCH, LABELS, optimizer=optimizer)
    before = {k: v.tobytes() for k, v in optimizer.state_dict(net.weights()).items()}
    values = [w.value.tobytes() for w in net.weights().values()]
    acts: dict[str, Callable[..., Any]] = {
        "predict": net.predict,
        "train": lambda *xs: net.train(*xs, optimizer=optimizer),
        "trainer": net.trainer(optimizer),
        "forward": lambda *xs: net.forward(Literal(xs)),
        "call": net,
    }
    with pytest.raises(error) as caught:
        acts[act](*inputs, **named)
    text = str(caught.value)
    for word in [*words, "loss", "test_errors.py:", "; "]:
        assert word in text, (word, text)
    assert isinstance(caught.value, SymbolicError)
    assert before == {k: v.tobytes() for k, v in optimizer.state_dict(net.weights()).items()}
    assert values == [w.value.tobytes() for w in net.weights().values()]
    net.train(BATCH, LABELS, optimizer=optimizer)


class Table(s.Module):
    """A layer of the user's, with an error inside."""

    def build(self, input: Any) -> Any:
        return input + np.ones((3, 7))


OPERANDS: list[tuple[str, Callable[[Any], Any], list[str]]] = [
    ("broadcast", lambda x: x + np.ones((3, 7)), ["(5, 4)", "(3, 7)", "broadcast"]),
    ("matmul", lambda x: x @ np.ones((3, 7)), ["(5, 4)", "(3, 7)"]),
    ("concatenate", lambda x: np.concatenate([x, np.ones((2, 7))]), ["(5, 4)", "(2, 7)"]),
    ("stack", lambda x: np.stack([x, np.ones((2, 7))]), ["(5, 4)", "(2, 7)"]),
    ("reshape", lambda x: x.reshape(3, 7), ["(5, 4)", "(3, 7)"]),
    ("axis", lambda x: np.sum(x, axis=2), ["axis 2"]),
    ("squeeze", lambda x: np.squeeze(x, axis=0), ["(5, 4)"]),
    ("transpose", lambda x: np.transpose(x, (0, 1, 2)), ["(5, 4)"]),
    ("einsum", lambda x: np.einsum("ij,jk->ik", x, np.ones((3, 7))), ["(5, 4)", "(3, 7)"]),
    ("where", lambda x: np.where(x > 0, x, np.ones(7)), ["(5, 4)", "(7,)"]),
    ("index", lambda x: x[:, 9], ["9"]),
    ("too many indices", lambda x: x[0, 0, 0], ["3", "2"]),
    ("tensordot", lambda x: np.tensordot(x, np.ones((3, 7)), 1), ["(5, 4)", "(3, 7)"]),
]


@pytest.mark.parametrize(("build", "words"), [row[1:] for row in OPERANDS], ids=[row[0] for row in OPERANDS])
def test_operands_that_do_not_fit(build: Any, words: list[str]) -> None:
    """The error is NumPy's class too, and it comes before anything is computed."""
    with pytest.raises(Exception, match=r".") as numpys:
        build(np.ones((5, 4)))
    kind = type(numpys.value)
    seen: list[Any] = []

    def body(x: Any) -> Any:
        return build(x)

    net = Sequential(Linear(4, 4).on_output(seen.append), symbolic(body, np.ndarray, returns=np.ndarray))
    for act in (net.predict, lambda x: net.train(x, optimizer=SGD(0.1)), lambda x: net.forward(Literal(x))):
        with pytest.raises(SymbolicError) as caught:
            act(np.ones((5, 4)))
        text = str(caught.value)
        for word in [*words, "1:body", "test_errors.py:", "; "]:
            assert word in text, (word, text)
        assert isinstance(caught.value, (ValueError, IndexError) if kind is np.exceptions.AxisError else kind)
    assert seen == []


def test_a_shape_error_inside_a_layer_says_its_path_and_both_shapes() -> None:
    net = Sequential(ReLU(), Sequential(Linear(4, 4), Table()))
    with pytest.raises(ShapeError) as caught:
        net.predict(BATCH)
    text = str(caught.value)
    assert "Sequential/1:Sequential/1:Table" in text and "(5, 4)" in text and "(3, 7)" in text
    assert isinstance(caught.value, ValueError)


def test_a_delta_that_does_not_fit() -> None:
    net = Linear(4, 3)
    before = net.weight.value
    with SGD(0.1), net.forward(Literal(BATCH)) as tape:
        for delta in (np.ones((5, 4)), np.ones((1, 5, 3)), np.ones(2)):
            with pytest.raises(
                ShapeError, match=r"delta of shape .* for an output of shape \(5, 3\).*test_errors\.py:\d+.*;"
            ):
                tape.backward(delta)
        for bad in ("text", None, Literal(1.0)):
            with pytest.raises((TypeError, ValueError)):
                tape.backward(bad)  # type: ignore[arg-type]  # what is tested
    assert np.array_equal(net.weight.value, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_names_the_first_layer(bad: float) -> None:
    net = model()
    x = BATCH.copy()
    x[0, 0] = bad
    net.train(BATCH, LABELS, optimizer=SGD(0.1))
    before = [w.value.tobytes() for w in net.weights().values()]
    with pytest.raises(FloatingPointError) as caught, np.errstate(all="ignore"):
        net.train(x, LABELS, optimizer=SGD(0.1))
    assert re.search(r"loss is (nan|inf|not finite).*input", str(caught.value)) and isinstance(caught.value, LayerError)
    assert before == [w.value.tobytes() for w in net.weights().values()]


def test_a_loss_that_overflows_names_the_layer_where_it_began() -> None:
    net = Sequential(Linear(4, 3, seed=0), symbolic(lambda x: np.exp(x * 1e6), np.ndarray), s.Sum())
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match=r"loss is inf.*Exp") as caught:
        net.train(np.abs(BATCH), optimizer=SGD(0.1))
    assert re.search(r"1:<lambda> \(test_errors\.py:\d+\); .+", str(caught.value)), "no third beat"


@pytest.mark.parametrize("function", [np.array2string, np.isnat, np.shares_memory, np.add.at, np.busday_count])
def test_a_numpy_function_that_layers_do_not_support_is_named(function: Any) -> None:
    x: Any = s.Identity()
    name = function.__name__.split(".")[-1]
    arguments = {"at": (x, 0, 1.0), "busday_count": (x, x), "shares_memory": (x, x)}.get(name, (x,))
    with pytest.raises(TypeError, match=rf"np\.(add\.)?{name}\b.*test_errors\.py:\d+.*; ?.+"):
        function(*arguments)


def test_an_argument_that_a_function_does_not_support_is_named() -> None:
    x: Any = s.Identity()
    for act, named in (
        (lambda: np.cumsum(x, out=np.zeros(3)), "out"),
        (lambda: np.add(x, x, casting="unsafe"), "casting"),
        (lambda: np.sum(x, out=np.zeros(())), "out"),
        (lambda: np.exp(x, order="F"), "order"),
    ):
        with pytest.raises(SymbolicError, match=rf"{named}.*;") as caught:
            act()
        assert isinstance(caught.value, TypeError)


def test_a_tape_used_after_close() -> None:
    tape = Linear(4, 3).forward(Literal(BATCH))
    tape.close()
    for act in (lambda: tape.value, lambda: tape.backward(1.0), tape.close, tape.duplicate):  # type: ignore[arg-type]  # a number for an array
        with pytest.raises(TapeError, match=r"closed tape.*test_errors\.py:\d+.*; ?use"):
            act()


def test_every_error_is_one_of_ours_and_one_of_pythons() -> None:
    assert issubclass(ShapeError, ValueError) and issubclass(DtypeError, TypeError)
    assert issubclass(TraceError, TypeError) and issubclass(TapeError, RuntimeError)
    for kind in (ShapeError, DtypeError, TraceError, TapeError, LayerError):
        assert issubclass(kind, SymbolicError)
        text = str(kind("what", where="place", remedy="do"))
        assert text == "what, in place; do"


@pytest.mark.parametrize(
    "cause",
    [
        ValueError("a"),
        np.linalg.LinAlgError("b"),
        KeyError("c"),
        UnicodeDecodeError("utf-8", b"", 0, 1, "d"),
        OSError(2, "e"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_layer_error_has_the_class_of_its_cause(cause: Exception) -> None:
    error = located(cause, Where("net/0:Linear(4, 3)", "/somewhere/model.py", 12), "float64[3]")
    assert isinstance(error, LayerError)
    if not isinstance(cause, UnicodeDecodeError):  # cannot be made of a sentence
        assert isinstance(error, type(cause))
    text = str(error)
    assert "net/0:Linear(4, 3) (model.py:12)" in text and type(cause).__name__ in text and "float64[3]" in text


def test_errors_can_be_pickled() -> None:
    """They come from worker processes, too."""
    for error in (
        ShapeError("what", where="place", remedy="do"),
        located(ValueError("a"), Where("net", "model.py", 1), ""),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and isinstance(again, ValueError) and isinstance(again, SymbolicError)


def test_a_layer_error_of_a_layer_error_is_told_once() -> None:
    first = located(ValueError("a"), Where("net", "model.py", 1), "")
    assert located(first, Where("outer", "other.py", 2), "") is first


def test_a_layer_cannot_be_pickled() -> None:
    with pytest.raises(TraceError, match=r"pickled.*;.*weights\(\)"):
        pickle.dumps(s.Exp())


def test_attributes_that_are_not_there() -> None:
    x: Any = s.Exp()
    with pytest.raises(AttributeError, match="'Exp' object has no attribute 'shapes'"):
        x.shapes  # noqa: B018 - what is tested
    assert not hasattr(x, "shapes")
