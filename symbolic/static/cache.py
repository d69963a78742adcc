"""What was found in a file the last time, if nothing that matters has changed?

An entry holds the digest of the file, of every module that was read for it (a missing one, too) and of this library
with the NumPy that it asks. An entry that is torn, foreign or of another version is no entry.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from symbolic.keeping import blake2b, keep, kept, make_folder, version_of
from symbolic.static.findings import Located
from symbolic.static.sources import Sources
from symbolic.static.suppression import Ignore

__all__ = ["Cache", "Entry", "fingerprint"]


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
        data = None if self.folder is None else kept(self._place(path), self._mark)
        if data is None:
            return None
        try:
            digest, modules, findings, ignores = json.loads(data)
            return Entry(
                digest,
                modules,
                [
                    Located._make([shown, *one[:-1], tuple([(line, note) for line, note in one[-1]])])
                    for one in findings
                ],
                [Ignore._make([*one[:-2], tuple(one[-2]), one[-1]]) for one in ignores],
            )
        except (ValueError, TypeError, RecursionError):
            return None

    def put(self, path: str, entry: Entry) -> None:
        if self.folder is None:
            return
        text = json.dumps([entry.digest, entry.modules, [one[1:] for one in entry.findings], entry.ignores])
        with contextlib.suppress(OSError):  # a folder that cannot be made
            make_folder(self.folder)
            keep(self._place(path), self._mark, text.encode())

    def _place(self, path: str) -> str:
        name = blake2b(os.fsencode(path), digest_size=16).hexdigest()
        return os.path.join(self.folder or "", f"{name}.json")


def fingerprint() -> str:
    """Of the Python that runs, this library's own text, and the versions of NumPy and SciPy; none of them is loaded."""
    mark = blake2b(repr(sys.version_info).encode(), digest_size=16)
    for name in ("numpy", "scipy"):
        mark.update(version_of(name))
    for path in _own_files():
        with open(path, "rb") as file:
            mark.update(path.encode("utf-8", "surrogateescape") + b"\0" + file.read())
    return mark.hexdigest()


def _own_files() -> Sequence[str]:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return sorted(
        [os.path.join(folder, name) for folder, _, names in os.walk(here) for name in names if name.endswith(".py")]
    )
