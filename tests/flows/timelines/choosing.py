"""The model of choice once more, in plain Python over the tables, to hold what was made against it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from schemas.load import load_domain
from tests.flows.lives import Lives


class Choice(NamedTuple):
    """One choice: the utility of taste of each option shown, and the place of the one that was taken."""

    event_id: str
    user_id: str
    utility: list[float]
    taken: int


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


def attributes(lives: Lives) -> dict[tuple[str, str], str]:
    """(item, dimension) → value."""
    return {(item, dimension): value for item, dimension, value in lives["item_attributes"].iter_rows()}


def choices(
    lives: Lives,
    domain_name: str,
    table: str = "clean_events",
    at_most: int = 5_000,
    actor: dict[str, str] | None = None,
) -> Iterator[Choice]:
    """The choices of a domain; ``actor`` gives for some events whose taste counts, else the user's own."""
    domain, tastes, selves, value = load_domain(domain_name), tastes_of(lives), own_actor(lives), attributes(lives)
    some = lives[table].filter(domain=domain_name).drop_nulls("options").head(at_most)
    for event, user, at, item, options in some.select("event_id", "user_id", "at", "item_id", "options").iter_rows():
        who = (actor or {}).get(event, selves[user])
        utility = [0.0] * len(options)
        for name, spec in domain.dimensions.items():
            liked = effective(tastes[who, f"{domain_name}.{name}"], at)
            for place, option in enumerate(options):
                here = match(spec.kind, list(spec.values), liked["value"], value[option, f"{domain_name}.{name}"])
                utility[place] += liked["strength"] * here
        yield Choice(event, user, utility, options.index(item))


def softmax(utility: list[float], position_effect: float, exploration: float) -> list[float]:
    shifted = [u - position_effect * place for place, u in enumerate(utility)]
    weight = [math.exp(u - max(shifted)) for u in shifted]
    return [(1 - exploration) * w / sum(weight) + exploration / len(weight) for w in weight]
