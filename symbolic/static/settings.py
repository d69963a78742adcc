"""What does the configuration say to the command? `[tool.symbolic.check]` of the nearest `pyproject.toml` with one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from symbolic.static import pages
from symbolic.static.files import Excluded
from symbolic.static.findings import Located
from symbolic.static.suppression import Ignore, kept

__all__ = ["Settings", "SettingsError", "checked_names", "read", "read_near"]

_TABLE = "[tool.symbolic.check]"
_KEYS = ("exclude", "disable", "enable")


class SettingsError(Exception):
    """The configuration cannot be followed; the sentence."""


class Settings(NamedTuple):
    """What is configured; lints are on unless they are switched off, and `enable` is the last word."""

    folder: str = ""
    exclude: tuple[str, ...] = ()
    disable: frozenset[str] = frozenset()
    enable: frozenset[str] = frozenset()

    def excluded(self) -> Excluded:
        return Excluded(self.exclude, self.folder)

    def left(
        self, found: Sequence[Located], comments: Sequence[Ignore], path: str, warn: bool = False
    ) -> list[Located]:
        """What is reported of a file: what neither the settings nor a comment switch off.

        A comment for a lint that the settings switch off is in use: another run may want it.
        """
        return [one for one in kept(found, comments, path, warn) if self.wants(one)]

    def wants(self, finding: Located) -> bool:
        """Whether a finding is of interest: an error always is, a lint by its name."""
        if finding.code != "symbolic-lint" or finding.rule in self.enable:
            return True
        return self.disable.isdisjoint({finding.rule, "all"})

    def also(self, disable: Sequence[str], enable: Sequence[str]) -> Settings:
        """With the names of a command line, which come after those of the file."""
        off, on = checked_names(disable, "--disable"), checked_names(enable, "--enable")
        return self._replace(disable=(self.disable - on) | off, enable=(self.enable - off) | on)


def read_near(folder: str) -> Settings:
    """The settings for a working folder: those of the first file above that has some; raises `SettingsError`."""
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path) and (found := _table(path)) is not None:
            return _settings(found, path)
        if os.path.dirname(folder) == folder:
            return Settings()
        folder = os.path.dirname(folder)


def read(path: str) -> Settings:
    """The settings of a file that is named; raises `SettingsError`."""
    if not os.path.isfile(path):
        raise SettingsError(f"there is no configuration file {path}; name a TOML file with {_TABLE}")
    return _settings(_table(path) or {}, os.path.abspath(path))


def _table(path: str) -> Any:
    """What stands under our name, or None; a file that does not speak of us is not even parsed."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        if b"symbolic" not in content:
            return None
        import tomllib  # only where it is needed

        document = tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {error}; correct the file") from None
    tool = document.get("tool")
    ours = tool.get("symbolic") if isinstance(tool, dict) else None
    return ours.get("check") if isinstance(ours, dict) else None


def _settings(table: Any, path: str) -> Settings:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{path}: {_TABLE} is {table!r}; it is a table with {_listed(_KEYS)}")
    for key in table:
        if key not in _KEYS:
            raise SettingsError(f"{path}: {_TABLE} has the unknown key {key!r}; {_meant(key, _KEYS)}")
    values = {key: _strings(table.get(key, []), f"{path}: `{key}` in {_TABLE}") for key in _KEYS}
    names = {key: checked_names(values[key], f"{path}: `{key}` in {_TABLE}") for key in ("disable", "enable")}
    if both := names["disable"] & names["enable"]:
        raise SettingsError(f"{path}: {_TABLE} disables and enables {_listed(sorted(both))}; keep one of the two")
    return Settings(os.path.dirname(path), tuple(values["exclude"]), **names)


def _strings(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SettingsError(f"{where} is {value!r}; it is a list of strings")
    return value


def checked_names(names: Sequence[str], where: str) -> frozenset[str]:
    """The names of lints, or `all`; raises `SettingsError`."""
    known = [*pages.lint_names(), "all"]
    for name in names:
        if name in known:
            continue
        if name in pages.page_names():
            raise SettingsError(f"{where} names {name!r}, which is certain and no lint; ignore it where it is reported")
        raise SettingsError(f"{where} names the unknown lint {name!r}; {_meant(name, known)}")
    return frozenset(names)


def _meant(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {_listed(known)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
