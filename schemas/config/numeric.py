"""Numeric attributes of people: a family, its parameters, where it is cut off and how it is rounded.

    {family: normal, mean: 170, sd: 9, low: 140, high: 210, step: 1}
    {family: normal, sd: 7, step: 1, by: {female: {mean: 163}, male: {mean: 177}}}

Values are whole multiples of `step`. `low` and `high` are about the rounded value: a multiple that lies between them
keeps everything that is rounded to it, so that the first and the last are no rarer than their neighbours. What stands
in a row of `by` goes before what stands beside `by`; every row must be complete with that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from schemas.behaviour.families import knots, place_of, share_below, value_at, width
from schemas.config.core import Positive, Section, broken
from schemas.explain import Explained, explained

MASS_LEFT = 1e-6
"""The least share of a family that its bounds may leave."""
FINEST = Fraction(1, 10**6)
"""Stored floats have six decimals."""
CELLS = 2**52
"""Values are whole numbers of steps, and a double holds no larger ones."""
FIRST, LAST = 2.0**-54, 1 - 2.0**-53
"""The lowest and the highest share that a uniform stands for."""
NEEDED: Mapping[str, tuple[str, ...]] = {
    "normal": ("mean", "sd"),
    "lognormal": ("median", "spread"),
    "beta": ("a", "b"),
    "gamma": ("shape", "scale"),
    "poisson": ("mean",),
    "empirical": ("quantiles",),
}
"""The parameters without which a family is none."""
ABOVE_ZERO = ("sd", "median", "spread", "a", "b", "shape", "scale")
POISSON_MEAN = 10_000.0


def _quantiles(given: dict[str, float]) -> dict[str, float]:
    """Quantiles by name, both rising."""
    for name in given:
        try:
            place_of(name)
        except ValueError:
            raise broken(f"`{name}` is no quantile", "write one like q0.05, from q0 to q1") from None
    places, values = knots(given)
    if places.size < 2 or len(set(places.tolist())) < places.size or values.tolist() != sorted(values.tolist()):
        raise broken("quantiles must be two or more, and must not fall", "list each place once, from the lowest up")
    if values[0] == values[-1]:
        raise broken("all quantiles are the same value", "give two values at least")
    return given


Quantiles = Annotated[dict[str, float], AfterValidator(_quantiles)]
"""Values by the share of people at or below them, such as `{q0: 0, q0.5: 31000, q1: 400000}`."""


class _Bounds(Section):
    low: float | None = None
    """No value lies below it."""
    high: float | None = None
    """No value lies above it."""


class NormalRow(_Bounds):
    """Parameters of a normal distribution."""

    TAG: ClassVar[str] = "normal"
    mean: float | None = None
    """Its middle."""
    sd: Positive | None = None
    """Its standard deviation, before it is cut off."""


class LognormalRow(_Bounds):
    """Parameters of a lognormal distribution."""

    TAG: ClassVar[str] = "lognormal"
    median: Positive | None = None
    """Half of the people lie below it."""
    spread: Positive | None = None
    """Standard deviation of the natural logarithm: with 0.5, two thirds lie between 0.61 and 1.65 medians."""


class BetaRow(Section):
    """Parameters of a beta distribution between two ends."""

    TAG: ClassVar[str] = "beta"
    a: Positive | None = None
    """The larger beside `b`, the nearer to `high`."""
    b: Positive | None = None
    """The larger beside `a`, the nearer to `low`."""
    low: float = 0.0
    """Its lower end, 0 unless given."""
    high: float = 1.0
    """Its upper end, 1 unless given."""


class GammaRow(_Bounds):
    """Parameters of a gamma distribution."""

    TAG: ClassVar[str] = "gamma"
    shape: Positive | None = None
    """1 falls off from 0 like waiting times; larger ones have a peak."""
    scale: Positive | None = None
    """Its mean divided by `shape`."""


class PoissonRow(_Bounds):
    """The parameter of a Poisson distribution."""

    TAG: ClassVar[str] = "poisson"
    mean: Annotated[float, Field(gt=0, le=POISSON_MEAN)] | None = None
    """The mean count, above 0 and up to 10,000."""


class QuantilesRow(_Bounds):
    """A distribution by its quantiles, with straight lines between them."""

    TAG: ClassVar[str] = "empirical"
    quantiles: Quantiles | None = None
    """Values by the share of people at or below them. Without `q0` or `q1` it ends at `low` or `high`."""


class Row(NamedTuple):
    """One complete row: parameters, and the lowest and highest cell, in whole steps; None where there is no bound."""

    parameters: dict[str, Any]
    first: int | None
    last: int | None


class _Family(Section):
    step: Positive | None = None
    """Values are whole multiples of it; in steps of 0.000001 or coarser. Without it they are on a power of ten near a
    ten-thousandth of the narrowest row's width, and counts are whole."""

    @model_validator(mode="wrap")
    @classmethod
    def _possible(cls, given: Any, judge: ModelWrapValidatorHandler[Self]) -> Self:
        """What single keys break and what they break together are told at once."""
        found: list[Explained] = []
        judged: Self | None = None
        try:
            judged = judge(given)
        except ValidationError as error:
            found += explained(cls, error)
        if isinstance(given, dict):
            told = {one.place for one in found}
            misspelt = {(name,) for name in cls.model_fields if f"did you mean `{name}`?" in {one.fix for one in found}}
            [family] = get_args(cls.model_fields["family"].annotation)
            more = numeric_problems(family, given)
            found += [Explained(*one) for one in more if one[0] not in told | misspelt]
        if found or judged is None:
            wrong = [InitErrorDetails(type=broken(one.rule, one.fix), loc=one.place, input=given) for one in found]
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return judged


class Normal(NormalRow, _Family):
    """Normally distributed."""

    family: Literal["normal"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, NormalRow], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


class Lognormal(LognormalRow, _Family):
    """Lognormally distributed."""

    family: Literal["lognormal"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, LognormalRow], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


class BetaOver(BetaRow):
    """Parameters of a beta distribution that differ for some people."""

    TAG: ClassVar[str] = "beta"
    low: float | None = None  # type: ignore[assignment]
    """Its lower end, 0 unless given."""
    high: float | None = None  # type: ignore[assignment]
    """Its upper end, 1 unless given."""


class Beta(BetaRow, _Family):
    """Beta distributed between `low` and `high`."""

    family: Literal["beta"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, BetaOver], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


class Gamma(GammaRow, _Family):
    """Gamma distributed."""

    family: Literal["gamma"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, GammaRow], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


class Poisson(PoissonRow, _Family):
    """Counts, Poisson distributed."""

    family: Literal["poisson"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, PoissonRow], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


class Empirical(QuantilesRow, _Family):
    """Distributed as its quantiles say."""

    family: Literal["empirical"]
    """The family of the distribution. It says which of the other keys there are."""
    by: Annotated[dict[str, QuantilesRow], Field(min_length=1)] | None = None
    """For each value or band of the attribute it depends on: the parameters that differ."""


NumericSpec = Annotated[Normal | Lognormal | Beta | Gamma | Poisson | Empirical, Field(discriminator="family")]
"""A numeric attribute."""
AnyNumeric = Normal | Lognormal | Beta | Gamma | Poisson | Empirical


def parent_levels(spec: AnyNumeric) -> tuple[str, ...]:
    """The values or bands that `by` has rows for, in the order in which `parent_level` counts them; empty without."""
    return tuple(spec.by or ())


def step_of(spec: AnyNumeric) -> Fraction:
    """The step of the values, given or by default."""
    return _step(spec.family, spec.step, [row for _, row in _rows(spec.family, _plain(spec))])


def is_whole(spec: AnyNumeric) -> bool:
    """Whether all values are whole numbers."""
    return step_of(spec).denominator == 1


def rows_of(spec: AnyNumeric) -> list[Row]:
    """The rows of `by`, or the one row without it."""
    step = step_of(spec)
    return [_row(spec.family, row, step) for _, row in _rows(spec.family, _plain(spec))]


def numeric_problems(family: str, given: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Place, rule and fix of whatever keys of a numeric attribute break together. ``given`` is a plain map.

    A key whose own value is impossible is passed over: its own error stands already.
    """
    complete: list[tuple[tuple[str | int, ...], dict[str, Any]]] = []
    for place, row in _rows(family, given):
        lacking = [name for name in NEEDED[family] if name not in row]
        for name in lacking:
            if not place:
                yield (name,), f"`{family}` must have it", f"add `{name}`"
            elif name not in _own_keys(given, place):
                yield (
                    place,
                    f"has no `{name}`, and there is none beside `by`",
                    f"add `{name}` to the row or beside `by`",
                )
        if "low" in row and "high" in row and row["low"] >= row["high"]:
            fix = "swap the two" if row["low"] > row["high"] else "leave room between them"
            yield _where(given, place, "low"), f"low {row['low']:.15g} must be below high {row['high']:.15g}", fix
        elif not lacking and all(row[name] > 0 for name in ABOVE_ZERO if name in row):
            complete.append((place, row))
    step = _number(given.get("step"))
    if step is not None and step > 0 and Fraction(Decimal(repr(step))) % FINEST:
        yield ("step",), "values are stored with six decimals", "write a multiple of 0.000001"
    elif complete and (step is None or step > 0):
        grid = _step(family, step, [row for _, row in complete])
        for place, row in complete:
            yield from ((_where(given, place, key), rule, fix) for key, rule, fix in _row_problems(family, row, grid))


def _row_problems(family: str, row: dict[str, Any], step: Fraction) -> Iterator[tuple[str, str, str]]:
    """Key, rule and fix of what is impossible about one complete row."""
    if family == "poisson" and not 0 < row["mean"] <= POISSON_MEAN:
        return  # told by the field
    if family == "empirical" and (wrong := _open_ends(row)):
        yield "quantiles", *wrong
        return
    parameters, first, last = _row(family, row, step)
    if first is not None and last is not None and first > last:
        rule = f"no multiple of the step {float(step):.15g} lies from {row['low']:.15g} to {row['high']:.15g}"
        yield "low", rule, "make `step` smaller or the bounds wider"
        return
    start, end = shares_at(family, parameters, first, last, step)
    if not end - start >= MASS_LEFT:
        middle = [float(value) for value in value_at(family, parameters, [0.0005, 0.9995])]
        rule = f"its bounds leave {max(end - start, 0.0):.2g} of the distribution; at least {MASS_LEFT:g} must be left"
        fix = f"99.9 % of it lies from {middle[0]:.6g} to {middle[1]:.6g}: move the bounds there"
        yield "low" if "low" in row else "high", rule, fix
        return
    for share, bound in ((max(start, FIRST), "low"), (min(end, LAST), "high")):
        reached = float(value_at(family, parameters, share))
        if not abs(reached) < CELLS * step:
            rule = f"its values reach {reached:.3g}; at most {float(CELLS * step):.3g} can be told apart"
            yield NEEDED[family][0], rule, f"give `{bound}`"


def _open_ends(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Rule and fix, where nothing says how far the quantiles reach, or a bound lies within what it should end."""
    places, values = knots(row["quantiles"])
    for place, end, bound in ((0, 0.0, "low"), (-1, 1.0, "high")):
        if places[place] == end:
            continue
        if bound not in row:
            return f"nothing says where it ends: there is no `q{end:g}`", f"add `q{end:g}`, or `{bound}`"
        if (row["low"] > values[0]) if bound == "low" else (row["high"] < values[-1]):
            return f"`{bound}` lies among the quantiles, and there is no `q{end:g}`", f"add `q{end:g}`"
    return None


def shares_at(
    family: str, parameters: Mapping[str, Any], first: int | None, last: int | None, step: Fraction
) -> tuple[float, float]:
    """The shares of the family below the first cell and up to the end of the last one."""
    start = 0.0 if first is None else float(share_below(family, parameters, float((first - Fraction(1, 2)) * step)))
    end = 1.0 if last is None else float(share_below(family, parameters, float((last + Fraction(1, 2)) * step)))
    return start, end


def _row(family: str, row: dict[str, Any], step: Fraction) -> Row:
    parameters = {name: row[name] for name in NEEDED[family]}
    if family == "beta":
        parameters |= {"low": row["low"], "high": row["high"]}
    if family == "empirical":
        places, values = knots(row["quantiles"])
        ends = {"q0": row["low"]} if places[0] > 0 and "low" in row else {}
        ends |= {"q1": row["high"]} if places[-1] < 1 and "high" in row else {}
        parameters["quantiles"] = {**row["quantiles"], **ends}
    low, high = row.get("low"), row.get("high")
    first = None if low is None else math.ceil(Fraction(Decimal(repr(low))) / step)
    last = None if high is None else math.floor(Fraction(Decimal(repr(high))) / step)
    return Row(parameters, first, last)


def _step(family: str, given: float | None, rows: list[dict[str, Any]]) -> Fraction:
    """The step as the config writes it; else 1 for counts, else a power of ten near a ten-thousandth of the width."""
    if given is not None:
        return Fraction(Decimal(repr(given)))
    if family == "poisson":
        return Fraction(1)
    narrowest = min(width(family, _row(family, row, Fraction(1)).parameters) for row in rows)
    exponent = int(f"{narrowest:e}".partition("e")[2])
    return max(FINEST, Fraction(10) ** (exponent - 4))


def _plain(spec: AnyNumeric) -> dict[str, Any]:
    return spec.model_dump()


def _rows(family: str, given: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Each row of `by` on top of what stands beside it, with its place; the one row without `by` at no place."""
    beside = _values(given)
    by = given.get("by")
    if family == "beta":
        beside = {"low": 0.0, "high": 1.0, **beside}
    if not isinstance(by, Mapping) or not by:
        return [((), beside)]
    return [(("by", name), {**beside, **_values(part)}) for name, part in by.items() if isinstance(part, Mapping)]


def _where(given: Mapping[str, Any], place: tuple[str | int, ...], key: str) -> tuple[str | int, ...]:
    """The place of a key of a row; the row itself, where the key stands beside `by`."""
    return (*place, key) if not place or key in given["by"][place[1]] else place


def _own_keys(given: Mapping[str, Any], place: tuple[str | int, ...]) -> set[str]:
    """Keys of a row that are there, whatever is wrong with their values, or beside `by`."""
    part = given["by"][place[1]]
    return {name for where in (given, part) for name, value in where.items() if value is not None}


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters and bounds that are usable as they are."""
    names = {name for needed in NEEDED.values() for name in needed} | {"low", "high"}
    found: dict[str, Any] = {}
    for name in names & set(given):
        if name == "quantiles":
            if isinstance(given[name], dict) and all(_number(value) is not None for value in given[name].values()):
                try:
                    found[name] = _quantiles(given[name])
                except ValueError:
                    continue
        elif (number := _number(given[name])) is not None:
            found[name] = number
    return found


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None
