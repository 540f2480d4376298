"""Units of the config's keys, and what of a release depends on each: what types cannot say."""

from __future__ import annotations

from collections.abc import Mapping

UNITS: Mapping[str, str] = {
    "users": "people",
    "seed": "",
    "workers": "processes",
    "shard_users": "people",
    "rows_per_file": "rows",
    "options_shown": "options",
    "tasks_per_candidate": "groups",
    "asks_per_domain": "points in time",
    "groups_per_domain": "groups of tasks",
    "state_days": "days",
    "abrupt_per_year": "events per person and year",
    "statement_rate": "statements per person, dimension and week",
    "small_talk_rate": "talks per person and week",
    "strength_mean": "log-odds",
    "position_effect": "log-odds per place",
    "price_effect": "log-odds per unit of log price",
    "budget_effect": "share per budget spent",
    "exposure_bias": "share, 0 to 1",
    "strength_spread": "standard deviation of a logarithm",
    "rate_factor": "factor",
    "multiply": "factor",
    "times": "factor",
    "share": "share, 0 to 1",
    "spearman": "correlation, -1 to 1",
    "interests_mean": "interests per person",
    "rate": "factor",
    "reader_reliability": "probability",
    "act_at_least": "probability",
    "accidental": "share, 0 to 1",
    "other_person": "share, 0 to 1",
    "duplicate": "share, 0 to 1",
    "corrupt": "share, 0 to 1",
    "exploration": "share, 0 to 1",
    "stays_elsewhere": "share, 0 to 1",
    "stated_vs_done": "share, 0 to 1",
    "temporary_state": "share, 0 to 1",
}
"""By name of the key: one name has one unit everywhere. Empty where there is none to speak of."""
ENDINGS: Mapping[str, str] = {
    "_share": "share, 0 to 1",
    "_spread": "standard deviation",
    "_days": "days",
    "_weeks": "weeks",
    "_per_year": "per person and year",
    "_per_week": "per person and week",
    "_cents": "hundredths of the currency",
    "_usd": "USD",
    "_factor": "factor",
}
EFFECTS: Mapping[str, str] = {
    "schema_version": "nothing: it says how the file is read",
    "name": "the folder of the release and the name in its card; no table",
    "data": "every table",
    "data.seed": "every draw, and so every table",
    "data.users": "how many people; those whom both have are the same, but groups of tasks are put together anew",
    "data.window": "everything: ages count from the start, and all is lived within it",
    "data.domains": "items, tastes, sessions and tasks of these areas of life; the people stay",
    "data.market": "currency and prices of items, and what is bought for them",
    "data.personas": "the people, and what depends on the attributes that change: tastes, behaviour, tasks",
    "data.dispositions": "tastes and the circle of people, and with them behaviour and tasks; the people's attributes stay",
    "data.dispositions.effects": "tastes, or how much is done in a domain, of the people whose attributes are named, and "
    "with them behaviour and tasks; the people's attributes stay",
    "data.timelines": "sessions and events, and with them tasks; people and tastes stay",
    "data.disturb": "what is wrong with the record, its ledger, and the tasks; what was really done stays",
    "data.disturb.drift": "when and how tastes change, and with them behaviour, ledger and tasks",
    "data.disturb.contradictions": "claims and temporary states: tastes, events, ledger and tasks",
    "data.disturb.noise.corrupt": "texts of events and their ledger rows, and which tasks are proved",
    "data.tasks": "which tasks there are; people and their record stay",
    "data.language": "texts of events and requests",
    "data.release": "in which split and file a row stands; the rows stay",
    "data.gates": "whether a release appears; its tables stay",
    "execution": "nothing of the data: only how a build runs, and so time and memory",
}
"""By key or section; what is below a section has its effect unless it has one of its own."""


def unit_of(key: str) -> str:
    """The unit of a key's numbers; empty where none is known."""
    name = key.rpartition(".")[2]
    return UNITS.get(name, next((unit for ending, unit in ENDINGS.items() if name.endswith(ending)), ""))


def effect_of(key: str) -> str:
    """What of a release depends on the key, after the longest beginning of it that has an effect."""
    parts = key.split(".")
    found = (EFFECTS.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    return next((effect for effect in found if effect), "")
