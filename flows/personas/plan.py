"""How the people of one segment are drawn, attribute after attribute, each by one uniform."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flows.personas.copula import Solved
from flows.personas.joint import Cells, Codes, Joint, nobody_yet, only, way_to, with_cells, with_step
from flows.personas.tables import Step
from schemas.config.personas import FOLLOWS

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def followed(steps: Iterable[Step]) -> dict[str, str]:
    """Bands to the numbers in them, where the number is drawn by what is left of the band's uniform."""
    given = {step.name: step.of.given for step in steps}
    return {band: number for band, number in FOLLOWS.items() if band in given.get(number, ())}


@dataclass(frozen=True)
class Plan:
    """How the people of one segment are drawn: joint tables first, then one attribute after the other."""

    segment: str
    share: float
    """Of the population."""
    drawn: float
    """Of the people who are drawn, where groups are oversampled."""
    steps: tuple[Step, ...]
    """Every attribute, parents before children. Those of joint tables are not drawn from these."""
    joints: tuple[Joint, ...]
    copula: Solved | None = None
    """The correlation behind the uniforms of some attributes."""

    @cached_property
    def by_name(self) -> dict[str, Step]:
        """The attributes."""
        return {step.name: step for step in self.steps}

    @cached_property
    def alone(self) -> tuple[Step, ...]:
        """The attributes that are drawn by themselves."""
        together = {name for joint in self.joints for name in joint.cells.codes}
        return tuple(step for step in self.steps if step.name not in together)

    @cached_property
    def followed(self) -> Mapping[str, str]:
        """Bands to the numbers in them, where the number is drawn by what is left of the band's uniform."""
        return followed(self.steps)

    def levels(self, name: str) -> tuple[str, ...]:
        """Values of an attribute, in the order of their codes."""
        return self.by_name[name].levels

    def cells(self, *names: str) -> Cells:
        """The joint shares of some attributes in this segment. Raises PopulationError if they are too many."""
        way = way_to(self.steps, names)
        blocks: list[Joint | Step] = [joint for joint in self.joints if way.intersection(joint.cells.codes)]
        blocks += [step for step in self.alone if step.name in way]
        cells = nobody_yet()
        for place, block in enumerate(blocks):
            later = {*names}.union(*(step.of.given for step in blocks[place + 1 :] if isinstance(step, Step)))
            cells = with_cells(cells, only(block.cells, later)) if isinstance(block, Joint) else with_step(cells, block)
            cells = only(cells, later)
        return cells


@dataclass
class PlanUniforms:
    """The uniforms of people of a plan: correlated ones, rests of others, and independent ones."""

    plan: Plan
    independent: Callable[[str], F64]
    """(n,) uniforms by attribute."""
    correlated: Mapping[str, F64]
    rests: dict[str, F64] = field(default_factory=dict)
    """By the attribute that they were left from."""

    def of(self, name: str) -> F64:
        """(n,) the uniforms of an attribute: what its band left, the correlated ones, or its own."""
        for band, number in self.plan.followed.items():
            if number == name:
                return self.rests.pop(band)
        return self.correlated[name] if name in self.correlated else self.independent(name)

    def wants_rest(self, name: str) -> bool:
        """Whether a number is drawn by what is left."""
        return name in self.plan.followed or self.plan.by_name[name].has_numbers

    def leave(self, name: str, rest: F64) -> None:
        """Takes (n,) what is left of an attribute's uniforms."""
        self.rests[name] = rest


def attributes_of(
    plan: Plan, uniforms: PlanUniforms, people: int, wanted: Collection[str] | None = None
) -> tuple[Codes, dict[str, F64], list[I64]]:
    """Codes of (n,) people's attributes, the values of numbers, and their cell in each joint table.

    Of the attributes only those ``wanted`` and what they depend on, if that is given; attributes of which no two people
    share a value are left out.
    """
    codes: Codes = {}
    values: dict[str, F64] = {}
    cells: list[I64] = []
    needed = set(plan.by_name) if wanted is None else way_to(plan.steps, wanted)
    for joint in plan.joints:
        upto = [name for name in joint.cells.codes if name in needed]
        if not upto:
            continue
        found, cell = joint.draw(uniforms, people, upto[-1])
        codes |= found
        cells.append(cell)
        for name in found:
            if plan.by_name[name].has_numbers:
                value = plan.by_name[name].value_in(codes, codes[name], uniforms.rests.pop(name))
                assert value is not None
                values[name] = value
    for step in plan.alone:
        if step.name in needed and not step.of.is_unique:
            wants_rest = uniforms.wants_rest(step.name)
            one = step.draw(codes, uniforms.of(step.name), wants_rest=wants_rest)
            codes[step.name] = one.code
            if one.value is not None:
                values[step.name] = one.value
            elif one.rest is not None and wants_rest:
                uniforms.leave(step.name, one.rest)
    return codes, values, cells
