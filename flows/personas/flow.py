"""The stage `personas`."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.personas.sample import sample_people
from schemas.tables.sealed import ACTORS, PERSONAS
from schemas.tables.visible import USERS

PERSONAS_STAGE = Stage("personas", sample_people, reads={}, writes=(USERS, PERSONAS, ACTORS))
