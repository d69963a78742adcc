"""Does the interpreter follow objects with declared fields, and functions that are mapped or differentiated?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from test_checking import HEAD, checked, messages

from symbolic import Symbolic, SymbolicError, symbolic

# --------------------------------------------------------------------------- dataclasses

RECORDS = """from dataclasses import dataclass
@dataclass
class Batch:
    x: Annotated[np.ndarray, Symbolic[np.float64, "b d"]]
    y: Annotated[np.ndarray, Symbolic[np.float64, "b"]]
    name: str = ""
    @property
    def mean(self): return self.x.mean(axis=0)
    def error(self: "Batch", w: Annotated[np.ndarray, Symbolic[np.float64, "k"]]):
        return self.x @ self.y + w
@dataclass
class Nested:
    inner: Batch
    scale: Annotated[float, Symbolic]
@symbolic
def f(one: Annotated[Batch, Symbolic], v: Annotated[np.ndarray, Symbolic["n"]], other: Batch, deep: Nested):
    r = RESULT
    return r
"""
OF_RECORDS = {
    "one.y - one.x.sum(axis=1)": "float64[one.b]",
    "one.x.T @ one.y": "float64[one.d]",
    "one.mean": "float64[one.d]",
    "one.x[: one.x.shape[0] // 2]": "float64[one.b//2, one.d]",
    "deep.scale * deep.inner.x": "float64[deep.inner.b, deep.inner.d]",
    "Batch(np.ones((5, 3)), np.ones(5)).mean": "float64[3]",
}


@pytest.mark.parametrize("expression", OF_RECORDS)
def test_fields_have_the_shapes_of_their_hints(expression: str) -> None:
    text = HEAD + RECORDS.replace("RESULT", expression)
    found = checked(text)
    line = text[: text.index("    r = ")].count("\n") + 1
    assert {(one.line, one.column): one.text for one in found.hovers}[line, 5] == OF_RECORDS[expression]
    assert len(found.findings) == 1 and "size self.d" in found.findings[0].message  # that of the method


BROKEN = {
    "one.y - one.x[0]": "(one.b,) and (one.d,) do not broadcast",
    "deep.inner.x @ deep.inner.y": "size deep.inner.d, axis -1 of the second has size deep.inner.b",
    "Batch(np.ones((5, 3)), np.ones(4))": "field y of Batch has shape (4,), with 4 where dimension 'b' is 5",
    "f(Batch(v[:, None], v[1:]), v, other, deep)": "field y of Batch",
}


@pytest.mark.parametrize("expression", BROKEN)
def test_each_object_has_its_own_names(expression: str) -> None:
    found = messages(RECORDS.replace("RESULT", expression))
    assert len(found) == 2 and any(BROKEN[expression] in one for one in found)  # the other one is that of the method


def test_where_the_names_of_an_object_are_declared() -> None:
    found = checked(HEAD + RECORDS.replace("RESULT", "other.x[0] - other.y")).findings[-1]
    assert [note for _, note in found.notes] == [f"other.{name} is declared here, by argument other" for name in "bd"]


UNSAID = [
    "one.y - other.y",
    "one.y - v",
    "one.x @ v",
    "one.x @ other.x.T",
    "scaled(one.x, v)",
    "np.where(v > 0, one.y, 0)",
]


@pytest.mark.parametrize("expression", UNSAID)
def test_names_of_two_objects_may_be_equal(expression: str) -> None:
    """Nobody can declare that a field's `d` is the `d` of the signature, so a program that needs it is right."""
    x, w = (f'{name}: Annotated[np.ndarray, Symbolic["{words}"]]' for name, words in (("x", "m k"), ("w", "k")))
    text = f"@symbolic\ndef scaled({x}, {w}): return x * w\n" + RECORDS.replace("RESULT", expression)
    assert len(messages(text)) == 1  # that of the method


def test_a_field_is_returned_as_an_input_is_declared() -> None:
    text = RECORDS.replace("deep: Nested):", 'deep: Nested) -> Annotated[np.ndarray, Symbolic["n"]]:')
    assert len(messages(text.replace("RESULT", "one.y"))) == 1
    assert len(messages(text.replace("RESULT", "one.x"))) == 2


@dataclass
class Sample:
    x: Annotated[np.ndarray, Symbolic[np.float64, "b d"]]
    y: Annotated[np.ndarray, Symbolic[np.float64, "b"]]


@symbolic
def loss(one: Annotated[Sample, Symbolic], w: Annotated[np.ndarray, Symbolic["d"]]) -> float:
    return np.sum((one.x @ w - one.y) ** 2)


@symbolic
def loss_of_constant(w: Annotated[np.ndarray, Symbolic["d"]], one: Sample) -> float:
    return np.sum((one.x @ w - one.y) ** 2)


MEANT = (np.ones((5, 3)), np.ones(5))
UNMEANT = {
    "np.ones((5, 3)), np.ones(4)": "field y of argument one has shape (4,), with 4 where dimension 'b' is 5",
    "np.ones((5, 3)), np.ones(1)": "field y of argument one has shape (1,), with 1 where dimension 'b' is 5",
    "np.ones(3), np.ones(3)": "field x of argument one has shape (3,), of rank 1, where 'b d' is declared",
    "np.ones((5, 3)), np.ones(5, np.float32)": "field y of argument one has dtype float32",
}


@pytest.mark.parametrize("given", UNMEANT)
@pytest.mark.parametrize("call", ["loss(Sample(GIVEN), w)", "loss_of_constant(w, one=Sample(GIVEN))"])
def test_run_time_holds_the_fields_too(call: str, given: str) -> None:
    """A broadcast of (5,) with (1,) would run; the same sentence comes of both, whatever was called before."""
    names = {"np": np, "Sample": Sample, "loss": loss, "loss_of_constant": loss_of_constant, "w": np.ones(3)}
    assert eval(call.replace("GIVEN", "*MEANT"), {**names, "MEANT": MEANT}) == 20.0
    with pytest.raises(SymbolicError) as raised:
        eval(call.replace("GIVEN", given), names)
    assert UNMEANT[given] in str(raised.value)
    assert eval(call.replace("GIVEN", "*MEANT"), {**names, "MEANT": MEANT}) == 20.0


# --------------------------------------------------------------------------- mapped and differentiated functions

DERIVED = {
    "vmap(lambda v: v @ m)(x)": "float64[n, 2]",
    "vmap(lambda v, w: v @ w)(x, x)": "float64[n]",
    "vmap(np.dot)(x, x)": "float64[n]",
    "vmap(lambda v, w: np.outer(v, w), in_axes=(0, None))(x, k)": "float64[n, 3, k]",
    "vmap(lambda v: v[None], in_axes=1, out_axes=-1)(x)": "float64[1, n, 3]",
    "vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))(k, k)": "float64[k, k]",
    "vmap(grad(lambda v: np.sum(v**2)))(x)": "float64[n, 3]",
    "vmap(lambda v: (v.sum(), v[:, None]))(x)[1]": "float64[n, 3, 1]",
    "jacobian(lambda v: v @ m)(x)": "float64[n, 2, n, 3]",
    "jacobian(lambda v, w: v @ w, argnums=1)(x, m)": "float64[n, 2, 3, 2]",
    "jacobian(lambda v, w: v @ w, argnums=(0, 1))(x, m)[0]": "float64[n, 2, n, 3]",
    "jacobian(lambda v: (v.sum(axis=0), v[:, 0]))(x)[1]": "float64[n, n, 3]",
    "hessian(lambda v: np.sum(v**3))(k)": "float64[k, k]",
    "hessian(lambda v, w: np.sum(v) * np.sum(w), (0, 1))(k, m)[0][1]": "float64[k, 3, 2]",
    "jvp(lambda v: v @ m, (x,), (x,))[0]": "float64[n, 2]",
    "jvp(lambda v: v @ m, (x,), (x,))[1]": "float64[n, 2]",
    "vjp(lambda v: v @ m, x)[0]": "float64[n, 2]",
    "np.apply_along_axis(np.sum, 0, x)": "float64[3]",
    "np.apply_along_axis(lambda v: v * 2, 1, x)": "float64[n, 3]",
    "np.apply_along_axis(lambda v: np.outer(v, v), axis=-1, arr=x)": "float64[n, 3, 3]",
    "np.apply_along_axis(lambda v, w: v @ w, 1, x, m)": "float64[n, 2]",
    "np.apply_along_axis(lambda v: v[:, None], 0, m)": "float64[3, 1, 2]",
    "vjp(lambda v, w: v @ w, x, m)[1](x @ m)[1]": "float64[3, 2]",
}
INPUTS = ", ".join(
    [
        f"{name}: Annotated[np.ndarray, Symbolic[np.float64, {shape!r}]]"
        for name, shape in {"x": "n 3", "m": "3 2", "k": "k"}.items()
    ]
)


@pytest.mark.parametrize("expression", DERIVED)
def test_what_derived_functions_give(expression: str) -> None:
    """As it is inferred, and as it is."""
    text = f"{HEAD}@symbolic\ndef f({INPUTS}):\n    r = {expression}\n    return r\n"
    found = checked(text)
    assert found.findings == []
    said = {(one.line, one.column): one.text for one in found.hovers}[6, 5]
    assert said == DERIVED[expression]
    names: dict[str, Any] = {}
    exec(compile(text, "<derived>", "exec"), names)
    generator = np.random.default_rng(0)
    value = names["f"](*[generator.normal(size=shape) for shape in ((7, 3), (3, 2), (5,))])
    dtype, _, sizes = said.rstrip("]").partition("[")
    assert str(value.dtype) == dtype
    assert [{"n": 7, "k": 5}.get(one) or int(one) for one in sizes.split(", ")] == list(value.shape)


def test_a_mistake_within_a_mapped_function_is_reported() -> None:
    text = f"@symbolic\ndef f({INPUTS}):\n    return vmap(lambda v: v @ k)(x)\n"
    (found,) = messages(text)
    assert "matmul of shapes (3,) and (k,)" in found


# --------------------------------------------------------------------------- what a sentence calls a value

PLACES = {
    "b: T = a": "b has shape (n, d), with n where 'd' is declared; use a.T, or",
    "b: T | None = a": "b has shape (n, d), with n where 'd' is declared; use a.T, or",
    "b: Optional[T] = a": "b has shape (n, d), with n where 'd' is declared; use a.T, or",
    "return a": "the returned value has shape (n, d), with n where 'd' is declared; use a.T, or",
    "def g(v: V, k: Annotated[np.ndarray, Symbolic[3]] = np.zeros(4)): return v": "the default of k has shape (4,)",
    "def g(v: V, *, k: Annotated[np.ndarray, Symbolic['3']] | None = np.zeros(4)): return v": "the default of k has",
}
DECLARING = """from typing import Optional
V = Annotated[np.ndarray, Symbolic["n d"]]
T = Annotated[np.ndarray, Symbolic["d n"]]
@symbolic
def f(a: V) -> T | None:
    LINE
    return a.T
"""


@pytest.mark.parametrize("line", PLACES)
def test_a_sentence_says_what_the_value_is(line: str) -> None:
    (found,) = messages(HEAD + DECLARING.replace("LINE", line))
    assert found.startswith(PLACES[line])


@pytest.mark.parametrize(
    "line",
    [
        *("b: T | None = None", "b: T | None = a.T", "b: T | int = a", "return None", "if len(a) == 3: return None"),
        "def g(v: V, k: V | None = None): return v if k is None else v + k",
        "def g(v: V, k: Annotated[np.ndarray, Symbolic['m']] = np.zeros(4)): return v",
    ],
)
def test_what_may_be_none_is_held_only_where_it_is_there(line: str) -> None:
    assert messages(HEAD + DECLARING.replace("LINE", line)) == []


# --------------------------------------------------------------------------- what is not known is silent

CHUNKS = """V = Annotated[np.ndarray, Symbolic[np.float64, "k"]]
@symbolic
def f(x: Annotated[np.ndarray, Symbolic[np.float64, "n 3"]], k: V, m: int):
    out = []
    for start in range(0, LENGTH, SIZE):
        part = x[start : start + SIZE]
        r = RESULT
        out.append(part @ np.ones((3, 2)))
    s = np.concatenate(out)
    return s
"""
PARTS = {
    "part": "float64[?, 3]",
    "part.mean(axis=0)": "float64[3]",
    "x[:, start:]": "float64[n, ?]",
    "x[start : start + m, 0]": "float64[?]",
    "x[start:][:, None]": "float64[?, 1, 3]",
    "part @ np.ones((3, 2)) + np.ones(2)": "float64[?, 2]",
}


@pytest.mark.parametrize(("length", "size"), [("x.shape[0]", "4"), ("len(x)", "m"), ("400", "4"), ("x.size", "m")])
@pytest.mark.parametrize("expression", PARTS)
def test_parts_of_an_array_in_a_loop(expression: str, length: str, size: str) -> None:
    text = HEAD + CHUNKS.replace("LENGTH", length).replace("SIZE", size).replace("RESULT", expression)
    found = checked(text)
    assert found.findings == []
    shown = {(one.line, one.column): one.text for one in found.hovers}
    assert shown[text[: text.index("        r =")].count("\n") + 1, 9] == PARTS[expression]
    assert shown[text.count("\n") - 1, 5] == "float64[?, 2]"


WRONG_PARTS = ["part @ np.ones((4, 2))", "part + np.ones(2)", "x[start:].sum(axis=2)", "x[start:, 0, 0]"]


@pytest.mark.parametrize("expression", WRONG_PARTS)
def test_what_is_wrong_of_every_part_is_said(expression: str) -> None:
    text = CHUNKS.replace("LENGTH", "len(x)").replace("SIZE", "m").replace("RESULT", expression)
    assert len(messages(HEAD + text)) == 1


FREE = {
    "np.convolve(k, np.ones(3))": "float64[k+2]",
    "np.convolve(k, np.ones(3), mode='same')": "float64[?]",
    "np.convolve(k, k[:2], mode='valid')": "float64[?]",
    "np.cov(x)": "float64[...]",
    "np.cov(x, rowvar=False)": "float64[3, 3]",
    "np.cov(x, x)": "float64[2*n, 2*n]",
    "np.corrcoef(x, rowvar=False)": "float64[3, 3]",
    "np.corrcoef(x)": "float64[...]",
}


@pytest.mark.parametrize("expression", FREE)
def test_what_depends_on_a_number_is_unknown(expression: str) -> None:
    """Of a matrix of one row the covariance is a number."""
    text = HEAD + CHUNKS.replace("LENGTH", "len(x)").replace("SIZE", "4").replace("RESULT", expression)
    found = checked(text)
    assert found.findings == []
    shown = {(one.line, one.column): one.text for one in found.hovers}
    assert shown[text[: text.index("        r =")].count("\n") + 1, 9] == FREE[expression]
