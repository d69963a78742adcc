"""Is a rewritten body the body that was written: its lines, names, cells, classes, and what a debugger sees?"""

# bodies are written as people write them
# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return, misc, return-value"

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import importlib.util
import inspect
import linecache
import math
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_plain_python import same

import symbolic as s
from symbolic import TraceError, reading, rewriting

pytestmark = pytest.mark.usefixtures("numpys_bits")
X = np.array([1.5, -2.0, 0.25])


def loaded(path: Path, text: str | bytes) -> types.ModuleType:
    """A module of a text."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def holds(function: Callable[[Any], Any], x: Any = X) -> None:
    for _ in range(2):
        value, gradient = s.value_and_grad(function)(x)
        assert same(value, function(x))
        assert np.all(np.isfinite(gradient)) and np.any(gradient != 0.0)


# --------------------------------------------------------------------------- functions of all kinds


def by_inner_functions(x):
    """What a ufunc has besides its call stays in reach, within a function in a function in a function."""

    def summed(y):
        halves = lambda z: np.multiply.outer(z, z) / np.arange(1.0, 4.0)  # noqa: E731 - this form is meant
        return np.add.reduce(halves(y), axis=None) * len(np.add.__name__)

    return summed(x)


def test_a_function_that_a_rewritten_one_defines_is_rewritten_once() -> None:
    holds(by_inner_functions)


first, second = lambda x: math.exp(x[0]), lambda x: math.exp(x[1])
twin, other_twin = (lambda x: math.exp(x[0])), (lambda x: math.exp(x[0]))
by_default = [(lambda x, k=k: math.exp(x[k])) for k in range(3)]
by_cell = [(lambda x: math.exp(x[k])) for k in range(3)]  # noqa: B023 - they share it

if X[0] > 0:
    try:
        for _ in range(1):

            def within_blocks(x):
                y = np.zeros(2)
                y[0] = float(x[0])
                return y[0] * 2.0
    finally:
        pass


class Outer:
    class Inner:
        k = 3.0

        def __init__(self, v):
            self.__v = v

        def __private(self):
            return math.exp(-abs(self.__v))

        def get(self):
            return self.__private() * 2 + self.__class__.k + __class__.k  # type: ignore[name-defined]  # Python's own cell

    def run(self, x):
        return Outer.Inner(x[0]).get()

    @staticmethod
    def static(x):
        return math.exp(x[0])

    @classmethod
    def of_class(cls, x):
        return cls.Inner(x[0]).get()


class Derived(Outer.Inner):
    def __init__(self, v):
        super().__init__(v)
        self.w = v

    def get(self):
        return super().get() + math.exp(self.w) + super().get()


def assigned_later(self, x):
    return math.exp(x[0]) * self.scale


Outer.later = assigned_later  # type: ignore[attr-defined]  # on purpose
outer: Any = Outer()
outer.scale = 2.0


@dataclasses.dataclass
class Record:
    v: float
    w: float = 2.0

    def __post_init__(self):
        self.w = math.exp(self.v)

    def run(self):
        return self.w * math.sin(self.v)


class Slots:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = math.exp(v)


class Kind(enum.Enum):
    A = 1
    B = 2

    def apply(self, v):
        return math.exp(v) if self is Kind.A else v


def cells_assigned_later():
    def f(x):
        return math.exp(x[0]) * late(x)

    def late(x):
        return math.sin(x[1]) * k

    k = 2.0
    return f


def recursion_through_a_cell():
    def f(x, n=3):
        return math.exp(x[0]) if n == 0 else f(x, n - 1) * x[1]

    return f


def deleted(x):
    y = np.zeros(3)
    del y
    try:
        y  # noqa: B018, F821 - it is gone
    except UnboundLocalError:
        return x[0] * 2
    return x[0]


def generator(x):
    def g() -> Iterator[Any]:
        y = np.zeros(3)
        for k in range(3):
            y[k] = x[k]
            sent = yield math.exp(x[k])
            if sent:
                y[k] += sent
        return np.sum(y)

    one: Any = g()
    total = next(one)
    try:
        while True:
            total += one.send(x[0])
    except StopIteration as stop:
        return total + stop.value


def groups(x):
    try:
        raise ExceptionGroup("both", [ValueError(1), TypeError(2)])
    except* ValueError:
        a = math.exp(x[0])
    except* TypeError:
        b = 2.0
    return a * b


def coroutine(x):
    async def f():
        return math.exp(x[0])

    return asyncio.run(f())


def unicode_names(π):
    """Ünï — the names are letters."""
    ñ = math.exp(π[0])
    变 = "é→𝄞"
    return ñ * len(变)


def shadowing(x):
    float = lambda v: v * 2  # noqa: E731 - a name is taken on purpose
    isinstance = lambda a, b: False  # noqa: E731 - as above
    return float(x[0]) + (1 if isinstance(x, np.ndarray) else 2)


def targets(x):
    y = z = np.zeros(4)
    y[0] = w = x[0]
    (y[1], b), c = (x[1], x[0]), x[2]
    for k, y[3] in enumerate(x):
        y[2] += y[3] * k
    table = {"y": np.zeros(3)}
    table["y"][0] = x[0]
    table["y"] += 1
    return np.sum(y * z) + w + b + c + np.sum(table["y"])


def cell_arrays(x):
    y = np.zeros(3)

    def put(k):
        nonlocal y
        y[k] = x[k]
        y = y * 2

    put(0)
    put(1)
    return np.sum(y)


def annotated(x: Unknown) -> Nothing:  # type: ignore[name-defined]  # noqa: F821 - never evaluated
    y: float = math.exp(x[0])
    z: Unknown  # type: ignore[name-defined]  # noqa: F821, F842 - as above
    return y


@functools.cache
def cached(v, n):
    return math.exp(v) if n < 2 else cached(v, n - 1) + cached(v, n - 2)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "first of a line": first,
    "second of a line": second,
    "one of two equal": twin,
    "the other of two equal": other_twin,
    **{f"default {k}": one for k, one in enumerate(by_default)},
    **{f"cell {k}": one for k, one in enumerate(by_cell)},
    "within blocks": within_blocks,
    "a method": Outer().run,
    "a static method": Outer.static,
    "a class method": Outer.of_class,
    "assigned later": outer.later,
    "a bound function": types.MethodType(assigned_later, outer),
    "super and mangled names": lambda x: Derived(x[0]).get(),
    "a dataclass": lambda x: Record(x[0]).run(),
    "slots": lambda x: Slots(x[0]).v,
    "an enum": lambda x: Kind.A.apply(x[0]) + Kind(2).apply(x[1]),
    "cells assigned later": cells_assigned_later(),
    "recursion through a cell": recursion_through_a_cell(),
    "deleted": deleted,
    "a generator": generator,
    "exception groups": groups,
    "a coroutine": coroutine,
    "unicode": unicode_names,
    "shadowing": shadowing,
    "targets": targets,
    "cell arrays": cell_arrays,
    "annotated": annotated,
    "cached": lambda x: cached(x[0], 6),
    "partial": functools.partial(lambda scale, x: math.exp(x[0]) * scale, 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_all_kinds(name: str) -> None:
    holds(FUNCTIONS[name])


TEXTS: dict[str, str | bytes] = {
    "tabs": "import math\ndef f(x):\n\tif x[0]>0:\n\t\ty=math.exp(x[0])\n\t\treturn y\\\n\t\t\t*2\n\treturn x[1]\n",
    "latin": "# -*- coding: latin-1 -*-\nimport math\ndef f(x):\n    é=math.exp(x[0])\n    return é\n".encode(
        "latin-1"
    ),
    "line ends": b"import math\r\ndef f(x):\r\n    y=math.exp(x[0])\r\n    return y\r\n",
    "semicolons": "import math; f=lambda x: math.exp(x[0]); g=lambda x: math.sin(x[0])\n",
    "defined twice": "import math\ndef f(x): return math.sin(x[0])\ndef f(x): return math.exp(x[0])\n",
    "in a branch": "import math\nif 1:\n    def f(x): return math.exp(x[0])\nelse:\n    def f(x): return x[0]\n",
    "annotations": "from __future__ import annotations\nimport math\ndef f(x: A) -> B: return math.exp(x[0])\n",
    "long": "import math\ndef f(x):\n    y = x[0]\n" + "    y = y + math.exp(x[1]) * 1e-3\n" * 200 + "    return y\n",
    "deep": "import math\ndef f(x):\n    return " + "math.fabs(" * 60 + "x[0]" + ")" * 60 + "\n",
    "too deep to be walked": "def f(x):\n    return x[0]" + " + x[1]" * 1500 + "\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_all_kinds(name: str, tmp_path: Path) -> None:
    holds(loaded(tmp_path / "written.py", TEXTS[name]).f)


def test_a_text_that_has_changed_is_not_run(tmp_path: Path) -> None:
    path, text = tmp_path / "edited.py", "import math\ndef f(x):\n    return {}math.exp(x[0])\n"
    module = loaded(path, text.format("2 * "))
    path.write_text(text.format("3 * "))
    linecache.checkcache()
    holds(module.f)  # the old code, over names that mean what its calls should mean
    path.write_text(text.format("float(x[1]) * "))
    linecache.checkcache()
    assert s.value_and_grad(module.f)(X)[0] == module.f(X)


def test_without_a_text_a_type_is_not_asked_what_it_means() -> None:
    with pytest.raises(TraceError, match=r"float\(\) was asked of the traced value.*np.exp, not math.exp"):
        s.grad(eval("lambda x: float(x[0])"))(X)
    holds(eval("lambda x: math.exp(x[0])", {"math": math}))
    holds(eval("lambda x: np.sum(x * x) if x[0] > 0 else np.sum(x)"))


# --------------------------------------------------------------------------- errors and debuggers


def fails_in_the_middle(x):
    y = [
        x[0],
        int("no number"),
        float(x[1]),
    ]
    return y[0]


def test_an_error_has_its_line_and_columns() -> None:
    def place(call: Callable[[Any], Any]) -> list[Any]:
        with pytest.raises(ValueError, match="invalid literal") as caught:
            call(X)
        assert caught.value.__cause__ is None
        frames = traceback.extract_tb(caught.value.__traceback__)
        return [(one.lineno, one.colno, one.end_colno) for one in frames if one.name == "fails_in_the_middle"]

    assert place(s.grad(fails_in_the_middle)) == place(fails_in_the_middle)


@pytest.mark.parametrize("name", ["x", "free"])
def test_a_name_without_a_value_is_told_as_python_tells_it(name: str) -> None:
    def local(x):
        if x[0] > 100:
            y = 1
        return y

    def free(x):
        return math.exp(x[0]) * never

    if X[0] > 100:
        never = 1
    function = local if name == "x" else free
    with pytest.raises(NameError) as plain:
        function(X)
    with pytest.raises(NameError) as traced:
        s.grad(function)(X)
    assert str(plain.value) == str(traced.value) and type(plain.value) is type(traced.value)


def stepped(x):
    y = np.zeros(3)
    y[0] = math.exp(x[0])
    y[1:] += x[1:]
    for k in range(2):
        if (y[k] > 100) is True:
            y[k] = 1.0
    match x[0]:
        case int():
            y[0] = 1
        case float():
            y[2] = 2.0
    assert x[0] in (1.5, 2.0)
    table = {v: k for k, v in enumerate("ab")}
    text = "%.1f" % y[0] + f"{y[1]!r}"  # noqa: UP031 - this form is meant
    return np.sum(y) + len(table) + len(text)


def test_a_debugger_sees_the_same_lines_and_names() -> None:
    def seen(call: Callable[[], Any]) -> tuple[list[int], list[str]]:
        lines: list[int] = []
        names: list[str] = []

        def look(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_name != "stepped":
                return None
            if event == "line":
                lines.append(frame.f_lineno)
            if event == "return":
                names.extend(name for name in frame.f_locals if not name.startswith("."))
            return look

        before = sys.gettrace()
        sys.settrace(look)
        try:
            call()
        finally:
            sys.settrace(before)
        return lines, names

    lines, names = seen(lambda: stepped(X))
    ours, our_names = seen(lambda: s.grad(stepped)(X))
    assert ours == lines * 2  # a first trace runs the body twice
    assert set(our_names) == {name for name in names if not name.startswith("@")}  # pytest's own
    assert inspect.getsourcelines(stepped)[1] + 1 == lines[0]


# --------------------------------------------------------------------------- in which lines a function stands

LAID_OUT = {
    "plain": "def f(x):\n    return np.sum(np.exp(x))\n",
    "brackets at the margin": "def f(\n    x,\n) -> float:\n    y = [\n    x,\n]\n    return np.sum(np.exp(y[0]))\n",
    "decorated": "@kept\n@kept\ndef f(x):\n    return np.sum(np.exp(x))\n",
    "decorated in some lines": "@named(\n    'f',\n)\n@kept\ndef f(x):\n    return np.sum(np.exp(x))\n",
    "within another": "def outer():\n    def f(x):\n\n        return np.sum(np.exp(x))\n    return f\n\nf = outer()\n",
    "in a class": "class A:\n    @staticmethod\n    def f(x):\n        return np.sum(np.exp(x))\n\n\nf = A.f\n",
    "a comment at the margin": "def f(x):\n    y = x * 2.0\n# not indented\n\n    return np.sum(np.exp(y))\n",
    "a condition": "if kept is None:\n    f = None\nelse:\n    def f(x):\n        return np.sum(np.exp(x))\n",
    "a text at the margin": 'def f(x):\n    """Text:\nat the margin.\n"""\n    return np.sum(np.exp(x))\n',
    "a statement in two lines": "f = named('f')(\nlambda x: np.sum(np.exp(x)))\n",
    "a backslash": "f = \\\nlambda x: np.sum(np.exp(x))\n",
    "tabs": "def f(x):\n\treturn np.sum(np.exp(x))\n",
    "two in a line": "f = lambda x: np.sum(np.exp(x)); g = lambda x: np.sum(np.exp(x) * 2.0)\n",
    "the last line": "def f(x): return np.sum(np.exp(x))",
}
SURE = {*LAID_OUT} - {"a condition", "a text at the margin", "a statement in two lines", "two in a line"}
"""Those that are found by how they are indented. The others are found in the whole text."""
BEFORE = "import numpy as np\nfrom os import (\n    path,\n)\n\nkept = lambda one: one\nnamed = lambda name: kept\n"
AFTER = "\n\n@kept\ndef last(x):\n    return np.sum(x)\n"


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_function_is_found_in_the_lines_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """And asked of its calls, which shows in `math`, however it is laid out; a usual one without reading the whole."""
    text = BEFORE + LAID_OUT[name].replace("np.exp(", "math.exp(1.0) * np.exp(") + "\n" + AFTER
    module = loaded(tmp_path / "laid.py", "import math\n" + text)
    whole: list[str] = []
    plain = reading._parsed

    def counted(text: str) -> Any:
        whole.append(text)
        return plain(text)

    monkeypatch.setattr(reading, "_parsed", counted)
    twin = rewriting.rewritten(module.f, rewriting.hooks(called=lambda function: function))
    assert twin is not module.f and twin(X) == module.f(X)
    assert bool(whole) == (name not in SURE)
    holds(module.f)
