"""The model of choice once more, in plain Python over the tables, to hold what was made against it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import polars as pl

from schemas.behaviour.price import paid_choices_per_week
from schemas.load import load_domain
from tests.flows.lives import Lives


class Choice(NamedTuple):
    """One choice: the utility of each option shown by taste and price, and the place of the one that was taken.

    And of each option how well it suits the person in every dimension, and its price.
    """

    event_id: str
    user_id: str
    utility: list[float]
    taken: int
    match: list[list[float]]
    cents: list[int]


def match(kind: str, values: list[str], liked: str, value: str) -> float:
    if kind == "categorical":
        return float(liked == value)
    return max(0.0, 1 - abs(values.index(liked) - values.index(value)) / 2)


def effective(rows: list[dict[str, Any]], at: Any) -> dict[str, Any]:
    """The row that holds at an instant: a state over a habit over a trait."""
    holding = [row for row in rows if row["valid_from"] <= at and (row["valid_to"] is None or at < row["valid_to"])]
    return min(holding, key=lambda row: ("state", "habit", "trait").index(row["clock"]))


def tastes_of(lives: Lives) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(actor, dimension) → the rows of `dispositions`."""
    tastes = defaultdict(list)
    for row in lives["dispositions"].drop("weights").iter_rows(named=True):
        tastes[row["actor_id"], row["dimension"]].append(row)
    return tastes


def own_actor(lives: Lives) -> dict[str, str]:
    actors = lives["actors"]
    return {
        user: actor
        for actor, user, relation in actors.select("actor_id", "user_id", "relation").iter_rows()
        if relation == "self"
    }


def attributes(lives: Lives, shown: pl.DataFrame) -> dict[tuple[str, str], str]:
    """(item, dimension) → value of what some lines show."""
    items = shown.select(item_id=pl.col("options").explode()).unique()
    some = lives["item_attributes"].join(items, on="item_id", how="semi")
    return {(item, dimension): value for item, dimension, value in some.iter_rows()}


def choices(
    lives: Lives,
    domain_name: str,
    table: str = "clean_events",
    at_most: int = 5_000,
    actor: dict[str, str] | None = None,
) -> Iterator[Choice]:
    """The choices of a domain, ``at_most`` so many, spread over all people; ``actor`` gives for some events whose taste
    counts, else the user's own."""
    domain, tastes, selves = load_domain(domain_name), tastes_of(lives), own_actor(lives)
    purse = Purse(lives, domain_name)
    some = lives[table].filter(domain=domain_name).drop_nulls("options")
    some = some.gather_every(max(1, -(-some.height // at_most)))
    value = attributes(lives, some)
    for row in some.iter_rows(named=True):
        event, user, options = row["event_id"], row["user_id"], row["options"]
        who = (actor or {}).get(event, selves[user])
        utility = [-cost for cost in purse.costs(row)]
        suits: list[list[float]] = [[] for _ in options]
        for name, spec in domain.dimensions.items():
            liked = effective(tastes[who, f"{domain_name}.{name}"], row["at"])
            for place, option in enumerate(options):
                here = match(spec.kind, list(spec.values), liked["value"], value[option, f"{domain_name}.{name}"])
                utility[place] += liked["strength"] * here
                suits[place].append(here)
        taken, cents = options.index(row["item_id"]), [purse.cents[option] for option in options]
        yield Choice(event, user, utility, taken, suits, cents)


class Purse:
    """What prices take from the options of a domain, by who pays and what the clean lines say was spent before."""

    def __init__(self, lives: Lives, domain_name: str) -> None:
        self.config, domain = lives.data.timelines, load_domain(domain_name)
        items = lives["items"].filter(pl.col("domain") == domain_name, pl.col("owner_user_id").is_null())
        self.cents: dict[str, int] = dict(items.select("item_id", "price_cents").iter_rows())
        self.category: dict[str, str] = dict(items.select("item_id", "category").iter_rows())
        paid = items.filter(pl.col("price_cents") > 0).group_by("category").agg(pl.col("price_cents").log().mean())
        self.typical: dict[str, float] = {name: math.exp(log) for name, log in paid.iter_rows()}
        own = self.config.domains.get(domain_name)
        usual = paid_choices_per_week(domain) * (own.rate_factor if own else 1.0) * 365.25 / 12 / 7
        self.budget = sum(self.typical.values()) / max(1, len(self.typical)) * usual
        people = lives["personas"].select("user_id", "income_usd", "household_size").iter_rows()
        self.minds = {
            user: min(2.5, max(0.4, math.sqrt(15_000 / max(1e-9, income / size)))) for user, income, size in people
        }
        bought = lives["clean_events"].filter(domain=domain_name).drop_nulls(["options", "price_cents"])
        local = pl.col("at") + pl.duration(minutes=pl.col("utc_offset_min"))
        parts = [local.dt.year(), local.dt.month().alias("month"), ((local.dt.day() - 1) // 7).alias("week")]
        sums = bought.group_by("user_id", *parts).agg(pl.col("price_cents").sum())
        self.spent: dict[tuple[Any, ...], int] = {tuple(row[:4]): row[4] for row in sums.iter_rows()}

    @staticmethod
    def _week(row: dict[str, Any]) -> tuple[Any, ...]:
        local = row["at"] + timedelta(minutes=row["utc_offset_min"])
        return row["user_id"], local.year, local.month, (local.day - 1) // 7

    def budgets(self, row: dict[str, Any]) -> float:
        """Budgets spent in earlier weeks of the month."""
        *month, week = self._week(row)
        spent = sum(self.spent.get((*month, earlier), 0) for earlier in range(week))
        return min(2.0, spent * self.minds[row["user_id"]] / self.budget)

    def costs(self, row: dict[str, Any]) -> list[float]:
        """What each option of a line loses by its price."""
        if row["price_cents"] is None:
            return [0.0] * len(row["options"])
        mind, pressure = self.minds[row["user_id"]], self.budgets(row)
        weight = self.config.price_effect * mind * (1 + self.config.budget_effect * pressure)
        return [weight * math.log(self.cents[one] / self.typical[self.category[one]]) for one in row["options"]]


def softmax(utility: list[float], position_effect: float, exploration: float) -> list[float]:
    shifted = [u - position_effect * place for place, u in enumerate(utility)]
    weight = [math.exp(u - max(shifted)) for u in shifted]
    return [(1 - exploration) * w / sum(weight) + exploration / len(weight) for w in weight]
