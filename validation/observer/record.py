"""What the observer sees of a batch of users in one domain: choices among shown options, and statements as read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.behaviour.price import Prices, month_and_week, pressure, spent_before
from schemas.domain import Domain

F64 = npt.NDArray[np.float64]
F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
I8 = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

STANCES = ("usual", "for_now", "back_to_usual")
USUAL, FOR_NOW, BACK_TO_USUAL = range(3)
ABSENT = -1
MINUTE_US = 60_000_000


@dataclass(frozen=True, eq=False)
class DomainRecord:
    """Observations of one domain, one row each, sorted by user and instant.

    ``options`` (n, K, D) holds the code of every shown option's value, ``ABSENT`` where fewer than K were shown and
    throughout for statements. ``chosen`` is a place among the options, ``ABSENT`` for statements; ``said_*`` are
    ``ABSENT`` for choices. ``event_row`` points into the table of events that was read.
    """

    users: int
    user: I64
    at_us: I64
    session: I64
    is_choice: Flags
    options: I8
    chosen: I8
    said_dimension: I8
    said_value: I8
    said_stance: I8
    event_row: I64
    log_price: F32
    """(n, K) log of each option's price over the typical one; 0 for statements, in padding, and where nothing is paid."""
    budgets_spent: F64
    """(n,) month's budgets that the account had spent by choices in earlier weeks of the month, at most two."""

    def __post_init__(self) -> None:
        later = (np.diff(self.user) > 0) | ((np.diff(self.user) == 0) & (np.diff(self.at_us) >= 0))
        if not later.all():
            raise ValueError(f"observations must be sorted by user and instant; row {int(np.argmin(later)) + 1} is not")
        if self.user.size and not 0 <= int(self.user[0]) <= int(self.user[-1]) < self.users:
            raise ValueError(f"users are numbered from 0 to {self.users - 1}, not {self.user[0]} to {self.user[-1]}")

    @property
    def first_row(self) -> I64:
        """(users + 1,) where the rows of each user begin, and the number of rows."""
        return np.searchsorted(self.user, np.arange(self.users + 1)).astype(np.int64)

    def seen_before(self, user: I64, at_us: I64) -> I64:
        """(q,) users and instants → how many observations of that user are strictly earlier."""
        if user.size and not 0 <= int(user.min()) <= int(user.max()) < self.users:
            raise ValueError(f"users are numbered from 0 to {self.users - 1}, not {user.min()} to {user.max()}")
        rows = self.user.size
        is_row = np.arange(rows + user.size) < rows
        order = np.lexsort((is_row, np.concatenate([self.at_us, at_us]), np.concatenate([self.user, user])))
        rows_up_to = np.empty(order.size, np.int64)
        rows_up_to[order] = np.cumsum(is_row[order])
        return rows_up_to[rows:] - self.first_row[user]


def read_record(
    events: pa.Table,
    readings: pa.Table,
    item_ids: pa.Array,
    item_values: I8,
    domain: Domain,
    user_ids: Sequence[str],
    prices: Prices | None = None,
) -> DomainRecord:
    """The domain's observations of the users listed, repeats dropped.

    ``events`` has the visible columns, in any order of rows. ``readings`` has event_id, dimension, value, stance; a
    reading of nothing in particular (nulls) is no observation. ``item_values`` (items, D) holds the codes of the items
    ``item_ids`` in the order of the domain file, ``prices`` what they cost: without, the record tells nothing of prices.
    Raises ValueError for items, values, stances and events unknown.
    """
    dimensions = domain.dimension_ids()
    if item_values.shape != (len(item_ids), len(dimensions)):
        raise ValueError(f"item_values is {item_values.shape}; must be {(len(item_ids), len(dimensions))}")
    user = pc.fill_null(pc.index_in(events["user_id"], value_set=pa.array(user_ids, pa.string())), ABSENT).to_numpy()
    offered, items, chosen = _choices(events, user, item_ids, domain)
    options = _values_of(items, item_values, domain)
    spoken, said = _statements(events, readings, user, domain)

    count = offered.size
    event_row = np.concatenate([offered, spoken])
    at_us = events["at"].cast(pa.int64()).to_numpy()[event_row]
    session = _codes(events["session_id"])[event_row]
    item = np.concatenate([_codes(events["item_id"])[offered], np.full(spoken.size, ABSENT, np.int64)])
    is_choice = np.arange(event_row.size) < count
    name = _ranks(events["event_id"], event_row)
    every_word = np.concatenate([np.full((count, 3), ABSENT, np.int8), said])
    order = np.lexsort((every_word[:, 0], name, at_us, user[event_row]))
    order = order[_is_first((user[event_row], session, at_us, is_choice, item), name)[order]]

    blank = np.full((spoken.size, *options.shape[1:]), ABSENT, np.int8)
    words = every_word[order]
    is_first = order[is_choice[order]]
    log_price, spent = _paid(events, event_row, user[event_row], items, chosen, is_first, prices)
    return DomainRecord(
        users=len(user_ids),
        user=user[event_row][order].astype(np.int64),
        at_us=at_us[order],
        session=session[order],
        is_choice=is_choice[order],
        options=np.concatenate([options, blank])[order],
        chosen=np.concatenate([chosen, np.full(spoken.size, ABSENT, np.int8)])[order],
        said_dimension=words[:, 0],
        said_value=words[:, 1],
        said_stance=words[:, 2],
        event_row=event_row[order],
        log_price=log_price[order],
        budgets_spent=spent[order],
    )


def bearing_rows(record: DomainRecord, query_user: I64, query_at_us: I64) -> tuple[I64, I8, I64]:
    """Query, dimension and event row of every observation that bears on the query's dimension, sorted by the first two
    and then by instant. Only strictly earlier observations count.

    A choice bears on the dimensions in which the shown options differ, a statement on the one it speaks of.
    """
    dimensions = record.options.shape[2]
    shown = record.options != ABSENT
    bears = (shown & (record.options != record.options[:, :1])).any(axis=1)
    bears |= record.said_dimension[:, None] == np.arange(dimensions)
    seen = record.seen_before(query_user, query_at_us)
    query = np.repeat(np.arange(query_user.size), seen)
    row = np.arange(query.size) + np.repeat(record.first_row[query_user] - (np.cumsum(seen) - seen), seen)
    place, dimension = np.nonzero(bears[row])
    order = np.argsort(query[place] * dimensions + dimension, kind="stable")
    place = place[order]
    return query[place], dimension[order].astype(np.int8), record.event_row[row[place]]


def _choices(events: pa.Table, user: npt.NDArray[np.int32], item_ids: pa.Array, domain: Domain) -> tuple[I64, I64, I8]:
    """Rows of events that are choices (n,), rows of the items shown (n, K), place of what was chosen (n,)."""
    choosing = pc.is_in(events["action"], value_set=pa.array(domain.choice_actions()))
    picks = pc.and_(pc.equal(events["domain"], domain.name), choosing)
    picks = pc.and_(picks, pc.and_(pc.is_valid(events["options"]), pc.is_valid(events["item_id"])))
    rows = np.flatnonzero(picks.to_numpy() & (user != ABSENT))
    lists = _whole(events["options"].take(pa.array(rows)))
    length = pc.list_value_length(lists).to_numpy()
    shown = _known(pc.list_flatten(lists), item_ids, "events.options", "an item of the catalogue")
    owner = np.repeat(np.arange(rows.size), length)
    place = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
    items = np.full((rows.size, max(1, int(length.max(initial=0)))), ABSENT, np.int64)
    items[owner, place] = shown
    taken = _known(events["item_id"].take(pa.array(rows)), item_ids, "events.item_id", "an item of the catalogue")
    is_taken = items == taken[:, None]
    kept = is_taken.any(axis=1)
    return rows[kept], items[kept], is_taken[kept].argmax(axis=1).astype(np.int8)


def _values_of(items: I64, item_values: I8, domain: Domain) -> I8:
    """(n, K, D) values of what was shown."""
    padding = np.full((1, item_values.shape[1]), ABSENT, np.int8)
    options = np.concatenate([item_values, padding])[items]
    if ((options == ABSENT).any(axis=2) & (items != ABSENT)).any():
        raise ValueError(f"events.options shows items without a value in every dimension of {domain.name}")
    return options


def _paid(
    events: pa.Table,
    event_row: I64,
    user: npt.NDArray[np.int32],
    items: I64,
    chosen: I8,
    first: I64,
    prices: Prices | None,
) -> tuple[F32, F64]:
    """(rows, K) logs of prices on show and (rows,) budgets spent before, of the choices and then the statements.

    ``first`` are the rows of choices that count, repeats dropped. A line that bears no price is not paid for.
    """
    count, rows = items.shape[0], event_row.size
    log_price, spent = np.zeros((rows, items.shape[1]), np.float32), np.zeros(rows)
    if prices is None:
        return log_price, spent
    is_paid = np.asarray(pc.is_valid(events["price_cents"]).to_numpy())[event_row[:count]]
    log_price[:count] = np.where(is_paid[:, None] & (items != ABSENT), prices.log[items], 0.0)
    bought = first[is_paid[first]]
    item = items[bought, chosen[bought]]
    line = event_row[bought]
    local = events["at"].cast(pa.int64()).to_numpy()[line]
    local = local + events["utc_offset_min"].to_numpy()[line].astype(np.int64) * MINUTE_US
    before = spent_before(user[bought].astype(np.int64), *month_and_week(local), prices.cents[item])
    spent[bought] = pressure(before, prices.budget_cents)
    return log_price, spent


def _statements(events: pa.Table, readings: pa.Table, user: npt.NDArray[np.int32], domain: Domain) -> tuple[I64, I8]:
    """Rows of events that were read as statements (n,), and their dimension, value and stance (n, 3).

    The end of a state names the dimension; what value it names besides is not used.
    """
    about = pc.starts_with(readings["dimension"], pattern=f"{domain.name}.")
    readings = readings.filter(pc.and_(pc.fill_null(about, False), pc.is_valid(readings["stance"])))
    rows = _known(readings["event_id"], _whole(events["event_id"]), "readings.event_id", "an event")
    ours = user[rows] != ABSENT
    readings, rows = readings.filter(pa.array(ours)), rows[ours]
    dimension = _known(readings["dimension"], pa.array(domain.dimension_ids()), "readings.dimension", "a dimension")
    stance = _known(readings["stance"], pa.array(STANCES), "readings.stance", f"one of {list(STANCES)}")
    value = np.full(rows.size, ABSENT, np.int64)
    for code, (name, spec) in enumerate(domain.dimensions.items()):
        here = np.flatnonzero((dimension == code) & (stance != BACK_TO_USUAL))
        text = readings["value"].take(pa.array(here))
        value[here] = _known(text, pa.array(list(spec.values)), "readings.value", f"a value of {domain.name}.{name}")
    return rows, np.stack([dimension, value, stance], axis=1).astype(np.int8)


def _known(column: pa.Array | pa.ChunkedArray, known: pa.Array, name: str, rule: str) -> I64:
    """Place of each text among the known ones; raises ValueError naming those that are not there."""
    places = pc.index_in(column, value_set=known)
    if places.null_count:
        strange = pc.unique(column.filter(pc.is_null(places))).to_pylist()
        raise ValueError(f"{name}: {strange[:5]} must each be {rule}")
    return np.asarray(places.to_numpy(), dtype=np.int64)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _codes(column: pa.ChunkedArray) -> I64:
    """A number for each text, equal for equal texts; ``ABSENT`` for null."""
    codes = _whole(column).dictionary_encode().indices
    return np.asarray(pc.fill_null(codes, ABSENT).to_numpy(), dtype=np.int64)


def _ranks(column: pa.ChunkedArray, rows: I64) -> I64:
    """Rank of the text of each row by its bytes, equal for equal texts."""
    ranks = pc.rank(column.take(pa.array(rows)), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy(), dtype=np.int64)


def _is_first(columns: tuple[npt.NDArray[np.generic], ...], name: I64) -> Flags:
    """Whether each row belongs to the event of lowest rank among those that agree in all columns."""
    order = np.lexsort((name, *columns))
    starts = np.ones(order.size, np.bool_)
    starts[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    first = np.maximum.accumulate(np.where(starts, np.arange(order.size), 0))
    kept = np.empty(order.size, np.bool_)
    kept[order] = name[order] == name[order[first]]
    return kept
