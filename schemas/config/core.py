"""What every section of the config shares: frozen, closed, and errors that carry rule and fix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import InitErrorDetails, PydanticCustomError

WEIGHT_TOLERANCE = 1e-6


Basis = Annotated[str, Field(min_length=4)]
"""Where a figure comes from: a file of validation/references/ and its metric, a publication, or `assumed`."""


class Section(BaseModel):
    """A frozen, closed part of the config: an unknown key is an error, and so is a number that is not finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


def broken(rule: str, fix: str) -> PydanticCustomError:
    """An error that the loader prints with file, line, key and value before it."""
    return PydanticCustomError("broken_rule", "{rule}", {"rule": rule, "fix": fix})


def _check_weights(given: Any, each: ValidatorFunctionWrapHandler) -> dict[str, float]:
    """Weights sum to 1. Told together with what is wrong with single weights, as long as all are numbers."""
    try:
        weights: dict[str, float] = each(given)
        wrong: list[InitErrorDetails] = []
    except ValidationError as error:
        wrong = [
            InitErrorDetails(type=one["type"], loc=one["loc"], input=one["input"], ctx=one.get("ctx", {}))
            for one in error.errors()
        ]
        weights = given if isinstance(given, dict) else {}
    if not weights and not wrong:
        raise broken("weights must name at least one value", "add `value: 1.0`")
    if weights and all(type(weight) in (int, float) and math.isfinite(weight) for weight in weights.values()):
        total = math.fsum(weights.values())
        if abs(total - 1.0) > WEIGHT_TOLERANCE:
            rule = f"weights sum to {total:.6g}; must sum to 1 within {WEIGHT_TOLERANCE:g}"
            wrong.append(InitErrorDetails(type=broken(rule, _scaled(weights, total)), loc=(), input=given))
    if wrong:
        raise ValidationError.from_exception_data("weights", wrong)
    return weights


def _scaled(weights: Mapping[str, float], total: float) -> str:
    """The fix for weights of a wrong sum."""
    if min(weights.values()) < 0:
        return "put the negative ones right first"
    if total == 0:
        return "give at least one weight above 0"
    more = ", …" if len(weights) > 8 else ""
    listed = ", ".join(f"{name}: {weight / total:.6g}" for name, weight in list(weights.items())[:8])
    return f"scaled to 1 they read {{{listed}{more}}}"


Weight = Annotated[float, Field(ge=0)]
Weights = Annotated[dict[str, Weight], WrapValidator(_check_weights)]
"""Shares by value."""
Rate = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
