"""What do the programs of `tests/typing/` expect a type checker to say, and on which line?

An expectation is a comment at the end of its line, or on lines of its own right below; several stand in a row:

    reveal_type(e)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    a + b  # E:1: layers of different symbolic functions  [symbolic]
    other: Annotated[Callable[[float], float], Symbolic] = total  # E: Layer  [symbolic|assignment]  # F:
    reveal_type(total)  # P: Layer[Tape[ndarray, ndarray], Tape[float, float]]  # P[ty]: Unknown

R   what mypy with the plugin reveals, in the short form that `checkers.short_type` makes
E   an error of mypy with the plugin: a part of the sentence, the column where given, and the code; `a|b` where it is
    left open who reports it (`symbolic` stands for its sub-codes there, such as `symbolic-dtype`)
P   what every other checker of the file's `# with:` line reveals; `P[ty pyrefly]` for these instead
F   an error of every other checker, in its own words; `F[ty]` for these alone, `F[-ty]` for all but these

`…` stands for any text. Whatever a checker says beyond that is a failure. At the top of a file may stand

    # with: pyright basedpyright ty pyrefly mypy-without-plugin    checked by these too
    # run: no                                                      wrong on purpose, so that it cannot be imported
    # python: 3.12                                                 syntax that older versions do not have
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "typing"
PLUGIN = "mypy"
OTHERS = ("pyright", "basedpyright", "ty", "pyrefly", "mypy-without-plugin")

_MARK = re.compile(r"#\s*([REPF])(?:\[([^\]]*)\])?(?::(\d+))?:(?=\s|$)")
_CODE = re.compile(r"\s*\[([a-z|-]+)\]$")


class Expectation(NamedTuple):
    """One thing that one checker has to say."""

    file: str
    line: int
    checker: str
    kind: str
    """`reveal` or `error`."""
    text: str
    codes: tuple[str, ...] = ()
    column: int | None = None

    @property
    def name(self) -> str:
        """The id of its test."""
        return f"{self.file}:{self.line}-{self.checker}"

    def met_by(self, kind: str, text: str, code: str, column: int) -> bool:
        if kind != self.kind or (self.column or column) != column or not self._has(code):
            return False
        pattern = re.escape(self.text).replace("…", ".*")
        return bool((re.fullmatch if kind == "reveal" else re.search)(pattern, text, re.DOTALL))

    def _has(self, code: str) -> bool:
        if len(self.codes) > 1 and "symbolic" in self.codes and code.startswith("symbolic-"):
            return True
        return not self.codes or code in self.codes


class Program(NamedTuple):
    """One file: the checkers that look at it, what they have to say, and whether it can be run."""

    path: Path
    checkers: tuple[str, ...]
    expected: tuple[Expectation, ...]
    runs: bool
    python: tuple[int, ...]


def programs() -> list[Program]:
    return [read(path) for path in sorted(FOLDER.glob("*.py"))]


def read(path: Path) -> Program:
    text = path.read_text(encoding="utf-8")
    checkers = (PLUGIN, *_header(text, "with").split())
    unknown = set(checkers).difference(OTHERS, [PLUGIN])
    assert not unknown, f"{path.name} is to be checked with {unknown}, of which this test knows nothing"
    version = tuple(map(int, filter(None, _header(text, "python").split("."))))
    return Program(path, checkers, tuple(_expected(path.name, text, checkers)), _header(text, "run") != "no", version)


def _header(text: str, name: str) -> str:
    found = re.search(rf"^# {name}: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _expected(file: str, text: str, checkers: tuple[str, ...]) -> Iterator[Expectation]:
    line, below = 0, list[str]()
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip().startswith("#"):
            yield from _of_line(file, line, "".join(below), checkers)
            line, below = number, [row]
        elif _MARK.match(row.strip()):
            below.append(row.strip())
    yield from _of_line(file, line, "".join(below), checkers)


def _of_line(file: str, line: int, row: str, checkers: tuple[str, ...]) -> Iterator[Expectation]:
    marks = list(_MARK.finditer(row))
    stops = [*[mark.start() for mark in marks], len(row)][1:]
    own = {("P", name) for mark in marks if mark[1] == "P" and mark[2] for name in mark[2].split()}
    for mark, stop in zip(marks, stops, strict=True):
        said = row[mark.end() : stop].strip()
        column = int(mark[3]) if mark[3] else None
        if mark[1] == "R":
            yield Expectation(file, line, PLUGIN, "reveal", said, column=column)
        elif mark[1] == "E":
            code = _CODE.search(said)
            assert code, f"{file}:{line}: an expected error ends with its code, such as [symbolic]"
            yield Expectation(file, line, PLUGIN, "error", said[: code.start()], tuple(code[1].split("|")), column)
        else:
            kind = "reveal" if mark[1] == "P" else "error"
            for name in _meant(mark[2], checkers):
                if mark[2] or (mark[1], name) not in own:
                    yield Expectation(file, line, name, kind, said)


def _meant(listed: str | None, checkers: tuple[str, ...]) -> list[str]:
    """The other checkers that a mark is for."""
    all_others = [name for name in checkers if name != PLUGIN]
    if not listed:
        return all_others
    names = listed.lstrip("-").split()
    return [name for name in all_others if (name in names) != listed.startswith("-")]
