"""What does each type checker say of a folder of programs? One run a checker, its answer in one form for all.

Revealed types are made short, so that they can be read: module names go (`numpy.float64` is `float64`), an array of
which nothing is known is `ndarray`, `floating[_32Bit]` is `float32`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 600  # seconds; a checker that hangs is stopped
OLD_STUBS = np.lib.NumpyVersion(np.__version__) < "2.4.0"
"""Whether what NumPy's own types say is not yet what is expected: `ndarray` alone was an error, `/` had no dtype."""


class Message(NamedTuple):
    """One thing that a checker said; `kind` is `reveal` or `error`, or `note` of mypy."""

    file: str
    line: int
    column: int
    kind: str
    text: str
    code: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.kind}: {self.text}" + (
            f"  [{self.code}]" if self.code else ""
        )


class Report(NamedTuple):
    """What one run said; `trouble` where the checker itself failed."""

    messages: list[Message]
    trouble: str = ""


# --------------------------------------------------------------------------- short types

_KINDS = {"floating": "float", "signedinteger": "int", "unsignedinteger": "uint"}
_ANY_SHAPE = r"(?:tuple\[(?:Any|int), \.\.\.\]|_AnyShape|_Shape|Any|Unknown)"  # as NumPy's versions spell it
_SHORTER: Sequence[tuple[str, str | Callable[[re.Match[str]], str]]] = (
    (r"(?<![\w'\"])(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", ""),
    (r"\b(floating|signedinteger|unsignedinteger)\[_(\d+)Bit(?: \| [^\]]*)?\]", lambda m: _KINDS[m[1]] + m[2]),
    (r"\bfloat64\[\]", "float64"),
    (r"\bdtype\[Any\]|\bdtype(?=[\]])", "dtype[Any]"),
    (
        r"\bndarray\[(?:tuple\[(?:Any|int), \.\.\.\]|_AnyShape|_Shape|Any|Unknown), (?:dtype\[Any\]|Any|Unknown)\]",
        "ndarray",
    ),
    (r"\btuple\[[^\[\]]*, fallback=(\w+)\]", r"\1"),
    (r"\bNDArray\[Any\]", "ndarray"),
    (r"\bUnion\[([^\[\]]+), None\]", r"\1 | None"),
)


def short_type(text: str) -> str:
    """A revealed type for reading."""
    for pattern, replacement in _SHORTER:
        text = re.sub(pattern, replacement, text)
    return text.replace('"', "'")


# --------------------------------------------------------------------------- the checkers


def tool(name: str) -> str | None:
    """The command of this environment; the folder of the interpreter comes before the search path."""
    return shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)


def command(checker: str) -> str | None:
    return tool("mypy" if checker == "mypy-without-plugin" else checker)


def run(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command that finds this copy of the library before an installed one."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(arguments, cwd=folder, env=surroundings, capture_output=True, encoding="utf-8", timeout=LIMIT)


def check(checker: str, files: Iterable[Path], folder: Path) -> Report:
    """Copy the files into an empty folder, as a user would have them, and check them there."""
    names = []
    for path in files:
        shutil.copy(path, folder)
        names.append(path.name)
    return CHECKERS[checker](names, folder)


_MYPY = re.compile(r"^(.+?):(\d+)(?::(\d+))?: (error|note): (.*?)(?:  \[([a-z-]+)\])?$")
STRICT = "[mypy]\nplugins = symbolic.mypy_plugin\nstrict = True\n"
KIND = "[mypy]\n"


def mypy(names: Sequence[str], folder: Path, config: str, *options: str) -> Report:
    """One run of mypy, with nothing but `config` set; how its messages look is for the command line."""
    (folder / "mypy.ini").write_text(config, encoding="utf-8")
    return read_mypy(run([*mypy_command("mypy"), *options, *names], folder))


SHOWN = ("--show-column-numbers", "--hide-error-context", "--no-pretty", "--no-color-output", "--show-traceback")


def mypy_command(name: str) -> list[str]:
    executable = tool(name)
    assert executable, f"{name} is not installed"
    return [executable, "--config-file", "mypy.ini", *SHOWN]


def read_mypy(done: subprocess.CompletedProcess[str]) -> Report:
    found = [match for row in done.stdout.splitlines() if (match := _MYPY.match(row))]
    messages = [_of_mypy(match) for match in found]
    if done.returncode > 1 or "INTERNAL ERROR" in done.stdout + done.stderr:
        return Report(messages, f"mypy: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return Report(messages)


def _of_mypy(match: re.Match[str]) -> Message:
    file, line, column, kind, text, code = match.groups()
    revealed = re.fullmatch(r'Revealed type is "(.*)"', text)
    if revealed:
        kind, text = "reveal", short_type(revealed[1])
    return Message(file, int(line), int(column or 0), kind, text, code or "")


def _with_plugin(names: Sequence[str], folder: Path) -> Report:
    return mypy(names, folder, STRICT)


def _without_plugin(names: Sequence[str], folder: Path) -> Report:
    report = mypy(names, folder, KIND)
    return report._replace(messages=[one for one in report.messages if one.kind != "note"])


def _pyright(checker: str, mode: str) -> Callable[[Sequence[str], Path], Report]:
    def checked(names: Sequence[str], folder: Path) -> Report:
        settings = {"include": list(names), "extraPaths": [str(ROOT)], "typeCheckingMode": mode}
        (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        executable = command(checker)
        assert executable
        done = run([executable, "--outputjson", "--pythonpath", sys.executable, "-p", "."], folder)
        try:
            said = json.loads(done.stdout[done.stdout.index("{") :])["generalDiagnostics"]
        except ValueError:
            return Report([], f"{checker} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return Report(list(filter(None, map(_of_pyright, said))))

    return checked


def _of_pyright(said: dict[str, Any]) -> Message | None:
    begin = said.get("range", {}).get("start", {"line": 0, "character": 0})
    place = (Path(said.get("file", "")).name, begin["line"] + 1, begin["character"] + 1)
    revealed = re.fullmatch(r'Type of ".*?" is "(.*)"', said["message"], re.DOTALL)
    if revealed and said["severity"] == "information":
        return Message(*place, "reveal", short_type(revealed[1]))
    if said["severity"] != "error":
        return None
    return Message(*place, "error", said["message"], said.get("rule", ""))


_TY = re.compile(r"^(.+?):(\d+):(\d+): (error|info|warning|fatal)\[([a-z-]+)\] (.*)$")


def _ty(names: Sequence[str], folder: Path) -> Report:
    executable = command("ty")
    assert executable
    found = ["--python", sys.prefix, "--extra-search-path", str(ROOT), "--output-format", "concise"]
    done = run([executable, "check", *found, *names], folder)
    if done.returncode > 1:
        return Report([], f"ty ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return Report(list(_of_ty(done.stdout)))


def _of_ty(text: str) -> Iterator[Message]:
    for match in filter(None, map(_TY.match, text.splitlines())):
        file, line, column, severity, code, said = match.groups()
        if code == "revealed-type":
            yield Message(file, int(line), int(column), "reveal", short_type(said.partition("`")[2].rstrip("`")))
        elif severity in ("error", "fatal"):
            yield Message(file, int(line), int(column), "error", said, code)


def _pyrefly(names: Sequence[str], folder: Path) -> Report:
    executable = command("pyrefly")
    assert executable
    (folder / "pyrefly.toml").write_text('preset = "default"\n', encoding="utf-8")  # without a file it checks less
    found = ["--python-interpreter-path", sys.executable, "--search-path", str(ROOT), "--search-path", "."]
    done = run([executable, "check", *found, "--output-format", "json", *names], folder)
    try:
        said = json.loads(done.stdout)["errors"]
    except ValueError:
        return Report([], f"pyrefly ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return Report(list(filter(None, map(_of_pyrefly, said))))


def _of_pyrefly(said: dict[str, Any]) -> Message | None:
    place = (Path(said["path"]).name, said["line"], said["column"])
    if said["name"] == "reveal-type":
        return Message(*place, "reveal", short_type(said["description"].removeprefix("revealed type: ")))
    if said["severity"] != "error":
        return None
    return Message(*place, "error", said["description"], said["name"])


CHECKERS: dict[str, Callable[[Sequence[str], Path], Report]] = {
    "mypy": _with_plugin,
    "mypy-without-plugin": _without_plugin,
    "pyright": _pyright("pyright", "strict"),
    "basedpyright": _pyright("basedpyright", "recommended"),
    "ty": _ty,
    "pyrefly": _pyrefly,
}
