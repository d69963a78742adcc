"""Where does compiled code lie for the next process? In a folder that only the user can write, or nowhere.

What is read from it is run, so nothing is taken that another could have put there, or that is not, to the last bit,
what was kept for the same text, processor and versions. A folder that cannot be had (read-only, full, a file in its
place) costs the time to compile again, and nothing else.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from symbolic.errors import warn
from symbolic.installation import LOADED
from symbolic.keeping import UNFINISHED, blake2b, keep, make_folder, opened, version_of

if TYPE_CHECKING:
    from symbolic.backends.native.host import Host
    from symbolic.plan import Program

__all__ = ["get", "is_known", "key_of", "know", "outline_of", "put"]

MOST_BYTES = 256 << 20
"""What the folder may hold; the code whose last use is longest ago goes first."""
_SWEEP_EVERY = 32
_HOUR, _DAY = 3600, 86400
_ENDING, _KNOWN = ".code", ".known"
_MOST_KNOWN = 4096
_puts = count()


def key_of(text: str, on: Host) -> str:
    """What compiled code depends on: the text, the processor, and everything that turns one into the other."""
    digest = blake2b(text.encode(), digest_size=24, key=_makers())
    digest.update(f"{sys.platform} {on.machine} {on.cpu} {on.features}".encode())
    return digest.hexdigest()


@cache
def _makers() -> bytes:
    """What makes the code: LLVM, NumPy and Python by their versions, ourselves by our files, which no bump forgets.

    A file is known by its number, its length, and when it was last changed, which nobody can set back; so nothing has
    to be read. Where one was changed since this process began, nobody knows which text of it runs here.
    """
    try:
        files = list(_files())
    except OSError:
        files = []
    if not any(name == "store.py" for name, *_ in files) or max(changed for *_, changed in files) > LOADED - _COARSE:
        return os.urandom(32)  # no text beside the code, as in a zip file: then nothing is ever found again
    versions = sys.version, np.__version__, version_of("llvmlite")
    return blake2b(marshal.dumps((files, versions), 0), digest_size=32).digest()


_PARTS = ("", "ops", "backends", os.path.join("backends", "native"))
"""The folders of the package in which stands how a program is made, and how code is made of it."""
_COARSE = 1_000_000_000
"""Nanoseconds by which the clock of a file system may be behind."""


def _files() -> Iterator[tuple[str, int, int, int, int, int]]:
    package, in_full = os.path.dirname(os.path.dirname(os.path.dirname(__file__))), os.stat  # on every system
    for part in _PARTS:
        folder = os.path.join(package, part, "")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py"):
                about = in_full(folder + name)
                changed = about.st_mtime_ns if sys.platform == "win32" else about.st_ctime_ns
                yield name, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, changed


def get(key: str) -> bytes | None:
    """What was put there under this key."""
    folder = _folder()
    if folder is None:
        return None
    path = os.path.join(folder, key + _ENDING)
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            if not _is_ours_alone(found) or found.st_size > MOST_BYTES:
                return None
            content = file.read()
        if time.time() - found.st_mtime > _DAY:
            os.utime(path)  # used today
    except OSError:
        return None
    return opened(content, key)


def put(key: str, data: bytes) -> None:
    """Keep it, if that can be."""
    folder = _folder()
    if folder is None or not keep(os.path.join(folder, key + _ENDING), key, data, 0o600):
        return
    if next(_puts) % _SWEEP_EVERY == 0:
        with contextlib.suppress(OSError):
            _sweep(folder)


def outline_of(program: Program, into: Sequence[int] = ()) -> bytes:
    """What two programs have in common of which one code is right for both, and few others: said in little time.

    It stands here, and not beside the words (`identity`), so that a program of which nothing is kept loads no more.
    """
    kinds = [type(one.node).__name__ for one in program.instructions]
    leaves = [str(spec) for spec in program.specs[: len(program.leaves)]]
    edges = [one.sources for one in program.instructions]
    return marshal.dumps((leaves, kinds, edges, program.outputs, program.split, tuple(into)), 0)


def know(outline: bytes) -> None:
    """Note that code is kept for a program of this outline, whatever else its key depends on."""
    folder = _folder()
    if folder is not None:
        with contextlib.suppress(OSError), open(_sign(folder, outline), "ab"):
            pass


def is_known(outline: bytes) -> bool:
    """Whether that was noted, so that looking for the code is worth its time; a note may outlive the code."""
    folder = _folder()
    return folder is not None and os.path.exists(_sign(folder, outline))


def _sign(folder: str, outline: bytes) -> str:
    return os.path.join(folder, blake2b(outline, digest_size=16).hexdigest() + _KNOWN)


def _sweep(folder: str) -> None:
    """What has long not been used goes until the rest is well within bounds, and what a kill left half-written."""
    found, signs = [], []
    with os.scandir(folder) as entries:
        for one in entries:
            with contextlib.suppress(OSError):  # another process was first
                about = one.stat(follow_symlinks=False)
                if one.name.endswith(UNFINISHED) and time.time() - about.st_mtime > _HOUR:
                    os.remove(one.path)
                elif one.name.endswith(_ENDING):
                    found.append((about.st_mtime, about.st_size, one.path))
                elif one.name.endswith(_KNOWN):
                    signs.append((about.st_mtime, one.path))
    for _, path in sorted(signs)[:-_MOST_KNOWN]:
        with contextlib.suppress(OSError):
            os.remove(path)
    total = sum(size for _, size, _ in found)
    goal = total if total <= MOST_BYTES else MOST_BYTES * 3 // 4
    for _, size, path in sorted(found):
        if total <= goal:
            break
        with contextlib.suppress(OSError):
            os.remove(path)
            total -= size


# ---------------------------------------------------------------------- which folder
def _folder() -> str | None:
    given = os.environ.get("SYMBOLIC_CACHE_DIR") or os.path.join(_users_cache(), "symbolic")
    return None if given.startswith("~") else _usable(given)  # a user without a home


def _users_cache() -> str:
    """Where the system wants caches to be."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    given = os.environ.get("XDG_CACHE_HOME", "")
    return given if os.path.isabs(given) else os.path.expanduser("~/.cache")  # the convention ignores a relative one


@cache
def _usable(given: str) -> str | None:
    """The folder within it where code lies, made if need be; None where there is none to be had.

    Warns:
        SymbolicWarning: others could write there, once.
    """
    folder = os.path.join(os.path.abspath(given), "native")
    for one in (os.path.dirname(folder), folder):
        try:
            with contextlib.suppress(OSError):  # read-only: what is there can be read all the same
                make_folder(one, 0o700)
            found = os.stat(one)
        except OSError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return None
        if not _is_ours_alone(found):
            warn(
                f"compiled code is not kept: others than you can write to {one}, and it would be run; "
                f"chmod 700 it, or set SYMBOLIC_CACHE_DIR to a folder of your own"
            )
            return None
    return folder


def _is_ours_alone(found: os.stat_result) -> bool:
    """Whether nobody else can have written it. Windows keeps the user's own folders by other means."""
    if sys.platform == "win32":
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
