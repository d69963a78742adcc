"""What does one run find in many files? Each is taken from the cache or checked, in processes where that pays."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symbolic.static.cache import Cache, Entry, fingerprint
from symbolic.static.columns import in_characters
from symbolic.static.files import shown
from symbolic.static.findings import Checked, Located
from symbolic.static.sources import Sources, UnreadableError
from symbolic.static.suppression import ignores

__all__ = ["Outcome", "Run", "examined", "inspected", "told"]

_PAYS = 20_000
"""Bytes of source that are worth a process, which loads NumPy and the rules: a third of a second."""


class Outcome(NamedTuple):
    """One file: what is known of it, or how checking it failed, which is our fault."""

    entry: Entry
    failure: str = ""


class Run(NamedTuple):
    """What the files of one run have in common; it is handed to every process."""

    here: str
    roots: tuple[str, ...]
    cache_folder: str | None
    mark: str

    @classmethod
    def starting(cls, here: str, paths: Sequence[str], cache_folder: str | None) -> Run:
        """For a working folder and what was named there."""
        folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
        roots = tuple(dict.fromkeys([here, os.path.join(here, "src"), *folders]))
        return cls(here, roots, cache_folder, "" if cache_folder is None else fingerprint())

    def checked(self, files: Sequence[str]) -> Iterator[Outcome]:
        """Every file, in order."""
        sources, cache = Sources(self.roots), Cache(self.cache_folder, self.mark)
        known = {path: found for path in files if (found := self._known(path, sources, cache)) is not None}
        missing = [path for path in files if path not in known]
        found = dict(zip(missing, self._found(missing, sources, cache), strict=True))
        return iter([Outcome(known[path]) if path in known else found[path] for path in files])

    def _known(self, path: str, sources: Sources, cache: Cache) -> Entry | None:
        entry = cache.get(path, shown(path, self.here))
        try:
            return entry if entry is not None and entry.holds(path, sources) else None
        except UnreadableError:
            return None

    def _found(self, files: Sequence[str], sources: Sources, cache: Cache) -> list[Outcome]:
        processes = min(_cores(), len(files), sum(map(_size, files)) // _PAYS)
        if not files:
            return []
        if processes < 2:
            _get_ready()
            return [inspected(path, shown(path, self.here), sources, cache) for path in files]
        return self._in_processes(files, processes)

    def _in_processes(self, files: Sequence[str], processes: int) -> list[Outcome]:
        """The large files first, each process taking the next; none has loaded NumPy before it is split off."""
        from concurrent.futures import ProcessPoolExecutor  # only where it is used
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        order = sorted(files, key=_size, reverse=True)
        found: dict[str, Outcome] = {}
        # a process that has loaded NumPy may have threads, which a fork does not take along
        way = "spawn" if "numpy" in sys.modules or sys.platform != "linux" else "fork"
        with ProcessPoolExecutor(processes, get_context(way), _get_ready) as pool:
            asked = {path: pool.submit(self.alone, path) for path in order}
            for path, future in asked.items():
                try:
                    found[path] = future.result()
                except BrokenProcessPool:  # the system ended one, for memory perhaps
                    found[path] = _failed(path, "the process that checked it was ended by the system")
        return [found[path] for path in files]

    def alone(self, path: str) -> Outcome:
        """One file, in a process of its own."""
        return inspected(path, shown(path, self.here), Sources(self.roots), Cache(self.cache_folder, self.mark))


def _get_ready() -> None:
    """Loads what checks files. It stays to the end, so no search for garbage goes through it, now or later."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        import symbolic.static.checking  # noqa: F401 - loads NumPy and every rule
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def inspected(path: str, name: str, sources: Sources, cache: Cache) -> Outcome:
    """One file, by its text; a file without one is itself the finding."""
    try:
        source = sources.of(path)
        text = source.text()
    except UnreadableError as error:
        return Outcome(
            Entry("", {}, [Located(name, error.line, 1, error.line, 1, "symbolic", "source", str(error))], [])
        )
    try:
        found, modules = examined(text, path, name, sources)
    except Exception as error:  # whatever it is, the other files are still checked
        return _failed(name, told(error))
    entry = Entry(source.digest, modules, found.findings, ignores(text))
    cache.put(path, entry)
    return Outcome(entry)


def examined(text: str, path: str, name: str, sources: Sources) -> tuple[Checked, dict[str, str]]:
    """What the interpreter says of a text, and the modules it asked for, with the digests of theirs."""
    from symbolic.static.checking import check  # loads NumPy and every rule: only for what the cache does not know

    modules: dict[str, str] = {}

    def read(module: str) -> str | None:
        modules[module] = sources.digest(module, path)
        place = sources.module(module, path)
        try:
            return None if place is None else sources.of(place).text()
        except UnreadableError:
            return None

    return in_characters(check(text, name, read=read), text), modules


def _failed(name: str, how: str) -> Outcome:
    return Outcome(
        Entry("", {}, [], []), f"checking {name} failed inside: {how}; report it, and name the file in `exclude`"
    )


def told(error: Exception) -> str:
    """The error and the line of ours that raised it: what a report needs."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace else ""
    return f"{type(error).__name__}: {error}{place}"
