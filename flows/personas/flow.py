"""The stages `personas` and `population`, which says what the people are to be."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.personas.sample import sample_people
from flows.personas.shares import population_shares
from schemas.tables.sealed import ACTORS, PERSONAS, POPULATION
from schemas.tables.visible import USERS

PERSONAS_STAGE = Stage("personas", sample_people, reads={}, writes=(USERS, PERSONAS, ACTORS))
POPULATION_STAGE = Stage("population", population_shares, reads={}, writes=(POPULATION,))
