"""Which entries are larger, which are equal?"""

from __future__ import annotations

import numpy as np

from symbolic.ops.families import Predicate


class Equal(Predicate, numpy=np.equal, symbol="=="):
    """x == y."""

    __slots__ = ()


class NotEqual(Predicate, numpy=np.not_equal, symbol="!="):
    """x != y."""

    __slots__ = ()


class Less(Predicate, numpy=np.less, symbol="<"):
    """x < y."""

    __slots__ = ()


class LessEqual(Predicate, numpy=np.less_equal, symbol="<="):
    """x <= y."""

    __slots__ = ()


class Greater(Predicate, numpy=np.greater, symbol=">"):
    """x > y."""

    __slots__ = ()


class GreaterEqual(Predicate, numpy=np.greater_equal, symbol=">="):
    """x >= y."""

    __slots__ = ()
