"""What a program has compared itself, in whatever way, is no certain mistake behind it; and what it has not, is."""

from __future__ import annotations

import pytest
from test_checking import HEAD, checked, messages

ARRAYS = ("x: n d", "y: m d", "w: m k", "z: p q")
RIGHT = {
    "name": "same = x.shape[1] == w.shape[0]\n    return x @ w if same else x",
    "walrus": "if (same := x.shape[1] == w.shape[0]):\n        return x @ w\n    return same",
    "two": "same = len(x) == len(w) and x.shape[1] == w.shape[1]\n    return x + w if same else x",
    "helper": "def fit(a, b):\n        return a.shape[1] == b.shape[0]\n    return x @ w if fit(x, w) else x",
    "raises": "def need(c):\n        if not c:\n            raise ValueError\n"
    "    need(x.shape[1] == w.shape[0])\n    return x @ w",
    "all": "return x @ w if all([x.shape[1] == w.shape[0]]) else x",
    "zip": "return x + w if all(a == b for a, b in zip(x.shape, w.shape)) else x",
    "match": "match x.shape[1] == w.shape[0]:\n        case True:\n            return x @ w\n    return x",
    "int": "return x @ w if int(x.shape[1] == w.shape[0]) else x",
    "flag": "bad = False\n    if x.shape != y.shape:\n        bad = True\n    return x if bad else x + y",
    "flag_of_loop": "ok = True\n    for a, b in zip(x.shape, y.shape):\n        if a != b:\n            ok = False\n"
    "    return x + y if ok else x",
    "difference": "if x.shape[1] - w.shape[0] == 0:\n        return x @ w\n    return x",
    "truth_of_difference": "if x.shape[1] - w.shape[0]:\n        return x\n    return x @ w",
    "size": "return x.reshape(w.shape) + w if x.size == w.size else x",
    "multiple": "return x + y if 3 * len(x) == 3 * len(y) else x",
    "sums": "if len(x) + len(y) == z.shape[0] + z.shape[1]:\n"
    "        return np.concatenate([x, y]) + np.ones((sum(z.shape), 1))\n    return x",
    "among": "return x + y if len(x) in (1, len(y)) else x",
    "chain": "return x + y if len(x) == len(y) == len(z) else x",
    "at_most_one": "return x + y if len(x) <= 1 else x",
    "more_than_one": "if len(x) > 1:\n        return x\n    return x + y",
    "neither_less_nor_more": "if len(x) < len(y) or len(x) > len(y):\n        return x\n    return x + y",
    "either": "if x.shape[1] == w.shape[0] or w.size == 0:\n        return x @ w if w.size else x\n    return x",
    "tried": "try:\n        x + y\n    except ValueError:\n        return x\n    return x + y",
}
WRONG = {
    "not_empty": "if len(x) == 0:\n        return x\n    return x + y",
    "long_enough": "assert len(x) > 3\n    return x + y",
    "too_short": "if len(x) < 2:\n        raise ValueError\n    return x + y",
    "printed": "if len(x) == len(y):\n        print()\n    return x + y",
    "another": "assert x.shape[0] == y.shape[0]\n    return x @ w @ z",
    "another_flag": "same = x.shape[0] == z.shape[0]\n    return x @ w if same else x",
    "unequal": "return x if len(x) == len(y) else x + y",
    "shorter": "return x + y if len(x) < len(y) else x",
    "tried": "try:\n        x.sum()\n    except ValueError:\n        pass\n    return x + y",
    "mask": "return x[x.sum(axis=0) > 0]",
    "mask_written": "t = x.copy()\n    t[x.sum(axis=0) > 0] = 0\n    return t",
    "indices": "return x[np.arange(len(x)), np.arange(x.shape[1])]",
    "apart": "a, b, c = x.shape\n    return x",
    "apart_with_star": "a, b, c, *d = x.shape\n    return x",
}


def function(body: str) -> str:
    pairs = [one.split(": ") for one in ARRAYS]
    inputs = ", ".join(f'{name}: Annotated[np.ndarray, Symbolic[np.float64, "{sizes}"]]' for name, sizes in pairs)
    return f"def f({inputs}):\n    {body}\n"


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_compared_is_not_reported(name: str) -> None:
    assert messages(function(RIGHT[name])) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_compared_is(name: str) -> None:
    assert messages(function(WRONG[name]))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("t = x\n    for _ in range(3):\n        t = t[1:]\n    return x", "float64[?, d]"),
        ("for t in (x, x.T):\n        t = t[:]\n    return x", "float64[?, ?]"),
        ("t = x\n    for a in (2, 3):\n        t = np.ones((len(x), a))\n    return x", "float64[n, ?]"),
    ],
)
def test_in_a_loop_a_type_is_true_each_time(body: str, shown: str) -> None:
    text = HEAD + function(body)
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines, 1) if line.startswith("        t = "))
    assert [one.text for one in checked(text).hovers if one.line == at and one.column == 9] == [shown]


def test_an_array_of_another_shape_is_unknown() -> None:
    assert messages(function("t = x.copy()\n    t.shape = (-1,)\n    return t + np.ones(7)")) == []


def test_a_loop_over_sizes_of_which_nobody_can_tell() -> None:
    assert messages(function("for t in (x, y[::2], y):\n        t = t[::2]\n    return x")) == []
