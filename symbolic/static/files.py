"""Which files does a command mean that is given files and folders?

Folders are walked for `*.py`, in the order of their paths. Hidden ones, virtual environments and what is installed are
passed by; links to folders are not followed, so that no walk is endless.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

__all__ = ["Excluded", "PathError", "python_files", "shown"]

_PASSED = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages"})
_ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})
"""A folder in which one of these lies is an environment, whatever its name."""


class PathError(Exception):
    """A path that was asked for is not there; the sentence."""


class Excluded:
    """What `exclude` names, by patterns like those of `.gitignore`, relative to the folder of the configuration.

    >>> excluded = Excluded(["generated", "tests/typing", "*_pb2.py", "docs/**/old.py"], "/p")
    >>> [excluded("/p/" + path) for path in ["a/generated/b.py", "tests/typing/a.py", "a/x_pb2.py", "docs/a/b/old.py"]]
    [True, True, True, True]
    >>> [excluded("/p/" + path) for path in ["generated.py", "typing/a.py", "x_pb2/a.py", "/other/tests/typing/a.py"]]
    [False, False, False, False]
    """

    def __init__(self, patterns: Sequence[str] = (), folder: str = "") -> None:
        self._folder = folder
        self._whole = [_compiled(pattern) for pattern in patterns if "/" in pattern.rstrip("/")]
        self._names = [_compiled(pattern) for pattern in patterns if "/" not in pattern.rstrip("/")]

    def __call__(self, path: str) -> bool:
        if not self._whole and not self._names:
            return False
        inside = path[len(self._folder) :].strip(os.sep) if path.startswith(self._folder + os.sep) else ""
        parts = inside.split(os.sep) if inside else []
        heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        return any(one.fullmatch(head) for one in self._whole for head in heads) or any(
            one.fullmatch(part) for one in self._names for part in parts
        )


def _compiled(pattern: str) -> re.Pattern[str]:
    """`*` and `?` stay within one name, `**` does not, a class `[…]` is taken literally."""
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/").removeprefix("./"))
    return re.compile("".join([meaning.get(part) or re.escape(part) for part in parts]))


def python_files(paths: Sequence[str], excluded: Excluded) -> list[str]:
    """Absolute paths, each once; raises `PathError`. A file that is named is meant, whatever `exclude` says."""
    found: dict[str, None] = {}
    for path in paths:
        whole = os.path.abspath(path)
        if os.path.isdir(whole):
            found.update(dict.fromkeys(sorted(_below(whole, excluded))))
        elif os.path.isfile(whole):
            found[whole] = None
        else:
            what = "neither a file nor a folder" if os.path.lexists(whole) else "not there"
            raise PathError(f"{path} is {what}; name files and folders of Python code")
    return list(found)


def _below(folder: str, excluded: Excluded) -> Iterator[str]:
    """A file or a folder that cannot be looked at is given, too: reading it will say why."""
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            yield folder
            continue
        for entry in entries:
            if entry.name.startswith(".") or excluded(entry.path):
                continue
            if _is_folder(entry):
                waiting += [] if _is_passed(entry.path) else [entry.path]
            elif entry.name.endswith(".py") and _is_readable_kind(entry):
                yield entry.path


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_readable_kind(entry: os.DirEntry[str]) -> bool:
    """A file, or a link that leads nowhere, of which reading tells; never a pipe, at which reading would wait."""
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:  # links in a circle
        return True


def _is_passed(folder: str) -> bool:
    return os.path.basename(folder) in _PASSED or any(
        os.path.exists(os.path.join(folder, mark)) for mark in _ENVIRONMENT
    )


def shown(path: str, here: str) -> str:
    """A path as a reader wants it: from the working folder on, where it lies below.

    >>> shown("/home/ada/a.py", "/home/ada"), shown("/other/a.py", "/home/ada")
    ('a.py', '/other/a.py')
    """
    return path[len(here) :].lstrip(os.sep) if path.startswith(here.rstrip(os.sep) + os.sep) else path
