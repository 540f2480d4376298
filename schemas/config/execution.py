"""The `execution` part of the config: it changes how a build runs, never what it makes, and is not digested."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.config.core import Section


class ExecutionConfig(Section):
    """How a build runs."""

    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """Processes, each with one native thread."""
    shard_users: Annotated[int, Field(ge=1)] = 250
    """Users that pass through the stages together. Bounds memory."""
    runner: Literal["processes"] = "processes"
    """Where tasks run when there is more than one worker."""
