"""What the observer holds to be true of everybody: the numbers of the generator, from the config and the domain file.

Nothing here comes from a sealed table. An observer with a wrong model is the same record with a field replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.choice import match_table
from schemas.behaviour.hazards import DriftRates, mean_change
from schemas.behaviour.price import PriceModel, Prices, prices_of
from schemas.config import DataConfig
from schemas.config.data import DomainTimeline
from schemas.domain import Domain
from schemas.life_events import LifeEvents

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

DAY_US = 86_400_000_000
STRENGTH_NODES = ((-math.sqrt(3.0), 1 / 6), (0.0, 2 / 3), (math.sqrt(3.0), 1 / 6))
"""Deviate and weight: the Gauss-Hermite rule of three points, exact for the moments of a normal up to the fifth."""


@dataclass(frozen=True, eq=False)
class ObserverParameters:
    """The observer's model of one domain. D dimensions, V values of the largest dimension, S points of strength.

    Dimensions with fewer values are padded at the end with zeros, which no belief ever reaches.
    """

    domain: str
    dimensions: tuple[str, ...]
    """Full names, in the order of the domain file."""
    values: tuple[tuple[str, ...], ...]
    """Names of the values of each dimension, in the order of the domain file."""
    prior: F64
    """(D, V) share of people who like each value best when the window begins."""
    match: F64
    """(D, V, V) liked value, option's value → match."""
    strengths: F64
    """(D, S) points of the grid of strengths, in log-odds."""
    strength_weights: F64
    """(S,) share of people at each point."""
    hazard_per_day: F64
    """(D,) moves a day of the dimension's lasting value, by whatever cause."""
    targets: F64
    """(D, V) where they move it to, whatever held before; zeros where nothing moves it."""
    exploration: float
    position_effect: float
    price: PriceModel
    """For somebody of mean sensitivity: what there is to live on is sealed."""
    accidental: float
    """Share of choices where another option was hit."""
    other_person: float
    """Share of sittings in which somebody else chose."""
    false_share: float
    """Share of statements about what is usual that behaviour does not bear out."""
    reliability: float
    """Share of statements that are read right."""
    state_days: tuple[float, float]
    """Shortest and longest time a passing state lasts."""
    window_start_us: int

    @property
    def sizes(self) -> I64:
        """(D,) number of values of each dimension."""
        return np.array([len(names) for names in self.values], dtype=np.int64)

    @property
    def mean_strengths(self) -> F64:
        """(D,) mean strength over people, in log-odds."""
        return np.asarray(np.round((self.strengths * self.strength_weights).sum(axis=1), 6))

    def statement_likelihood(self) -> F64:
        """(D, V, V) value read, true value → probability of the reading. Zero where padded.

        A false claim names another value, as often as people like it; a reader who errs reads any value but the one
        that was said.
        """
        size = self.prior.shape[1]
        table = np.zeros((len(self.dimensions), size, size))
        for dimension, count in enumerate(self.sizes):
            share = np.maximum(self.prior[dimension, :count], 1e-9)
            elsewhere = np.tile(share[:, None], (1, count))
            np.fill_diagonal(elsewhere, 0.0)
            elsewhere /= elsewhere.sum(axis=0)
            said = (1.0 - self.false_share) * np.eye(count) + self.false_share * elsewhere
            read = self.reliability * said + (1.0 - self.reliability) * (1.0 - said) / (count - 1)
            table[dimension, :count, :count] = read
        return table


def observer_parameters(data: DataConfig, domain: Domain, life_events: LifeEvents) -> ObserverParameters:
    """The model that generated the domain's part of the data, tilts by attributes aside (attributes are sealed)."""
    specs = list(domain.dimensions.values())
    size = max(len(spec.values) for spec in specs)
    prior, match = np.zeros((len(specs), size)), np.zeros((len(specs), size, size))
    for row, spec in enumerate(specs):
        count = len(spec.values)
        prior[row, :count] = [value.share for value in spec.values.values()]
        match[row, :count, :count] = match_table(spec.kind, count)
    spread = data.dispositions.strength_spread
    grid = [round(data.dispositions.strength_mean * math.exp(spread * deviate), 6) for deviate, _ in STRENGTH_NODES]
    hazard, targets = _hazards(data, domain, life_events, size)
    timelines, noise, contradictions = data.timelines, data.disturb.noise, data.disturb.contradictions
    true_statements = timelines.statement_rate * data.window.weeks
    statements = true_statements + contradictions.stated_vs_done
    return ObserverParameters(
        domain=domain.name,
        dimensions=tuple(domain.dimension_ids()),
        values=tuple(tuple(spec.values) for spec in specs),
        prior=prior,
        match=match,
        strengths=np.array([[spec.strength * point for point in grid] for spec in specs]),
        strength_weights=np.array([weight for _, weight in STRENGTH_NODES]),
        hazard_per_day=hazard,
        targets=targets,
        exploration=timelines.exploration,
        position_effect=timelines.position_effect,
        price=PriceModel(timelines.price_effect, timelines.budget_effect),
        accidental=noise.accidental,
        other_person=noise.other_person,
        false_share=contradictions.stated_vs_done / statements if statements else 0.0,
        reliability=data.tasks.reader_reliability,
        state_days=(contradictions.state_days / 3, float(contradictions.state_days)),
        window_start_us=round(data.window.start.timestamp()) * 1_000_000,
    )


def prices_in(data: DataConfig, domain: Domain, index: CatalogueIndex) -> Prices | None:
    """The prices that count in a domain's choices; None where none do."""
    if data.timelines.price_effect == 0.0 or domain.catalogue.price_for == "nothing":
        return None
    return prices_of(domain, index, data.timelines.domains.get(domain.name, DomainTimeline()).rate_factor)


def _hazards(data: DataConfig, domain: Domain, life_events: LifeEvents, size: int) -> tuple[F64, F64]:
    """Moves a day of each dimension (D,), and where to (D, V): by life events, slow change and seasons, of mean people."""
    drift = data.disturb.drift
    rates = DriftRates(drift.abrupt_per_year, drift.gradual_share, drift.seasonal_share, 7.0 * data.window.weeks)
    hazard, targets = np.zeros(len(domain.dimensions)), np.zeros((len(domain.dimensions), size))
    for row, (name, spec) in enumerate(zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)):
        hazard[row], targets[row, : len(spec.values)] = mean_change(name, spec, life_events, rates)
    return hazard, targets
