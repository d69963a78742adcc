"""Does `symbolic check` say what is found, in every form, for any file and configuration, from its cache or not?"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic
from symbolic.command import main
from symbolic.static import cache, formats, pages, runs, sources, suppression
from symbolic.static.findings import Located

ROOT = Path(__file__).resolve().parent.parent
WRONG = """\
from typing import Annotated

import numpy as np
from symbolic import Symbolic, symbolic


@symbolic
def scores(
    x: Annotated[np.ndarray, Symbolic["batch", 784]], w: Annotated[np.ndarray, Symbolic[785, 10]]
) -> Annotated[np.ndarray, Symbolic["batch", 10]]:
    return x @ w
"""
RIGHT = WRONG.replace("785", "784")
LINTS = ["odd-one", "odd-other"]


class Ran(SimpleNamespace):
    """What one run of the command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Command = Callable[..., Ran]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        try:
            code = main(["check", *arguments])
        except SystemExit as left:  # argparse has complained
            code = int(left.code or 0)
        written = capsys.readouterr()
        return Ran(code=code, out=written.out, err=written.err)

    return run


def outside(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = [sys.executable, *arguments]
    return subprocess.run(run, cwd=cwd, env=environment, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def markers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In the interpreter's place: a line with BAD is an error, one with the name of a lint is that. Lists its calls."""
    calls: list[str] = []

    def check(source: str, path: str = "", *, read: Callable[[str], str | None] = lambda name: None) -> Any:
        calls.append(path)
        found = []
        for number, line in enumerate(source.split("\n"), 1):
            if line.startswith("import "):
                line += read(line.split()[1]) or ""
            for name, code, rule in [
                ("BAD", "symbolic-shape", "shape"),
                *((one, "symbolic-lint", one) for one in LINTS),
            ]:
                if name in line.partition("#")[0]:
                    place = (number, line.index(name) + 1, number, len(line) + 1)
                    found.append(Located(path, *place, code, rule, f"{name} was seen; mend it", ((1, "bound here"),)))
            if "RAISE" in line:
                raise RuntimeError("on purpose")
        return Checked(found, [])

    module: Any = ModuleType("symbolic.static.checking")
    module.check = check
    monkeypatch.setitem(sys.modules, "symbolic.static.checking", module)
    monkeypatch.setattr(pages, "lint_names", lambda: LINTS)
    return calls


class Checked(tuple[Any, ...]):
    """As the interpreter's own, as far as the command looks at it."""

    def __new__(cls, findings: list[Located], hovers: list[Any]) -> Checked:
        return super().__new__(cls, (sorted(findings), hovers))

    @property
    def findings(self) -> list[Located]:
        found: list[Located] = self[0]
        return found

    @property
    def hovers(self) -> list[Any]:
        found: list[Any] = self[1]
        return found

    def _replace(self, findings: list[Located], hovers: list[Any]) -> Checked:
        return Checked(findings, hovers)


def write(path: str, text: str | bytes) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())


# ---- what is written


def test_a_mistake_is_reported_as_mypy_reports_it(command: Command) -> None:
    write("net.py", WRONG)
    ran = command()
    assert ran.code == 1
    assert ran.lines[0].startswith("net.py:11:12: error: matmul of shapes (batch, 784) and (785, 10): axis -1 of the")
    assert ran.lines[0].endswith("  [symbolic-shape]")
    assert ran.lines[-1] == "Found 1 error in 1 file (checked 1 file)"
    assert ran.err == ""


def test_clean(command: Command) -> None:
    write("net.py", RIGHT)
    ran = command("net.py")
    assert (ran.code, ran.out, ran.err) == (0, "Success: nothing found (checked 1 file)\n", "")


def test_text(command: Command, markers: list[str]) -> None:
    write("b.py", "x = BAD\n")
    write("a/c.py", "\nodd-one BAD\n")
    write("a/d.py", "")
    ran = command()
    assert ran.lines == [
        "a/c.py:2:1: warning: odd-one was seen; mend it  [odd-one]",
        "a/c.py:1: note: bound here",
        "a/c.py:2:9: error: BAD was seen; mend it  [symbolic-shape]",
        "a/c.py:1: note: bound here",
        "b.py:1:5: error: BAD was seen; mend it  [symbolic-shape]",
        "b.py:1: note: bound here",
        "Found 2 errors and 1 warning in 2 files (checked 3 files)",
    ]
    assert command("--quiet").lines == ran.lines[:-1]
    assert command("b.py", "a/d.py", "b.py").lines == [*ran.lines[4:6], "Found 1 error in 1 file (checked 2 files)"]
    assert command(str(Path("a").resolve())).lines[:4] == ran.lines[:4]


def test_colours_are_for_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal: Any = SimpleNamespace(isatty=lambda: True)
    pipe: Any = SimpleNamespace(isatty=lambda: False)
    assert formats.has_colours(terminal)
    assert not formats.has_colours(pipe)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not formats.has_colours(terminal)
    finding = Located("a.py", 1, 2, 1, 3, "symbolic-shape", "shape", "it is so")
    assert "\033[1;31merror:\033[0m it is so" in formats.FORMATS["text"](formats.Report([finding], 1, "", True))
    assert "\033" not in formats.FORMATS["text"](formats.Report([finding], 1, ""))


def test_json(command: Command, markers: list[str]) -> None:
    write("a.py", "odd-one\n")
    ran = command("--output", "json")
    document = json.loads(ran.out)
    assert document["version"] == symbolic.__version__
    assert document["checked"] == 1
    assert document["findings"] == [
        {
            "path": "a.py",
            "line": 1,
            "column": 1,
            "end_line": 1,
            "end_column": 8,
            "code": "symbolic-lint",
            "rule": "odd-one",
            "severity": "warning",
            "message": "odd-one was seen; mend it",
            "notes": [{"line": 1, "message": "bound here"}],
        }
    ]


def test_sarif(command: Command, markers: list[str]) -> None:
    write("a b/ü.py", "BAD odd-one\n")
    run = json.loads(command("--output", "sarif").out)["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["odd-one", "symbolic-shape"]
    shape = run["results"][0]
    assert (shape["ruleId"], shape["ruleIndex"], shape["level"]) == ("symbolic-shape", 1, "error")
    place = shape["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/%C3%BC.py"
    assert place["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 12}
    assert shape["relatedLocations"][0]["message"]["text"] == "bound here"
    rule = run["tool"]["driver"]["rules"][1]
    assert rule["help"]["markdown"] == pages.explained("symbolic-shape")


def test_columns_count_characters(command: Command) -> None:
    write("net.py", WRONG.replace("return x @ w", 'return ("ü" and x) @ w'))
    assert command().lines[0].startswith("net.py:11:12: error:")
    write("net.py", WRONG.replace("    return x @ w", '    "é"; return x @ w'))
    assert command().lines[0].startswith("net.py:11:17: error:")


def test_strange_names_of_files_stay_on_one_line(command: Command, markers: list[str]) -> None:
    write("a\nb.py", "BAD")
    os.rename("a\nb.py", b"c\nd\xff.py")
    assert command().lines[0].startswith("c\\nd\\udcff.py:1:1: error:")
    for output in ("json", "sarif"):
        assert json.loads(command("--output", output).out)


# ---- what is asked


def test_usage_is_2(command: Command) -> None:
    for arguments in (["--nonsense"], ["--output", "xml"], ["absent.py"], ["--explain", "nothing"]):
        ran = command(*arguments)
        assert (ran.code, ran.out) == (2, ""), arguments
        assert "Traceback" not in ran.err
    assert command("absent.py").err == "symbolic: absent.py is not there; name files and folders of Python code\n"


def test_no_file_is_said(command: Command) -> None:
    ran = command()
    assert (ran.code, ran.out) == (0, "Success: nothing found (checked 0 files)\n")
    assert ran.err.startswith("symbolic: no Python file in .; see")


def test_explain(command: Command) -> None:
    assert {"symbolic", "symbolic-shape", "symbolic-dtype", "symbolic-lint", "unused-ignore"} <= set(pages.page_names())
    for name in pages.page_names():
        ran = command("--explain", name)
        assert ran.code == 0
        assert ran.out.startswith(f"# {name}\n"), name
    assert command("--explain", "symbolic-shap").err.endswith("did you mean symbolic-shape?\n")


PRELUDE = """\
from typing import Annotated

import numpy as np
from symbolic import Symbolic, symbolic


"""


@pytest.mark.parametrize("code", ["symbolic", "symbolic-shape", "symbolic-dtype"])
def test_the_examples_of_the_codes(command: Command, code: str) -> None:
    wrong, right = re.findall(r"```python\n(.*?)```", pages.explained(code), re.DOTALL)
    write("a.py", PRELUDE + wrong)
    ran = command("-q")
    assert [line.rpartition("  ")[2] for line in ran.lines if ": note: " not in line] == [f"[{code}]"], ran.out
    write("a.py", PRELUDE + right)
    assert command("-q").out == ""


def test_the_page_shows_what_is_said(command: Command) -> None:
    page = (ROOT / "docs" / "checking.md").read_text(encoding="utf-8")
    program, shown = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)[:2]
    write("net.py", program)
    for line, written in zip(command().lines, shown.splitlines(), strict=True):
        start, _, end = written.partition("…")
        assert line.startswith(start) and line.endswith(end)


def test_a_wheel_has_the_pages() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"] == {
        f"docs/{folder}": f"symbolic/docs/{folder}" for folder in ("codes", "lints")
    }


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"symbolic {symbolic.__version__}\n"


# ---- what is configured


def configure(*lines: str, path: str = "pyproject.toml") -> None:
    write(path, "\n".join(["[tool.symbolic.check]", *lines]))


def test_exclude(command: Command, markers: list[str]) -> None:
    configure('exclude = ["generated", "*_pb2.py", "tests/data/**"]')
    for path in ("a.py", "generated/b.py", "c_pb2.py", "tests/data/deep/d.py", "tests/e.py"):
        write(path, "BAD")
    assert [line.partition(":")[0] for line in command("-q").lines[::2]] == ["a.py", "tests/e.py"]
    assert command("-q", "c_pb2.py").code == 1  # a file that is named is meant
    os.chdir("tests")
    assert [line.partition(":")[0] for line in command("-q").lines[::2]] == ["e.py"]


def test_lints_have_switches(command: Command, markers: list[str]) -> None:
    write("a.py", "odd-one\nodd-other\nBAD\n")

    def names(*arguments: str) -> list[str]:
        return [line.rpartition("[")[2].rstrip("]") for line in command("-q", *arguments).lines if "note" not in line]

    assert names() == ["odd-one", "odd-other", "symbolic-shape"]
    assert names("--disable", "odd-one") == ["odd-other", "symbolic-shape"]
    configure('disable = ["odd-one"]')
    assert names() == ["odd-other", "symbolic-shape"]
    assert names("--enable", "odd-one") == ["odd-one", "odd-other", "symbolic-shape"]
    configure('disable = ["all"]', 'enable = ["odd-one"]')
    assert names() == ["odd-one", "symbolic-shape"]
    assert names("--disable", "odd-one") == ["symbolic-shape"]
    assert len(markers) == 1  # all the others were answered from the cache


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (['exlude = ["a"]'], "[tool.symbolic.check] has the unknown key 'exlude'; did you mean 'exclude'?"),
        (['qqq = "a"'], "has the unknown key 'qqq'; known are exclude, disable, enable"),
        (['exclude = "a"'], "`exclude` in [tool.symbolic.check] is 'a'; it is a list of strings"),
        (["exclude = [1]"], "`exclude` in [tool.symbolic.check] is [1]; it is a list of strings"),
        (['disable = ["odd-on"]'], "`disable` in [tool.symbolic.check] names the unknown lint 'odd-on'; did you mean"),
        (['disable = ["symbolic-shape"]'], "names 'symbolic-shape', which is certain and no lint; ignore it where it"),
        (['disable = ["odd-one"]', 'enable = ["odd-one"]'], "disables and enables odd-one; keep one of the two"),
        (["exclude = ["], "cannot be read: "),
    ],
)
def test_what_cannot_be_followed_is_said(command: Command, markers: list[str], lines: list[str], sentence: str) -> None:
    configure(*lines)
    ran = command()
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert "pyproject.toml" in ran.err


def test_which_file_configures(command: Command, markers: list[str]) -> None:
    configure('disable = ["odd-one"]')
    write("inner/pyproject.toml", "not = [toml, of ours")  # it does not speak of us, so it is not even parsed
    write("inner/a.py", "odd-one")
    os.chdir("inner")
    assert command().code == 0
    configure(path="../other.toml")
    assert command("--config", "../other.toml").code == 1
    assert command("--config", "absent.toml").code == 2
    assert "names the unknown lint 'x'" in command("--disable", "x").err


# ---- what is switched off by a comment


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("BAD  # symbolic: ignore", 0),
        ("BAD  #symbolic:ignore", 0),
        ("BAD  # why  # symbolic: ignore", 0),
        ("BAD  # symbolic: ignore[symbolic-shape]", 0),
        ("BAD  # symbolic: ignore[shape]", 0),
        ("BAD  # symbolic: ignore[odd-one, symbolic]", 0),
        ("BAD  # symbolic: ignore[odd-one]", 1),
        ("BAD  # symbolic: ignore[]", 1),
        ("BAD  # symbolic: ignored", 1),
        ("BAD  # type: ignore", 0),
        ("BAD  # type: ignore[symbolic-shape]", 0),
        ("BAD  # type: ignore[import-untyped]", 1),
        ("odd-one  # symbolic: ignore[odd-one]", 0),
        ("odd-one  # symbolic: ignore[odd-other]", 1),
        ("odd-one  # type: ignore[symbolic-lint]", 0),
        ("BAD + odd-one  # symbolic: ignore[odd-one]", 1),
        ("f(\n  BAD,\n)  # symbolic: ignore", 0),
        ("f(  # symbolic: ignore\n  BAD,\n)", 0),
        ("f(\n  BAD,  # symbolic: ignore\n)", 0),
        ("f(\n  BAD,\n  2,  # symbolic: ignore\n  3)", 1),
        ("# symbolic: ignore\nBAD", 1),
        ("BAD\n# symbolic: ignore", 1),
        ("BAD; '# symbolic: ignore'", 1),
        ("if x:\n  BAD  # symbolic: ignore\n  BAD", 1),
        ("if x:  # symbolic: ignore\n  BAD", 1),
        ("BAD  # symbolic: ignore\n)]'''", 0),
    ],
)
def test_comments(command: Command, markers: list[str], source: str, left: int) -> None:
    write("a.py", source)
    assert len(command("-q").lines) == 2 * left
    assert len(command("-q").lines) == 2 * left  # from the cache


def test_unused_comments(command: Command, markers: list[str]) -> None:
    write("a.py", "BAD  # symbolic: ignore[shape, odd-one]\nx  # symbolic: ignore\nx  # type: ignore\n")
    assert command().code == 0
    assert command("--warn-unused", "-q").lines == [
        "a.py:1:6: warning: `# symbolic: ignore[odd-one]` switches nothing off here; remove it  [unused-ignore]",
        "a.py:2:4: warning: `# symbolic: ignore` switches nothing off here; remove it  [unused-ignore]",
    ]
    write("a.py", "odd-one  # symbolic: ignore[odd-one]\n")
    assert command("--warn-unused", "--disable", "odd-one").code == 0  # another run may want it


@pytest.mark.parametrize(
    "source",
    [
        "y = x - m\n",
        "y = f(\n  x - m,\n)",
        "y = '''\n''' + x",
        "y = x \\\n  - m",
        "y = x - m  # note",
        "y = x # symbolic: ignore[a]",
    ],
)
def test_the_editor_writes_comments_that_work(source: str) -> None:
    line, column, text = suppression.ignoring(source, 1, "shape")
    lines = source.split("\n")
    lines[line - 1] = lines[line - 1][: column - 1] + text + lines[line - 1][column - 1 :]
    written = "\n".join(lines)
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(source))
    finding = Located("", 1, 5, 1, 6, "symbolic-shape", "shape", "")
    assert suppression.kept([finding], suppression.ignores(written)) == []


# ---- what is kept


def test_what_has_not_changed_is_not_checked_again(command: Command, markers: list[str]) -> None:
    write("a.py", "import b\nBAD\n")
    write("b.py", "")
    first = command()
    assert sorted(markers) == ["a.py", "b.py"]
    assert command().out == first.out
    assert len(markers) == 2
    write("a.py", "import b\nBAD BAD\n")
    command()
    assert markers[2:] == ["a.py"]
    write("b.py", "BAD")  # `a` reads it
    assert "a.py:1:" in command().out
    assert sorted(markers[3:]) == ["a.py", "b.py"]
    write("c.py", "import d\n")
    command()
    write("d.py", "BAD\n")  # it was missing
    assert "c.py:1:" in command().out
    os.remove("d.py")
    assert "c.py:1:" not in command().out


def test_where_modules_are_found(tmp_path: Path) -> None:
    os.chdir(tmp_path)
    for path in (
        "p/__init__.py",
        "p/q/__init__.py",
        "p/q/m.py",
        "p/n.py",
        "src/s.py",
        "numpy/__init__.py",
        "side.py",
        "p/random.py",
        "random.py",
    ):
        write(path, "")
    found = sources.Sources((str(tmp_path), str(tmp_path / "src")))

    def of(name: str) -> str:
        place = found.module(name, str(tmp_path / "p/q/m.py"))
        return os.path.relpath(place, tmp_path) if place else ""

    assert [of(name) for name in ("p", "p.n", "p.q.m", "s", "side", "p.random")] == [
        "p/__init__.py", "p/n.py", "p/q/m.py", "src/s.py", "side.py", "p/random.py",
    ]  # fmt: skip
    assert [of(name) for name in (".", ".m", "..n", "..", "numpy", "absent", "..absent", "random", "p.")] == [
        "p/q/__init__.py", "p/q/m.py", "p/n.py", "p/__init__.py", "", "", "", "", "p/__init__.py",
    ]  # fmt: skip


def entries(folder: str = ".symbolic_cache") -> list[Path]:
    return sorted(Path(folder).glob("*.json"))


def test_the_folder_of_the_cache(command: Command, markers: list[str]) -> None:
    write("a.py", "BAD")
    command("--no-cache")
    assert not Path(".symbolic_cache").exists()
    command("--cache-dir", "deep/kept")
    assert len(entries("deep/kept")) == 1
    assert Path("deep/kept/.gitignore").read_text() == "*\n"
    assert Path("deep/kept/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    write(".symbolic_cache", "a file in its place")
    assert command().code == 1
    assert command("--cache-dir", "/proc/none").code == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"BAD", b"GOOD")),
        lambda path: path.write_text("[" * 100_000),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_a_broken_entry_is_none(command: Command, markers: list[str], harm: Callable[[Path], Any]) -> None:
    write("a.py", "BAD")
    first = command()
    harm(entries()[0])
    assert command().out == first.out
    assert len(markers) == 2


def test_an_entry_of_another_version_is_none(
    command: Command, markers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.py", "BAD")
    command()
    monkeypatch.setattr(runs, "fingerprint", lambda: "another")
    command()
    assert len(markers) == 2
    monkeypatch.undo()
    before = cache.fingerprint()
    monkeypatch.setattr(cache, "version_of", lambda package: b"another")
    assert cache.fingerprint() != before


def test_many_at_once(tmp_path: Path) -> None:
    """Eight processes over one cache, of which some write while others read."""
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(WRONG)
    run = [sys.executable, "-m", "symbolic", "check"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    started = [
        subprocess.Popen(run, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    said = {process.communicate() for process in started}
    assert len(said) == 1
    out, err = said.pop()
    assert out.count("error: matmul") == 6
    assert err == ""
    assert not list((tmp_path / ".symbolic_cache").glob("*.json.*"))


LIGHT = """
import sys
from symbolic.command import main
code = main(["check"])
assert not {"numpy", "asyncio", "ast", "pygls", "multiprocessing", "shutil"} & set(sys.modules), sorted(sys.modules)
sys.exit(code)
"""


def test_a_run_from_the_cache_loads_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(WRONG)
    first = outside("-m", "symbolic", "check", cwd=tmp_path)
    assert first.returncode == 1, first.stderr
    again = outside("-c", LIGHT, cwd=tmp_path)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    times = []
    for _ in range(5):
        started = time.perf_counter()
        outside("-m", "symbolic", "check", cwd=tmp_path)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.5  # 0.06 on an idle machine; with NumPy it would be no less than 0.25 there


def test_processes_say_the_same(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        write(f"m{number}.py", WRONG if number % 2 else RIGHT)
    alone = command("--no-cache")
    assert alone.out.count("error: matmul") == 2
    monkeypatch.setattr(runs, "_PAYS", 1)
    monkeypatch.setattr(runs, "_cores", lambda: 2)
    assert command("--no-cache").out == alone.out
    assert command().out == alone.out
    assert len(entries()) == 4


# ---- whatever is in the files


def test_a_failure_of_ours_is_a_sentence(command: Command, markers: list[str]) -> None:
    write("a.py", "RAISE")
    write("b.py", "BAD")
    ran = command("-q")
    assert ran.code == 2
    assert len(ran.lines) == 2  # the other file is still checked
    assert ran.err.startswith("symbolic: checking a.py failed inside: RuntimeError: on purpose (test_command.py:")
    assert ran.err.endswith("); report it, and name the file in `exclude`\n")
    assert len(entries()) == 1  # and tried again


BYTES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", ""),
    "bom": (b"\xef\xbb\xbf" + WRONG.encode(), ":11:12: error: matmul"),
    "crlf": (WRONG.replace("\n", "\r\n").encode(), ":11:12: error: matmul"),
    "cr": (WRONG.replace("\n", "\r").encode(), ":11:12: error: matmul"),
    "latin-1": (b"# coding: latin-1\n# \xe9\n" + WRONG.encode(), ":13:12: error: matmul"),
    "not utf-8": (b"x = 1\ny = '\xe9'\n", ":2:1: error: the text is not utf-8 (byte 0xe9); save it"),
    "cut utf-8": (b"x = '\xe2\x82", ":1:1: error: the text is not utf-8"),
    "utf-16": ("x = 1\n".encode("utf-16"), ":1:1: error: the text is not utf-8"),
    "null": (b"x = 1\n\0\n", ":2:1: error: a null byte"),
    "unknown encoding": (b"# coding: klingon\n", ":1:1: error: the encoding of the file is not known"),
    "no text encoding": (b"# coding: rot13\nx\n", ":1:1: error: the encoding of the file is not known"),
    "bom against cookie": (b"\xef\xbb\xbf# coding: latin-1\n", ":1:1: error: the encoding of the file is not known"),
    "broken": (b"def f(:\n", ": error: "),
    "string": (b"x = '''", ": error: "),
    "indentation": (b"if x:\n        a\n    b\n\tc\n", ": error: "),
    "nested": (b"(" * 100_000, ": error: "),
    "signs": (b"x = " + b"-" * 50_000 + b"1\n", ":1:1: error: nested too deeply to be read"),
    "sums": (b"x = " + b"1 + " * 50_000 + b"1\n", ":1:1: error: nested too deeply to be read"),
    "attributes": (b"x" + b".a" * 20_000 + b"\n", ":1:1: error: nested too deeply to be read"),
    "elif": (b"if a: b\n" + b"elif a: b\n" * 3_000, ":1:1: error: nested too deeply to be read"),
    "blocks": (b"".join(b" " * i + b"if x:\n" for i in range(150)) + b" " * 150 + b"x\n", ""),
    "form feeds": (b"\x0c\x1c\nx = 1\x0c\n", ""),
    "long line": (b"x = [" + b"1, " * 300_000 + b"]\n", ""),
}


@pytest.mark.parametrize("name", list(BYTES))
def test_any_bytes(command: Command, name: str) -> None:
    content, said = BYTES[name]
    write("a.py", content)
    ran = command()
    assert ran.code in (0, 1), ran.err
    assert said in ran.out
    assert ran.err == ""
    assert command().out == ran.out


def test_a_huge_file_is_not_read(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 1_000)
    write("a.py", "x = 1\n" * 1_000)
    assert "a.py:1:1: error: the file has more than 1,000 bytes and is not checked; split it" in command().out


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "random.py"
    path.write_bytes(content)
    run = runs.Run(str(path.parent), (), None, "")
    (found,) = run.checked([str(path)])
    assert not found.failure
    for write_out in formats.FORMATS.values():
        assert write_out(formats.Report(found.entry.findings, 1, ""))


CODINGS = ["utf-7", "utf_16", "utf-32", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"]


@pytest.mark.parametrize(
    "coding", [*CODINGS, "hex", "base64", "zlib", "cp1252", "shift_jis", "hz", "utf-8-sig", "ascii"]
)
def test_every_encoding(command: Command, coding: str) -> None:
    for content in (b"x = 1\n", b"x = '+2AA- \\ud800 \xe9\xff'\n"):
        write("a.py", f"# coding: {coding}\n".encode() + content)
        ran = command()
        assert ran.code in (0, 1), ran.err
        assert ran.err == ""


def test_a_folder_of_oddities(command: Command, markers: list[str]) -> None:
    for path in (".hidden/a.py", "env/pyvenv.cfg", "env/a.py", "node_modules/a.py", "x.py/y.py", "pkg/.a.py", "b.txt"):
        write(path, "BAD")
    os.symlink(".", "pkg/round")
    os.symlink("loop.py", "loop.py")
    os.symlink("nowhere", "lost.py")
    os.symlink("x.py", "link.py")  # to a folder
    os.mkfifo("pipe.py")
    ran = command("-q")
    assert [line.split(": ")[0] for line in ran.lines if "note" not in line] == [
        "loop.py:1:1",
        "lost.py:1:1",
        "x.py/y.py:1:1",
    ]
    assert "the file cannot be read: Too many levels of symbolic links; change that" in ran.out
    assert "the file cannot be read: No such file or directory; change that" in ran.out
    assert command("x.py", "-q").code == 1
    assert command("env", "-q").code == 1  # it is what was asked for
    assert command("pipe.py").err.startswith("symbolic: pipe.py is neither a file nor a folder; ")
    assert command("loop.py").err.startswith("symbolic: loop.py is neither a file nor a folder; ")
    assert command("b.txt", "-q").code == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(command: Command) -> None:
    write("a.py", "x = 1")
    write("folder/b.py", "x = 1")
    os.chmod("a.py", 0)
    os.chmod("folder", 0)
    ran = command()
    os.chmod("folder", 0o700)
    assert ran.out.count("cannot be read: Permission denied") == 2


def test_the_reader_may_leave(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(WRONG)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-m", "symbolic", "check"]
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run(run, cwd=tmp_path, env=environment, stdout=written, stderr=subprocess.PIPE, check=False)
    os.close(written)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_poor_terminal(tmp_path: Path) -> None:
    (tmp_path / "ü.py").write_text("x = '", encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    run = [sys.executable, "-m", "symbolic", "check"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(b"\\xfc.py:1:")
