"""What does a file of the user's say, and where does a module lie that it imports? Whatever is in the file.

>>> text_of(b"x = 1\\r\\n")
'x = 1\\n'
>>> text_of("é".encode("latin-1"))
Traceback (most recent call last):
    ...
symbolic.static.sources.UnreadableError: the text is not utf-8 (byte 0xe9); save it as UTF-8 or ...
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Mapping
from hashlib import blake2b

__all__ = ["LARGEST", "Source", "Sources", "UnreadableError", "text_of"]

LARGEST = 8_000_000
"""Bytes of a file; one that is larger was written by a program, and Python's own parser takes a gigabyte for it."""

_OTHERS = frozenset({"numpy", "scipy", "symbolic", "jaxtyping", "math", "typing", "typing_extensions"})
"""What the interpreter knows by itself: a folder of that name beside the user's files is not read in its place."""


_HALF = re.compile("[\ud800-\udfff]")


class UnreadableError(Exception):
    """The text of a file cannot be had: the sentence, and the line where that shows."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class Source:
    """The bytes of one file, which are read once in a run; its text is decoded when someone asks."""

    digest: str

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.digest = blake2b(content, digest_size=16).hexdigest()

    def text(self) -> str:
        return text_of(self.content)


def text_of(content: bytes) -> str:
    """The text as Python would read it, with plain line ends; raises `UnreadableError`."""
    if len(content) > LARGEST:
        raise UnreadableError(
            f"the file has more than {LARGEST:,} bytes and is not checked; split it, or name it in `exclude`"
        )
    text = io.IncrementalNewlineDecoder(None, translate=True).decode(_decoded(content), final=True)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise UnreadableError("a null byte stands in the source, which Python does not run; remove it", line)
    if (half := _HALF.search(text)) is not None:
        line = text[: half.start()].count("\n") + 1
        raise UnreadableError("half a character (a surrogate) stands in the source; write it as an escape", line)
    return text


def _decoded(content: bytes) -> str:
    name = "utf-8"
    try:
        name = _encoding(content)
        return content.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = content[error.start] if error.start < len(content) else 0
        raise UnreadableError(
            f"the text is not {name} (byte 0x{byte:02x}); save it as UTF-8 or say its encoding in line 1", line
        ) from None
    except (LookupError, SyntaxError, ValueError) as error:
        raise UnreadableError(f"the encoding of the file is not known: {error}; save it as UTF-8") from None


def _encoding(content: bytes) -> str:
    """UTF-8 but for a file that says otherwise in its first two lines."""
    lines = content.split(b"\n", 2)[:2]
    if not any(b"coding" in line for line in lines):
        return "utf-8"
    from tokenize import detect_encoding  # loads the tokenizer: for the few files that say it

    name = detect_encoding(io.BytesIO(content).readline)[0]
    return "utf-8" if name == "utf-8-sig" else codecs.lookup(name).name


class Sources:
    """The files of one run and the modules between them."""

    def __init__(self, roots: tuple[str, ...], unsaved: Mapping[str, Source] | None = None) -> None:
        """`roots`: where modules are looked for; `unsaved`: what an editor holds in the place of a file."""
        self.roots = roots
        self._known: dict[str, Source] = dict(unsaved or {})
        self._homes: dict[str, str] = {}

    def of(self, path: str) -> Source:
        """The file; raises `UnreadableError`."""
        if (found := self._known.get(path)) is None:
            found = self._known[path] = _read(path)
        return found

    def module(self, name: str, importer: str) -> str | None:
        """The path of a module, as the file `importer` would find it; leading dots as in an import statement."""
        relative = name.lstrip(".")
        dots = len(name) - len(relative)
        if not dots and name.partition(".")[0] in _OTHERS:
            return None
        folder = os.path.dirname(importer)
        places = [_up(folder, dots - 1)] if dots else self._places(name.partition(".")[0], folder)
        for place in dict.fromkeys(places):
            stem = os.path.join(place, *relative.split(".")) if relative else place
            for path in (os.path.join(stem, "__init__.py"), stem + ".py"):
                if os.path.isfile(path):
                    return path
        return None

    def _places(self, package: str, folder: str) -> list[str]:
        """Python's own modules come first for a package's file; a script's folder comes before them."""
        home = self._home(folder)
        if package in sys.stdlib_module_names:
            return [home] if home == folder else []
        return [home, *self.roots]

    def digest(self, name: str, importer: str) -> str:
        """Which text a module has; empty where none is found."""
        path = self.module(name, importer)
        if path is None:
            return ""
        try:
            return self.of(path).digest
        except UnreadableError:
            return "unreadable"

    def _home(self, folder: str) -> str:
        """The first folder above that is no package: from there modules have their whole names."""
        if folder not in self._homes:
            home = folder
            while os.path.isfile(os.path.join(home, "__init__.py")) and os.path.dirname(home) != home:
                home = os.path.dirname(home)
            self._homes[folder] = home
        return self._homes[folder]


def _up(folder: str, times: int) -> str:
    for _ in range(times):
        folder = os.path.dirname(folder)
    return folder


def _read(path: str) -> Source:
    try:
        with open(path, "rb") as file:
            return Source(file.read(LARGEST + 1))
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise UnreadableError(f"the file cannot be read: {reason}; change that, or name it in `exclude`") from None
