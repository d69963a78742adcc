"""Does every argument of every function do what it does in NumPy, or is it refused by its name?

Never NumPy's default in silence: each keyword of each signature is given a value that is not the default.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import assert_equal, attempt
from differences import Loss, agree, along, direction
from keywords import KEYWORDS, Keyword, placed
from strategies import Call, Draw, with_examples
from subjects import entries, leaves, network

from symbolic import SymbolicError, value_and_grad

EXAMPLES = 3


@pytest.mark.parametrize("keyword", KEYWORDS, ids=str)
def test_no_argument_is_passed_over(keyword: Keyword) -> None:
    for examples in (EXAMPLES, 10 * EXAMPLES):
        if _audited(keyword, examples):
            return
    raise AssertionError(f"NumPy took no value of {keyword}: give one in keywords.py")


def _audited(keyword: Keyword, examples: int) -> bool:
    taken: list[bool] = []

    def audit(draw: Draw) -> None:
        call = keyword.subject.arguments(draw)
        if keyword.name in placed(keyword.subject, call):
            taken.append(True)
            return
        for value in attempt(lambda: keyword.values(call), ()) or []:
            taken.append(_holds(keyword, call, value, draw))

    with_examples(examples, audit)
    return any(taken)


def _holds(keyword: Keyword, call: Call, value: Any, draw: Draw) -> bool:
    """Whether NumPy takes this value; then we give what NumPy gives, or refuse the argument by its name."""
    subject = keyword.subject._replace(parameters=keyword.parameters(value))
    function = subject.of(call)
    want = attempt(function, [np.array(one) for one in call.arrays])  # NumPy may overwrite them
    if isinstance(want, Exception) or leaves(want) == ():  # unstacked along an axis of size 0
        return False
    if keyword.subject.name == "np.unpackbits" and keyword.name == "count" and not np.size(call.arrays[0]):
        return True  # of no bytes NumPy gives as many bits as are wanted, and never writes them
    if keyword.name == "out":
        want = attempt(keyword.subject.of(call), call.arrays)
    got = attempt(network(function, len(call.arrays)).predict, call.arrays)
    if isinstance(got, Exception):
        named = isinstance(got, SymbolicError) and keyword.name in str(got)
        assert named, f"{subject}: NumPy gives {want!r}, layers raise {got!r}, which does not name {keyword.name}"
        return True
    for one, other in zip(leaves(entries(got)), leaves(entries(want)), strict=True):
        assert_equal(one, other, subject)
    _gradient(subject, call, draw)
    return True


def _gradient(subject: Any, call: Call, draw: Draw) -> None:
    loss = Loss(subject, call, draw)
    if (
        not loss.wanted
        or "overwrite_input" in subject.parameters
        or any(np.asarray(one).dtype.kind not in "fc" for one in loss.results)
    ):
        return
    for k, delta in enumerate(value_and_grad(loss.real, loss.positions)(*loss.floats)[1]):
        way = direction(draw, loss.floats[k])
        agree(delta, way, along(loss, loss.floats, k, way), f"{subject}, gradient by argument {k}", loss.tolerance)
