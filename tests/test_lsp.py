"""Does `symbolic lsp` show an editor what is found, the shapes on hover, and a comment to ignore a finding?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
WRONG = """\
from typing import Annotated

import numpy as np
from symbolic import Symbolic, symbolic


@symbolic
def scores(
    x: Annotated[np.ndarray, Symbolic["batch", 784]], w: Annotated[np.ndarray, Symbolic[785, 10]]
) -> Annotated[np.ndarray, Symbolic["batch", 10]]:
    "𝄞é"; return x @ w
"""
LINE, START, END = 10, 18, 23
"""Of `x @ w` for an editor: lines from 0, and 𝄞 is two units of UTF-16."""


class Editor:
    """The other side: it sends what editors send, and keeps what comes."""

    def __init__(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        run = [sys.executable, "-m", "symbolic", "lsp"]
        self.process = subprocess.Popen(
            run, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.folder = folder
        self.numbers = count(1)
        self.notices: list[dict[str, Any]] = []
        answer = self.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities={})
        self.abilities = answer["capabilities"]
        self.tell("initialized")

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def send(self, **message: Any) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self.numbers)
        self.send(id=number, method=method, params=params)
        while (message := self.next()).get("id") != number:
            self.notices.append(message)
        assert "error" not in message, message
        return message["result"]

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        assert length, self.process.stderr.read().decode() if self.process.stderr else ""
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def notice(self, method: str) -> dict[str, Any]:
        """The next notice of a kind."""
        while True:
            for message in self.notices:
                if message.get("method") == method:
                    self.notices.remove(message)
                    params: dict[str, Any] = message["params"]
                    return params
            self.notices.append(self.next())

    def findings(self, name: str) -> list[dict[str, Any]]:
        while (found := self.notice("textDocument/publishDiagnostics"))["uri"] != self.uri(name):
            pass
        diagnostics: list[dict[str, Any]] = found["diagnostics"]
        return diagnostics

    def open(self, name: str, text: str) -> None:
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)

    def change(self, name: str, text: str, version: int = 2) -> None:
        document = {"uri": self.uri(name), "version": version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def end(self) -> int:
        self.ask("shutdown")
        self.tell("exit")
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return self.process.wait(20)


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    pytest.importorskip("pygls")
    started = Editor(tmp_path)
    yield started
    assert started.end() == 0


def test_findings_while_one_types(editor: Editor) -> None:
    editor.open("net.py", WRONG)
    (finding,) = editor.findings("net.py")
    assert finding["message"].startswith("matmul of shapes (batch, 784) and (785, 10): ")
    assert (finding["code"], finding["source"], finding["severity"]) == ("symbolic-shape", "symbolic", 1)
    assert finding["range"] == {
        "start": {"line": LINE, "character": START},
        "end": {"line": LINE, "character": END},
    }
    editor.change("net.py", WRONG.replace("785", "784"))
    assert editor.findings("net.py") == []
    editor.change("net.py", WRONG, version=3)
    assert len(editor.findings("net.py")) == 1
    editor.change("net.py", "def (", version=4)  # broken, as it is between two keys
    assert editor.findings("net.py")[0]["code"] == "symbolic"
    editor.tell("textDocument/didClose", textDocument={"uri": editor.uri("net.py")})
    assert editor.findings("net.py") == []


def test_shapes_on_hover(editor: Editor) -> None:
    editor.open("net.py", WRONG.replace("785", "784").replace("\n", "\r\n"))
    assert editor.findings("net.py") == []

    def at(character: int) -> Any:
        place = {"line": LINE, "character": character}
        return editor.ask("textDocument/hover", textDocument={"uri": editor.uri("net.py")}, position=place)

    assert "batch, 784" in at(START)["contents"]["value"].replace('"', "")
    product = at(START + 2)
    assert "batch, 10" in product["contents"]["value"].replace('"', "")
    assert product["range"]["start"]["character"] == START
    assert at(0) is None


def test_a_comment_ignores_a_finding(editor: Editor) -> None:
    editor.open("net.py", WRONG)
    document = {"uri": editor.uri("net.py")}
    (finding,) = editor.findings("net.py")
    (action,) = editor.ask(
        "textDocument/codeAction", textDocument=document, range=finding["range"], context={"diagnostics": [finding]}
    )
    assert (action["title"], action["kind"]) == ("Ignore symbolic-shape here", "quickfix")
    (edit,) = action["edit"]["changes"][document["uri"]]
    assert edit["range"]["start"] == edit["range"]["end"] == {"line": LINE, "character": END}
    assert edit["newText"] == "  # symbolic: ignore[symbolic-shape]"
    editor.change("net.py", WRONG.replace("x @ w", "x @ w" + edit["newText"]))
    assert editor.findings("net.py") == []


def test_the_configuration_counts(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text('[tool.symbolic.check]\nexclude = ["old"]\n')
    (editor.folder / "old").mkdir()
    editor.open("old/net.py", WRONG)
    assert editor.findings("old/net.py") == []
    (editor.folder / "pyproject.toml").write_text("[tool.symbolic.check]\nexlude = []\n")
    editor.open("net.py", WRONG)
    assert len(editor.findings("net.py")) == 1
    assert "unknown key 'exlude'; did you mean 'exclude'?" in editor.notice("window/showMessage")["message"]


WITHOUT = """
import sys
sys.modules["pygls"] = None
from symbolic.command import main
sys.exit(main(["lsp"]))
"""


def test_without_pygls(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "symbolic: pygls is not installed, which `symbolic lsp` needs; run pip install 'symbolic-layers[lsp]'\n"
    )
