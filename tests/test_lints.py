"""Do the lints see what is wrong, and keep silent where the same operations are right?"""

from __future__ import annotations

import ast
import operator
import re
from pathlib import Path

import numpy as np
import pytest
from abstractly import Run, rules, values
from lint_pairs import PAIRS, Pair

from symbolic.polynomial import parsed
from symbolic.spec import Spec
from symbolic.static import lints
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value
from symbolic.static.evaluation import call

ROOT = Path(__file__).resolve().parent.parent
CASES = [pytest.param(name, pair, id=f"{name}-{k}") for name, pairs in PAIRS.items() for k, pair in enumerate(pairs)]


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_the_wrong_one_is_seen(name: str, pair: Pair) -> None:
    assert name in rules(pair.given, pair.wrong)


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_nothing_is_said_of_the_right_one(name: str, pair: Pair) -> None:
    run = Run().body(pair.others or pair.given, pair.right)
    assert run.found == []
    assert run.failed == []


@pytest.mark.parametrize("name", PAIRS)
def test_there_are_pairs_enough(name: str) -> None:
    assert len(PAIRS[name]) >= 6
    assert name in lints.LINTS


# --------------------------------------------------------------------------- sentences


def said(given: str, text: str) -> str:
    (found,) = Run().body(given, text).found
    return f"{found.seen}; {found.remedy}"


@pytest.mark.parametrize(
    ("given", "text", "sentence"),
    [
        (
            "pred n 1; y n",
            "return pred - y",
            (
                "(n, 1) and (n,) are both stretched, to (n, n); "
                "give both one shape: y[:, None]; where each with each is meant, write y[None, :]"
            ),
        ),
        (
            "a p p; v p",
            "return a + v",
            (
                "(p,) lies along the last axis of (p, p), where p stands twice; "
                "write v[None, :] for the columns or v[:, None] for the rows"
            ),
        ),
        (
            "q b l h d",
            "b, l, h, d = q.shape\nreturn q.reshape(b, h, l, d)",
            "reshape of (b, l, h, d) to (b, h, l, d) mixes l and h; use transpose(0, 2, 1, 3)",
        ),
        (
            "x n; w:float64 n",
            "return x * w",
            "multiply of float32 (n,) and float64 (n,) is float64; convert one of them: .astype(np.float32)",
        ),
        (
            "x n 1",
            "return x.squeeze()",
            "squeeze() of (n, 1) has another rank where n is 1; say which axis: axis=1",
        ),
    ],
)
def test_sentences(given: str, text: str, sentence: str) -> None:
    assert said(given, text) == sentence


def test_a_sentence_names_the_operands_as_they_are_written() -> None:
    pred, y = values("pred n 1; y n").values()
    answer = call(operator.sub, (pred, y), {})
    provenance = lints.Provenance(("pred", "target"))
    (found,) = lints.at_operation(operator.sub, (pred, y), {}, answer, provenance)
    assert found.seen == "pred of shape (n, 1) and target of shape (n,) are both stretched, to (n, n)"
    assert "target[:, None]" in found.remedy


def test_what_is_declared_is_no_surprise() -> None:
    assert rules("x n; w:float64 n", "return x * w", Spec((parsed("n"),), np.dtype(float))) == []
    assert rules("x n; w:float64 n", "return x * w", Spec((parsed("n"),), np.dtype("float32"))) != []


# --------------------------------------------------------------------------- likely causes


@pytest.mark.parametrize(
    ("given", "text", "cause"),
    [
        ("x n c", "return x / x.sum(axis=1)", "add keepdims=True"),
        ("x n c", "e = np.exp(x)\nreturn e / e.sum(axis=1)", "add keepdims=True"),
        ("x n c", "return x - np.sqrt(x.var(axis=1) + 1e-5)", "add keepdims=True"),
        ("x n t c", "return x - x.max(axis=-1)", "add keepdims=True"),
        ("x n d; w k d", "return x @ w", "use .T of the second operand"),
        ("w 2 6; a 2 1", "return w @ a", "use .T of the first operand"),
        ("x n d; w n k", "return x @ w", "use .T of the first operand"),
        ("x b l h d; y b h l d", "return x + y", "use transpose(0, 2, 1, 3)"),
        ("x n c; y c n", "return x + y", "use .T"),
        ("x n c; y n", "return x * y", "write y[:, None]"),
        ("x b t d; y b", "return x * y", "write y[:, None, None]"),
        ("x n c; y m", "return x * y", None),
        ("x n d; w k m", "return x @ w", None),
        ("x:int64 n", "x /= 2\nreturn x", "write x = x / …, or //= for whole numbers"),
    ],
)
def test_likely_causes(given: str, text: str, cause: str | None) -> None:
    failed = Run().body(given, text).failed
    assert failed
    assert failed[0][1] == cause


def test_the_cause_of_a_returned_value() -> None:
    one, other = values("q b l h d; r b h l d").values()
    assert lints.likely_cause("return", (one, other)) == "use transpose(0, 2, 1, 3)"
    assert lints.likely_cause("return", (one, one)) is None


def test_causes_name_the_operands() -> None:
    one, other = values("x n d; w k d").values()
    assert lints.likely_cause(operator.matmul, (one, other), lints.Provenance(("x", "w"))) == "use w.T"


def test_division_in_place_is_an_error_with_a_name() -> None:
    x, half = values("x:int64 n; y n").values()
    assert lints.rule_of(operator.itruediv, (x, 2), {}) == "integer-division-in-place"
    assert lints.rule_of(operator.itruediv, (half, 2), {}) is None
    assert lints.rule_of(operator.truediv, (x, 2), {}) is None
    assert lints.rule_of(operator.ifloordiv, (x, 2), {}) is None
    assert lints.rule_of("__itruediv__", (x, 2), {}) == "integer-division-in-place"
    assert lints.rule_of(np.divide, (x, 2), {"out": x}) == "integer-division-in-place"
    assert lints.rule_of(np.divide, (x, 2), {"out": half}) is None


def test_nothing_is_said_beside_an_error() -> None:
    x = values("x:int64 n")["x"]
    finding = Answer(UNKNOWN, Finding("an in-place operator would cast", "write x = x / y"))
    assert lints.at_operation(operator.itruediv, (x, 2), {}, finding) == []


# --------------------------------------------------------------------------- gradients


def losses(given: str, text: str, asked: list[str]) -> list[str]:
    return [one.found.seen for one in lints.no_gradient(Run().body(given, text).returned, asked)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("return np.sum(x.astype(int) * 2.0)", "integers (int64)"),
        ("return np.mean(x > 0.5)", "a comparison"),
        ("return np.sum(y[np.argmax(x)])", "argmax, which gives places"),
        ("return np.mean(np.where(x > 0, y, 0.0))", "a comparison"),
        ("return (x.astype(np.int32) - y).sum()", "integers (int32)"),
        ("m = x >= y\nreturn np.sum(m * y)", "a comparison"),
    ],
)
def test_a_gradient_that_ends(text: str, what: str) -> None:
    assert losses("x:float64 n; y:float64 n", text, ["x"]) == [
        f"x reaches the result only through {what}, where its gradient ends"
    ]
    assert losses("x:float64 n; y:float64 n", text, ["y"]) == [] or "y" not in text


@pytest.mark.parametrize(
    "text",
    [
        "return np.sum(np.where(x > 0, x, 0.0))",
        "return np.sum(x * (x > 0))",
        "return np.sum(x[np.argsort(x)])",
        "return np.max(x)",
        "return np.sum(y)",
        "return np.sum(symbolic.stop_gradient(x))",
        "i = np.argmax(x)\nreturn x[i]",
    ],
)
def test_a_gradient_that_flows_or_is_stopped_on_purpose(text: str) -> None:
    assert losses("x:float64 n; y:float64 n", text, ["x"]) == []


def delta(*given: str) -> list[str]:
    names = list(values("; ".join(given)))
    both = list(values("; ".join(given)).values())
    half = len(both) // 2
    returned = both[half] if half == 1 else tuple(both[half:])
    return [f"{one.seen}; {one.remedy}" for one in lints.deltas("relu", names[:half], both[:half], returned)]


def test_deltas_of_a_rule() -> None:
    assert delta("x n d", "dx n d") == []
    assert delta("x n d", "dx n") == [
        (
            "the gradient that relu returns for x has shape (n,), and x has shape (n, d); "
            "sum over the axes along which it was stretched"
        )
    ]
    assert delta("x n", "dx:float64 n") == [
        (
            "the gradient that relu returns for x has dtype float64, and x has dtype float32; "
            "convert it: .astype(np.float32)"
        )
    ]
    assert delta("x n d", "b d", "dx n d", "db n d")[0].startswith("the gradient that relu returns for b has shape")
    assert delta("x:int64 n", "dx:float64 n") == []
    x = values("x n")["x"]
    assert lints.deltas("relu", ["x"], [x], None) == []
    assert lints.deltas("relu", ["x"], [x], UNKNOWN) == []


# --------------------------------------------------------------------------- origins


def test_a_value_with_an_origin_is_the_plain_one() -> None:
    x = values("x n")["x"]
    assert x == Value(x.spec)
    assert hash(x) == hash(Value(x.spec))


def test_of_a_value_without_an_origin_nothing_is_claimed() -> None:
    x, y = (Value(one.spec) for one in values("x n 1; y n").values())
    assert lints.at_operation(operator.sub, (x, y), {}, call(operator.sub, (x, y), {})) == []


def test_branches_are_joined() -> None:
    x, y = values("x n; y n").values()
    column = lints.followed(operator.getitem, (x, (slice(None), None)), {}, Value(Spec((parsed("n"), 1), x.spec.dtype)))  # type: ignore[union-attr]  # specs of arrays
    given = values("p n 1")["p"]
    both = lints.joined([column, given], Value(column.spec))
    assert lints.at_operation(operator.sub, (both, y), {}, call(operator.sub, (both, y), {})) == []
    same = lints.joined([given, given], Value(given.spec))
    assert lints.at_operation(operator.sub, (same, y), {}, call(operator.sub, (same, y), {})) != []


# --------------------------------------------------------------------------- pages


@pytest.mark.parametrize("name", lints.LINTS)
def test_every_lint_has_a_page(name: str) -> None:
    page = (ROOT / lints.Row.page(name)).read_text(encoding="utf-8")
    assert page.startswith(f"# {name}\n")
    for part in ("## Wrong", "## Right", "## Off", f"# symbolic: ignore[{name}]", f'disable = ["{name}"]'):
        assert part in page
    for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        ast.parse(code)


def test_every_page_has_a_lint() -> None:
    assert {one.stem for one in (ROOT / "docs" / "lints").glob("*.md")} == set(lints.LINTS)
