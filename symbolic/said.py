"""What does a code name: which globals, which attributes, which modules? And can it read what it does not name?"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from symbolic.rewriting import codes_of

_CODES = 4096  # kept in memory, with what they say


class Said(NamedTuple):
    """What a code names, the codes within it included."""

    names: frozenset[str]
    chains: tuple[tuple[str, ...], ...]
    modules: frozenset[str]
    draws: bool


@functools.lru_cache(_CODES)
def said(code: types.CodeType) -> Said:
    """Read once for each code: taking instructions apart is most of what a trace would cost."""
    codes = list(codes_of(code))
    taken = [list(dis.get_instructions(each)) for each in codes]
    texts = {one for each in codes for one in _texts(each.co_consts) if one.isidentifier()}
    told = set[str]().union(*[each.co_names for each in codes])
    told -= {name for name in _BY_NAME & told if all(_tells(name, each) for each in taken)}
    return Said(
        frozenset(texts | told),
        tuple(sorted({chain for each in taken for chain in _global_chains(each)})),
        frozenset([str(one.argval) for each in taken for one in each if one.opname == "IMPORT_NAME"]),
        any(map(_draws, taken)),
    )


_BY_NAME = {"getattr", "hasattr"}


def _texts(constants: Iterable[Any]) -> Iterator[str]:
    """Texts among constants, and in tuples of them: by any of them an attribute may be read."""
    for one in constants:
        if isinstance(one, str):
            yield one
        elif isinstance(one, (tuple, frozenset)):
            yield from _texts(one)


def _tells(name: str, code: Sequence[dis.Instruction]) -> bool:
    """Whether each `getattr` is `getattr(a.b, "name")`, perhaps with a plain default: then it reads what it names."""
    code = [one for one in code if one.opname not in ("PRECALL", "CACHE", "PUSH_NULL", "EXTENDED_ARG", "NOP")]
    for k, one in enumerate(code):
        if (
            one.argval == name
            and one.opname != "LOAD_CONST"
            and not (one.opname == "LOAD_GLOBAL" and _names_one(code[k + 1 :]))
        ):
            return False
    return True


def _names_one(code: Sequence[dis.Instruction]) -> bool:
    """Whether the arguments of a call are a variable or an attribute of one, a text, and at most one thing more."""
    k = 1
    while k < len(code) and code[k].opname == "LOAD_ATTR":
        k += 1
    if len(code) < k + 3 or not _is_plain(code[0]) or code[k].opname != "LOAD_CONST":
        return False
    given = 3 if _is_plain(code[k + 1]) else 2
    call = code[k + given - 1]
    return isinstance(code[k].argval, str) and call.opname.startswith("CALL") and call.arg == given


def _is_plain(one: dis.Instruction) -> bool:
    """A single thing is loaded."""
    return one.opname.startswith("LOAD_") and one.opname.count("LOAD_") == 1 and one.opname not in _OF_TOP


_OF_TOP = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
"""These load from what is on the stack."""


def _draws(code: Sequence[dis.Instruction]) -> bool:
    """Whether a random generator is made without a seed."""
    named = False
    for one in code:
        if one.opname.startswith("LOAD_"):
            named = one.argval in ("default_rng", "RandomState", "Random", "SystemRandom")
        elif one.opname == "CALL" and named and one.arg == 0:
            return True
        elif one.opname not in ("PRECALL", "CACHE", "PUSH_NULL"):
            named = False
    return False


def _global_chains(code: Sequence[dis.Instruction]) -> Iterator[tuple[str, ...]]:
    """`a.b.c` for each global `a` that the code loads, with the attributes that follow at once."""
    chain: tuple[str, ...] = ()
    for one in code:
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if chain:
                yield chain
            chain = (one.argval,)
        elif chain and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = (*chain, one.argval)
        elif one.opname not in ("PRECALL", "CACHE", "PUSH_NULL", "NOP"):
            if chain:
                yield chain
            chain = ()
    if chain:
        yield chain
