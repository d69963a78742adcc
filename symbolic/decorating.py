"""Which overloads has `symbolic`? For mypy, whose overloads go by rules of their own, others than for all other checkers."""

from typing import Literal

MYPY: Literal[False] = False
"""mypy takes a variable of this name as true."""

if MYPY:
    from symbolic.bounded import Decorating as Decorating
else:
    from symbolic.decorated import Decorating as Decorating
