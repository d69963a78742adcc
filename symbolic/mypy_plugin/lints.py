"""What works and is hardly meant? The lints of `symbolic check`, told through mypy."""

from __future__ import annotations

import os
from typing import Any

from mypy.nodes import Context

from symbolic.mypy_plugin.checked import checked, read
from symbolic.mypy_plugin.reporting import report_lint, report_located
from symbolic.static.findings import Located
from symbolic.static.settings import Settings, SettingsError, read_near
from symbolic.static.suppression import ignores


class Lints:
    """The lints of the modules of one build."""

    def __init__(self) -> None:
        self.told: dict[str, int] = {}  # which tree of a file

    def tell(self, api: Any) -> None:
        """Tell what stands in a module, once: mypy comes here at its first symbolic function."""
        if self.told.get(api.path) == id(api.tree):
            return
        self.told[api.path] = id(api.tree)
        for found in self._found(api):
            report_lint(api, f"{found.message}  ({found.rule})", Context(found.line, found.column - 1))
        for found in checked(api).findings:
            if found.code in ("symbolic-shape", "symbolic-dtype"):
                report_located(api, found, Context(found.line, found.column - 1))

    def _found(self, api: Any) -> list[Located]:
        found = [one for one in checked(api).findings if one.code == "symbolic-lint"]
        return _settings().left(found, ignores(read(api.path) or ""), api.path) if found else []


def _settings() -> Settings:
    """The settings of the command; what is wrong with them the command says."""
    try:
        return read_near(os.getcwd())
    except SettingsError:
        return Settings()
