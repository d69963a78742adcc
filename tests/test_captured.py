"""Is what a body reads from outside as fresh at each call as plain Python would have it?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import dataclasses
import types
from typing import Any

import numpy as np
import pytest
from answers import near
from following import MODULE, ROW, X, follows, is_never_stale, of_array

import symbolic as s
from symbolic import SGD, Weight

SCALE = 2.0
TABLE: dict[str, Any] = {"scale": 2.0, "deep": {"list": [1.0, 2.0]}}
ARRAY = np.array([1.0, 2.0])
SETTINGS = types.SimpleNamespace(scale=2.0, inner=types.SimpleNamespace(array=np.array([3.0, 4.0])))
HELPERS: dict[str, Any] = {}


def helper(x: Any) -> Any:
    return x * SCALE


def helpers_helper(x: Any) -> Any:
    return helper(x) + 1.0


def set_scale(value: float) -> None:
    global SCALE
    SCALE = value


def test_a_global() -> None:
    follows(lambda x: x * SCALE, lambda: set_scale(5.0), lambda: set_scale(2.0))


def test_a_global_of_a_helper_and_of_its_helper() -> None:
    follows(lambda x: helper(x), lambda: set_scale(5.0), lambda: set_scale(2.0))
    follows(lambda x: helpers_helper(x), lambda: set_scale(5.0), lambda: set_scale(2.0))


def test_a_global_that_is_read_in_an_inner_function() -> None:
    def f(x: Any) -> Any:
        def inner() -> Any:
            return sum(x * SCALE for _ in range(2))

        return inner()

    follows(f, lambda: set_scale(5.0), lambda: set_scale(2.0))


def test_a_global_that_is_shadowed_is_of_no_interest() -> None:
    def f(x: Any, SCALE: float = 3.0) -> Any:
        return x * SCALE

    net = of_array(f)
    net(X)
    set_scale(9.0)
    try:
        net(X)
        assert net.traces() == 1
    finally:
        set_scale(2.0)


def test_a_closure() -> None:
    scale = 2.0

    def f(x: Any) -> Any:
        return x * scale

    def change(value: float) -> None:
        nonlocal scale
        scale = value

    follows(f, lambda: change(5.0), lambda: change(2.0))


def test_the_fine_print_of_numbers() -> None:
    """1, 1.0 and True, 0.0 and -0.0 are different things to read."""
    scale: Any = 1

    def f(x: Any) -> Any:
        return x * scale

    net = of_array(f)
    ints = np.array([2, 3])
    for one in (1, 1.0, True, -0.0, 0.0, np.float32(1.0), 1.0, float("nan")):
        scale = one
        for x in (ints, X):
            found, wanted = net(x), f(x)
            assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


def test_a_dictionarys_entry() -> None:
    follows(lambda x: x * TABLE["scale"], lambda: TABLE.update(scale=5.0), lambda: TABLE.update(scale=2.0))
    deep = TABLE["deep"]["list"]
    follows(lambda x: x * TABLE["deep"]["list"][1], lambda: deep.__setitem__(1, 9.0), lambda: deep.__setitem__(1, 2.0))


def test_an_attribute_of_an_object() -> None:
    follows(
        lambda x: x * SETTINGS.scale, lambda: setattr(SETTINGS, "scale", 5.0), lambda: setattr(SETTINGS, "scale", 2.0)
    )
    inner = SETTINGS.inner.array
    follows(lambda x: x * SETTINGS.inner.array, lambda: inner.__setitem__(0, 9.0), lambda: inner.__setitem__(0, 3.0))


def test_an_attribute_of_a_module() -> None:
    follows(
        lambda x: x * MODULE.scale,
        lambda: setattr(MODULE, "scale", 5.0),
        lambda: setattr(MODULE, "scale", 2.0),
    )


def test_getattr_by_a_name_that_is_a_string() -> None:
    follows(
        lambda x: x * getattr(SETTINGS, "scale"),  # noqa: B009 - what is tested
        lambda: setattr(SETTINGS, "scale", 5.0),
        lambda: setattr(SETTINGS, "scale", 2.0),
    )


def test_an_attribute_through_vars() -> None:
    follows(
        lambda x: x * vars(SETTINGS)["scale"],
        lambda: setattr(SETTINGS, "scale", 5.0),
        lambda: setattr(SETTINGS, "scale", 2.0),
    )


def test_a_captured_array_that_is_changed_in_place() -> None:
    follows(lambda x: x * ARRAY, lambda: ARRAY.__setitem__(0, 9.0), lambda: ARRAY.__setitem__(0, 1.0))
    base = np.array([1.0, 2.0, 3.0])
    view = base[1:]
    follows(lambda x: x * view, lambda: base.__setitem__(2, 9.0), lambda: base.__setitem__(2, 3.0))


def test_a_captured_array_is_an_input_of_every_call() -> None:
    """It is not burnt into the trace: changing it makes no new one."""
    table = np.array([1.0, 2.0])
    net = of_array(lambda x: x * table)
    for k in range(5):
        table[0] = float(k)
        assert net(X)[0] == k
    assert net.traces() == 1


def test_a_captured_array_that_is_replaced_by_one_of_another_shape() -> None:
    table: Any = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        return x * table * len(table)

    net = of_array(f)
    assert near(net(X), f(X))
    table = np.ones((3, 2), np.float32)
    assert near(net(X), f(X))


def test_a_default_argument() -> None:
    def f(x: Any, table: Any = [1.0, 2.0]) -> Any:  # noqa: B006 - what is tested
        return x * table[0]

    default = f.__defaults__[0]  # type: ignore[index]  # it has one
    follows(f, lambda: default.__setitem__(0, 5.0), lambda: default.__setitem__(0, 1.0))


class Model:
    scale = 2.0

    def __init__(self) -> None:
        self.bias = 1.0
        self.table = np.array([1.0, 2.0])
        self.parts = [Part(2.0), Part(3.0)]

    def shift(self, x: Any) -> Any:
        return x + self.bias

    @property
    def double(self) -> float:
        return 2.0 * self.bias

    def net(self, x: Any) -> Any:
        for part in self.parts:
            x = part.run(x)
        return self.shift(x) * self.scale * self.table


@dataclasses.dataclass
class Part:
    by: float

    def run(self, x: Any) -> Any:
        return x * self.by


def test_attributes_of_self() -> None:
    model = Model()
    follows(model.net, lambda: setattr(model, "bias", 9.0), lambda: setattr(model, "bias", 1.0))
    follows(model.net, lambda: model.parts.append(Part(7.0)), lambda: model.parts.__delitem__(-1))
    follows(model.net, lambda: model.table.__setitem__(0, 9.0), lambda: model.table.__setitem__(0, 1.0))
    follows(model.net, lambda: setattr(Model, "scale", 9.0), lambda: setattr(Model, "scale", 2.0))


def test_attributes_of_objects_in_a_list_that_their_own_methods_read() -> None:
    model = Model()
    follows(model.net, lambda: setattr(model.parts[1], "by", 9.0), lambda: setattr(model.parts[1], "by", 3.0))


def test_what_a_property_reads() -> None:
    model = Model()
    follows(lambda x: x * model.double, lambda: setattr(model, "bias", 9.0), lambda: setattr(model, "bias", 1.0))


def test_what_a_method_of_an_object_in_a_closure_reads() -> None:
    model = Model()
    follows(lambda x: model.shift(x), lambda: setattr(model, "bias", 9.0), lambda: setattr(model, "bias", 1.0))


def test_an_attribute_in_a_slot() -> None:
    class Slotted:
        __slots__ = ("scale",)

        def __init__(self) -> None:
            self.scale = 2.0

    one = Slotted()
    follows(lambda x: x * one.scale, lambda: setattr(one, "scale", 5.0), lambda: setattr(one, "scale", 2.0))


def test_a_function_that_is_replaced() -> None:
    HELPERS["activation"] = np.sin

    def f(x: Any) -> Any:
        return HELPERS["activation"](x)

    follows(f, lambda: HELPERS.update(activation=np.cos), lambda: HELPERS.update(activation=np.sin))
    follows(
        f,
        lambda: HELPERS.update(activation=lambda x: x * SCALE),
        lambda: HELPERS.update(activation=np.sin),
    )


def test_a_function_in_a_table_whose_own_globals_change() -> None:
    HELPERS["activation"] = helper
    follows(lambda x: HELPERS["activation"](x), lambda: set_scale(5.0), lambda: set_scale(2.0))


def test_a_name_that_is_bound_later() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def f(x):\n    return x * LATER if 'LATER' in globals() else x", space)
    net = of_array(space["f"])
    assert np.array_equal(net(X), X)
    space["LATER"] = 3.0
    assert np.array_equal(net(X), 3.0 * X)


def test_an_unchanged_world_is_no_reason_to_trace_again() -> None:
    model = Model()
    table: dict[str, Any] = {"a": [1.0, (2.0, "b")], "c": {3.0}}

    def f(x: Any) -> Any:
        return model.net(x) * SCALE * table["a"][0] + helpers_helper(x) * MODULE.scale

    net = of_array(f)
    for _ in range(5):
        net(X)
    assert net.traces() == 1
    table["other"] = [0.0]
    del table["other"]
    net(X)
    assert net.traces() == 1


def test_going_back_to_an_earlier_state_finds_the_earlier_trace() -> None:
    flag = True

    def f(x: Any) -> Any:
        return np.sin(x) if flag else np.cos(x)

    net = of_array(f)
    for k in range(10):
        flag = k % 2 == 0
        assert near(net(X), f(X))
    assert net.traces() == 2


def test_a_captured_weight_is_a_weight_not_a_constant() -> None:
    w = Weight(2.0)
    net = of_array(lambda x: x * w)
    net.train(X, optimizer=SGD(0.1))
    assert w.value == pytest.approx(2.0 - 0.3) and np.allclose(net(X), w.value * X)
    assert net.traces() == 1


def test_a_list_of_layers_is_watched_by_its_members() -> None:
    layers: list[Any] = [s.Sin()]

    def f(x: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return x

    net = of_array(f)
    assert near(net(X), np.sin(X))
    layers.append(s.Exp())
    assert near(net(X), np.exp(np.sin(X)))


def test_train_and_forward_see_changes_too() -> None:
    w = Weight(1.0)
    scale = 2.0
    net = of_array(lambda x: np.sum(x * w * scale))
    for scale in (2.0, 2.0, 5.0, 2.0):
        assert net.train(X, optimizer=SGD(0.0)) == 3.0 * scale and w.delta == 3.0 * scale
        with net.forward(s.Literal(X)) as tape:
            assert tape.value == 3.0 * scale


# --------------------------------------------------------------------------- arrays that are inputs of every call


def helper_that_reads(x: Any) -> Any:
    return x * ROW


READ_NATIVELY = [
    lambda x: x * (ROW * 2.0),
    lambda x: x * ROW[0],
    lambda x: x * float(ROW[1]),
    lambda x: x * ROW.sum(),
    lambda x: x * np.sum(ROW),
    lambda x: x * np.asarray(ROW),
    lambda x: x * np.array([ROW[0], 1.0]),
    lambda x: x if ROW[0] > 2.0 else 2.0 * x,
    lambda x: x if (ROW > 2.0).any() else 2.0 * x,
    lambda x: x * max(ROW),
    lambda x: x * sum(value for value in ROW),
    lambda x: x * len([value for value in ROW if value > 2.0]),
    lambda x: x * ROW.tolist()[0],
    lambda x: x * np.cumsum(ROW),
    lambda x: x * memoryview(ROW)[0],  # type: ignore[arg-type]  # an array has a buffer
    lambda x: helper_that_reads(x) + ROW,
    lambda x: x * np.sort(ROW[::-1]),
    lambda x: x * ROW.copy(),
    lambda x: x * np.where(ROW > 2.0, 1.0, 0.0),
    lambda x: x * float(f"{ROW[0]:.1f}"),
    lambda x: np.repeat(x, ROW.astype(int)),
    lambda x: np.clip(x, ROW[0], 9.0),
    lambda x: np.concatenate([x, ROW]),
]
READ_LIVE = [
    lambda x: x * ROW,
    lambda x: ROW / (x + 1.0),
    lambda x: np.maximum(ROW, x),
    lambda x: np.dot(x, ROW) * x,
    lambda x: np.where(x > 1.0, ROW, x),
    lambda x: x * ROW.shape[0] + ROW,
    lambda x: np.exp(x) @ ROW * x,
]


@pytest.mark.parametrize("function", READ_NATIVELY + READ_LIVE, ids=range(len(READ_NATIVELY + READ_LIVE)))
def test_the_contents_of_a_captured_array_are_never_stale(function: Any) -> None:
    is_never_stale(function)


@pytest.mark.parametrize("function", READ_LIVE, ids=range(len(READ_LIVE)))
def test_an_array_that_only_meets_traced_values_is_an_input(function: Any) -> None:
    net = of_array(function)
    for k in range(4):
        ROW[0] = float(k)
        assert near(net(X), function(X))
    ROW[0] = 1.0
    assert net.traces() == 1


def test_a_captured_array_that_is_replaced_by_another_kind() -> None:
    space: dict[str, Any] = {"np": np, "T": np.array([1.0, 2.0])}
    exec("def f(x):\n    return x * T", space)
    net = of_array(space["f"])
    for value in (np.array([3.0, 4.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), 5.0, np.array([1, 2])):
        space["T"] = value
        assert np.array_equal(net(X), X * value)


def test_a_tape_keeps_the_captured_array_that_it_was_made_with() -> None:
    table = np.array([1.0, 2.0])
    weight: Any = s.Weight(np.array([1.0, 1.0]))
    net = of_array(lambda x: x * weight * table)
    with s.SGD(0.0), net.forward(s.Literal(X)) as tape:
        table[:] = 100.0
        tape.backward(np.ones(2))
    assert np.array_equal(weight.delta, X * [1.0, 2.0])


def test_a_body_that_was_swapped() -> None:
    def f(x: Any) -> Any:
        return x * 2.0

    def g(x: Any) -> Any:
        return x * 3.0

    net = of_array(lambda x: f(x))
    assert np.array_equal(net(X), X * 2.0)
    f.__code__ = g.__code__
    assert np.array_equal(net(X), X * 3.0)


def test_functions_that_are_made_anew_at_the_same_address() -> None:
    space: dict[str, Any] = {"np": np, "h": lambda x: x}
    exec("def f(x):\n    return h(x)", space)
    net = of_array(space["f"])

    def times(k: int) -> Any:
        return lambda x: x * float(k)

    with pytest.warns(s.SymbolicWarning, match=r"h, which it reads, is another each time") as caught:
        for k in range(40):
            space["h"] = times(k)
            assert np.array_equal(net(X), X * k)
    assert len(caught) == 1
