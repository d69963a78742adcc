"""How does a function say what it takes? Also where its hints name what only the type checker imports."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 14):  # hints are evaluated when somebody reads them
    from annotationlib import Format, get_annotations

    def written_hints(function: Callable[..., Any]) -> dict[str, Any]:
        """The hints as they are written; what names nothing yet is a `ForwardRef` of its text."""
        return get_annotations(function, format=Format.FORWARDREF)

    def signature(function: Callable[..., Any]) -> inspect.Signature:
        """The parameters; ValueError if the function does not tell them."""
        return inspect.signature(function, annotation_format=Format.FORWARDREF)

else:

    def written_hints(function: Callable[..., Any]) -> dict[str, Any]:
        """The hints as they are written."""
        return inspect.get_annotations(function)

    def signature(function: Callable[..., Any]) -> inspect.Signature:
        """The parameters; ValueError if the function does not tell them."""
        return inspect.signature(function)
