"""Holes in the log: for some hours or days an app loses what a person does with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, MINUTE, WEEK
from flows.common.draws import normal
from flows.common.stairs import stairs
from flows.timelines.apps import WEEKS_A_YEAR, apps_used
from flows.timelines.parts import ARRIVE, ASSISTANT, NULL, Content, Part, code_of
from flows.timelines.setting import Setting
from flows.timelines.whole import Whole
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
HOURS, SPREAD = 14.0, 1.2
"""Median of the hours that a hole lasts, and standard deviation of their log: assumed."""
LONGEST = 14 * DAY


def is_logged(
    parts: Sequence[Part], whole: Whole, content: Content, domains: Mapping[str, Domain], setting: Setting
) -> Mask:
    """(lines,) whether the log has each line: whole sessions are lost that begin while their app loses everything.

    ``whole`` and ``content`` are the parts one behind the other, before anything is left out. What was done was done:
    nobody acts otherwise for it. The assistant keeps its own log, and whoever takes a booking confirms it.
    """
    lost = np.concatenate([is_lost(part, list(domains.values()), setting) for part in parts])
    if not lost.any():
        return np.ones(whole.session.size, bool)
    booked = (content.starts_us != NULL) & (content.action != code_of(ARRIVE))
    lost[whole.session[booked]] = False
    return ~lost[whole.session]


def is_lost(part: Part, domains: Sequence[Domain], setting: Setting) -> Mask:
    """(sessions,) whether each session of a part begins in a hole of its app's log.

    An app has at most one hole a week that begins. A higher rate adds holes and takes none away.
    """
    per_week = setting.config.outages_per_year / WEEKS_A_YEAR
    lost = np.zeros(part.person.size, bool)
    if part.name == ASSISTANT or per_week == 0 or part.person.size == 0:
        return lost
    domain = domains[int(part.domain[0])]
    used = apps_used(domain, part.person, part.start_us, setting)
    for place, app in enumerate(domain.apps):
        here = np.flatnonzero(used == place)
        lost[here] = _in_a_hole(f"{domain.name} {app.name}", part.person[here], part.start_us[here], per_week, setting)
    return lost


def _in_a_hole(name: str, person: I64, at_us: I64, per_week: float, setting: Setting) -> Mask:
    who, draws, span = setting.people.numbers, setting.draws, setting.span
    week = np.arange((span.start - LONGEST) // WEEK, span.end // WEEK + 1)
    owner, column = np.nonzero(draws.uniform(f"{name} hole", who[:, None], week[None, :]) < per_week)
    begins = ((week[column] + draws.uniform(f"{name} hole at", who[owner], week[column])) * WEEK).astype(np.int64)
    hours = HOURS * np.exp(SPREAD * normal(draws.uniform(f"{name} hole hours", who[owner], week[column])))
    ends = begins + np.minimum(LONGEST, np.rint(hours * (HOUR // MINUTE)).astype(np.int64) * MINUTE)
    steps = stairs(span.start - LONGEST - WEEK, span.end + LONGEST + WEEK, who.size)
    # Holes may overlap; of what began and ended on lower steps there is equally much.
    starts, stops, instants = (
        np.sort(steps.of(owner, begins)),
        np.sort(steps.of(owner, ends)),
        steps.of(person, at_us),
    )
    begun, over = (np.searchsorted(some, instants, side="right") for some in (starts, stops))
    return np.asarray(begun > over)
