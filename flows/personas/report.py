"""What a config asks for beside what its people are, and notices of what will be rare."""

from __future__ import annotations

import pyarrow as pa

from flows.personas.lands import land_notices
from flows.personas.population import population
from flows.personas.shares import configured_shares, joint
from schemas.config import DataConfig
from schemas.config.personas import PersonasConfig
from validation.fidelity.realised import Realised, compare

RARE = 5.0
"""An expected count below it gets a notice."""
TOLD = 5
"""Values that a notice names."""


def realised(config: PersonasConfig, personas: pa.Table) -> list[Realised]:
    """Every value of every attribute, configured against realised: among everybody, then given what it depends on.

    Occupations are shares of those who work. An attribute of which no two people share a value is left out, and so are
    shares that are too large a sum, or that hang on a correlation.
    """
    return sorted(compare(configured_shares(config), [personas]), key=lambda row: row.given != "")


def people_notices(data: DataConfig) -> list[str]:
    """What will be rare among the people, and what does not fit their lands. Raises as `notices` does."""
    return [*notices(data.personas, data.users), *land_notices(data)]


def notices(config: PersonasConfig, users: int) -> list[str]:
    """One sentence for each attribute of the config with values of which fewer than five people are expected.

    Raises PopulationError if the config's population does not fit together.
    """
    found = population(config)
    named = [*config.attributes, *(name for segment in config.segments.values() for name in segment.attributes)]
    out = []
    for name in dict.fromkeys([*named, *(["segment"] if config.segments else [])]):
        if any(plan.by_name[name].has_numbers for plan in found.plans if name in plan.by_name):
            continue  # pieces of a range are no values that somebody named
        shares = joint(found, [name])
        few = {value: users * drawn for (value,), (_, drawn) in (shares or {}).items() if 0 < users * drawn < RARE}
        if few:
            told = ", ".join(f"`{value}` {count:.2g}" for value, count in list(few.items())[:TOLD])
            more = f" and {len(few) - TOLD} more" if len(few) > TOLD else ""
            out.append(f"`{name}`: at {users:,} people the expected count is below {RARE:g} for {told}{more}")
    return out
