"""How long, and whom, each reference watched, and our people cut to the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from validation.fidelity.occurrences import Occurrences
from validation.fidelity.rhythm import WEEK_US

F64 = npt.NDArray[np.float64]
ALIKE = 1.1
"""Windows that differ by a tenth or less count as equal."""
LOST_AT_MOST = 0.05
"""The largest ratio of the reference's mean gap to our window at which gaps may gate.

A gap g is seen in a window W with probability 1 - g / W, so that the window loses about mean gap / W of all gaps, the
longest first; below a twentieth that is less than the limit of 0.08.
"""


@dataclass(frozen=True)
class Exposure:
    """What a reference could see of a person. ``weeks`` is infinite where it watched for years, or does not say."""

    weeks: float
    events_at_least: int = 1
    """The least events of a person in it, over its own window."""
    events_a_month: float | None = None
    """Events a person and 30 days about which units are told; more of ours are thinned to it where numbers matter."""
    comes_and_goes: bool = False
    """Whether its people took part for a part of its window only, so that ours do as much in less of it. Where numbers
    matter, as for repeats, ours are cut to as many events as people of the same rank had in it."""
    basis: str = "assumed"


UNKNOWN = Exposure(math.nan, basis="assumed; no window is known, so ours is taken")
EXPOSURES = {
    "grocery_dunnhumby_cj": Exposure(
        52, events_a_month=48.9, basis="the package holds the year 2017; 1,469,307 lines of 2,469 people in 365 days"
    ),
    "mobility_foursquare_nyc": Exposure(
        45,
        events_at_least=46,
        events_a_month=16.9,
        basis="assumed: 45 weeks, from lags up to 180-365 days and gaps; least events by q0.01 of events per user; "
        "95,000 check-ins of 535 people",
    ),
    "social_collegemsg": Exposure(
        193 / 7,
        comes_and_goes=True,
        basis="193 days (SNAP CollegeMsg); 44 messages a person, though 6.7 in a week between first and last",
    ),
    "media_cdnow_purchases": Exposure(
        545 / 7, basis="January 1997 to June 1998, of people who first bought in its first quarter"
    ),
    "media_movielens_100k": Exposure(
        215 / 7, events_at_least=20, basis="19 September 1997 to 22 April 1998; 20 ratings or more by selection"
    ),
    "media_lastfm_hetrec2011": Exposure(math.inf, basis="no times; each person's 50 most played artists"),
    "fashion_amazon_reviews_5core": Exposure(
        math.inf, events_at_least=5, basis="assumed: reviews over years; 5 or more by selection"
    ),
    "productivity_git_commits": Exposure(math.inf, basis="assumed: commits over years, by gaps of more than one"),
    "health_fitbit_furberg2016": Exposure(31 / 7, basis="12 April to 12 May 2016"),
    "health_studentlife_activity": Exposure(10, basis="a term of ten weeks"),
    "housing_home_activities_ordonez": Exposure(5, basis="35 days in two homes"),
}


def exposure_of(reference_id: str) -> Exposure:
    """What the reference could see; UNKNOWN for those that are not listed, such as files of one's own."""
    return EXPOSURES.get(reference_id, UNKNOWN)


def weeks_of(occurrences: Occurrences) -> float:
    """Weeks from the first event of the sample to the last one."""
    at = occurrences.at_us
    return float((at.max() - at.min()) / WEEK_US) if at.size else 0.0


def is_longer(exposure: Exposure, weeks: float) -> bool:
    """Whether the reference watched for longer than our ``weeks``."""
    return exposure.weeks > weeks * ALIKE


def is_seen_whole(mean_gap_h: float, weeks: float) -> bool:
    """Whether gaps of that mean are little cut by a window of ``weeks``."""
    return mean_gap_h <= LOST_AT_MOST * weeks * 168


@lru_cache(maxsize=2)
def cut(occurrences: Occurrences, exposure: Exposure, weeks: float) -> Occurrences:
    """Ours, in the reference's window if that is the shorter, and without those who do too little for it.

    The least events are scaled to our window where that is the shorter, and rounded.
    """
    if exposure.weeks * ALIKE < weeks and occurrences.at_us.size:
        early = occurrences.at_us < occurrences.at_us.min() + round(exposure.weeks * WEEK_US)
        occurrences, weeks = occurrences.where(early), exposure.weeks
    share = min(1.0, weeks / exposure.weeks) if math.isfinite(exposure.weeks) and exposure.weeks > 0 else 1.0
    least = max(1, round(exposure.events_at_least * share))
    if least == 1 or not occurrences.user.size:
        return occurrences
    enough = np.bincount(occurrences.user)[occurrences.user] >= least
    return occurrences.where(enough)


def cut_to_counts(occurrences: Occurrences, p: F64, events: F64) -> Occurrences:
    """The first events of each of ours, as many as a person of the same rank has in the reference.

    ``events`` are its quantiles of events per user at ``p``; between them linear in the logarithm, and flat beyond.
    """
    if not occurrences.user.size:
        return occurrences
    count = np.bincount(occurrences.user)
    present = np.flatnonzero(count)
    rank = np.empty(count.size)
    order = present[np.argsort(count[present], kind="stable")]
    rank[order] = (np.arange(order.size) + 0.5) / order.size
    most = np.rint(np.exp(np.interp(rank, p, np.log(np.maximum(events, 1.0)))))
    nth = np.arange(occurrences.user.size) - np.searchsorted(occurrences.user, occurrences.user)
    return occurrences.where(nth < most[occurrences.user])
