"""Does the interpreter follow objects with declared fields, and functions that are mapped or differentiated?"""

from __future__ import annotations

import pytest
from test_checking import HEAD, checked, messages

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
        return self.x @ w
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
    assert all("self.d" in one.message and "k" in one.message for one in found.findings) and len(found.findings) == 1


BROKEN = {
    "one.y - other.y": "(one.b,) and (other.b,) do not broadcast",
    "one.y - v": "(one.b,) and (n,) do not broadcast",
    "Batch(np.ones((5, 3)), np.ones(4))": "field y of Batch has shape (4,), with 4 where dimension 'b' is 5",
    "f(Batch(v[:, None], v[1:]), v, other, deep)": "field y of Batch",
}


@pytest.mark.parametrize("expression", BROKEN)
def test_each_object_has_its_own_names(expression: str) -> None:
    found = messages(RECORDS.replace("RESULT", expression))
    assert len(found) == 2 and any(BROKEN[expression] in one for one in found)  # the other one is that of the method


def test_where_the_names_of_an_object_are_declared() -> None:
    found = checked(HEAD + RECORDS.replace("RESULT", "one.y - other.y")).findings[-1]
    assert [note for _, note in found.notes] == [
        f"{name}.b is declared here, by argument {name}" for name in ("one", "other")
    ]
