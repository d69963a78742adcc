"""How does object code become an image: bytes that are copied into memory and run, without LLVM?

LLVM takes a tenth of a second to load, and what was compiled before has only to be put somewhere. Of ELF for x86-64 no
more is understood than that needs: sections, symbols, and the few relocations of code in the small model. Anything else
is no image, and LLVM's own loader takes the object as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from symbolic.backends.native.engine import Image

__all__ = ["Image", "image_of"]

_WRITE, _ALLOC, _CODE = 1, 2, 4  # flags of sections
_SYMBOLS, _RELOCATIONS, _ZEROS, _UNWIND = 2, 4, 8, 0x70000001  # types of sections
_ADDRESS, _NEAR, _CALL = 1, 2, 4  # R_X86_64_64, _PC32, _PLT32
_PAGE = 4096
_UNDEFINED = 0  # the section of a symbol of elsewhere
_STUB = b"\xff\x25\x02\x00\x00\x00\xcc\xcc"
"""`jmp *[rip + 2]`: on to the address that stands behind it, which is written when the image is loaded."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    start: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


class _UnknownError(Exception):
    """Something that is not understood here."""


def image_of(data: bytes) -> Image | None:
    """The image of an object file; None where it holds what is not understood here."""
    try:
        return _Linking(data).image()
    except (_UnknownError, LookupError, ValueError, OverflowError, struct.error):  # cut short, or garbled
        return None


class _Linking:
    def __init__(self, data: bytes) -> None:
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
            raise _UnknownError("another format, or another processor")
        (place,) = struct.unpack_from("<Q", data, 40)
        _, count, _ = struct.unpack_from("<HHH", data, 58)
        self.sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", data, place + 64 * k)) for k in range(count)]
        self.code = bytearray()
        self.stubs: dict[str, int] = {}
        self.own: list[tuple[int, int]] = []

    def image(self) -> Image:
        self.places = self._placed()
        self.symbols, self.names = self._symbols()
        for section in self.sections:
            if section.kind == _RELOCATIONS and section.info in self.places:
                self._relocate(section, self.places[section.info])
        exported = {
            self._name(one): self._value(one)
            for one in self.symbols
            if one.info >> 4 == 1 and one.section in self.places
        }
        return Image(bytes(self.code), exported, self.own, [(at + 8, name) for name, at in self.stubs.items()])

    def _placed(self) -> dict[int, int]:
        """Where each section comes to lie: code first, then what it reads."""
        taken = [(k, one) for k, one in enumerate(self.sections) if one.flags & _ALLOC and one.kind != _UNWIND]
        places = {}
        for k, one in sorted(taken, key=lambda found: not found[1].flags & _CODE):
            if one.kind == _ZEROS or (one.flags & _WRITE and not self._section_name(one).startswith(b".data.rel.ro")):
                raise _UnknownError("variables")
            if one.align > _PAGE or one.start + one.size > len(self.data):
                raise _UnknownError("a section that is no section")
            self._pad(max(one.align, 16))
            places[k] = len(self.code)
            self.code += self.data[one.start : one.start + one.size]
        return places

    def _pad(self, align: int) -> None:
        self.code += bytes(-len(self.code) % align)

    def _symbols(self) -> tuple[list[_Symbol], int]:
        table = next((one for one in self.sections if one.kind == _SYMBOLS), None)
        if table is None:
            raise _UnknownError("no symbols")
        count = table.size // 24
        found = [_Symbol(*struct.unpack_from("<IBBHQQ", self.data, table.start + 24 * k)) for k in range(count)]
        return found, self.sections[table.link].start

    def _relocate(self, section: _Section, base: int) -> None:
        for offset, kind, symbol, addend in self._relocations(section):
            at = base + offset
            if kind == _ADDRESS:
                self.own.append((at, self._value(symbol) + addend))
            elif kind in (_NEAR, _CALL):
                target = self._value(symbol) if symbol.section != _UNDEFINED else self._stub(symbol, kind)
                struct.pack_into("<i", self.code, at, target + addend - at)
            else:
                raise _UnknownError(f"relocation {kind}")

    def _relocations(self, section: _Section) -> Iterator[tuple[int, int, _Symbol, int]]:
        for place in range(section.start, section.start + section.size, 24):
            offset, kind, symbol, addend = struct.unpack_from("<QIIq", self.data, place)
            yield offset, kind, self.symbols[symbol], addend

    def _value(self, symbol: _Symbol) -> int:
        if symbol.section not in self.places:
            raise _UnknownError("a symbol of elsewhere")
        return self.places[symbol.section] + symbol.value

    def _stub(self, symbol: _Symbol, kind: int) -> int:
        """Where to jump for a function that is not in the object."""
        if kind != _CALL:
            raise _UnknownError("a variable of elsewhere")
        name = self._name(symbol)
        if name not in self.stubs:
            self._pad(16)
            self.stubs[name] = len(self.code)
            self.code += _STUB + bytes(8)
        return self.stubs[name]

    def _name(self, symbol: _Symbol) -> str:
        return self._text(self.names + symbol.name).decode()

    def _section_name(self, section: _Section) -> bytes:
        (index,) = struct.unpack_from("<H", self.data, 62)
        return self._text(self.sections[index].start + section.name)

    def _text(self, start: int) -> bytes:
        return self.data[start : self.data.index(b"\0", start)]
