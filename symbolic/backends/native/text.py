"""How is a function of LLVM written? Line by line: each value is a name with its type, and memory is a pointer.

A module is text. Writing it needs no LLVM, so it can be looked at, compared and cached where none is installed.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

FLOATS = {"double", "float"}
BITS = {"double": 64, "float": 32, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}
QUICKLY = "noinline optnone"  # of a function that is to be compiled soon rather than well, as it is called seldom


class Value(NamedTuple):
    """A value of LLVM: `element` is its type, or that of each of its `lanes` if it is a vector (`lanes` > 0)."""

    element: str
    lanes: int
    name: str

    @property
    def type(self) -> str:
        return typed(self.element, self.lanes)

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def typed(element: str, lanes: int) -> str:
    """`double`, or `<8 x double>`."""
    return f"<{lanes} x {element}>" if lanes else element


def number(element: str, value: float) -> str:
    """A constant as LLVM writes it: floating-point numbers by their bits, so that nothing is rounded on the way."""
    if element not in FLOATS:
        return str(int(value))
    if element == "float":
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Module:
    """Functions, constants, and the declarations of what they call.

    fma: whether the processor rounds a · b + c once, as quickly as a product.
    scalef: whether it has AVX-512's x · 2ᵏ (F for vectors of 64 bytes, VL for shorter ones).
    """

    fma: bool
    scalef: bool

    def __init__(self, fma: bool = True, scalef: bool = False) -> None:
        self.fma, self.scalef = fma, scalef
        self.functions: list[Function] = []
        self.declared: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.uses: Counter[str] = Counter()  # of each elementary function, so far

    def function(
        self,
        name: str,
        parameters: Sequence[str] = (),
        result: str = "void",
        attributes: str = "",
        private: bool = False,
    ) -> Function:
        """A new function; its parameters' types as LLVM writes them."""
        one = Function(self, name, parameters, result, attributes, private)
        self.functions.append(one)
        return one

    def has(self, name: str) -> bool:
        return any(one.name == name for one in self.functions)

    def declare(self, name: str, line: str) -> None:
        self.declared.setdefault(name, line)

    def table(self, element: str, values: Sequence[float]) -> str:
        """The name of a constant array in memory, aligned to 64 bytes; equal ones are one."""
        body = ", ".join(f"{element} {number(element, one)}" for one in values)
        line = f"private unnamed_addr constant [{len(values)} x {element}] [{body}], align 64"
        return self.constants.setdefault(line, f"@table.{len(self.constants)}")

    def __str__(self) -> str:
        constants = [f"{name} = {line}" for line, name in self.constants.items()]
        return "\n".join([*constants, *self.declared.values(), *map(str, self.functions)]) + "\n"


class Function:
    """The body of one function, being written. A method that gives a `Value` has written the line that makes it."""

    arguments: list[Value]
    block: str
    count: int
    module: Module
    name: str
    parameters: str
    private: bool
    result: str

    def __init__(
        self, module: Module, name: str, parameters: Sequence[str], result: str, attributes: str, private: bool
    ) -> None:
        self.module, self.name = module, name
        self.result, self.private = result, private
        self.attributes = attributes
        self.arguments = [_argument(one, f"%a{k}") for k, one in enumerate(parameters)]
        self.parameters = ", ".join(f"{one} %a{k}" for k, one in enumerate(parameters))
        self.slots: list[str] = []  # variables, which LLVM wants in the first block
        self.lines: list[str] = []
        self.count = 0
        self.block = "entry"

    def __str__(self) -> str:
        lines = ["entry:", *[f"  {one}" for one in self.slots], *self.lines]
        head = f"define {'internal ' if self.private else ''}{self.result} @{self.name}"
        return "\n".join([f"{head}({self.parameters}) {self.attributes} {{", *lines, "}"])

    # ------------------------------------------------------------------ lines
    def do(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def make(self, element: str, lanes: int, line: str) -> Value:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {line}")
        return Value(element, lanes, name)

    def label(self, hint: str) -> str:
        self.count += 1
        return f"{hint}.{self.count}"

    def start(self, label: str) -> None:
        """Begin a block, which the one before must have left."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: Value, then: str, other: str) -> None:
        self.do(f"br i1 {condition.name}, label %{then}, label %{other}")

    def give(self, value: Value | None = None) -> None:
        self.do("ret void" if value is None else f"ret {value}")

    # ------------------------------------------------------------------ constants
    def constant(self, element: str, value: float, lanes: int = 0) -> Value:
        """A number, in every lane."""
        text = number(element, value) if element != "i1" else ("true" if value else "false")
        if lanes:
            text = f"splat ({element} {text})"
        return Value(element, lanes, text)

    def like(self, model: Value, value: float) -> Value:
        """The same in the type of another value."""
        return self.constant(model.element, value, model.lanes)

    def index(self, value: int) -> Value:
        return Value("i64", 0, str(value))

    def iota(self, element: str, lanes: int) -> Value:
        """0, 1, 2, … in the lanes; 0 without lanes."""
        if not lanes:
            return self.constant(element, 0)
        return Value(element, lanes, "<" + ", ".join(f"{element} {number(element, k)}" for k in range(lanes)) + ">")

    # ------------------------------------------------------------------ arithmetic
    def two(self, operation: str, a: Value, b: Value) -> Value:
        return self.make(a.element, a.lanes, f"{operation} {a.type} {a.name}, {b.name}")

    def _arithmetic(self, floating: str, whole: str, a: Value, b: Value, flags: str) -> Value:
        if a.is_float:
            return self.two(f"{floating} {flags}" if flags else floating, a, b)
        return self.two(whole, a, b)

    def add(self, a: Value, b: Value, flags: str = "contract") -> Value:
        return self._arithmetic("fadd", "add", a, b, flags)

    def sub(self, a: Value, b: Value, flags: str = "contract") -> Value:
        return self._arithmetic("fsub", "sub", a, b, flags)

    def mul(self, a: Value, b: Value, flags: str = "contract") -> Value:
        return self._arithmetic("fmul", "mul", a, b, flags)

    def div(self, a: Value, b: Value) -> Value:
        """Of floating-point numbers."""
        return self.two("fdiv", a, b)

    def neg(self, a: Value) -> Value:
        if a.is_float:
            return self.make(a.element, a.lanes, f"fneg {a.type} {a.name}")
        return self.sub(self.like(a, 0), a)

    def muladd(self, a: Value, b: Value, c: Value) -> Value:
        """a · b + c, rounded once where the processor does that as quickly, else twice."""
        return self.intrinsic("fmuladd", a, b, c)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """a · b + c, rounded once. Only for processors that can: elsewhere it is a call of the C library."""
        return self.intrinsic("fma", a, b, c)

    def bits(self, operation: str, a: Value, b: Value) -> Value:
        """`and`, `or`, `xor`, `shl`, `lshr`, `ashr` of whole numbers and Booleans."""
        return self.two(operation, a, b)

    def invert(self, a: Value) -> Value:
        return self.two("xor", a, self.constant(a.element, 1 if a.element == "i1" else -1, a.lanes))

    def intrinsic(self, name: str, *arguments: Value, flags: str = "") -> Value:
        """`llvm.NAME.TYPE` on values of one type, which is the result's type too."""
        a = arguments[0]
        full = f"llvm.{name}.{_suffix(a)}"
        kinds = ", ".join(one.type for one in arguments)
        self.module.declare(full, f"declare {a.type} @{full}({kinds})")
        return self.make(a.element, a.lanes, f"call {flags} {a.type} @{full}({', '.join(map(str, arguments))})")

    # ------------------------------------------------------------------ comparisons and choices
    def compare(self, how: str, a: Value, b: Value) -> Value:
        """`oeq une olt ole ogt oge uno ord` of floating-point numbers; `eq ne slt sle sgt sge ult …` of whole ones."""
        operation = "fcmp" if a.is_float else "icmp"
        return self.make("i1", a.lanes, f"{operation} {how} {a.type} {a.name}, {b.name}")

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.make(a.element, a.lanes, f"select {condition}, {a}, {b}")

    # ------------------------------------------------------------------ kinds
    def convert(self, operation: str, a: Value, element: str) -> Value:
        """`fptosi sitofp uitofp fpext fptrunc zext sext trunc bitcast …` to another element type."""
        return self.make(element, a.lanes, f"{operation} {a} to {typed(element, a.lanes)}")

    def as_bits(self, a: Value) -> Value:
        return self.convert("bitcast", a, f"i{BITS[a.element]}")

    def as_float(self, a: Value) -> Value:
        return self.convert("bitcast", a, "double" if a.element == "i64" else "float")

    # ------------------------------------------------------------------ vectors
    def splat(self, a: Value, lanes: int) -> Value:
        """A number in every lane; with no lanes the number itself."""
        if not lanes:
            return a
        if not a.name.startswith("%"):
            return Value(a.element, lanes, f"splat ({a})")
        kind = typed(a.element, lanes)
        first = self.make(a.element, lanes, f"insertelement {kind} poison, {a}, i64 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.make(a.element, lanes, f"shufflevector {first}, {kind} poison, {zeros}")

    def lane(self, a: Value, k: int) -> Value:
        return self.make(a.element, 0, f"extractelement {a}, i64 {k}") if a.lanes else a

    def insert(self, vector: Value, k: int, a: Value) -> Value:
        return self.make(vector.element, vector.lanes, f"insertelement {vector}, {a}, i64 {k}")

    def shuffle(self, a: Value, b: Value, order: Sequence[int]) -> Value:
        """Lanes of two vectors, those of `b` numbered after those of `a`."""
        mask = ", ".join(f"i32 {k}" for k in order)
        return self.make(a.element, len(order), f"shufflevector {a}, {b}, <{len(order)} x i32> <{mask}>")

    def total(self, a: Value) -> Value:
        """The sum of the lanes, in whatever order."""
        if a.lanes and a.is_float:
            name = f"llvm.vector.reduce.fadd.{_suffix(a)}"
            self.module.declare(name, f"declare {a.element} @{name}({a.element}, {a.type})")
            zero = number(a.element, -0.0)
            return self.make(a.element, 0, f"call reassoc {a.element} @{name}({a.element} {zero}, {a})")
        return self.across("add", a)

    def across(self, operation: str, a: Value) -> Value:
        """`llvm.vector.reduce.OPERATION` of the lanes: `add mul and or xor smax smin umax umin fmaximum fminimum`."""
        if not a.lanes:
            return a
        name = f"llvm.vector.reduce.{operation}.{_suffix(a)}"
        self.module.declare(name, f"declare {a.element} @{name}({a.type})")
        return self.make(a.element, 0, f"call {a.element} @{name}({a})")

    # ------------------------------------------------------------------ memory
    def variable(self, initial: Value) -> Value:
        """A place for a value that changes, such as a sum; LLVM makes a register of it."""
        place = self.room(initial.type)
        self.put(initial, place)
        return place

    def room(self, kind: str, count: int = 1) -> Value:
        """A place for so many values beside each other."""
        self.count += 1
        self.slots.append(f"%s{self.count} = alloca {kind}, i64 {count}")
        return Value("ptr", 0, f"%s{self.count}")

    def get(self, place: Value, element: str, lanes: int = 0) -> Value:
        """Read a variable."""
        return self.make(element, lanes, f"load {typed(element, lanes)}, ptr {place.name}")

    def put(self, value: Value, place: Value) -> None:
        """Write a variable."""
        self.do(f"store {value}, ptr {place.name}")

    def at(self, pointer: Value, index: Value, element: str) -> Value:
        """The address of an entry."""
        if index.name == "0":
            return pointer
        return self.make("ptr", 0, f"getelementptr {element}, ptr {pointer.name}, i64 {index.name}")

    def load(self, pointer: Value, element: str, lanes: int = 0, align: int = 0) -> Value:
        """Read an entry, or as many as there are lanes; aligned to one entry unless more is known."""
        return self.make(element, lanes, f"load {typed(element, lanes)}, {_place(pointer, element, align)}")

    def store(self, value: Value, pointer: Value, align: int = 0) -> None:
        self.do(f"store {value}, {_place(pointer, value.element, align)}")

    def load_some(self, pointer: Value, mask: Value, element: str, lanes: int, other: Value) -> Value:
        """Read the lanes whose mask is set; the rest are those of `other`, and their memory is not touched."""
        kind = typed(element, lanes)
        name = f"llvm.masked.load.{_suffix(other)}.p0"
        # with the alignment as an argument, as before LLVM 22, which reads both forms
        self.module.declare(name, f"declare {kind} @{name}(ptr, i32 immarg, <{lanes} x i1>, {kind})")
        place = f"ptr {pointer.name}, i32 {BITS[element] // 8}"
        return self.make(element, lanes, f"call {kind} @{name}({place}, {mask}, {other})")

    def store_some(self, value: Value, pointer: Value, mask: Value) -> None:
        name = f"llvm.masked.store.{_suffix(value)}.p0"
        self.module.declare(name, f"declare void @{name}({value.type}, ptr, i32 immarg, <{value.lanes} x i1>)")
        self.do(f"call void @{name}({value}, ptr {pointer.name}, i32 {BITS[value.element] // 8}, {mask})")

    # ------------------------------------------------------------------ control
    @contextmanager
    def loop(self, start: Value, stop: Value, step: int = 1) -> Iterator[Value]:
        """Whole numbers from `start` to `stop`, not entered if there are none."""
        head, body, done = self.label("loop"), self.label("body"), self.label("done")
        before = self.block
        self.jump(head)
        self.start(head)
        at = len(self.lines)
        self.lines.append("")  # the counter, when the block that comes back is known
        self.count += 1
        counter = Value("i64", 0, f"%i{self.count}")
        self.branch(self.compare("slt", counter, stop), body, done)
        self.start(body)
        yield counter
        following = self.make("i64", 0, f"add nsw i64 {counter.name}, {step}")
        ways = f"[ {start.name}, %{before} ], [ {following.name}, %{self.block} ]"
        self.lines[at] = f"  {counter.name} = phi i64 {ways}"
        self.jump(head)
        self.start(done)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """The lines within are run if the condition holds."""
        then, done = self.label("then"), self.label("after")
        self.branch(condition, then, done)
        self.start(then)
        yield
        self.jump(done)
        self.start(done)

    def call(self, function: Function, *arguments: Value) -> None:
        """Call a function of the module that gives nothing."""
        assert len(arguments) == len(function.arguments), function.name  # LLVM would take it, and do anything
        self.do(f"call void @{function.name}({', '.join(map(str, arguments))})")

    def call_at(self, pointer: Value, result: str, *arguments: Value) -> Value:
        """Call what a pointer points to, by the C calling convention."""
        made = f"call {result} {pointer.name}({', '.join(map(str, arguments))})"
        if result != "void":
            return self.make(result, 0, made)
        self.do(made)
        return Value("void", 0, "")


def _argument(kind: str, name: str) -> Value:
    kind = kind.split()[0] if kind.startswith("ptr") else kind  # `ptr noalias` is a pointer
    if kind.startswith("<"):
        lanes, _, element = kind[1:-1].split()
        return Value(element, int(lanes), name)
    return Value(kind, 0, name)


def _suffix(a: Value) -> str:
    element = {"double": "f64", "float": "f32"}.get(a.element, a.element)
    return f"v{a.lanes}{element}" if a.lanes else element


def _place(pointer: Value, element: str, align: int) -> str:
    size = 8 if element == "ptr" else max(1, BITS[element] // 8)
    return f"ptr {pointer.name}, align {align or size}"
