"""Does the mypy plugin stand caches, the daemon, workers, changed mappings, broken code, and faults of its own?

Each test makes a small project and runs mypy there, as a user would. What is checked of NumPy and of the library is
kept once for all of them.
"""

import ast
import importlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checked_pairs import source
from checkers import OLD_STUBS, SHOWN, STRICT, Message, Report, command, mypy, mypy_command, read_mypy, run
from expectations import FOLDER

from symbolic.static.checking import check

Project = Callable[..., Path]

MODELS = """\
from collections.abc import Callable
from typing import Annotated
import numpy as np
from symbolic import Literal, Symbolic, ToLiteral, Weight, symbolic

Vector = Annotated[np.ndarray, Symbolic]
Loss = Annotated[Callable[[np.ndarray], float], Symbolic]

class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    pass

@symbolic
def total(x: Vector) -> float:
    return np.sum(np.exp(x))

@symbolic
def sized(x: Annotated[np.ndarray, Symbolic[np.float32, "batch 784"]]) -> Annotated[np.ndarray, Symbolic]:
    return np.tanh(x)

@symbolic
def dense(x: Vector, inputs: int, outputs: int) -> Vector:
    return x @ Weight(np.ones((inputs, outputs)))

class Net:
    loss: Loss = total

    @symbolic
    def score(self, x: Vector) -> float:
        return np.sum(x)
"""
USE = """
from typing import Annotated, reveal_type
import numpy as np
from models import Loss, Net, Vector, dense, sized, total
from symbolic import Symbolic, symbolic

@symbolic
def twice(x: Vector) -> Vector:
    reveal_type(x)
    reveal_type(dense(x, inputs=3, outputs=3))
    np.save("file", x)
    return x * 2.0

@symbolic
def short(n: Annotated[np.int16, Symbolic]) -> Annotated[np.int16, Symbolic]:
    reveal_type(n)
    return n

reveal_type(total)
reveal_type(sized)
reveal_type(dense(inputs=3, outputs=3))
reveal_type(Net().score)
reveal_type(Net.loss)
net: Loss = total
"""


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of all that programs import, for mypy with the plugin."""
    if command("mypy") is None:
        pytest.skip("mypy is not installed")
    folder = tmp_path_factory.mktemp("dependencies")
    (folder / "imports.py").write_text("import numpy, symbolic, typing_extensions\nfrom symbolic import *\n")
    report = mypy(["imports.py"], folder, STRICT)
    assert not report.trouble, report.trouble
    return folder / ".mypy_cache"


@pytest.fixture
def project(tmp_path: Path, dependencies: Path) -> Project:
    """Write files (by name, without `.py`) into a folder that has the cache of the dependencies."""

    def made(**files: str) -> Path:
        shutil.copytree(dependencies, tmp_path / ".mypy_cache")
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return tmp_path

    return made


def checked(folder: Path, *options: str, config: str = STRICT) -> list[Message]:
    names = sorted(path.name for path in folder.glob("*.py") if path.name != "faulty.py")
    report: Report = mypy(names, folder, config, *options)
    assert not report.trouble, report.trouble
    return sorted(report.messages)


def edit(path: Path, old: str, new: str) -> None:
    """Change a file, later than the second in which mypy may have seen it; nobody has to wait for that."""
    text, seen = path.read_text(encoding="utf-8"), path.stat().st_mtime
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, (seen + 2, seen + 2))


def texts(messages: list[Message], file: str = "use.py") -> list[str]:
    return [one.text for one in messages if one.file == file]


# --------------------------------------------------------------------------- caches


@pytest.mark.skipif(OLD_STUBS, reason="older types of NumPy's")
def test_cold_warm_and_edited_say_the_same(project: Project) -> None:
    folder = project(models=MODELS, use=USE)
    cold = checked(folder)
    assert [one.code for one in cold if one.kind == "error"] == ["symbolic"]
    assert len([one for one in cold if one.kind == "reveal"]) == 8
    assert checked(folder) == cold  # nothing to do: errors are kept too
    edit(folder / "use.py", "x * 2.0", "x * 3.0")
    assert checked(folder) == cold  # the types of models.py come out of the cache
    edit(folder / "models.py", "np.exp", "np.cos")
    assert checked(folder) == cold
    assert checked(folder, "--no-incremental") == cold
    for _ in range(2):  # all of it is checked, and kept; then nothing is to be done
        assert checked(folder, "--cache-fine-grained", "--cache-dir", "fine") == cold


@pytest.mark.parametrize("option", ["--follow-imports=silent", "--follow-imports=skip", "--no-site-packages"])
def test_imports_that_are_not_followed_are_no_fault(project: Project, option: str) -> None:
    own = [one for one in checked(project(models=MODELS, use=USE), option) if one.code.startswith("symbolic")]
    assert all("np.save" in one.text or "layer" in one.text.lower() for one in own)


def test_it_is_switched_on_in_pyproject_too(project: Project) -> None:
    folder = project(models=MODELS, use=USE)
    expected = checked(folder)
    (folder / "pyproject.toml").write_text('[tool.mypy]\nplugins = ["symbolic.mypy_plugin"]\nstrict = true\n')
    names = ["models.py", "use.py"]
    own = [mypy_command("mypy")[0], "--config-file", "pyproject.toml", *SHOWN]
    assert sorted(read_mypy(run([*own, *names], folder)).messages) == expected


def test_several_workers_say_the_same(project: Project) -> None:
    folder = project(models=MODELS, use=USE)
    if "--num-workers" not in run([*mypy_command("mypy")[:1], "--help"], folder).stdout:
        pytest.skip("this mypy has no workers")
    (folder / "more.py").write_text(USE.replace("twice", "thrice"), encoding="utf-8")
    assert checked(folder, "-n", "2", "--cache-dir", "workers") == checked(folder)


# --------------------------------------------------------------------------- a changed mapping

MAPPING = """
import numpy as np
from symbolic import ToLiteral

class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    pass
"""
NATIVES = "import mappings\nimport numpy as np\nShort = np.int16\n"
OF_MAPPING = """
from collections.abc import Callable
from typing import Annotated, reveal_type
import numpy as np
import {module}
from symbolic import Symbolic, symbolic

@symbolic
def short(n: Annotated[np.int16, Symbolic]) -> Annotated[np.int16, Symbolic]:
    reveal_type(n)
    return n

net: Annotated[Callable[[np.int16], np.int16], Symbolic] = short
reveal_type(net)
"""
CHANGES = [
    ("np.float32]", "np.float64]", "float64"),
    ("ToLiteral[np.int16, np.float32]", "ToLiteral[np.int8, np.float32]", "NoDelta"),
]


def revealed(delta: str) -> list[str]:
    return [f"Identity[int16, {delta}]", f"Layer[Tape[int16, {delta}], Tape[int16, {delta}]]"]


@pytest.mark.parametrize(("old", "new", "delta"), CHANGES, ids=["replaced", "removed"])
@pytest.mark.parametrize("module", ["mappings", "natives"])
def test_a_changed_mapping_is_seen(project: Project, module: str, old: str, new: str, delta: str) -> None:
    folder = project(mappings=MAPPING, natives=NATIVES, use=OF_MAPPING.format(module=module))
    assert texts(checked(folder)) == revealed("float32")
    edit(folder / "mappings.py", old, new)
    assert texts(checked(folder)) == revealed(delta)
    edit(folder / "mappings.py", new, old)
    assert texts(checked(folder)) == revealed("float32")


def test_a_type_that_gets_and_loses_its_mapping(project: Project) -> None:
    money = "class Money: ...\n"
    mapping = "from symbolic import ToLiteral\nclass MoneyToLiteral(ToLiteral[Money, float]): ...\n"
    use = """
from typing import Annotated
from money import Money
from symbolic import Symbolic, symbolic

@symbolic
def same(m: Annotated[Money, Symbolic]) -> Annotated[Money, Symbolic]:
    return m
"""
    folder = project(money=money, use=use)
    missing = checked(folder)
    assert missing and {one.code for one in missing} == {"symbolic"}
    assert all('No ToLiteral is registered for type "Money"' in one.text for one in missing)
    edit(folder / "money.py", money, money + mapping)
    assert checked(folder) == []
    edit(folder / "money.py", mapping, "")
    assert checked(folder) == missing


# --------------------------------------------------------------------------- the daemon


@pytest.fixture
def daemon(project: Project) -> Iterator[Callable[[], list[Message]]]:
    """`dmypy run` in the project's folder, stopped at the end."""
    folder = project()
    if command("dmypy") is None:
        pytest.skip("dmypy is not installed")
    front = [str(command("dmypy")), "--status-file", "daemon.json"]
    options = ["--config-file", "mypy.ini", *SHOWN]

    def asked() -> list[Message]:
        (folder / "mypy.ini").write_text(STRICT, encoding="utf-8")
        names = sorted(path.name for path in folder.glob("*.py"))
        report = read_mypy(run([*front, "run", "--timeout", "600", "--", *options, *names], folder))
        assert not report.trouble, report.trouble
        return sorted(report.messages)

    yield asked
    if (folder / "daemon.json").exists():
        try:
            run([*front, "stop"], folder)
        except subprocess.TimeoutExpired:
            run([*front, "kill"], folder)


def test_the_daemon_sees_changes(daemon: Callable[[], list[Message]], tmp_path: Path) -> None:
    (tmp_path / "mappings.py").write_text(MAPPING, encoding="utf-8")
    (tmp_path / "use.py").write_text(OF_MAPPING.format(module="mappings"), encoding="utf-8")
    assert texts(daemon()) == revealed("float32")
    assert texts(daemon()) == revealed("float32")
    edit(tmp_path / "mappings.py", "np.float32]", "np.float64]")
    assert texts(daemon()) == revealed("float64")
    edit(tmp_path / "use.py", "    return n", "    np.save('file', n)\n    return n")
    (error,) = [one for one in daemon() if one.kind == "error"]
    assert error.code == "symbolic" and error.line == 11
    edit(tmp_path / "use.py", "    np.save('file', n)\n", "")
    assert texts(daemon()) == revealed("float64")


# --------------------------------------------------------------------------- faults of its own

FAULTY = """
from pathlib import Path
import {module} as core

def broken(*args, **kwargs):
    Path("reached").touch()
    raise RuntimeError("made for this test")

for name in {names!r}:
    setattr(core, name, broken)

from symbolic.mypy_plugin import plugin
"""
PLACES = [("symbolic.static.evaluation", ("call", "method", "attribute")), ("symbolic.dims", ("parse",))]


@pytest.mark.skipif(OLD_STUBS, reason="older types of NumPy's")
@pytest.mark.parametrize(("module", "names"), PLACES, ids=[module for module, _ in PLACES])
def test_a_fault_is_one_error_and_no_crash(project: Project, module: str, names: tuple[str, ...]) -> None:
    """The plugin of this test is ours, over a core that fails: it says so once, and stays silent."""
    folder = project(models=MODELS)
    (folder / "faulty.py").write_text(FAULTY.format(module=module, names=names), encoding="utf-8")
    messages = checked(folder, config=STRICT.replace("symbolic.mypy_plugin", "./faulty.py"))
    assert (folder / "reached").exists(), "the plugin never came to the function that fails"
    (error,) = messages
    assert (error.kind, error.code) == ("error", "symbolic")
    assert "RuntimeError" in error.text or "made for this test" in error.text


# --------------------------------------------------------------------------- the user's code


def test_it_never_imports_what_it_checks(project: Project) -> None:
    """A mapping, a decorated function and their module are read, not run."""
    effect = "from pathlib import Path\nPath('imported').touch()\n"
    folder = project(mappings=effect + MAPPING, models=effect + MODELS, use=effect + USE)
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text(effect, encoding="utf-8")
    (folder / "package" / "inner.py").write_text(effect + MODELS, encoding="utf-8")
    (folder / "more.py").write_text("import mappings\nfrom package.inner import total\ntotal\n", encoding="utf-8")
    checked(folder)
    assert not (folder / "imported").exists()


BROKEN = {
    "a bracket": "def f(x: Annotated[np.ndarray, Symbolic]",
    "parameters": "@symbolic\ndef f(",
    "a list": "x = [",
    "nothing decorated": "@symbolic\n",
    "indentation": "\t  return\n \tx",
    "a null": "\0",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_broken_syntax_is_told_by_mypy(project: Project, text: str) -> None:
    folder = project(models=MODELS, broken=f"{MODELS}\n{text}\n", use="import broken\nbroken.total\n")
    names = ["broken.py", "models.py", "use.py"]
    report = mypy(names, folder, STRICT)
    assert "INTERNAL ERROR" not in report.trouble and "Traceback" not in report.trouble
    assert any(one.file == "broken.py" and one.code in ("syntax", "") for one in report.messages) or report.trouble


def misuses() -> dict[str, str]:
    """The programs of misuses.txt, by file name."""
    text = (FOLDER / "misuses.txt").read_text(encoding="utf-8")
    begin, *programs = [part.partition("\n")[2] for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    return {f"misuse_{k}": f"{begin}\n{program}" for k, program in enumerate(programs)}


def test_no_misuse_is_a_crash(project: Project) -> None:
    """One build for all of them; every one is a file of its own, so that an error in one hides nothing in another."""
    folder = project(**misuses())
    checked(folder)
    checked(folder)  # and what was kept of them can be read
    edit(folder / "misuse_0.py", "import asyncio", "import asyncio  # changed")
    checked(folder)


def test_modules_that_import_each_other(project: Project) -> None:
    folder = project(models=MODELS, use=USE)
    expected = texts(checked(folder))
    edit(folder / "models.py", "import numpy as np", "import use, numpy as np")
    assert texts(checked(folder)) == expected


# --------------------------------------------------------------------------- the core, through mypy


def test_it_says_all_that_the_command_says(project: Project) -> None:
    """In the same words; and no twin that is right is an error, though mypy sees unions where the core sees values."""
    text = source()
    found = {(one.line, one.message) for one in check(text, "pairs.py").findings if one.code != "symbolic-lint"}
    told = [one for one in checked(project(pairs=text)) if one.kind == "error" and one.code.startswith("symbolic")]
    assert found <= {(one.line, one.text) for one in told}
    right = [one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name.startswith("ok_")]
    lines = {line for one in right for line in range(one.lineno, (one.end_lineno or 0) + 1)}
    assert [one for one in told if one.line in lines] == []


# --------------------------------------------------------------------------- what mypy keeps


def test_results_are_kept_under_a_key_of_its_own() -> None:
    """mypy's own key is the plugin's entry file alone; ours must tell one version of the package from another."""
    plugin = pytest.importorskip("symbolic.mypy_plugin").plugin("2.0")
    options, context = importlib.import_module("mypy.options"), importlib.import_module("mypy.plugin")
    asked = context.ReportConfigContext("models", "models.py", is_check=False)
    kept = [json.dumps(plugin(options.Options()).report_config_data(asked)) for _ in range(2)]
    assert kept[0] == kept[1]
    assert len(kept[0]) > len("null")
