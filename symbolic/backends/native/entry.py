"""How is the code written that Python calls: guards on what it is given, numbers out of objects and into them?

A guard that does not hold jumps to a label, behind which stands the general way, `fall_back`. Nothing is held while
guards run, so there is nothing to give back on that way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import TABLE
from symbolic.backends.native.text import Function, Module, Value

__all__ = ["Entry"]

_ELEMENTS = {"float64": "double", "float32": "float", "int64": "i64", "int32": "i32", "bool": "i8"}
_COUNT = (1 << 63) - 1
"""Of `nargsf` all but the highest bit, which says that the place before the arguments may be used."""


class Entry:
    """A function that Python can call, being written: `Entry(module, "f").f` is the `text.Function`.

    `words` are the names of what its table holds, for `abi.attach`: addresses are never in the code, which other
    processes run, too. Names of the caller's own are free, `fallback` is the one of `fall_back`.
    """

    callee: Value
    count: Value
    f: Function
    given: Value
    keywords: Value

    def __init__(self, module: Module, name: str) -> None:
        self.f = module.function(name, ["ptr", "ptr", "i64", "ptr"], "ptr", "nounwind")
        self.callee, self.given, self.count, self.keywords = self.f.arguments
        self.words: list[str] = []
        self._table = self.read(self.callee, TABLE, "ptr")
        self._seen: dict[tuple[str, str], Value] = {}

    # ------------------------------------------------------------------ memory
    def read(self, base: Value, offset: int, element: str) -> Value:
        """A field of an object."""
        return self.f.load(self._field(base, offset), element)

    def _field(self, base: Value, offset: int) -> Value:
        return self.f.at(base, self.f.index(offset), "i8")

    def word(self, name: str, element: str = "ptr") -> Value:
        """What the table holds under a name: an address, or a number as `i64`. One that is known is not read again."""
        key = (self.f.block, name + element)
        if name not in self.words:
            self.words.append(name)
        if key not in self._seen:
            self._seen[key] = self.read(self._table, 8 * self.words.index(name), element)
        return self._seen[key]

    def call(self, name: str, result: str, *arguments: Value) -> Value:
        """Call a function of Python's or NumPy's, or one whose address is given under a name of the caller's own."""
        return self.f.call_at(self.word(name), result, *arguments)

    # ------------------------------------------------------------------ guards
    def check(self, condition: Value, otherwise: str) -> None:
        """Go on if the condition holds."""
        on = self.f.label("fits")
        self.f.branch(condition, on, otherwise)
        self.f.start(on)

    def number(self) -> Value:
        """How many objects a call is given by position."""
        return self.f.bits("and", self.count, self.f.constant("i64", _COUNT))

    def arguments(self, count: int, otherwise: str) -> list[Value]:
        """The objects that a call is given: so many by position, and none by name."""
        f = self.f
        number = self.number()
        named = f.convert("ptrtoint", self.keywords, "i64")
        wrong = f.bits("or", f.bits("xor", number, f.constant("i64", count)), named)
        self.check(f.compare("eq", wrong, f.constant("i64", 0)), otherwise)
        return [self.read(self.given, 8 * k, "ptr") for k in range(count)]

    def is_exactly(self, object: Value, kind: str, otherwise: str) -> None:
        """An object of this type and of no subclass: `float`, `ndarray`, or a word of the caller's own."""
        self.check(self.f.compare("eq", self.read(object, layouts.TYPE, "ptr"), self.word(kind)), otherwise)

    def float_of(self, object: Value, otherwise: str) -> Value:
        """The `double` in a Python float."""
        self.is_exactly(object, "float", otherwise)
        return self.read(object, layouts.FLOAT_VALUE, "double")

    def axisless(self, object: Value, dtype: str, box: bool, otherwise: str) -> Value:
        """The number in an array without axes, or in a scalar of NumPy's."""
        if box:
            return self.f.load(self.array_of(object, dtype, (), otherwise), _ELEMENTS[dtype])
        self.is_exactly(object, f"scalar {dtype}", otherwise)
        return self.read(object, layouts.SCALAR_VALUE, _ELEMENTS[dtype])

    def array_of(
        self, object: Value, dtype: str, shape: Sequence[int], otherwise: str, writeable: bool = False
    ) -> Value:
        """Where the entries of an array begin: an `ndarray` itself, of this dtype and shape, aligned, row by row."""
        f = self.f
        self.is_exactly(object, "ndarray", otherwise)
        self._has_dtype(object, dtype, otherwise)
        needed = layouts.CONTIGUOUS | layouts.ALIGNED | (layouts.WRITEABLE if writeable else 0)
        mask = f.constant("i32", needed)
        flags = f.bits("and", self.read(object, layouts.ARRAY_FLAGS, "i32"), mask)
        rank = self.read(object, layouts.ARRAY_RANK, "i32")
        wrong = f.bits("or", f.bits("xor", flags, mask), f.bits("xor", rank, f.constant("i32", len(shape))))
        self.check(f.compare("eq", wrong, f.constant("i32", 0)), otherwise)
        self._has_shape(object, shape, otherwise)
        return self.read(object, layouts.ARRAY_DATA, "ptr")

    def _has_dtype(self, object: Value, dtype: str, otherwise: str) -> None:
        """NumPy's own descriptor, or another that says the same: arrays from a pickle have one of their own."""
        f = self.f
        found, same, other = self.read(object, layouts.ARRAY_DTYPE, "ptr"), f.label("same"), f.label("other")
        known = layouts.builtin_dtype(dtype)
        f.branch(f.compare("eq", found, self.word(f"dtype {dtype}")), same, other)
        f.start(other)
        number = f.compare("eq", self.read(found, layouts.DTYPE_NUMBER, "i32"), f.constant("i32", known.num))
        order = f.compare("eq", self.read(found, layouts.DTYPE_ORDER, "i8"), f.constant("i8", ord(known.byteorder)))
        f.branch(f.bits("and", number, order), same, otherwise)
        f.start(same)

    def _has_shape(self, object: Value, shape: Sequence[int], otherwise: str) -> None:
        """Of the rank, which was checked: all sizes at once."""
        f, wrong = self.f, None
        sizes = self.read(object, layouts.ARRAY_SHAPE, "ptr") if shape else None
        for k, size in enumerate(shape):
            assert sizes is not None
            differs = f.bits("xor", self.read(sizes, 8 * k, "i64"), f.constant("i64", size))
            wrong = differs if wrong is None else f.bits("or", wrong, differs)
        if wrong is not None:
            self.check(f.compare("eq", wrong, f.constant("i64", 0)), otherwise)

    def word_is_zero(self, address: Value, otherwise: str) -> None:
        """Eight bytes of memory are zero: a watch that nobody has tripped."""
        self.check(self.f.compare("eq", self.f.load(address, "i64"), self.f.constant("i64", 0)), otherwise)

    def usual(self, otherwise: str) -> None:
        """No special mode is on in any thread: the list that the table has as `modes` is empty."""
        self.word_is_zero(self._field(self.word("modes"), layouts.LIST_SIZE), otherwise)

    def same_number(self, address: Value, expected: Value, otherwise: str) -> None:
        """Eight bytes of memory are this number."""
        self.check(self.f.compare("eq", self.f.load(address, "i64"), expected), otherwise)

    def same_object(self, address: Value, expected: Value, otherwise: str) -> None:
        """A place in memory, such as that of a closure's cell, holds this object."""
        self.check(self.f.compare("eq", self.f.load(address, "ptr"), expected), otherwise)

    def same_global(self, names: Value, name: Value, expected: Value, otherwise: str) -> None:
        """A dictionary holds this object under a name."""
        found = self.call("PyDict_GetItemWithError", "ptr", names, name)
        self.check(self.f.compare("eq", found, expected), otherwise)

    def claim(self, address: Value, otherwise: str) -> None:
        """One call at a time: the word at an address, which `disclaim` frees, was free and now is not.

        Under Python's lock, which a call that is long gives up in between.
        """
        self.word_is_zero(address, otherwise)
        self.f.store(self.f.constant("i64", 1), address)

    def disclaim(self, address: Value) -> None:
        self.f.store(self.f.constant("i64", 0), address)

    # ------------------------------------------------------------------ objects
    def new_float(self, value: Value, failed: str) -> Value:
        """A Python float, owned; `failed` is where to go with an exception that Python has noted: `fail`."""
        return self._made(self.call("PyFloat_FromDouble", "ptr", value), failed)

    def new_array(self, dtype: str, shape: Sequence[int], failed: str) -> tuple[Value, Value]:
        """An array, owned and not filled, and where its entries begin."""
        f, nothing, zero = self.f, Value("ptr", 0, "null"), self.f.constant("i32", 0)
        sizes = Value("ptr", 0, f.module.table("i64", shape) if shape else "null")
        number = f.constant("i32", layouts.builtin_dtype(dtype).num)
        rank = f.constant("i32", len(shape))
        made = self.call(
            "PyArray_New", "ptr", self.word("ndarray"), rank, sizes, number, nothing, nothing, zero, zero, nothing
        )
        self._made(made, failed)
        return made, self.read(made, layouts.ARRAY_DATA, "ptr")

    def new_scalar(self, dtype: str, place: Value, failed: str) -> Value:
        """A number of NumPy's, owned, of what lies at a place."""
        nothing = Value("ptr", 0, "null")
        return self._made(self.call("PyArray_Scalar", "ptr", place, self.word(f"dtype {dtype}"), nothing), failed)

    def tuple_entry(self, tuple: Value, k: int, object: Value) -> None:
        """Put an object that is owned into a new tuple."""
        self.f.store(object, self._field(tuple, layouts.TUPLE_ENTRIES + 8 * k), align=8)

    def new_tuple(self, size: int, failed: str) -> Value:
        """A tuple, owned, with nothing in it yet."""
        return self._made(self.call("PyTuple_New", "ptr", self.f.index(size)), failed)

    def tuple_at(self, tuple: Value, k: int) -> Value:
        """What a tuple holds there; nothing is owned by that."""
        return self.read(tuple, layouts.TUPLE_ENTRIES + 8 * k, "ptr")

    def _made(self, object: Value, failed: str) -> Value:
        self.check(self.f.compare("ne", object, Value("ptr", 0, "null")), failed)
        return object

    def keep(self, object: Value) -> Value:
        """One more reference."""
        self.call("Py_IncRef", "void", object)
        return object

    def drop(self, object: Value) -> None:
        """One reference less. Whatever may then run can be Python, with all that follows."""
        self.call("Py_DecRef", "void", object)

    # ------------------------------------------------------------------ around the work
    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """Without Python's lock: for work beyond some 50 µs. Nothing of Python's may be touched within."""
        thread = self.call("PyEval_SaveThread", "ptr")
        yield
        self.call("PyEval_RestoreThread", "void", thread)

    def check_signals(self, failed: str) -> None:
        """Let Ctrl-C through, in long loops, with the lock held."""
        found = self.call("PyErr_CheckSignals", "i32")
        self.check(self.f.compare("eq", found, self.f.constant("i32", 0)), failed)

    def give(self, object: Value) -> None:
        """The call's result, whose reference goes to the caller."""
        self.f.give(object)

    def give_none(self) -> None:
        self.give(self.keep(self.word("None")))

    def fail(self) -> None:
        """Leave with the exception that Python has noted."""
        self.give(Value("ptr", 0, "null"))

    def fall_back(self) -> None:
        """Leave by the general way, with the same arguments; what it raises is raised."""
        self.give(self.call("PyObject_Vectorcall", "ptr", self.word("fallback"), self.given, self.count, self.keywords))
