"""Do type checkers say what the programs of `tests/typing/` expect, all of it and nothing else?

`expectations.py` tells how they are written, `checkers.py` how each checker is run: once for all files, by whichever
process needs it first. Programs that are not wrong on purpose are run too, so that types and values agree.
"""

import ast
import fcntl
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from checkers import OLD_STUBS, Message, Report, check, command
from expectations import FOLDER, OTHERS, PLUGIN, Expectation, Program, programs

from symbolic import SymbolicError, ToLiteral, symbolic

PROGRAMS = [program for program in programs() if sys.version_info >= program.python]
EXPECTED = [one for program in PROGRAMS for one in program.expected]
LEAST = 150  # expectations of mypy with the plugin
LONGEST = 300  # characters of an error of our own

HELD: dict[str, Report] = {}


@pytest.fixture
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """All that the checker said, by one run for all the processes of this session."""
    checker = request.param
    if command(checker) is None:
        pytest.skip(f"{checker} is not installed")
    if checker not in HELD:
        shared = tmp_path_factory.getbasetemp()
        if hasattr(request.config, "workerinput"):  # under xdist each process has a folder of its own in this one
            shared = shared.parent
        HELD[checker] = once(checker, shared / f"typing-{checker}")
    report = HELD[checker]
    if report.trouble:
        pytest.fail(report.trouble, pytrace=False)
    return report


def once(checker: str, folder: Path) -> Report:
    """The kept answer, or a run while the others wait."""
    folder.mkdir(exist_ok=True)
    kept = folder / "answer.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            work = folder / "programs"
            work.mkdir()
            report = check(checker, [one.path for one in PROGRAMS if checker in one.checkers], work)
            kept.write_text(json.dumps(report), encoding="utf-8")
    messages, trouble = json.loads(kept.read_text(encoding="utf-8"))
    return Report([Message(*one) for one in messages], trouble)


def at(report: Report, file: str, line: int | None = None) -> list[Message]:
    return [one for one in report.messages if Path(one.file).name == file and line in (None, one.line)]


def met(expected: Expectation, message: Message) -> bool:
    return expected.met_by(message.kind, message.text, message.code, message.column)


def is_of_an_error(message: Message, said: Report) -> bool:
    """Whether it is a note of ours, which says where something was declared, at the place of an error of ours."""
    errors = [one for one in said.messages if one[:3] == message[:3] and one.code.startswith("symbolic")]
    return message.kind == "note" and " in line " in message.text and bool(errors)


def cases() -> list[ParameterSet]:
    """One test an expectation; a line with two of a kind numbers them."""
    seen: dict[str, int] = {}
    found = []
    for one in EXPECTED:
        seen[one.name] = seen.get(one.name, 0) + 1
        name = one.name if seen[one.name] == 1 else f"{one.name}-{seen[one.name]}"
        found.append(pytest.param(one.checker, one, id=name))
    return found


@pytest.mark.parametrize(("said", "expected"), cases(), indirect=["said"])
def test_is_said(said: Report, expected: Expectation) -> None:
    there = at(said, expected.file, expected.line)
    listed = "\n".join(map(str, there)) or "nothing is said there"
    code = f"  [{'|'.join(expected.codes)}]" if expected.codes else ""
    if OLD_STUBS and ("dtype[" in expected.text or expected.text == "floating"):
        pytest.skip("older types of NumPy's")
    if not any(met(expected, one) for one in there):
        pytest.fail(f"expected {expected.kind}: {expected.text}{code}\nfound:\n{listed}", pytrace=False)


@pytest.mark.skipif(OLD_STUBS, reason="older types of NumPy's")
@pytest.mark.parametrize(
    ("said", "program"),
    [pytest.param(name, one, id=f"{one.path.name}-{name}") for one in PROGRAMS for name in one.checkers],
    indirect=["said"],
)
def test_nothing_else_is_said(request: pytest.FixtureRequest, said: Report, program: Program) -> None:
    checker = request.node.callspec.params["said"]
    expected = [one for one in program.expected if one.checker == checker]
    unexpected = []
    for message in at(said, program.path.name):
        fitting = [one for one in expected if one.line == message.line and met(one, message)]
        if not fitting:
            if not is_of_an_error(message, said):
                unexpected.append(message)
        elif fitting[0].text or fitting[0].codes:  # an error in a checker's own words may be told in several
            expected.remove(fitting[0])
    if unexpected:
        pytest.fail("not expected:\n" + "\n".join(map(str, unexpected)), pytrace=False)


@pytest.mark.parametrize("said", [PLUGIN], indirect=True)
def test_its_own_errors_are_short(said: Report) -> None:
    """`Layer[float32[batch, 784] → float]`, never a page of NumPy's own types."""
    own = [one for one in said.messages if one.code.startswith("symbolic")]
    assert own
    long = [str(one) for one in own if len(one.text) > LONGEST or "dtype[" in one.text or "Tape[" in one.text]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("program", [one for one in PROGRAMS if one.runs], ids=lambda one: one.path.name)
def test_it_runs(program: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What the checkers accept is imported, and its `check_…` functions hold."""
    monkeypatch.setattr(ToLiteral, "registry", dict(ToLiteral.registry))
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    try:
        module = importlib.import_module(program.path.stem)
        for name, function in list(vars(module).items()):
            if name.startswith("check_"):
                function()
    finally:
        for name in {one.path.stem for one in PROGRAMS} & (set(sys.modules) - before):
            del sys.modules[name]
    capsys.readouterr()  # what reveal_type prints


def refusals() -> list[ParameterSet]:
    """The statements of unsupported.py that a checker refuses, with the sentence that it is to say."""
    program = next(one for one in PROGRAMS if one.path.name == "unsupported.py")
    tree = ast.parse(program.path.read_text(encoding="utf-8"))
    inside = [one for function in tree.body if isinstance(function, ast.FunctionDef) for one in ast.walk(function)]
    simple = {
        one.lineno: one for one in inside if isinstance(one, (ast.Expr, ast.Assign)) and "net" not in ast.dump(one)
    }
    wanted = [one for one in program.expected if one.codes == ("symbolic",) and one.line in simple]
    return [pytest.param(ast.unparse(simple[one.line]), one.text, id=one.name) for one in wanted]


@pytest.mark.parametrize(("statement", "sentence"), refusals())
def test_run_time_says_the_same(statement: str, sentence: str) -> None:
    names: dict[str, Any] = {"np": np}
    exec(f"def body(x):\n    {statement}\n    return x", names)
    with pytest.raises(SymbolicError) as caught:
        symbolic(names["body"], np.ndarray).predict(np.eye(3))
    assert sentence in f"{caught.value.seen}; {caught.value.remedy}"


def test_there_are_enough() -> None:
    assert len([one for one in EXPECTED if one.checker == PLUGIN]) >= LEAST
    assert {one.checker for one in EXPECTED} == {PLUGIN, *OTHERS}
