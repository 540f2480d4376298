"""How much each person does in each domain, and from when to when: apps come and go, and not everybody has all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, normal
from flows.common.ids import user_ids_of
from flows.dispositions.levels import factor_of
from schemas.behaviour.effective import NEVER
from schemas.behaviour.participation import MARGIN, share_taking_part
from schemas.config.dispositions import DispositionsConfig
from schemas.domain import Domain
from schemas.tables.core import sort_rows
from schemas.tables.sealed import PARTICIPATION

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
MINUTE = 60_000_000


def draw_participation(
    config: DispositionsConfig,
    domains: Mapping[str, Domain],
    people: pa.Table,
    numbers: U64,
    signed_up: I64,
    window: tuple[int, int],
    draws: Draws,
) -> pa.Table:
    """`participation`: one row a person and domain.

    Factors are log-normal and, absence counted, 1 in the mean; on top of it comes what attributes do, which is 1 in the
    mean over the people that a domain file is made for, and moves the whole for others. ``people`` has the columns of
    `personas`; ``signed_up`` (people,) and ``window`` in microseconds UTC.
    """
    absent = _absent(config.absent_share, list(domains), numbers, draws)
    usual = share_taking_part(config, len(domains))
    begins, ends = stays(config, list(domains), numbers, signed_up, window, draws)
    begins, ends = np.where(absent, signed_up[:, None], begins), np.where(absent, NEVER, ends)
    tables = []
    for column, (domain, spec) in enumerate(domains.items()):
        by_attributes = _by_attributes(spec, people)
        deviate = config.activity_spread * normal(draws.uniform(f"activity in {domain}", numbers))
        factor = np.round(by_attributes * np.exp(deviate - config.activity_spread**2 / 2) / usual, 6)
        tables.append(
            pa.table(
                {
                    "user_id": user_ids_of(numbers),
                    "domain": pa.array([domain] * numbers.size, pa.string()),
                    "rate_factor": pa.array(np.where(absent[:, column], 0.0, factor)),
                    "attribute_factor": pa.array(by_attributes),
                    "valid_from": pa.array(begins[:, column]).cast(pa.timestamp("us", "UTC")),
                    "valid_to": pa.array(ends[:, column], mask=ends[:, column] == NEVER).cast(
                        pa.timestamp("us", "UTC")
                    ),
                }
            )
        )
    return PARTICIPATION.conform(sort_rows(pa.concat_tables(tables), PARTICIPATION))


def stays(
    config: DispositionsConfig,
    domains: list[str],
    numbers: U64,
    signed_up: I64,
    window: tuple[int, int],
    draws: Draws,
) -> tuple[I64, I64]:
    """(people, domains) from when to when each does anything in the domain, unless absent from it; ``NEVER`` for no end.

    In microseconds UTC, as ``signed_up`` (people,) and ``window`` are.
    """
    start, length = window[0], window[1] - window[0]
    begins, ends = [], []
    for domain in domains:
        which = draws.uniform(f"come or go in {domain}", numbers)
        comes = which < config.late_start_share
        goes = (which < config.late_start_share + config.early_end_share) & ~comes
        part = MARGIN + (1 - 2 * MARGIN) * draws.uniform(f"moment of it in {domain}", numbers)
        moment = start + np.floor(part * length / MINUTE).astype(np.int64) * MINUTE
        begins.append(np.where(comes, moment, signed_up))
        ends.append(np.where(goes, moment, NEVER))
    return np.stack(begins, axis=1), np.stack(ends, axis=1)


def _by_attributes(domain: Domain, people: pa.Table) -> F64:
    """(people,) what their attributes multiply by how much they do in the domain."""
    factor = np.ones(people.num_rows)
    for tilt in domain.participation.tilts:
        factor *= factor_of(people, tilt.attribute, tilt.rate)
    return np.asarray(np.round(factor, 6), dtype=np.float64)


def _absent(share: float, domains: list[str], numbers: U64, draws: Draws) -> npt.NDArray[np.bool_]:
    """(people, domains) whether each does nothing there. Who would do nothing at all has the domain next to the share."""
    uniform = np.stack([draws.uniform(f"absent from {domain}", numbers) for domain in domains], axis=1)
    absent = uniform < share
    nowhere = np.flatnonzero(absent.all(axis=1))
    absent[nowhere, uniform[nowhere].argmax(axis=1)] = False
    return absent
