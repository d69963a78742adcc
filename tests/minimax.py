"""Which polynomials stand in `coefficients.py` and `tables.py`? `python tests/minimax.py` writes them.

Each is the best one for its weight, by Remez' exchange in 75 digits; then every coefficient is rounded to its type.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath  # type: ignore[import-untyped]  # has no types
import numpy as np
from mpmath import mp, mpf

Real = Callable[[Any], Any]
TINY = mpf(10) ** -12  # where a quotient such as (sin x - x)/x³ still has its digits
NATIVE = Path(__file__).resolve().parent.parent / "symbolic" / "backends" / "native"


class Wanted(NamedTuple):
    """A polynomial p(z) for which |p - f| · weight is small from `low` to `high`, of a degree for each type."""

    note: str
    of: Real
    low: Any
    high: Any
    weight: Real
    degrees: dict[str, int]


def of_square(f: Real) -> Real:
    """f(√z)/√z, for an odd function."""
    return lambda z: f(mpmath.sqrt(z)) / mpmath.sqrt(z)


def scaled_tail(a: Any, pole: Any) -> Any:
    return mpmath.exp(a * a / 2) * mpmath.erfc(a / mpmath.sqrt(2)) / 2 * (a + pole)


def tail(t: Any) -> Any:
    return scaled_tail(5 * (1 + t) / (1 - t), mpf(5) / 4)


def weight_of_tail(t: Any, end: Any) -> Any:
    """Beyond the end, only the logarithm less a²/2 is wanted of it, whose digits are then those of a²/2."""
    return 1 / tail(t) / (1 if 5 * (1 + t) < end * (1 - t) else end * end / 2)


def scaled_erfc(t: Any) -> Any:
    x = mpf(7) / 2 * (1 + t) / (1 - t)
    return mpmath.exp(x * x) * mpmath.erfc(x) * (x + mpf(7) / 8)


def exponent(x: Any) -> Any:
    return -mpmath.log(mpmath.erfc(x))


def curve_of_exponent(x: Any) -> Any:
    return (exponent(x) / x - 2 / mpmath.sqrt(mpmath.pi)) / x


HALF_LN2 = mpf("0.3501")  # a little more than ln 2 / 2, for the multiple of ln 2 is found by a rounded product
ATANH = mpf("0.0301")  # ((√2 - 1)/(√2 + 1))² and a little more
SQUARE = mpf("0.6275")  # (π/4)² and a little more: the multiple is found by a rounded product

WANTED = {
    "exp": Wanted(
        "(eʳ - 1 - r)/r² for |r| ≤ ln 2 / 2, next to 1",
        lambda r: (mpmath.expm1(r) - r) / r**2, -HALF_LN2, HALF_LN2, lambda r: r**2,
        {"double": 9, "float": 4, "between": 6},
    ),
    "exp_of_16th": Wanted(
        "the same for |r| ≤ ln 2 / 32, next to a 16th root",
        lambda r: (mpmath.expm1(r) - r) / r**2, -HALF_LN2 / 16, HALF_LN2 / 16, lambda r: r**2, {"double": 4},
    ),
    "expm1": Wanted(
        "the same next to r, and its even and odd powers for cosh and sinh",
        lambda r: (mpmath.expm1(r) - r) / r**2, -HALF_LN2, HALF_LN2, abs, {"double": 10, "float": 5},
    ),
    "exp2": Wanted(
        "(2ʳ - 1)/r for |r| ≤ 1/2",
        lambda r: (2**r - 1) / r, mpf("-0.5"), mpf("0.5"), abs, {"double": 10, "float": 5},
    ),
    "log": Wanted(
        "(2 artanh s - 2 s)/s³ of z = s² for |s| ≤ (√2 - 1)/(√2 + 1)",
        lambda z: (of_square(mpmath.atanh)(z) - 1) * 2 / z, TINY, ATANH, lambda z: z / 2,
        {"double": 6, "float": 2, "between": 4},
    ),
    "log_of_mantissa": Wanted(
        "the same for 3/4 ≤ m ≤ 3/2, |s| ≤ 1/5",
        lambda z: (of_square(mpmath.atanh)(z) - 1) * 2 / z, TINY, mpf("0.04"), lambda z: z / 2,
        {"double": 6, "float": 2},
    ),
    "log_rest": Wanted(
        "(artanh s - s - s³/3 - s⁵/5)/s⁷ of z = s²",
        lambda z: (of_square(mpmath.atanh)(z) - 1 - z / 3 - z * z / 5) / z**3, TINY, ATANH, lambda z: z**3,
        {"double": 7},
    ),
    "sin": Wanted(
        "(sin r - r)/r³ of z = r² for |r| ≤ π/4",
        lambda z: (of_square(mpmath.sin)(z) - 1) / z, TINY, SQUARE, lambda z: z, {"double": 5, "float": 2},
    ),
    "cos": Wanted(
        "(cos r - 1 + r²/2)/r⁴ of z = r² for |r| ≤ π/4",
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, TINY, SQUARE, lambda z: z * z,
        {"double": 5, "float": 2},
    ),
    "arctan": Wanted(
        "(arctan q - q)/q³ of z = q² for |q| ≤ 1/2",
        lambda z: (of_square(mpmath.atan)(z) - 1) / z, TINY, mpf("0.2501"), lambda z: z, {"double": 12, "float": 5},
    ),
    "arcsin": Wanted(
        "(arcsin x - x)/x³ of z = x² for |x| ≤ 1/2",
        lambda z: (of_square(mpmath.asin)(z) - 1) / z, TINY, mpf("0.2501"), lambda z: z, {"double": 12, "float": 5},
    ),
    "cbrt": Wanted(
        "m^(-1/3) from 1 to 2, a first guess",
        lambda m: 1 / mpmath.cbrt(m), mpf(1), mpf(2), mpmath.cbrt, {"double": 4, "float": 4},
    ),
    "erf": Wanted(
        "(-log(erfc x)/x - 2/√π)/x from 0 to where erf is 1; an error in it counts less and less",
        curve_of_exponent, mpf(10) ** -8, mpf("5.93"), lambda x: x * x / mpmath.expm1(exponent(x)), {"double": 23},
    ),
    "erf_short": Wanted(
        "the same to 3.95, where erf is 1 in float32",
        curve_of_exponent, mpf(10) ** -8, mpf("3.95"), lambda x: x * x / mpmath.expm1(exponent(x)), {"float": 8},
    ),
    "ndtr": Wanted(
        "exp(a²/2) Φ(-a) (a + 5/4) of t = (a - 5)/(a + 5), a from 0 to 38.7; beyond, for the logarithm",
        tail, mpf(-1), mpf("0.99999"), lambda t: weight_of_tail(t, mpf("38.7")), {"double": 23},
    ),
    "ndtr_short": Wanted(
        "the same to 14.5, where Φ is 0 in float32",
        tail, mpf(-1), mpf("0.99999"), lambda t: weight_of_tail(t, mpf("14.5")), {"float": 11},
    ),
    "erfc": Wanted(
        "exp(x²) erfc(x) (x + 7/8) of t = (x - 7/2)/(x + 7/2), x from 0 to 27.3",
        scaled_erfc, mpf(-1), (mpf("27.3") - 3.5) / (mpf("27.3") + 3.5), lambda t: 1 / scaled_erfc(t), {"double": 22},
    ),
    "erfc_short": Wanted(
        "the same from 0 to 10.1, where erfc is 0 in float32",
        scaled_erfc, mpf(-1), (mpf("10.1") - 3.5) / (mpf("10.1") + 3.5), lambda t: 1 / scaled_erfc(t), {"float": 10},
    ),
}  # fmt: skip

FIRST_IN_TWO_PARTS = {"ndtr", "ndtr_short", "erfc", "erfc_short"}


def best(wanted: Wanted, degree: int, rounds: int = 30) -> tuple[Any, list[Any]]:
    """Remez' exchange: the greatest weighted error, and the coefficients, lowest first."""
    count = 16 * (degree + 2)
    middle, reach = (wanted.low + wanted.high) / 2, (wanted.high - wanted.low) / 2
    grid = [middle - reach * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    values, weights = [wanted.of(z) for z in grid], [wanted.weight(z) for z in grid]
    chosen = [round(k * (count - 1) / (degree + 1)) for k in range(degree + 2)]
    found: tuple[Any, list[Any]] | None = None
    for _ in range(rounds):
        rows = [[grid[i] ** k for k in range(degree + 1)] + [(-1) ** r / weights[i]] for r, i in enumerate(chosen)]
        *coefficients, level = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([values[i] for i in chosen]))
        values_of_p = [mpmath.polyval(coefficients, z, asc=True) for z in grid]
        errors = [(p - y) * w for p, y, w in zip(values_of_p, values, weights, strict=True)]
        greatest = max(map(abs, errors))
        if found is None or greatest < found[0]:
            found = greatest, coefficients
        chosen = alternating(errors, degree + 2)
        if greatest <= abs(level) * mpf("1.01") or len(chosen) < degree + 2:
            break
    assert found is not None
    return found


def alternating(errors: list[Any], count: int) -> list[int]:
    """The places of the greatest errors between two changes of sign; of too many, those at the ends go."""
    places: list[int] = []
    for i, error in enumerate(errors):
        if not places or (error > 0) != (errors[places[-1]] > 0):
            places.append(i)
        elif abs(error) > abs(errors[places[-1]]):
            places[-1] = i
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places


def written(coefficient: Any, element: str) -> str:
    return str(np.float32(float(coefficient))) if element == "float" else repr(float(coefficient))


def page() -> str:
    """The text of `coefficients.py`."""
    lines = [
        '"""Which polynomials approximate the elementary functions? Written by `python tests/minimax.py`.',
        "",
        "The lowest power comes first; `between` is in double, for what is then rounded to float32.",
        '"""',
        "",
        "COEFFICIENTS: dict[str, dict[str, tuple[float, ...]]] = {",
    ]
    rests = []
    for name, wanted in WANTED.items():
        lines.append(f'    "{name}": {{  # {wanted.note}')
        for element, degree in wanted.degrees.items():
            with mp.workdps(75):
                error, coefficients = best(wanted, degree)
            lines.append(f'        "{element}": (  # error 2^{float(mpmath.log(error, 2)):.1f}')
            lines += [f"            {written(one, element)}," for one in coefficients]
            lines.append("        ),")
            if name in FIRST_IN_TWO_PARTS:
                first = coefficients[0]
                rests.append(
                    f'    "{name}": {{"{element}": {written(first - mpf(written(first, element)), element)}}},'
                )
        lines.append("    },")
    lines += ["}", "", "FIRST_RESTS = {  # what rounding took from the first coefficient"]
    return "\n".join([*lines, *rests, "}"]) + "\n"


# --------------------------------------------------------------------------- piece by piece
PIECES, MARGIN = 16, mpf(10) ** -9


class Pieces(NamedTuple):
    """Polynomials of u = (x - centre)·t for each of sixteen pieces of t = 1/(x + pole), x from 0 to `end`."""

    note: str
    of: Real
    pole: Any
    end: Any
    degree: int


TABLES = {
    "ndtr": Pieces("exp(x²/2) Φ(-x)", lambda x: scaled_tail(x, 1 - x), mpf(4), mpf("38.75"), 8),
    "erfc": Pieces(
        "exp(x²) erfc(x)",
        lambda x: 2 * scaled_tail(x * mpmath.sqrt(2), 1 - x * mpmath.sqrt(2)),
        mpf("2.75"),
        mpf("27.5"),
        8,
    ),
}


def scale(wanted: Pieces) -> tuple[float, float]:
    """What takes t to 1 … 2, without its ends."""
    low, high = 1 / (wanted.end + wanted.pole), 1 / wanted.pole
    factor = float((1 - mpf(2) ** -20) / (high - low))
    return factor, float(1 + mpf(2) ** -21 - low * factor)


def of_pieces(wanted: Pieces) -> tuple[Any, list[float], list[list[Any]]]:
    """The greatest error, the centres, and the coefficients of each piece."""
    factor, start = map(mpf, scale(wanted))
    centres, found, worst = [], [], mpf(0)
    for k in range(PIECES):
        low, high = (((1 + mpf(k + part) / PIECES) - start) / factor for part in (0, 1))
        centre = centre_near(wanted, middle_of(wanted.of, *(1 / t - wanted.pole for t in (high, low))))
        first, last = sorted(1 - (centre + wanted.pole) * t for t in (low * (1 - MARGIN), high * (1 + MARGIN)))

        def of(u: Any, centre: Any = centre) -> Any:
            return wanted.of((centre + wanted.pole * u) / (1 - u))

        def weight(u: Any, of: Real = of) -> Any:
            return 1 / of(u)

        error, coefficients = best(Wanted("", of, first, last, weight, {}), wanted.degree)
        centres.append(float(centre))
        found.append(coefficients)
        worst = max(worst, error)
    return worst, centres, found


def middle_of(f: Real, low: Any, high: Any) -> Any:
    """Where f is as many times greater than at one end as it is smaller than at the other."""
    value = mpmath.sqrt(f(low) * f(high))
    return mpmath.findroot(lambda x: f(x) - value, (low + high) / 2)


def centre_near(wanted: Pieces, middle: Any) -> Any:
    """A number at which the function is nearly one of double precision (Gal 1986)."""

    def lost(x: Any) -> Any:
        value = wanted.of(x)
        return abs(value / mpf(float(value)) - 1)

    return min((mpf(round(float(middle) * 4096) + k) / 4096 for k in range(-30, 31)), key=lost)


def tables() -> str:
    """The text of `tables.py`."""
    lines = [
        '"""Which numbers does an instruction find in a table? Written by `python tests/minimax.py`.',
        "",
        "Roots of 2, and coefficients of polynomials that approximate a tail piece by piece:",
        "those of u = (x - centre)·t for sixteen pieces of t = 1/(x + pole). Each row holds one number for each piece.",
        '"""',
        "",
        "from typing import NamedTuple",
        "",
        "",
        "class Table(NamedTuple):",
        '    """The pieces of one function: four digits of factor·t + start, behind its leading 1, say which.',
        "",
        "    The centres are chosen so that rounding takes next to nothing from the first coefficients.",
        '    """',
        "",
        "    pole: float",
        "    factor: float",
        "    start: float",
        "    centres: tuple[float, ...]",
        "    coefficients: tuple[tuple[float, ...], ...]",
        '    """Lowest power first."""',
        "",
        "",
        "TABLES = {",
    ]
    for name, wanted in TABLES.items():
        with mp.workdps(75):
            error, centres, found = of_pieces(wanted)
        factor, start = scale(wanted)
        lines.append(f'    "{name}": Table(  # {wanted.note}, error 2^{float(mpmath.log(error, 2)):.1f}')
        lines.append(f"        {float(wanted.pole)!r}, {factor!r}, {start!r},")
        lines += [f"        {row(centres)},", "        ("]
        lines += [f"            {row([float(one[k]) for one in found], 16)}," for k in range(wanted.degree + 1)]
        lines += ["        ),", "    ),"]
    with mp.workdps(75):
        exact = [mpf(2) ** (mpf(k) / 16) for k in range(16)]
        high = [float(one) for one in exact]
        low = [float(one - mpf(other)) for one, other in zip(exact, high, strict=True)]
    lines += ["}  # fmt: skip", "", "ROOTS = (  # 2^(k/16), and what rounding took from it"]
    return "\n".join([*lines, f"    {row(high, 8)},", f"    {row(low, 8)},", ")  # fmt: skip"]) + "\n"


def row(numbers: list[float], indent: int = 12) -> str:
    parts = [", ".join(map(repr, numbers[k : k + 4])) for k in range(0, len(numbers), 4)]
    return "(\n" + "".join(f"{' ' * indent}{one},\n" for one in parts) + f"{' ' * (indent - 4)})"


if __name__ == "__main__":
    (NATIVE / "tables.py").write_text(tables(), encoding="utf-8")
    (NATIVE / "coefficients.py").write_text(page(), encoding="utf-8")
