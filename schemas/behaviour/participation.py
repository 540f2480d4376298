"""How much people take part in the domains: figures about all of them that follow from the config alone."""

from __future__ import annotations

from schemas.config.dispositions import DispositionsConfig

MARGIN = 0.1
"""Part of the window, at its beginning and at its end, in which nobody begins or ends."""


def share_absent(config: DispositionsConfig, domains: int) -> float:
    """Share of people without activity in one of so many domains: who would have none in any takes part in one."""
    return config.absent_share - config.absent_share**domains / domains


def share_taking_part(config: DispositionsConfig, domains: int) -> float:
    """Mean over people of the part of the window in which each takes part in one of so many domains.

    Those who come or go do so at a moment that is uniform between the margins, and so miss half of the window.
    """
    return (1 - share_absent(config, domains)) * (1 - (config.late_start_share + config.early_end_share) / 2)
