"""What is an attribute of a layer? What it is of an array, by the rule of run time."""

from __future__ import annotations

from typing import Any

import numpy as np
from mypy.nodes import ARG_STAR, ARG_STAR2, MemberExpr
from mypy.types import AnyType, CallableType, Instance, TupleType, Type, get_proper_type

from symbolic.mypy_plugin.calls import Calls
from symbolic.mypy_plugin.given import OF_LAYERS
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.vocabulary import (
    IDENTITY,
    LAYER,
    PROJECTION,
    Vocabulary,
    entry_of,
    holds_layer,
    is_layer,
    unknown,
)
from symbolic.static import evaluation
from symbolic.static.abstract import UNKNOWN, Finding, Value


class Attributes:
    """The hook of attributes, over one build's types."""

    def __init__(self, words: Vocabulary, calls: Calls) -> None:
        self.words: Vocabulary = words
        self.calls: Calls = calls

    def no_attribute(self, ctx: Any, name: str) -> Type:
        """An attribute that neither arrays nor layers have; that of a case class is known by the class alone."""
        proper = get_proper_type(ctx.type)
        asked = isinstance(ctx.context, MemberExpr) and ctx.context.name == name  # and not by a protocol
        known = isinstance(proper, Instance) and proper.type.fullname in (LAYER, IDENTITY, PROJECTION)
        known = known and not any(isinstance(get_proper_type(one), AnyType) for one in proper.args)
        data = self.calls.data(ctx.type)
        if known and isinstance(data, Instance) and data.type.get(name) is not None:
            return unknown()  # an object of the user's, whose fields are what they are
        if asked and known and name not in OF_LAYERS and proper.type.get(name) is None and not name.startswith("__"):
            seen = f"a layer has no attribute {name!r}: {self.calls.short_layer(ctx.type)}"
            remedy = "it has the attributes and methods of arrays, and predict, train, forward, compose, weights"
            report(ctx.api, Finding(seen, remedy), ctx.context)
        return ctx.default_attr_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us

    def attribute(self, ctx: Any, name: str) -> Type:
        """An attribute of a layer that an array has; a method answers by its own hook when it is called."""
        proper = get_proper_type(ctx.type)
        if isinstance(proper, TupleType) and holds_layer(proper):
            return entry_of(proper, name) or ctx.default_attr_type
        if not is_layer(ctx.type) or ctx.is_lvalue:
            return ctx.default_attr_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        if not hasattr(np.ndarray, name):
            return self.no_attribute(ctx, name)
        if callable(getattr(np.ndarray, name)):
            return CallableType(
                [unknown(), unknown()],
                [ARG_STAR, ARG_STAR2],
                [None, None],
                unknown(),
                self.words.instance("builtins.function"),
                name=name,
            )
        value = self.calls.arguments.of(ctx.type, None, lambda expression: None)
        if not isinstance(value, Value):
            return ctx.default_attr_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        answer = evaluation.attribute(name, value)
        layer = self.words.layer_args(ctx.type)
        assert layer is not None
        if answer.finding is not None:
            report(ctx.api, answer.finding, ctx.context)
        if name == "shape" and answer.value is UNKNOWN:
            return self.words.instance("builtins.tuple", self.words.instance("builtins.int"))
        if answer.value is UNKNOWN and name not in ("T", "mT", "real", "imag", "flat"):
            return self.words.instance("builtins.int") if name in ("ndim", "size") else ctx.default_attr_type
        return self.calls.typed(answer.value, layer[0], ctx.api.tree.fullname, ctx.default_attr_type)
