"""How is something kept in a folder for the next run, so that nothing torn, foreign or half-written is ever read?

Both caches stand on this: what `symbolic check` found, and what LLVM compiled. Keeping never waits and never fails a
run: where it does not work, the work is done again.
"""

from __future__ import annotations

import contextlib
import os
from functools import partial

from symbolic.installation import spec_of

try:
    from _blake2 import blake2b  # what hashlib gives out, without the time to load OpenSSL
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b", "keep", "kept", "make_folder", "version_of"]

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# A cache of `symbolic`; it may be deleted.\n"
"""The first line is fixed by the convention for cache folders (bford.info/cachedir), which backups understand."""
UNFINISHED = ".unfinished"
"""How the name of a file ends while it is written."""


def keep(path: str, mark: str, data: bytes, mode: int = 0o666) -> bool:
    """Write `data` under a name of its own first, so that a reader meets the old file or the new one, never half of it;
    `mark` is what the data depend on. Gives whether that worked.
    """
    passing = f"{path}.{os.urandom(8).hex()}{UNFINISHED}"
    try:
        with open(passing, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(_seal(mark, data) + data)
        os.replace(passing, path)
    except OSError:
        with contextlib.suppress(OSError):  # it was never made
            os.remove(passing)
        return False
    return True


def kept(path: str, mark: str) -> bytes | None:
    """What `keep` wrote with the same mark, to the last bit; None if that is not what is there."""
    try:
        with open(path, "rb") as file:
            return opened(file.read(), mark)
    except OSError:
        return None


def opened(content: bytes, mark: str) -> bytes | None:
    """The same, of the content of a file."""
    seal, data = content[:_LENGTH], content[_LENGTH:]
    return data if seal == _seal(mark, data) else None


_LENGTH = 65


def _seal(mark: str, data: bytes) -> bytes:
    """A line for the first of the file; the mark is taken to one length, so that none runs on into the data."""
    inner = blake2b(mark.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    return blake2b(inner + data, digest_size=32).hexdigest().encode() + b"\n"


def make_folder(folder: str, mode: int = 0o777) -> None:
    """The folder, with a note to Git and one to backups, once. OSError where that cannot be."""
    if os.path.isfile(os.path.join(folder, "CACHEDIR.TAG")):
        return
    os.makedirs(folder, mode, exist_ok=True)
    for name, text in ((".gitignore", b"*\n"), ("CACHEDIR.TAG", _TAG)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(text)


def version_of(package: str) -> bytes:
    """The file in which a package says its version, and nothing of it is run; empty where it is not installed."""
    spec = spec_of(package)
    if spec is None or not spec.submodule_search_locations:
        return b""
    for name in ("version.py", "_version.py"):
        with contextlib.suppress(OSError), open(os.path.join(spec.submodule_search_locations[0], name), "rb") as file:
            return file.read()
    return (spec.origin or "").encode()
