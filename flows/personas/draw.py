"""People drawn from a population: the value of every attribute, and how many people each stands for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, permutation
from flows.personas.copula import Solved, correlated_uniforms
from flows.personas.groups import SEGMENT
from flows.personas.joint import Codes
from flows.personas.plan import PlanUniforms, attributes_of
from flows.personas.population import Plan, Population
from flows.personas.tables import Step, picker

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
NONE = -1
"""Code of an attribute that people of a segment do not have."""


@dataclass(frozen=True)
class Drawn:
    """Attributes of (n,) people, as codes of values."""

    codes: Codes
    levels: dict[str, tuple[str, ...]]
    values: dict[str, F64]
    """(n,) of attributes whose levels are pieces of a range of numbers; NaN where a segment does not have them."""
    plan: I64
    """(n,) which plan each person was drawn by."""
    weight: F64
    """(n,) people of the population that each stands for; the mean is 1 over all that could be drawn."""

    def text(self, name: str) -> pa.Array:
        """(n,) values; null where a segment does not have the attribute."""
        codes = self.codes[name]
        missing = codes == NONE
        index = pa.array(codes, mask=missing) if missing.any() else pa.array(codes)
        return pa.array(self.levels[name], pa.string()).take(index)

    def numbers(self, name: str) -> I64:
        """(n,) values that are whole numbers."""
        if name in self.values:
            return np.rint(self.values[name]).astype(np.int64)
        return np.array([int(level) for level in self.levels[name]], np.int64)[self.codes[name]]

    def column(self, name: str) -> pa.Array:
        """(n,) values, text or numbers; null where a segment does not have the attribute."""
        if name not in self.values:
            return self.text(name)
        return pa.array(self.values[name], mask=np.isnan(self.values[name]))

    def flags(self, name: str, *wanted: str) -> npt.NDArray[np.bool_]:
        """(n,) whether the value is one of some."""
        return np.array([level in wanted for level in self.levels[name]])[self.codes[name]]

    @cached_property
    def is_weighted(self) -> bool:
        """Whether anybody stands for more or fewer people than the others."""
        return bool((self.weight != 1).any())


def drawn(population: Population, numbers: U64, draws: Draws) -> Drawn:
    """Every attribute of these people. An attribute is drawn by one uniform of its own, whatever else the config says."""
    plans = population.plans
    shares = np.array([plan.drawn for plan in plans])
    if len(plans) == 1:
        codes, values, weight = _by_plan(plans[0], numbers, draws)
        levels = {step.name: step.levels for step in plans[0].steps}
        return Drawn(codes, levels, values, np.zeros(numbers.size, np.int64), weight)
    nobody = np.zeros(numbers.size, np.int64)
    plan = picker(np.zeros(len(plans), np.int64), shares, 1).pick(nobody, draws.uniform(SEGMENT, numbers))
    levels = _common_levels(plans)
    codes = {name: np.full(numbers.size, NONE, np.int64) for name in levels}
    values = {s.name: np.full(numbers.size, np.nan) for own in plans for s in own.steps if s.has_numbers}
    weight = np.ones(numbers.size)
    for place, own in enumerate(plans):
        here = np.flatnonzero(plan == place)
        found, measured, weight[here] = _by_plan(own, numbers[here], draws)
        for step in own.steps:
            common = {level: code for code, level in enumerate(levels[step.name])}
            codes[step.name][here] = np.array([common[level] for level in step.levels], np.int64)[found[step.name]]
            if step.name in values:  # of a built-in attribute one segment may have a family and another its table
                values[step.name][here] = measured.get(step.name, step.lows[found[step.name]])
    return Drawn(codes, levels, values, plan, weight)


def _common_levels(plans: tuple[Plan, ...]) -> dict[str, tuple[str, ...]]:
    """The values of every attribute in any of the plans."""
    found: dict[str, dict[str, None]] = {}
    for plan in plans:
        for step in plan.steps:
            found.setdefault(step.name, {}).update(dict.fromkeys(step.levels))
    return {name: tuple(values) for name, values in found.items()}


def _by_plan(plan: Plan, numbers: U64, draws: Draws) -> tuple[Codes, dict[str, F64], F64]:
    """Codes of all attributes of people of one segment, the values of numbers, and the people's weights."""
    joined = {} if plan.copula is None else _joined(plan, plan.copula, numbers, draws)
    uniforms = PlanUniforms(plan, lambda name: draws.uniform(name, numbers), joined)
    codes, values, cells = attributes_of(plan, uniforms, numbers.size)
    weight = np.full(numbers.size, plan.share / plan.drawn if plan.drawn > 0 else 1.0)
    for joint, cell in zip(plan.joints, cells, strict=True):
        weight *= (joint.cells.shares / joint.cells.drawn)[cell]
    for step in plan.alone:
        if step.of.is_unique:
            codes[step.name] = _unique(step, numbers, draws)
    return codes, values, weight


def _joined(plan: Plan, copula: Solved, numbers: U64, draws: Draws) -> dict[str, F64]:
    """The correlated uniforms of attributes, but for those of which groups are drawn more often: these have their own."""
    stated: dict[str, F64] = {}
    for joint in plan.joints:
        if wanted := set(joint.oversampled).intersection(copula.names):
            ranks = joint.ranks(PlanUniforms(plan, lambda name: draws.uniform(name, numbers), {}), numbers.size)
            stated |= {name: ranks[name] for name in wanted}
    found = correlated_uniforms(draws, numbers, copula.names, copula.matrix, stated)
    return {name: uniform for name, uniform in found.items() if name not in stated}


def _unique(step: Step, numbers: U64, draws: Draws) -> I64:
    """(n,) codes of which no two people of the release share one."""
    count = len(step.levels)
    order = permutation(draws.bits(f"{step.name} order", 0, np.arange(count, dtype=np.uint64)))
    return order[numbers.astype(np.int64)]
