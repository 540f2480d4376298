"""The config: frozen, closed, complete, versioned. `data` is digested, `execution` is not."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field

from schemas.config.core import Section
from schemas.config.data import DataConfig
from schemas.config.execution import ExecutionConfig

SCHEMA_VERSION = 1


class Config(Section):
    """One build."""

    schema_version: Literal[1]
    """Version of this schema."""
    name: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    """The release is filed under this name."""
    data: DataConfig
    execution: ExecutionConfig = Field(default_factory=ExecutionConfig)

    def data_digest(self) -> str:
        """SHA-256 of the schema version and the `data` part as JSON. The name is no data.

        Keys keep their order: shares are drawn in the order of the config, so that order is part of the data.
        """
        payload = {"schema_version": self.schema_version, "data": self.data.model_dump(mode="json")}
        return hashlib.sha256(json.dumps(payload).encode()).hexdigest()


__all__ = ["SCHEMA_VERSION", "Config", "DataConfig", "ExecutionConfig"]
