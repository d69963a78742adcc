"""What works and is hardly meant? The lints of `symbolic check`, told through mypy."""

from __future__ import annotations

import os
from typing import Any

from mypy.nodes import Context, MypyFile

from symbolic.mypy_plugin.reporting import report_lint
from symbolic.static.checking import check
from symbolic.static.findings import Located
from symbolic.static.settings import Settings, SettingsError, read_near
from symbolic.static.sources import UnreadableError, text_of
from symbolic.static.suppression import ignores


class Lints:
    """The lints of the modules of one build."""

    def __init__(self, modules: dict[str, MypyFile]) -> None:
        self.modules = modules
        self.told: dict[str, int] = {}  # which tree of a file

    def tell(self, api: Any) -> None:
        """Tell what stands in a module, once: mypy comes here at its first symbolic function."""
        if self.told.get(api.path) == id(api.tree):
            return
        self.told[api.path] = id(api.tree)
        for found in self._found(api.path):
            report_lint(api, f"{found.message}  ({found.rule})", Context(found.line, found.column - 1))

    def _found(self, path: str) -> list[Located]:
        text = _read(path)
        if text is None:
            return []
        found = [one for one in check(text, path, read=self._module).findings if one.code == "symbolic-lint"]
        return _settings().left(found, ignores(text), path) if found else []

    def _module(self, name: str) -> str | None:
        """The text of another module of the user's, where mypy has found it."""
        tree = self.modules.get(name)
        return None if tree is None or tree.is_stub else _read(tree.path)


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return text_of(file.read())
    except (OSError, UnreadableError):
        return None


def _settings() -> Settings:
    """The settings of the command; what is wrong with them the command says."""
    try:
        return read_near(os.getcwd())
    except SettingsError:
        return Settings()
