"""Do the lints see what is wrong, and keep silent where the same operations are right?"""

from __future__ import annotations

import ast
import operator
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from abstractly import Run, followed, rules, values
from lint_pairs import PAIRS, Pair

from symbolic.polynomial import parsed
from symbolic.spec import Spec
from symbolic.static import lints
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value
from symbolic.static.checking import check
from symbolic.static.evaluation import call
from symbolic.static.lint import Lint, Met

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
            "x n d",
            "return x / np.sqrt(x.shape[1])",
            (
                "divide of float32 (n, d) and float64 is float64: NumPy's numbers are not weak, as Python's are; "
                "write math.sqrt(…), or float(…) around it"
            ),
        ),
        (
            "x n; w:float64 n",
            "return x * np.sum(w)",
            (
                "multiply of float32 (n,) and float64 is float64: NumPy's numbers are not weak, as Python's are; "
                "convert it: .astype(np.float32)"
            ),
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
    given, y = values("p n 1; y n").values()
    index = (y, (slice(None), None))
    column = lints.origin_of_result(operator.getitem, index, {}, Value(given.spec))
    for origins, count in (
        ([column, lints.origin_of(given)], 0),
        ([lints.origin_of(given)] * 2, 1),
        ([None, column], 0),
    ):
        both = followed(given, lints.origin_of_join(origins))
        assert len(lints.at_operation(operator.sub, (both, y), {}, call(operator.sub, (both, y), {}))) == count


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


# --------------------------------------------------------------------------- through the interpreter


IMPORTS = """\
import math
from typing import Annotated
import numpy as np
import symbolic
from symbolic import Symbolic
"""


def source(parameters: str, text: str) -> str:
    """A module with one symbolic function of this body."""
    given = []
    for written in parameters.split(";"):
        head, *words = written.split()
        name, _, dtype = head.partition(":")
        shape = f'Annotated[np.ndarray, Symbolic[np.{dtype or "float32"}, "{" ".join(words)}"]]'
        given.append(f"{name}: Annotated[float, Symbolic]" if dtype == "float" else f"{name}: {shape}")
    head = f"@symbolic.symbolic\ndef f({', '.join(given)}) -> Annotated[np.ndarray, Symbolic]:"
    return f"{IMPORTS}\n{head}\n{textwrap.indent(text, '    ')}\n"


@pytest.mark.parametrize(("name", "pair"), CASES)
def test_pairs_in_a_file(name: str, pair: Pair) -> None:
    wrong = check(source(pair.given, pair.wrong))
    assert name in [one.rule for one in wrong.findings]
    right = check(source(pair.others or pair.given, pair.right))
    assert [
        one.message for one in right.findings if one.code != "symbolic-shape" or "returned" not in one.message
    ] == []


@pytest.mark.parametrize("name", lints.LINTS)
def test_the_examples_of_the_pages(name: str) -> None:
    page = (ROOT / lints.Row.page(name)).read_text(encoding="utf-8")
    wrong, right = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert name in [one.rule for one in check(wrong).findings]
    assert check(right).findings == []


def test_weights_are_float64_by_default() -> None:
    assert check(source("x n 3", "return x @ symbolic.Weight(symbolic.he(3, 4))")).findings == []
    assert check(source("x n 3", "return x @ symbolic.he(3, 4)")).findings != []


GRADIENT = """
@symbolic.symbolic
def f(x: Annotated[np.ndarray, Symbolic[np.float64, "n"]], y: Annotated[np.ndarray, Symbolic[np.float64, "n"]]):
    return symbolic.{by}(x, y)

{inner}
"""


@pytest.mark.parametrize(
    ("by", "inner", "lines"),
    [
        ("grad(g)", "def g(x, y):\n    return np.sum(np.where(x > y, 1.0, 0.0))", [12]),
        ("grad(g)", "def g(x, y):\n    return np.sum(np.where(x > y, x, 0.0))", []),
        ("grad(g, 1)", "def g(x, y):\n    i = x.astype(int)\n    return np.sum(y * i)", []),
        ("grad(g, 0)", "def g(x, y):\n    i = x.astype(int)\n    return np.sum(y * i)", [12]),
        ("grad(g, (0, 1))", "def g(x, y):\n    i = x.astype(int)\n    return np.sum(y * i)", [12]),
        ("value_and_grad(g)", "def g(x, y):\n    return y[np.argmax(x)]", [12]),
        ("value_and_grad(g)", "def g(x, y):\n    return np.mean((x - y) ** 2)", []),
        ("custom_gradient(g)", "def g(x, y):\n    return x * y, lambda d: (d * y, d * x)", []),
        ("custom_gradient(g)", "def g(x, y):\n    return x * y.sum(), lambda d: (d * y.sum(), d * x)", []),
        ("custom_gradient(g)", "def g(x, y):\n    return x * y.sum(), lambda d: (d * y.sum(), (d * x).sum())", [12]),
        (
            "custom_gradient(g)",
            "def g(x, y):\n    def rule(d):\n        return d, d[:, None]\n    return x, rule",
            [12],
        ),
        ("custom_gradient(g)", "def g(x, y):\n    return x, lambda d: (d, None)", []),
    ],
)
def test_gradients_in_a_file(by: str, inner: str, lines: list[int]) -> None:
    found = check(IMPORTS + GRADIENT.format(by=by, inner=inner)).findings
    assert [one.line for one in found] == lines
    assert {one.rule for one in found} <= {"no-gradient", "delta-unlike-its-argument"}


def test_no_lint_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in a lint is passed over in silence; here it is not."""
    faults: list[str] = []

    def asked(lint: Lint, met: Met) -> tuple[str, str] | None:
        try:
            return lint(met)
        except Exception as error:
            faults.append(f"{lint.__name__} of {met.name}{met.args}: {error!r}")
            return None

    monkeypatch.setattr(lints, "_asked", asked)
    for path in (*ROOT.glob("tests/corpus/*.py"), *ROOT.glob("tests/programs/*.py"), *ROOT.glob("examples/*.py")):
        check(path.read_text(encoding="utf-8"), path.name)
    for name, pairs in PAIRS.items():
        for pair in pairs:
            rules(pair.given, pair.wrong)
            assert rules(pair.others or pair.given, pair.right) == [], name
    assert faults == []
