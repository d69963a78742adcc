"""Which of mypy's questions does the plugin answer? `plugins = symbolic.mypy_plugin` in the configuration of mypy.

Only tables stand here: from names to the rooms beside. What is known of NumPy's functions is known by
`symbolic.static`, which knows nothing of mypy.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from mypy.nodes import MypyFile
from mypy.options import Options
from mypy.plugin import (
    AnalyzeTypeContext,
    AttributeContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import FunctionLike, Type

from symbolic.mypy_plugin.arguments import Arguments
from symbolic.mypy_plugin.attributes import Attributes
from symbolic.mypy_plugin.bodies import RUNNING, Bodies
from symbolic.mypy_plugin.calls import Calls
from symbolic.mypy_plugin.configuration import dependencies, mappings
from symbolic.mypy_plugin.expansions import Expansions
from symbolic.mypy_plugin.functions import Functions
from symbolic.mypy_plugin.hints import Hints
from symbolic.mypy_plugin.lints import Lints
from symbolic.mypy_plugin.mappings import Mappings
from symbolic.mypy_plugin.natives import Natives
from symbolic.mypy_plugin.networks import DERIVATIVES, LINEAR, REMAT, SEQUENTIAL, Networks
from symbolic.mypy_plugin.reporting import failed
from symbolic.mypy_plugin.running import Running
from symbolic.mypy_plugin.vocabulary import DECLARED, TRAINER, NotReady, Vocabulary

DECORATOR = "symbolic.function.Decorator.__call__"
_UFUNC = "numpy._typing._ufunc."
_C = TypeVar("_C")


class SymbolicPlugin(Plugin):
    """The hooks of one build."""

    named: tuple[str, ...]

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        allow_redefinition(options)
        self.named = mappings(options)

    # ------------------------------------------------------------------ the rooms
    @cached_property
    def words(self) -> Vocabulary:
        return Vocabulary(self.lookup_fully_qualified)

    @cached_property
    def expansions(self) -> Expansions:
        natives = Natives(self.words)
        known = Mappings(self.words, natives, self._modules or {}, self.named)
        return Expansions(self.words, natives, known)

    @cached_property
    def hints(self) -> Hints:
        return Hints(self.expansions, self.lookup_fully_qualified)

    @cached_property
    def bodies(self) -> Bodies:
        return Bodies(self.words, self.expansions)

    @cached_property
    def calls(self) -> Calls:
        return Calls(self.words, self.expansions, Arguments(self.words, self.expansions.natives), self.bodies)

    @cached_property
    def attributes(self) -> Attributes:
        return Attributes(self.words, self.calls)

    @cached_property
    def functions(self) -> Functions:
        return Functions(self.words, self.expansions, Lints())

    @cached_property
    def running(self) -> Running:
        return Running(self.words, self.expansions, self.functions, self.calls)

    @cached_property
    def networks(self) -> Networks:
        return Networks(self.words, self.expansions, self.calls.arguments, self.calls, self.running)

    # ------------------------------------------------------------------ the hooks
    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        try:
            return self.hints.hook(fullname)
        except NotReady:  # the library itself is being checked
            return None

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        if fullname == SEQUENTIAL:
            return self._guarded(lambda ctx: self.bodies.anything(ctx.default_signature), "default_signature")
        if fullname in DERIVATIVES:
            return self._guarded(self.bodies.of_functions, "default_signature")
        return self._guarded(functools.partial(self.bodies.admitting, fullname), "default_signature")

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return self._guarded(functools.partial(self.bodies.of_method, fullname), "default_signature")

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if fullname == SEQUENTIAL:
            return self._guarded(self.networks.sequential, "default_return_type")
        if fullname == LINEAR:
            return self._guarded(self.networks.linear, "default_return_type")
        if fullname == REMAT:
            return self._guarded(self.networks.again, "default_return_type")
        if fullname in DERIVATIVES:
            return self._guarded(
                functools.partial(self.networks.derivative, kind=DERIVATIVES[fullname]), "default_return_type"
            )
        return self._guarded(functools.partial(self.calls.function, fullname), "default_return_type")

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        owner, _, name = fullname.rpartition(".")
        if fullname == DECORATOR:
            return self._guarded(self.functions.decorated, "default_return_type")
        if owner.startswith(_UFUNC):
            return self._guarded(functools.partial(self.calls.ufunc, name=name), "default_return_type")
        if owner == DECLARED:
            return self._guarded(self.running.declared, "default_return_type")
        if owner == TRAINER:
            return self._guarded(functools.partial(self.running.stepped, name=name), "default_return_type")
        if name == "compose":
            return self._guarded(self.networks.composed, "default_return_type")
        if name in RUNNING:
            return self._guarded(functools.partial(self.running.called, name=name), "default_return_type")
        return self._guarded(functools.partial(self.calls.operation, name=name), "default_return_type")

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        name = fullname.rpartition(".")[2]
        return self._guarded(functools.partial(self.attributes.attribute, name=name), "default_attr_type")

    def _guarded(self, hook: Callable[[_C], Any], default: str) -> Callable[[_C], Any]:
        """A hook of the checker whose faults are one error, and mypy's own answer."""
        self.expansions.mappings.settled = True
        self.hints.place = None

        def call(ctx: Any) -> Any:
            try:
                return hook(ctx)
            except NotReady:  # the module imports nothing of this library, which is not loaded
                return getattr(ctx, default)
            except Exception as error:
                failed(error, ctx.api, ctx.context)
                return getattr(ctx, default)

        return call

    # ------------------------------------------------------------------ the cache
    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        """mypy keys its cache by this file alone, but the answers stand in the others."""
        return {"symbolic": fingerprint(), "mappings": self.named}

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        return dependencies(file, self.named)


@functools.cache
def fingerprint() -> str:
    """What all the files of this library hold, for an answer may rest on any of them."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def allow_redefinition(options: Options) -> None:
    """`h = x`, then `h = np.tanh(h @ w)`: what everybody writes gives a name a second type."""
    if hasattr(options, "allow_redefinition_new"):  # mypy 1
        options.allow_redefinition_new = True
    else:
        setattr(options, "allow_redefinition", True)  # noqa: B010 - mypy 1 declares no such option
    options.local_partial_types = True


def plugin(version: str) -> type[Plugin]:
    """mypy's entry point."""
    return SymbolicPlugin


__all__ = ["SymbolicPlugin", "plugin"]
