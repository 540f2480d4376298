"""What every section of the config shares: frozen, closed, and errors that carry rule and fix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

WEIGHT_TOLERANCE = 1e-6


class Section(BaseModel):
    """A frozen, closed part of the config: an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def broken(rule: str, fix: str) -> PydanticCustomError:
    """An error that the loader prints with file, line, key and value before it."""
    return PydanticCustomError("broken_rule", "{rule}", {"rule": rule, "fix": fix})


def _check_weights(weights: Mapping[str, float]) -> Mapping[str, float]:
    """Weights are finite, not negative, and sum to 1."""
    if not weights:
        raise broken("weights must name at least one value", "add `value: 1.0`")
    for name, weight in weights.items():
        if math.isnan(weight) or math.isinf(weight):
            raise broken(f"weight of `{name}` is {weight}; must be a number from 0 to 1", "write a share")
        if weight < 0:
            raise broken(f"weight of `{name}` is {weight:g}; must be 0 or more", "write 0 to leave the value out")
    total = math.fsum(weights.values())
    if abs(total - 1.0) > WEIGHT_TOLERANCE:
        listed = ", ".join(f"{name}: {weight / total:.6g}" for name, weight in list(weights.items())[:8]) if total > 0 else ""
        raise broken(
            f"weights sum to {total:.6g}; must sum to 1 within {WEIGHT_TOLERANCE:g}",
            f"scaled to 1 they read {{{listed}}}" if listed else "give at least one weight above 0",
        )
    return weights


Weights = Annotated[dict[str, float], AfterValidator(_check_weights)]
Rate = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
