"""What was found in a file the last time, if nothing that matters has changed?

An entry holds the digest of the file, of every module that was read for it (a missing one, too) and of this library
with the NumPy that it asks. An entry that is torn, foreign or of another version is no entry. Writing never waits and
never fails a run.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from symbolic.static.findings import Located
from symbolic.static.sources import Sources
from symbolic.static.suppression import Ignore

__all__ = ["Cache", "Entry", "fingerprint"]

_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of `symbolic check`; it may be deleted.\n"
"""The first line is fixed by the convention for cache folders (bford.info/cachedir), which backups understand."""


class Entry(NamedTuple):
    """What is known of one file, before anything is switched off: comments and settings come later."""

    digest: str
    modules: dict[str, str]
    """Each module that was asked for, with the digest of its text; empty where none was found."""
    findings: list[Located]
    ignores: list[Ignore]

    def holds(self, path: str, sources: Sources) -> bool:
        """Whether the file and the modules are what they were; raises `UnreadableError` for the file."""
        if self.digest != sources.of(path).digest:
            return False
        return all(sources.digest(name, path) == digest for name, digest in self.modules.items())


class Cache:
    """A folder of entries, one a file; `mark` is the fingerprint of what computes them."""

    def __init__(self, folder: str | None, mark: str) -> None:
        self.folder = folder
        self._mark = mark

    def get(self, path: str, shown: str) -> Entry | None:
        if self.folder is None:
            return None
        try:
            with open(self._place(path), encoding="utf-8") as file:
                check, _, text = file.read().partition("\n")
            if check != self._sealed(text):
                return None
            digest, modules, findings, ignores = json.loads(text)
            return Entry(
                digest,
                modules,
                [
                    Located._make([shown, *one[:-1], tuple([(line, note) for line, note in one[-1]])])
                    for one in findings
                ],
                [Ignore._make([*one[:-2], tuple(one[-2]), one[-1]]) for one in ignores],
            )
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def put(self, path: str, entry: Entry) -> None:
        """Under another name first, so that a reader meets the old entry or the new one, never half of it."""
        if self.folder is None:
            return
        place = self._place(path)
        text = json.dumps([entry.digest, entry.modules, [one[1:] for one in entry.findings], entry.ignores])
        passing = f"{place}.{os.getpid()}"
        try:
            self._make()
            with open(passing, "w", encoding="utf-8") as file:
                file.write(f"{self._sealed(text)}\n{text}")
            os.replace(passing, place)
        except OSError:
            _remove(passing)

    def _place(self, path: str) -> str:
        name = blake2b(os.fsencode(path), digest_size=16).hexdigest()
        return os.path.join(self.folder or "", f"{name}.json")

    def _sealed(self, text: str) -> str:
        return blake2b((self._mark + text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _make(self) -> None:
        """The folder, with a note to Git and one to backups, once."""
        folder = self.folder or ""
        if os.path.isfile(os.path.join(folder, "CACHEDIR.TAG")):
            return
        os.makedirs(folder, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):  # it was never made
        os.remove(path)


def fingerprint() -> str:
    """Of the Python that runs, this library's own text, and the versions of NumPy and SciPy; none of them is loaded."""
    mark = blake2b(repr(sys.version_info).encode(), digest_size=16)
    for name in ("numpy", "scipy"):
        mark.update(_version(name))
    for path in _own_files():
        with open(path, "rb") as file:
            mark.update(path.encode("utf-8", "surrogateescape") + b"\0" + file.read())
    return mark.hexdigest()


def _version(package: str) -> bytes:
    """The file that says it; empty where the package is not installed."""
    from importlib.util import find_spec  # a top-level name is found without running anything

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return b""
    try:
        with open(os.path.join(spec.submodule_search_locations[0], "version.py"), "rb") as file:
            return file.read()
    except OSError:
        return (spec.origin or "").encode()


def _own_files() -> Sequence[str]:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return sorted(
        [os.path.join(folder, name) for folder, _, names in os.walk(here) for name in names if name.endswith(".py")]
    )
