"""The correlations of a segment's people: those of the config, solved, beside those of the built-in population."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from flows.personas.copula import Solved, Values, filling, solve, spearman
from flows.personas.groups import together
from flows.personas.joint import way_to
from flows.personas.plan import Plan, PlanUniforms, attributes_of, followed
from flows.personas.tables import Step
from schemas.config.correlations import Correlation
from schemas.config.personas import FOLLOWS, PersonasConfig

F64 = npt.NDArray[np.float64]
BuiltInCorrelations = tuple[tuple[str, ...], F64]
"""Names, and the (names, names) correlation matrix of the normal deviates behind them."""


def by_tables(
    config: PersonasConfig, asked: Sequence[Correlation], steps: Sequence[Sequence[Step]]
) -> list[tuple[str, str]]:
    """Pairs that a table decides: of which one attribute depends on the other, which a rule or margin joins, or of one
    of which groups are oversampled.

    ``asked`` are about attributes that have a uniform of their own; ``steps`` are those of each segment.
    """
    pairs: list[tuple[str, str]] = []
    while True:
        sets = together(config, steps, pairs)
        new = [
            pair
            for one in asked
            for own in steps
            if (pair := _in_order(own, one.between))
            and pair not in pairs
            and (pair[0] in _deciding(own, sets, pair[1]) or _oversampled(config, own, sets).intersection(pair))
        ]
        if not new:
            return pairs
        pairs += dict.fromkeys(new)


def _in_order(steps: Sequence[Step], between: Sequence[str]) -> tuple[str, str] | tuple[()]:
    """The two in the order of drawing; nothing where people of a segment do not have both."""
    order = [step.name for step in steps]
    if not set(between) <= set(order):
        return ()
    first, second = sorted(between, key=order.index)
    return first, second


def _deciding(steps: Sequence[Step], sets: Sequence[set[str]], name: str) -> set[str]:
    """What an attribute depends on by tables, or is drawn from one table with."""
    return (way_to(steps, [name]) | set().union(*(one for one in sets if name in one))) - {name}


def _oversampled(config: PersonasConfig, steps: Sequence[Step], sets: Sequence[set[str]]) -> set[str]:
    """Attributes whose shares, given those before them in their table, may be others among the people drawn."""
    order = [step.name for step in steps]
    found: set[str] = set()
    for names in sets:
        inside = [set(group.where) for group in config.oversample if set(group.where) <= names]
        last = max((order.index(name) for where in inside for name in where), default=-1)
        found |= names.intersection(order[: last + 1])
    return found


def driven(asked: Sequence[Correlation], steps: Sequence[Step]) -> list[Correlation]:
    """What is asked for as being about the attributes that have a uniform of their own: a band that follows from its
    number has none."""
    named = {number: band for band, number in followed(steps).items()}
    given = {step.name: step.of.given for step in steps}
    named |= {band: n for band, n in FOLLOWS.items() if n in given and n not in named and n in given.get(band, (n,))}
    return [Correlation(between=[named.get(n, n) for n in one.between], spearman=one.spearman) for one in asked]


def correlated(
    plan: Plan, asked: Sequence[Correlation], built_in: BuiltInCorrelations, done: Collection[tuple[str, str]]
) -> Solved | None:
    """The matrix behind the uniforms of a plan's attributes; None where none are correlated. Pairs that are ``done`` are
    those that a table decides.

    Built-in correlations are of ranks and hold for what the config puts in an attribute's place too, so that the other
    attributes stay as they are. A file of people has its own. An attribute's uniform is independent of those of all
    that decide it, so that every table holds as it is; and those of which groups are oversampled are independent of each
    other, so that the weights undo it. Raises CorrelationError if what is asked for is out of reach.
    """
    learnt = [step.name for step in plan.steps if step.of.learnt is not None]
    sets = [set(joint.cells.codes) for joint in plan.joints]
    sets.append(set().union(*(joint.oversampled for joint in plan.joints)))
    names, matrix = _kept(built_in, [name for name in built_in[0] if name in plan.by_name and name not in learnt])
    matrix = _apart(names, matrix, [_deciding(plan.steps, sets, name) for name in names])
    pairs = [one for one in driven(asked, plan.steps) if _in_order(plan.steps, one.between) not in (*done, ())]
    touched = {name for one in pairs for name in one.between}
    known: dict[tuple[str, str], float] = {}
    if touched & set(names):
        known = _pairs(names, matrix, pairs)
        touched |= set(names)
        names, matrix = _kept((names, matrix), [])
    if not pairs:
        return Solved(names, matrix, {}) if names else None
    for name in touched:
        known |= {(other, name): 0.0 for other in _deciding(plan.steps, sets, name) & touched}
    solved = solve(pairs, _needs(plan), lambda wanted: values_of(plan, wanted), known)
    both = np.eye(len(solved.names) + len(names))
    both[: len(solved.names), : len(solved.names)] = solved.matrix
    both[len(solved.names) :, len(solved.names) :] = matrix
    return Solved((*solved.names, *names), both, solved.spearman)


def realised(plan: Plan, pair: tuple[str, str]) -> float:
    """The rank correlation of two attributes' final values on an even sample of the plan's people."""
    needed = _needs(plan)
    names = sorted({*pair, *needed[pair[0]], *needed[pair[1]]})
    ordered = [*pair, *(name for name in names if name not in pair)]
    found = values_of(plan, pair)({name: filling(place) for place, name in enumerate(ordered)})
    return spearman(found[pair[0]], found[pair[1]])


def _kept(correlations: BuiltInCorrelations, names: Sequence[str]) -> BuiltInCorrelations:
    places = [correlations[0].index(name) for name in names]
    return tuple(names), correlations[1][np.ix_(places, places)]


def _apart(names: Sequence[str], matrix: F64, deciding: Sequence[Collection[str]]) -> F64:
    """The matrix with 0 between an attribute and all that decide it, given in the order of ``names``."""
    of_tables = np.array([[one in other for one in names] for other in deciding], dtype=bool).reshape(matrix.shape)
    return np.where(of_tables | of_tables.T, 0.0, matrix)


def _pairs(names: Sequence[str], matrix: F64, asked: Sequence[Correlation]) -> dict[tuple[str, str], float]:
    """The built-in correlations by pair, but for pairs for which the config asks something else."""
    stated = [set(one.between) for one in asked]
    return {
        (one, other): float(matrix[i, j])
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if i < j and {one, other} not in stated
    }


def _needs(plan: Plan) -> dict[str, set[str]]:
    """For every attribute that has a uniform of its own, in the order of drawing, all that decide it."""
    joints = [list(joint.cells.codes) for joint in plan.joints]
    numbers = set(plan.followed.values())
    order = [name for names in joints for name in names] + [step.name for step in plan.alone]
    found: dict[str, set[str]] = {}
    for name in order:
        step = plan.by_name[name]
        if name in numbers or step.of.is_unique:
            continue
        needed = way_to(plan.steps, [name, plan.followed.get(name, name)])
        for names in joints:
            if last := max((place for place, one in enumerate(names) if one in needed), default=None):
                needed |= set(names[: last + 1])
        found[name] = needed - numbers
    return found


def values_of(plan: Plan, wanted: Collection[str]) -> Values:
    """What two attributes are for given uniforms: numbers, or places in the order of the levels."""

    def values(uniforms: Mapping[str, F64]) -> Mapping[str, npt.NDArray[np.generic]]:
        names = {name: plan.followed.get(name, name) for name in wanted}
        people = next(iter(uniforms.values())).size
        codes, numbers, _ = attributes_of(
            plan, PlanUniforms(plan, uniforms.__getitem__, {}), people, {*wanted, *names.values()}
        )
        return {name: numbers.get(shown, codes[shown]) for name, shown in names.items()}

    return values
