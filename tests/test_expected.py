"""Is a mistake that the program waits for no finding, and do mypy and `symbolic check` say the same of every other?

The programs are those of the guards, too: mypy's types know nothing of what a program has compared, or of a handler.
"""

from __future__ import annotations

import pytest
from checkers import STRICT, Report, mypy
from test_checking import HEAD, checked
from test_guards import RIGHT, WRONG

from symbolic.static.findings import Located, from_afar

ARRAYS = {"x": "n d", "y": "m d", "w": "m k", "a": "n 3", "b": "n 4", "k": "int64:n"}
FAILS = "np.broadcast_shapes(a.shape, b.shape)"
EXPECTED = {
    "guard": f"try:\n        {FAILS}\n    except ValueError:\n        return a\n    return a + b",
    "guard_of_names": "try:\n        np.broadcast_shapes(x.shape, y.shape)\n    except ValueError:\n        return x\n"
    "    return x + y",
    "operation": "try:\n        return a + b\n    except ValueError:\n        return a",
    "bare": "try:\n        return a @ b\n    except:\n        return a",
    "exception": "try:\n        return np.concatenate([a, b])\n    except Exception:\n        return a",
    "several": "try:\n        return a + b\n    except (KeyError, ValueError):\n        return a",
    "ours": "try:\n        return a + b\n    except ShapeError:\n        return a",
    "solved": "try:\n        return np.linalg.inv(a)\n    except np.linalg.LinAlgError:\n        return a",
    "axis": "try:\n        return a.sum(axis=2)\n    except np.exceptions.AxisError:\n        return a",
    "dtype": "k2 = k.copy()\n    try:\n        k2 /= 2\n    except TypeError:\n        return a\n    return k2",
    "ufunc": "k2 = k.copy()\n    try:\n        k2 /= 2\n    except np._core._exceptions.UFuncTypeError:\n"
    "        return a\n    return k2",
    "unknown": "from elsewhere import Mismatch\n    try:\n        return a + b\n    except Mismatch:\n        return a",
    "suppressed": "from contextlib import suppress\n    with suppress(ValueError):\n        return a + b\n    return a",
    "helper": f"def fits() -> bool:\n        try:\n            {FAILS}\n            return True\n"
    "        except ValueError:\n            return False\n    return a + b if fits() else a",
    "called": f"def need():\n        {FAILS}\n    try:\n        need()\n    except ValueError:\n        return a\n"
    "    return a + b",
    "within": "try:\n        if len(a) > 3:\n            return a + b\n    except ValueError:\n        pass\n"
    "    return a",
    "loop": "for one in (a, b):\n        try:\n            one + b\n        except ValueError:\n            continue\n"
    "        return one + b\n    return a",
}
MISTAKES = {
    "shapes": f"{FAILS}\n    return a",
    "shapes_of_names": "np.broadcast_shapes(x.shape, y.shape)\n    return x",
    "another_error": "try:\n        return a + b\n    except KeyError:\n        return a",
    "type_error": "try:\n        return a + b\n    except (TypeError, IndexError):\n        return a",
    "shape_error": "k2 = k.copy()\n    try:\n        k2 /= 2\n    except ValueError:\n        return a\n    return k2",
    "own_error": "class Own(ValueError): ...\n    try:\n        return a + b\n    except Own:\n        return a",
    "finally": "try:\n        return a + b\n    finally:\n        print()",
    "in_handler": "try:\n        x + y\n    except ValueError:\n        return a + b\n    return x",
    "behind": "try:\n        a.sum()\n    except ValueError:\n        pass\n    return a + b",
    "otherwise": "try:\n        a.sum()\n    except ValueError:\n        return a\n    else:\n        return a + b",
    "another": "from contextlib import suppress\n    with suppress(KeyError):\n        return a + b\n    return a",
    "perhaps": f"try:\n        len(a) > 3 and {FAILS}\n    except ValueError:\n        return a\n    return x @ w @ x",
    "product": "return x @ w",
    "turned": 'z: Annotated[np.ndarray, Symbolic["d n"]] = x\n    return z',
    "perhaps_none": 'z: Annotated[np.ndarray, Symbolic["d n"]] | None = x\n    return z',
    "default": "def g(v: Annotated[np.ndarray, Symbolic], u: Annotated[np.ndarray, Symbolic[3]] = np.zeros(4)):\n"
    "        return v\n    return x",
}


def program(body: str, arrays: dict[str, str]) -> str:
    hints = ", ".join(
        f"{one}: Annotated[np.ndarray, Symbolic[np.{'int64' if ':' in words else 'float64'}, "
        f'"{words.rpartition(":")[2]}"]]'
        for one, words in arrays.items()
    )
    return f"@symbolic\ndef f({hints}):\n    {body}\n"


GUARDED = {"x": "n d", "y": "m d", "w": "m k", "z": "p q"}
PROGRAMS = {
    **{f"expected_{name}": program(body, ARRAYS) for name, body in EXPECTED.items()},
    **{f"mistake_{name}": program(body, ARRAYS) for name, body in MISTAKES.items()},
    **{f"right_{name}": program(body, GUARDED) for name, body in RIGHT.items()},
    **{f"wrong_{name}": program(body, GUARDED) for name, body in WRONG.items()},
}
RECORD = """from dataclasses import dataclass
@dataclass
class Batch:
    x: Annotated[np.ndarray, Symbolic[np.float64, "b d"]]
    y: Annotated[np.ndarray, Symbolic[np.float64, "b"]]
@symbolic
def f(one: Annotated[Batch, Symbolic], w: Annotated[np.ndarray, Symbolic["d"]]):
    LINE
    return one.x @ w
"""
PROGRAMS["right_record"] = RECORD.replace("LINE", "Batch(np.ones((5, 3)), np.ones(5))")
PROGRAMS["wrong_record"] = RECORD.replace("LINE", "Batch(np.ones((5, 3)), np.ones(4))")
CODES = ("symbolic-shape", "symbolic-dtype")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What mypy says, of a module for each program."""
    folder = tmp_path_factory.mktemp("expected")
    for name, text in PROGRAMS.items():
        (folder / f"{name}.py").write_text(HEAD + text, encoding="utf-8")
    config = STRICT.replace("strict = True", "check_untyped_defs = True")
    return mypy([f"{name}.py" for name in PROGRAMS], folder, config)


def found(name: str) -> list[Located]:
    return [one for one in checked(HEAD + PROGRAMS[name], f"{name}.py").findings if one.code in CODES]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_waited_for_is_no_mistake(name: str) -> None:
    assert bool(found(name)) is name.startswith(("mistake_", "wrong_"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_mypy_says_the_same(told: Report, name: str) -> None:
    """The sentence with its cause, and below it where each name was declared, at the same place."""
    assert not told.trouble
    own = [one for one in told.messages if one.file == f"{name}.py" and one.code in CODES]
    assert [(one.line, one.text, one.code) for one in own] == [(one.line, one.message, one.code) for one in found(name)]
    notes = [one.text for one in told.messages if one.file == f"{name}.py" and " in line " in one.text]
    assert notes == [from_afar(line, note) for one in found(name) for line, note in one.notes]


def test_a_result_is_that_of_the_handler() -> None:
    """What is always wrong in a `try` is never gone on from: the result is the handler's alone."""
    text = HEAD + program("try:\n        z = a + b\n    except ValueError:\n        z = a\n    return z", ARRAYS)
    shown = {(one.line, one.column): one.text for one in checked(text).hovers}
    assert shown[text.count("\n"), 12] == "float64[n, 3]"
    perhaps = text.replace("a + b", "a + b if len(a) > 3 else b")
    shown = {(one.line, one.column): one.text for one in checked(perhaps).hovers}
    assert shown.get((text.count("\n"), 12)) != "float64[n, 3]"
