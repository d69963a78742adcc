"""Which overloads has `symbolic`? For mypy, which has rules of its own, others than for all other checkers."""

from typing import Literal

MYPY: Literal[False] = False
"""mypy takes a variable of this name as true."""

if MYPY:
    from symbolic.bounded import Decorating as Decorating
else:
    from symbolic.decorated import Decorating as Decorating
